"""Comparisons: a mask with a bit for each active lane. `cmpx` writes exec as well; since RDNA it writes nothing else.

lt eq le gt lg ge o u      of floats; o: both are numbers, u: one is none; n before them: not
class                      what kind of number: bits 0 to 9 of the second operand ask for NaN, infinities, zeros …
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np

from warpsmith.simt.gcn.memory import Array
from warpsmith.simt.gcn.nodes import GcnInstruction
from warpsmith.simt.gcn.ops.op import GcnOp, forms_of, read_source
from warpsmith.simt.gcn.wave import GcnWave

__all__ = ["COMPARISONS"]

_ORDERED: Final[Mapping[str, Callable[[Array, Array], Any]]] = {
    "lt": lambda a, b: a < b,
    "eq": lambda a, b: a == b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
    "f": lambda a, b: np.zeros(len(a), bool),
    "t": lambda a, b: np.ones(len(a), bool),
}
_FLOATS: Final[Mapping[str, Callable[[Array, Array], Any]]] = {
    **_ORDERED,
    "tru": _ORDERED["t"],
    "lg": lambda a, b: (a < b) | (a > b),
    "o": lambda a, b: ~(np.isnan(a) | np.isnan(b)),
    "u": lambda a, b: np.isnan(a) | np.isnan(b),
    "nge": lambda a, b: ~(a >= b),
    "nlg": lambda a, b: ~((a < b) | (a > b)),
    "ngt": lambda a, b: ~(a > b),
    "nle": lambda a, b: ~(a <= b),
    "neq": lambda a, b: ~(a == b),
    "nlt": lambda a, b: ~(a < b),
}
_INTEGERS: Final[Mapping[str, Callable[[Array, Array], Any]]] = {**_ORDERED, "ne": lambda a, b: a != b}


def _class(a: Array, asked: Array) -> Array:
    """Return whether a number is of a kind that is asked for."""
    least = np.finfo(a.dtype).smallest_normal
    negative, size = np.signbit(a), np.abs(a)
    infinite, normal, zero = np.isinf(a), np.isfinite(a) & (size >= least), size == 0
    subnormal = (size < least) & ~zero
    whole = a.view({2: np.uint16, 4: np.uint32, 8: np.uint64}[a.dtype.itemsize])
    quiet = (whole >> whole.dtype.type(np.finfo(a.dtype).nmant - 1) & whole.dtype.type(1)).astype(bool)
    nan = np.isnan(a)
    kinds = [
        nan & ~quiet, nan & quiet, infinite & negative, normal & negative, subnormal & negative,
        zero & negative, zero & ~negative, subnormal & ~negative, normal & ~negative, infinite & ~negative,
    ]  # fmt: skip
    found = np.zeros(len(a), bool)
    for bit, kind in enumerate(kinds):
        found |= kind & (asked >> np.uint32(bit) & np.uint32(1)).astype(bool)
    return found


def _compare(types: str, function: Callable[[Array, Array], Any], *, to_exec: bool) -> GcnOp:
    """Return a comparison that writes a mask; where it writes exec, no mask need be named."""
    sources = tuple(types.split())

    def run(wave: GcnWave, i: GcnInstruction) -> None:
        values = [read_source(wave, one, type) for one, type in zip(i.operands[-2:], sources, strict=True)]
        found = function(*values)
        if len(i.operands) > len(sources):
            wave.write_mask(i.operands[0], found)
        if to_exec:
            wave.mask = wave.mask_of(found & wave.active)

    return GcnOp(forms_of(f"mask = {types} | {types}" if to_exec else f"mask = {types}"), run)


def _rows() -> dict[str, tuple[str, Callable[[Array, Array], Any]]]:
    found: dict[str, tuple[str, Callable[[Array, Array], Any]]] = {}
    for type in ("f16", "f32", "f64"):
        found |= {f"{name}_{type}": (f"{type} {type}", function) for name, function in _FLOATS.items()}
        found[f"class_{type}"] = (f"{type} u32", _class)
    for type in ("i16", "u16", "i32", "u32", "i64", "u64"):
        found |= {f"{name}_{type}": (f"{type} {type}", function) for name, function in _INTEGERS.items()}
    return found


COMPARISONS: Final[Mapping[str, GcnOp]] = {
    f"v_cmp{x}_{name}": _compare(types, function, to_exec=bool(x))
    for name, (types, function) in _rows().items()
    for x in ("", "x")
}
