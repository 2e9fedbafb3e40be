"""Buffers and images that a program reads and writes, and where they lie.

    address of a view's byte n = its base + n; bases are multiples of 256, t0 first, then t1 …, u0, u1 …

so that no line of a cache has bytes of two views. Two views of one array of words are one: what is written to it is
read. Offsets begin at 0 in each view, and 0 can be loaded.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

import numpy as np
from msgspec import Struct

from warpsmith.base.errors import UsageError
from warpsmith.base.findings import Finding
from warpsmith.simt.mask.nodes import Immediate, LaneRegister, MaskInstruction, MaskProgram, ViewOperand
from warpsmith.simt.mask.values import Words

__all__ = ["BoundView", "ViewKey", "Views", "image", "is_pixel", "place_views", "words_of"]

ViewKey = tuple[Literal["t", "u"], int]
_ALIGNED: Final = 256


class BoundView(Struct, frozen=True, eq=False):
    """A buffer (`width` 0), or an image row by row, a word a pixel: red in the lowest byte, then green, blue, alpha."""

    words: Words
    width: int = 0
    height: int = 0
    base: int = 0

    @property
    def size(self) -> int:
        """How many bytes it has."""
        return 4 * len(self.words)


Views = Mapping[ViewKey, BoundView]


def words_of(values: object) -> BoundView:
    """Return a buffer of numbers: floats as f32, whole numbers as 32 bits."""
    array = np.asarray(values)
    kept = array.astype(np.float32).view(np.uint32) if array.dtype.kind == "f" else array.astype(np.uint32)
    return BoundView(np.ascontiguousarray(kept).reshape(-1).copy())


def image(pixels: object) -> BoundView:
    """Return an image of [height, width, 4] bytes."""
    array = np.ascontiguousarray(pixels, dtype=np.uint8)
    height, width, channels = array.shape
    if channels != 4:
        raise ValueError("a pixel has four bytes")
    return BoundView(array.view(np.uint32).reshape(-1).copy(), width, height)


def place_views(program: MaskProgram, given: Views) -> Views:
    """Return the views with their bases; raises UsageError where an instruction needs one that is not there, or is of
    the other kind."""
    for instruction in program.instructions:
        for operand in instruction.operands:
            if isinstance(operand, ViewOperand) and operand.kind != "s":
                _check(instruction, operand, given.get((operand.kind, operand.number)))
    placed: dict[ViewKey, BoundView] = {}
    same: dict[int, BoundView] = {}
    base = 0
    for key in sorted(given):
        bound = given[key]
        if id(bound.words) not in same:
            same[id(bound.words)] = BoundView(bound.words.copy(), bound.width, bound.height, base)
            base += -(-bound.size // _ALIGNED) * _ALIGNED
        placed[key] = same[id(bound.words)]
    return placed


def _check(instruction: MaskInstruction, view: ViewOperand, bound: BoundView | None) -> None:
    name = f"{view.kind}{view.number}"
    form = instruction.op.form
    pixels = form == "sample" or (form == "store" and is_pixel(instruction))
    wanted = f"{name}=image[16,16]" if pixels else f"{name}=zeros:u32[64]"
    if bound is None:
        raise UsageError(_finding(instruction, f"nothing is bound to {name}", f"--arg {wanted}"))
    if pixels != bool(bound.width):
        is_one, needed = ("an image", "a buffer") if bound.width else ("a buffer", "an image")
        message = f"{instruction.op.name} needs {needed}, and {name} is {is_one}"
        raise UsageError(_finding(instruction, message, f"--arg {wanted}"))


def is_pixel(instruction: MaskInstruction) -> bool:
    """Whether a store goes to an image: its address has two components."""
    match instruction.operands[1]:
        case LaneRegister(components=parts) | Immediate(words=parts):
            return len(parts) == 2
        case _:
            return False


def _finding(instruction: MaskInstruction, message: str, remedy: str) -> Finding:
    return Finding("MSK002", "error", message, instruction.span, (remedy,))
