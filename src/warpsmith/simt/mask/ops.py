"""The table of operations of the mask ISA: its single truth.

`form` says which operands an operation takes (operands.py) and which unit it needs:

    map        dest, sources      each component by itself; a source of one component serves all
    length     dest.x, source     the Euclidean length of all components of the source
    normalize  dest, source       the source divided by its length; zero stays zero
    load       dest, t, address   words of a buffer                        memory
    store      u, address, source words of a buffer, channels of an image  memory
    sample     dest, t, s, place  bilinear, wrapped around                 sampler
    push pop nonzero branch jump return                                    none: decoded, and done (stack.py)

`clocks`: how long the last stage of an ALU is held by each group of lanes. `code` is the number
in clocks/compiled/machine.h.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

from msgspec import Struct

__all__ = ["OPS", "MaskForm", "MaskOp", "Unit"]

MaskForm = Literal[
    "map", "length", "normalize", "load", "store", "sample", "push", "pop", "nonzero", "branch", "jump", "return"
]
Unit = Literal["alu", "memory", "sampler", "control"]
_UNITS: Final[Mapping[str, Unit]] = {
    "map": "alu", "length": "alu", "normalize": "alu", "load": "memory", "store": "memory", "sample": "sampler",
}  # fmt: skip


class MaskOp(Struct, frozen=True):
    """One operation; `sources`: how many values a map takes."""

    name: str
    form: MaskForm
    sources: int
    clocks: int
    code: int

    @property
    def unit(self) -> Unit:
        """What executes it."""
        return _UNITS.get(self.form, "control")

    @property
    def writes(self) -> bool:
        """Whether its first operand is a register that it writes."""
        return self.form in ("map", "length", "normalize", "load", "sample")


_ROWS: Final[tuple[tuple[str, MaskForm, int, int], ...]] = (
    ("mov", "map", 1, 1),
    ("utof", "map", 1, 1),
    ("add.f32", "map", 2, 1),
    ("sub.f32", "map", 2, 1),
    ("mul.f32", "map", 2, 2),
    ("mad.f32", "map", 3, 2),
    ("lerp", "map", 3, 2),
    ("div.f32", "map", 2, 4),
    ("abs.f32", "map", 1, 1),
    ("clamp", "map", 1, 1),
    ("len", "length", 1, 1),
    ("norm", "normalize", 1, 4),
    ("add.u32", "map", 2, 1),
    ("sub.u32", "map", 2, 1),
    ("mul.u32", "map", 2, 2),
    ("mad.u32", "map", 3, 2),
    ("div.u32", "map", 2, 4),
    ("and", "map", 2, 1),
    ("or", "map", 2, 1),
    ("lt.f32", "map", 2, 1),
    ("gt.f32", "map", 2, 1),
    ("lt.u32", "map", 2, 1),
    ("gt.u32", "map", 2, 1),
    ("ld", "load", 1, 1),
    ("st", "store", 2, 1),
    ("sample", "sample", 1, 1),
    ("push_mask", "push", 0, 1),
    ("pop_mask", "pop", 0, 1),
    ("mask_nz", "nonzero", 1, 1),
    ("br_push", "branch", 1, 1),
    ("jmp", "jump", 0, 1),
    ("ret", "return", 0, 1),
)
OPS: Final[Mapping[str, MaskOp]] = {
    name: MaskOp(name, form, sources, clocks, code) for code, (name, form, sources, clocks) in enumerate(_ROWS)
}
