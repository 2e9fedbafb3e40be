"""An operation of GCN: which operands it takes, and what runs it.

"u32 mask = u32 u32 mask"      results = sources; several forms are parted by |

u32 i32 f32 u64 i64 f64 u16 i16 f16   vector results; sources may be scalar registers and constants, too
s32 s64 s128 s256 s512                scalar registers; sources may be constants
mask                                  a bit for each lane, in scalar registers
v32 v64 v96 v128                      vector registers alone
label  number  off  hwreg             what their names say
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from msgspec import Struct

from warpsmith.simt.gcn.memory import Array, GcnFault
from warpsmith.simt.gcn.nodes import GcnInstruction
from warpsmith.simt.gcn.wave import GcnWave

__all__ = ["GcnForm", "GcnOp", "Run", "forms_of", "vector_op"]

Run = Callable[[GcnWave, GcnInstruction], None]


class GcnForm(Struct, frozen=True):
    """One way to write the operands of an operation."""

    results: tuple[str, ...]
    sources: tuple[str, ...]

    @property
    def all(self) -> tuple[str, ...]:
        """What stands at each place."""
        return (*self.results, *self.sources)


class GcnOp(Struct, frozen=True):
    """An operation; `modifiers`: those it takes besides what its encoding has; `text`: what stands behind its name
    where that are no operands, and `expected`: in words."""

    forms: tuple[GcnForm, ...]
    run: Run
    modifiers: tuple[str, ...] = ()
    text: str = ""
    expected: str = ""


def forms_of(text: str) -> tuple[GcnForm, ...]:
    """Return the forms that a text lists."""
    made = []
    for one in text.split("|"):
        results, _, sources = one.rpartition("=")
        made.append(GcnForm(tuple(results.split()), tuple(sources.split())))
    return tuple(made)


def vector_op(text: str, function: Callable[..., Any], modifiers: tuple[str, ...] = ()) -> GcnOp:
    """Return an operation whose results are a function of its sources in each lane: one array, or one for each
    result."""
    forms = forms_of(text)
    (form,) = forms
    count = len(form.results)

    def run(wave: GcnWave, i: GcnInstruction) -> None:
        values = [
            read_source(wave, operand, type) for operand, type in zip(i.operands[count:], form.sources, strict=True)
        ]
        made = function(*values)
        write_results(wave, i, form, made if count > 1 else (made,))

    return GcnOp(forms, run, modifiers)


def read_source(wave: GcnWave, operand: Any, type: str) -> Array:
    """Return a source as an array of lanes."""
    return wave.read_mask(operand) if type == "mask" else wave.read(operand, type)


def write_results(wave: GcnWave, i: GcnInstruction, form: GcnForm, values: Any) -> None:
    """Write arrays of lanes to the results."""
    for operand, type, value in zip(i.operands, form.results, values, strict=False):
        if type == "mask":
            wave.write_mask(operand, value)
        else:
            wave.write(operand, changed(value, i.modifiers))


def changed(value: Array, modifiers: Mapping[str, str]) -> Array:
    """Return a floating-point result after what stands behind the operands."""
    if value.dtype.kind != "f":
        if not modifiers.keys().isdisjoint(("clamp", "mul", "div")):
            raise GcnFault("integers that are clamped or scaled are not modeled")
        return value
    if "mul" in modifiers:
        value = value * value.dtype.type(int(modifiers["mul"]))
    if "div" in modifiers:
        value = value / value.dtype.type(int(modifiers["div"]))
    if "clamp" in modifiers:
        value = np.where(np.isnan(value), 0, np.minimum(np.maximum(value, 0), 1)).astype(value.dtype)
    return value
