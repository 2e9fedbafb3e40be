"""Instructions of the mask ISA before they have registers.

A lane goes its own way through them: from `mask_nz` on to the next one or to `joins`, where the lanes of the stack's
entry that it is in go on; from `pop_mask` to `joins`; from `br_push` to the next one or to the other arm.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import numpy as np
from msgspec import Struct

from warpsmith.simt.mask.values import compute

__all__ = ["CodeLine", "LaneNumber", "LaunchWord", "MaskCode", "Virtual", "Word", "float_text"]


class Virtual(Struct, frozen=True):
    """A register that has no number yet: one word a lane."""

    number: int


class LaneNumber(Struct, frozen=True):
    """`thread_id` or `lane_id`."""

    name: str


class LaunchWord(Struct, frozen=True):
    """A word that comes with the launch: `ntid.x` …, or a parameter; its place in the view of them is given last."""

    name: str
    offset: int = 0


Word = Virtual | LaneNumber | int
"""What an instruction reads; a number is an immediate."""
_NEUTRAL: Final = {"add.u32": 0, "sub.u32": 0, "or": 0, "mul.u32": 1, "div.u32": 1, "and": 0xFFFFFFFF}
"""What changes nothing as the second operand."""
_EITHER: Final = ("add.u32", "or", "mul.u32", "and")


class CodeLine(Struct, frozen=True, eq=False):
    """An instruction, or a label (`op` is ""). `view`: `t0`, with a component; `word` of the launch, in its place."""

    op: str
    dest: Virtual | None = None
    sources: tuple[Word, ...] = ()
    labels: tuple[str, ...] = ()
    view: str = ""
    word: LaunchWord | None = None
    joins: str = ""


class MaskCode:
    """What was written so far. `joins`: where a lane that is masked off goes on, innermost last."""

    def __init__(self) -> None:
        self.lines: list[CodeLine] = []
        self.joins: list[str] = []
        self._virtuals = 0
        self._labels = 0

    def virtual(self) -> Virtual:
        """Return a register that nothing uses."""
        self._virtuals += 1
        return Virtual(self._virtuals - 1)

    def label(self, name: str) -> str:
        """Return a label that nothing uses."""
        self._labels += 1
        return f"{name}_{self._labels}"

    def place(self, label: str) -> None:
        """Put a label here."""
        self.lines.append(CodeLine("", labels=(label,)))

    def compute(self, op: str, *sources: Word) -> Word:
        """Write an operation and return its result; of immediates at once."""
        if all(isinstance(one, int) for one in sources):
            made = compute(op, tuple(np.array([[one]], np.uint32) for one in sources))
            return int(made[0, 0])
        if len(sources) == 2 and sources[1] == _NEUTRAL.get(op):
            return sources[0]
        if op in _EITHER and sources[0] == _NEUTRAL[op]:
            return sources[1]
        dest = self.virtual()
        self.lines.append(CodeLine(op, dest, sources))
        return dest

    def move(self, dest: Virtual, source: Word) -> None:
        """Write `source` to a register."""
        if dest != source:
            self.lines.append(CodeLine("mov", dest, (source,)))

    def load(self, view: str, address: Word) -> Virtual:
        """Load a word."""
        dest = self.virtual()
        self.lines.append(CodeLine("ld", dest, (address,), view=view))
        return dest

    def load_word(self, word: LaunchWord) -> Virtual:
        """Load a word of the launch."""
        dest = self.virtual()
        self.lines.append(CodeLine("ld", dest, word=word))
        return dest

    def store(self, view: str, address: Word, value: Word) -> None:
        """Store a word."""
        self.lines.append(CodeLine("st", None, (address, value), view=view))

    def keep(self, condition: Word) -> None:
        """Go on with the lanes where `condition` is not 0."""
        self.lines.append(CodeLine("mask_nz", None, (condition,), joins=self.joins[-1]))

    def push(self, join: str) -> None:
        """Put the mask on the stack: its lanes go on at `join`."""
        self.lines.append(CodeLine("push_mask", labels=(join,)))
        self.joins.append(join)

    def jump(self, label: str) -> None:
        """Go on at `label`."""
        self.lines.append(CodeLine("jmp", labels=(label,)))

    def end(self) -> None:
        """End the wave."""
        self.lines.append(CodeLine("ret"))

    @contextmanager
    def only(self, condition: Word) -> Iterator[None]:
        """What is written within is for lanes where `condition` is not 0."""
        join = self.label("JOIN")
        self.push(join)
        self.keep(condition)
        yield
        self._pop()
        self.joins.pop()
        self.place(join)

    @contextmanager
    def arms(self, condition: Word) -> Iterator[ArmEnd]:
        """Within, write for lanes where `condition` is not 0; behind a call of what is given, for the others."""
        join, other = self.label("JOIN"), self.label("ELSE")
        self.lines.append(CodeLine("br_push", None, (condition,), (other, join)))
        # both arms end at the join: lanes of one are in no entry of the other
        self.joins.append(join)
        yield ArmEnd(self, other)
        self._pop()
        self.joins.pop()
        self.place(join)

    def _pop(self) -> None:
        self.lines.append(CodeLine("pop_mask", joins=self.joins[-1]))


class ArmEnd(Struct, frozen=True):
    """Ends the first arm."""

    code: MaskCode
    label: str

    def __call__(self) -> None:
        """Begin the other arm."""
        self.code._pop()
        self.code.place(self.label)


def float_text(bits: int) -> str:
    """Return an immediate as the number that it is; what is not finite keeps its bits."""
    (value,) = struct.unpack("<f", struct.pack("<I", bits))
    return f"f({np.float32(value)})" if math.isfinite(value) else f"f(0x{bits:08x})"
