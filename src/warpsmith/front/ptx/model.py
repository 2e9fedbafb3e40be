"""A PTX file as it is declared, before its code is translated.

File     = version, target, symbols, functions, files
Routine  = name kernel parameters results body limits      body: statements between its braces
Declared = name space type vector align count              a variable, register set or parameter
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct, field

from warpsmith.base.source import Span
from warpsmith.front.ptx.statements import PtxStatement
from warpsmith.ssa.nodes import Limits, Symbol
from warpsmith.ssa.types import F16, F32, F64, I1, I8, I16, I32, I64, I128, Type

__all__ = ["FUNDAMENTAL", "Declared", "File", "Routine"]

FUNDAMENTAL: dict[str, Type] = {
    **dict.fromkeys(("b8", "u8", "s8", "e4m3", "e5m2"), I8),
    **dict.fromkeys(("b16", "u16", "s16", "bf16"), I16),
    **dict.fromkeys(("b32", "u32", "s32", "f16x2", "bf16x2", "u16x2", "s16x2", "tf32"), I32),
    **dict.fromkeys(("b64", "u64", "s64", "f32x2"), I64),
    "b128": I128,
    "f16": F16,
    "f32": F32,
    "f64": F64,
    "pred": I1,
}
"""Types as the IR has them. Packed pairs are the bits of a register; bf16 lives in 16-bit registers."""


class Declared(Struct, frozen=True):
    """What one declaration says; `count` is 1 for a scalar, 0 where the extent is left open."""

    name: str
    space: str
    type: Type
    align: int
    count: int
    span: Span
    is_array: bool = False

    @property
    def bytes(self) -> int:
        """Its size."""
        return self.type.bytes * self.count


class Routine(Struct, frozen=True):
    """An `.entry` or `.func`; without a body it is only declared. `cut`: the file ends before the body does."""

    name: str
    kernel: bool
    parameters: tuple[Declared, ...]
    results: tuple[Declared, ...]
    limits: Limits
    body: tuple[PtxStatement, ...] | None
    span: Span
    cut: bool = False


class File(Struct, frozen=True):
    """One PTX file; `files` are the source files that `.loc` numbers."""

    version: str
    target: str
    symbols: tuple[Symbol, ...]
    routines: tuple[Routine, ...]
    files: Mapping[int, str] = field(default_factory=dict)
