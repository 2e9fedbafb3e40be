"""The table of operations of AVX-512 that are modeled: what they take, and what they compute.

    "zmm = zmm zmm"      a result, masked or not, and sources;  k masks, r general registers, imm constants
    "k = k k"            words of 16 bits                       flags: what je and jne ask

A comparison into k1 {k2} is 0 in lanes that k2 has not. Source: Intel 64 and IA-32 Architectures Software Developer's
Manual, volumes 1 (chapter 15) and 2.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from msgspec import Struct

__all__ = ["AVX_OPERATIONS", "AvxOp"]

Array = npt.NDArray[Any]
_ALL: Final = 0xFFFF
_WORD: Final = 0xFFFFFFFF


class AvxOp(Struct, frozen=True):
    """An operation: the kind of its result ("": none) and of its sources, and its function of them. `reads_result`:
    the function takes what the result holds first; `plain`: it is in all lanes, whatever a mask would say."""

    result: str
    sources: tuple[str, ...]
    function: Callable[..., Any]
    reads_result: bool = False
    plain: bool = False

    @property
    def takes_mask(self) -> bool:
        """Whether the result may be masked: of what lanes compute."""
        return not self.plain and (self.result == "zmm" or (self.result == "k" and "zmm" in self.sources))


def _op(form: str, function: Callable[..., Any], *, reads_result: bool = False, plain: bool = False) -> AvxOp:
    result, _, sources = form.rpartition("=")
    return AvxOp(result.strip(), tuple(sources.split()), function, reads_result, plain)


def _signed(a: Array) -> Array:
    return a.view(np.int32)


def _shift(function: Callable[[Array, Any], Any]) -> Callable[[Array, int], Array]:
    """Return a shift by a constant; beyond the width nothing is left."""
    return lambda a, by: np.where(by > 31, np.uint32(0), function(a, np.uint32(by & 31)))


def _arithmetic_shift(a: Array, by: int) -> Array:
    return (_signed(a) >> np.int32(min(by & _WORD, 31))).view(np.uint32)


def _ternary(a: Array, b: Array, c: Array, table: int) -> Array:
    """Return bit by bit what a table of eight bits says of three."""
    made = np.zeros_like(a)
    for index in range(8):
        if table >> index & 1:
            bits = [one if index >> place & 1 else ~one for one, place in ((a, 2), (b, 1), (c, 0))]
            made |= bits[0] & bits[1] & bits[2]
    return made


_COMPARED: Final[Mapping[str, Callable[[Array, Array], Any]]] = {
    "eq": lambda a, b: a == b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "neq": lambda a, b: a != b,
    "nlt": lambda a, b: a >= b,
    "nle": lambda a, b: a > b,
    "gt": lambda a, b: a > b,
}
_VECTORS: Final[Mapping[str, Callable[..., Any]]] = {
    "vpaddd": lambda a, b: a + b,
    "vpsubd": lambda a, b: a - b,
    "vpmulld": lambda a, b: a * b,
    "vpandd": lambda a, b: a & b,
    "vpandnd": lambda a, b: ~a & b,
    "vpord": lambda a, b: a | b,
    "vpxord": lambda a, b: a ^ b,
    "vpminud": np.minimum,
    "vpmaxud": np.maximum,
    "vpminsd": lambda a, b: np.minimum(_signed(a), _signed(b)).view(np.uint32),
    "vpmaxsd": lambda a, b: np.maximum(_signed(a), _signed(b)).view(np.uint32),
}
_MASKS: Final[Mapping[str, Callable[[int, int], int]]] = {
    "kandw": lambda a, b: a & b,
    "kandnw": lambda a, b: ~a & b,
    "korw": lambda a, b: a | b,
    "kxorw": lambda a, b: a ^ b,
    "kxnorw": lambda a, b: ~(a ^ b),
}
_WORDS: Final[Mapping[str, Callable[[int, int], int]]] = {
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
}
AVX_OPERATIONS: Final[Mapping[str, AvxOp]] = {
    **{name: _op("zmm = zmm zmm", function) for name, function in _VECTORS.items()},
    **{
        f"vpcmp{name}d": _op("k = zmm zmm", lambda a, b, f=f: f(_signed(a), _signed(b)))
        for name, f in _COMPARED.items()
    },
    **{f"vpcmp{name}ud": _op("k = zmm zmm", f) for name, f in _COMPARED.items() if name != "gt"},
    "vptestmd": _op("k = zmm zmm", lambda a, b: (a & b) != 0),
    "vptestnmd": _op("k = zmm zmm", lambda a, b: (a & b) == 0),
    "vpslld": _op("zmm = zmm imm", _shift(lambda a, by: a << by)),
    "vpsrld": _op("zmm = zmm imm", _shift(lambda a, by: a >> by)),
    "vpsrad": _op("zmm = zmm imm", _arithmetic_shift),
    "vpternlogd": _op("zmm = zmm zmm imm", _ternary, reads_result=True),
    "vmovdqa32": _op("zmm = zmm", lambda a: a),
    "vmovdqu32": _op("zmm = zmm", lambda a: a),
    "vpblendmd": _op("zmm = zmm zmm", lambda a, b: b),
    "vpabsd": _op("zmm = zmm", lambda a: np.abs(_signed(a)).view(np.uint32)),
    "vpbroadcastd": _op("zmm = r", lambda a: np.full(16, a & _WORD, np.uint32)),
    "vpmovd2m": _op("k = zmm", lambda a: _signed(a) < 0, plain=True),
    "vpmovm2d": _op(
        "zmm = k", lambda a: np.array([_WORD if a >> n & 1 else 0 for n in range(16)], np.uint32), plain=True
    ),
    **{name: _op("k = k k", function) for name, function in _MASKS.items()},
    "knotw": _op("k = k", lambda a: ~a),
    "kshiftlw": _op("k = k imm", lambda a, by: a << by if by < 16 else 0),
    "kshiftrw": _op("k = k imm", lambda a, by: a >> by if by < 16 else 0),
    "kmovw": _op("any = any", lambda a: a & _ALL),
    "kmovd": _op("any = any", lambda a: a),
    "kortestw": _op("flags = k k", lambda a, b: (a | b) & _ALL),
    "ktestw": _op("flags = k k", lambda a, b: a & b & _ALL),
    "test": _op("flags = r word", lambda a, b: a & b),
    "cmp": _op("flags = r word", lambda a, b: (a - b) & _WORD),
    "mov": _op("r = word", lambda a: a),
    "not": _op("r =", lambda old: ~old, reads_result=True),
    "inc": _op("r =", lambda old: old + 1, reads_result=True),
    "dec": _op("r =", lambda old: old - 1, reads_result=True),
    "popcnt": _op("r = r", int.bit_count),
    "andn": _op("r = r r", lambda a, b: ~a & b),
    **{name: _op("r = word", function, reads_result=True) for name, function in _WORDS.items()},
    **{name: _op("label", lambda: None) for name in ("je", "jne", "jz", "jnz", "jmp")},
    **{name: _op("", lambda: None) for name in ("ret", "nop", "vzeroupper")},
}
