"""Registers, immediates and symbols of one PTX function, as operands of the IR.

A PTX register has a size and, for floating point, a kind; an instruction reads it as the type that it names. Where the
two differ, the bits are reinterpreted, cut or extended here (PTX ISA 9.0, 9.4.1: operand size exceeding).
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterable, Mapping
from typing import Final

from warpsmith.front.ptx.model import Declared
from warpsmith.ssa.builder import Builder, constant
from warpsmith.ssa.nodes import Address, Constant, Operand, Query, Undefined
from warpsmith.ssa.types import F16, F32, F64, I1, I32, I64, Type, integer

__all__ = ["PtxError", "Registers"]

_INTEGER: Final = re.compile(r"[-+]?(?:0[xX][0-9a-fA-F]+|0[bB][01]+|\d+)U?$")
_OCTAL: Final = re.compile(r"([-+]?)0([0-7]+)")
_FLOAT: Final = re.compile(r"0[fFdD][0-9a-fA-F]{8,16}$|[-+]?\d+\.\d*(?:[eE][-+]?\d+)?$")
_SYMBOL: Final = re.compile(r"([A-Za-z_$%][\w$]*)\s*(?:\+\s*(-?\w+))?$")
_WIDE: Final = frozenset({"clock64", "globaltimer", "gridid", "current_graph_exec"})
_FUNCTIONS: Final = 0x7F0000
"""Where functions stand: at numbers that only differ from each other, and from 0."""


class PtxError(Exception):
    """An instruction that does not mean anything: what it names does not exist, or is not of the right kind."""


class Registers:
    """Reads and writes registers through the builder; `spaces` are the symbols' spaces by name, `functions` the names
    of the file's functions, `lacking` the instructions of the text that are not modeled."""

    def __init__(self, builder: Builder, spaces: Mapping[str, str], functions: Iterable[str] = ()) -> None:
        self.builder = builder
        self.types: dict[str, Type] = {}
        self.lacking: dict[str, None] = {}
        self.functions = {name: _FUNCTIONS + 16 * place for place, name in enumerate(functions)}
        self.spaces = dict(spaces)

    def declare(self, one: Declared) -> None:
        """Take note of a `.reg`."""
        self.types[one.name] = one.type

    def read(self, text: str, type: Type, *, signed: bool = False) -> Operand:
        """Return operand `text` as a value of `type`."""
        text = text.strip()
        if text.startswith("!"):
            return self.builder.emit("not", (self.read(text[1:], I1),), I1)
        if text in self.types:
            return self.cast(self.builder.read(text, self.types[text]), type, signed=signed)
        if _INTEGER.match(text):
            return number(text, type)
        if _FLOAT.match(text):
            return self.cast(floating(text, type), type)
        if text.startswith("%") or text == "WARP_SZ":
            return self._special(text.lstrip("%"), type)
        return self.cast(self.address(text, I64 if type.bits > 32 else I32), type)

    def address(self, text: str, type: Type = I64) -> Operand:
        """Return the address of `symbol` or `symbol+offset`."""
        found = _SYMBOL.match(text)
        if text in self.functions:
            return constant(type, self.functions[text])
        if found is None or found.group(1) not in self.spaces:
            raise PtxError(f"there is no register or variable called {text.split('+')[0].strip()}")
        base = self.builder.emit("address", (), type, Address(found.group(1)), found.group(1))
        if not found.group(2):
            return base
        return self.builder.emit("add", (base, constant(type, int(found.group(2), 0))), type)

    def write(self, text: str, operand: Operand, *, signed: bool = False) -> None:
        """Let register `text` be `operand`; `_` takes nothing."""
        text = text.strip()
        if text == "_":
            return
        if text not in self.types:
            raise PtxError(f"there is no register called {text}")
        self.builder.write(text, self.cast(operand, self.types[text], signed=signed))

    def cast(self, operand: Operand, type: Type, *, signed: bool = False) -> Operand:
        """Return the bits of `operand` as a `type`: reinterpreted, cut, or extended."""
        own = operand.type
        if own == type:
            return operand
        if isinstance(operand, Undefined):
            return Undefined(type)
        if "predicate" in (own.kind, type.kind):
            raise PtxError("a predicate is used as a number, or a number as a predicate")
        if own.bits == type.bits:
            return (
                Constant(type, operand.bits) if isinstance(operand, Constant) else self._emit("bitcast", operand, type)
            )
        if own.kind == "float":
            return self.cast(self.cast(operand, integer(own.bits)), type, signed=signed)
        if type.kind == "float":
            return self.cast(self.cast(operand, integer(type.bits), signed=signed), type)
        op = "trunc" if own.bits > type.bits else "sext" if signed else "zext"
        return self._emit(op, operand, type)

    def _emit(self, op: str, operand: Operand, type: Type) -> Operand:
        return self.builder.emit(op, (operand,), type)

    def _special(self, name: str, type: Type) -> Operand:
        if name == "WARP_SZ":
            return constant(type, 32)
        if name in ("is_explicit_cluster",):
            return self.builder.emit("ne", (self._query(name, I32), constant(I32, 0)), I1)
        return self.cast(self._query(name, I64 if name in _WIDE else I32), type)

    def _query(self, name: str, type: Type) -> Operand:
        if not _KNOWN.match(name):
            raise PtxError(f"there is no register called %{name}")
        return self.builder.emit("query", (), type, Query(name), name)


_KNOWN = re.compile(
    r"(?:tid|ntid|ctaid|nctaid|clusterid|nclusterid|cluster_ctaid|cluster_nctaid)\.[xyzw]$"
    r"|laneid$|warpid$|nwarpid$|smid$|nsmid$|gridid$|lanemask_(?:eq|le|lt|ge|gt)$|clock(?:64|_hi)?$|pm\d+(?:_64)?$"
    r"|globaltimer(?:_lo|_hi)?$|envreg\d+$|cluster_ctarank$|cluster_nctarank$|is_explicit_cluster$"
    r"|total_smem_size$|aggr_smem_size$|dynamic_smem_size$|current_graph_exec$|reserved_smem_offset_\w+$"
)


def number(text: str, type: Type) -> Constant:
    """Return the integer `text` as a constant of `type`: for a float, the number's value, as for `mov.f32 %f1, 1`."""
    digits = text.rstrip("U")
    octal = _OCTAL.fullmatch(digits)
    try:
        value = int(octal[1] + octal[2], 8) if octal is not None else int(digits, 0)
    except ValueError:
        raise PtxError(f"{text} is no number") from None
    return _float_constant(float(value), type) if type.kind == "float" else constant(type, value)


def floating(text: str, type: Type) -> Constant:
    """Return the floating-point literal `text`: 0f and 0d give bits, decimals are doubles rounded to the type."""
    if text[:2] in ("0f", "0F"):
        bits = int(text[2:], 16)
        return (
            _float_constant(struct.unpack("<f", bits.to_bytes(4, "little"))[0], F64)
            if type == F64
            else Constant(F32, bits)
        )
    if text[:2] in ("0d", "0D"):
        bits = int(text[2:], 16)
        return Constant(F64, bits) if type.bits == 64 else _float_constant(_double(bits), type)
    return _float_constant(float(text), type if type.kind == "float" else F64)


def _double(bits: int) -> float:
    value: float = struct.unpack("<d", bits.to_bytes(8, "little"))[0]
    return value


def _float_constant(value: float, type: Type) -> Constant:
    form = {F16: "<e", F32: "<f", F64: "<d"}[type]
    return Constant(type, int.from_bytes(struct.pack(form, value), "little"))
