"""Bugs that are put into the writer of AMD IL and into its reader, one at a time, and the kernel that shows each."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any, Final

from tests.simt.engine.agree import Case
from tests.targets.il.writing.agree import DiffersError, agree
from tests.targets.il.writing.one_op import FLOATS, NUMBERS, op_case
from tests.targets.mask.random_kernels import exported_case
from tests.targets.mask.seeded import Bug, planted
from warpsmith.base.errors import InputError
from warpsmith.front.il import arithmetic
from warpsmith.front.il.machine import IlMemory
from warpsmith.ssa.types import F32, I32
from warpsmith.targets.il.writing import numbers, words
from warpsmith.targets.il.writing.code import IlCode
from warpsmith.targets.il.writing.control import _Writer

__all__ = ["BUGS", "shows"]


def shows(bug: Bug, *, seeded: bool = True) -> bool:
    """Whether the kernel of a bug shows it: memory differs, or the program does not read or end as it should."""
    case = bug.case()
    with planted(bug) if seeded else nullcontext():
        try:
            agree(case, floats=True)
        except (DiffersError, InputError, KeyError, RecursionError):
            return True
    return False


def _one_after_the_other(_: object) -> object:
    def copy(self: _Writer, way: Any) -> None:
        for register, source in self.copies(way):
            self.code.move(register, source)

    return copy


def _arms_swapped(arms: Any) -> object:
    def wrong(self: _Writer, at: Any, fork: Any, join: Any) -> None:
        arms(self, at, type(fork)(fork.ways, fork.tests[::-1]), join)

    return wrong


def _never_noted(take: Any) -> object:
    def wrong(self: _Writer, at: Any, way: Any) -> Any:
        kept = self.code.move
        self.code.move = lambda target, source: None if target == at.which else kept(target, source)  # type: ignore[method-assign]
        try:
            return take(self, at, way)
        finally:
            self.code.move = kept  # type: ignore[method-assign]

    return wrong


def _break_without_copies(_: object) -> object:
    def wrong(self: _Writer, at: Any, way: Any, test: Any) -> None:
        self.code.put(f"break_{test.form}", None, test.word)

    return wrong


def _forgets_nothing(_: object) -> object:
    return lambda self: None


def _first_part(note: Any) -> object:
    return lambda self, at, way, following, numbers: note(self, at, way, following, dict.fromkeys(numbers, 1))


def _plain_shift(op: str) -> Callable[[Any], Any]:
    return lambda _: lambda code, a, n: code.compute(op, a, n)


def _last_word(_: object) -> object:
    return lambda self, one, address, values: self.builder.emit_many(
        "store", (self._bytes(one, address)[0], next(iter(values.values()))), (), self._bytes(one, address)[1]
    )


def _instead(other: Any) -> Callable[[Any], Any]:
    return lambda _: other


def _random(seed: int) -> Callable[[], Case]:
    return lambda: exported_case(seed)


def _one_op(op: str, type: Any) -> Callable[[], Case]:
    return lambda: op_case(op, (type, type), type, FLOATS if type == F32 else NUMBERS)


BUGS: Final[tuple[Bug, ...]] = (
    Bug("the arms of a branch are exchanged", _random(0), _Writer, "arms", _arms_swapped),
    Bug("phis are copied one after the other", _random(2), _Writer, "copy", _one_after_the_other),
    Bug("a loop that is left does not say to where", _random(9), _Writer, "take", _never_noted),
    Bug("a loop is left before phis are copied", _random(2), _Writer, "leave", _break_without_copies),
    Bug("what was computed before a loop is taken for what is in it", _random(2), IlCode, "forget", _forgets_nothing),
    Bug("of parts that ways share the first one is always next", _random(5), _Writer, "_note", _first_part),
    Bug("shifts beyond the width use five bits", _one_op("shl", I32), words.WHOLE, "shl", _plain_shift("ishl")),
    Bug("a remainder by 0 is what IL has", _one_op("urem", I32), words.WHOLE, "urem", _plain_shift("umod")),
    Bug("the lesser one of NaN is NaN", _one_op("fmin", F32), numbers.FLOATS, "fmin", _plain_shift("min")),
    Bug("the reader multiplies upper words as unsigned", _one_op("smulhi", I32), arithmetic._COMPUTED, "imul_high",
        _instead(arithmetic._COMPUTED["umul_high"])),
    Bug("the reader stores the first word of several", _random(3), IlMemory, "store_words", _last_word),
    Bug("the reader tests a predicate the other way", _random(0), arithmetic._COMPUTED, "cmov_logical",
        lambda right: lambda b, one, values: right(b, one, (values[0], values[2], values[1]))),
)  # fmt: skip
