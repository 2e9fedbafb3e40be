"""Bugs that are put into the export, one at a time, and the random kernel that shows each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

import pytest
from msgspec import Struct

from tests.simt.engine.agree import Case
from tests.targets.mask.agree import DiffersError, agree
from tests.targets.mask.random_kernels import exported_case, written_case
from warpsmith.targets.mask import control, registers, words
from warpsmith.targets.mask.code import CodeLine, LaneNumber, MaskCode
from warpsmith.targets.mask.control import _Writer
from warpsmith.targets.mask.numbers import FLOATS

__all__ = ["BUGS", "Bug", "planted", "shows"]


class Bug(Struct, frozen=True):
    """`name` of `owner` is replaced by what `make` makes of it; `case` shows it."""

    what: str
    case: Callable[[], Case]
    owner: Any
    name: str
    make: Callable[[Any], Any]


@contextmanager
def planted(bug: Bug) -> Iterator[None]:
    """Export with a bug."""
    with pytest.MonkeyPatch.context() as patch:
        if isinstance(bug.owner, Mapping):
            patch.setitem(bug.owner, bug.name, bug.make(bug.owner[bug.name]))
        else:
            patch.setattr(bug.owner, bug.name, bug.make(getattr(bug.owner, bug.name)))
        yield


def shows(bug: Bug) -> bool:
    """Whether the kernel of a bug shows it: memory differs, or the program does not end as it should."""
    case = bug.case()
    with planted(bug):
        try:
            agree(case)
        except (DiffersError, KeyError):
            return True
    return False


def _one_after_the_other(_: object) -> object:
    def copy(self: _Writer, way: Any) -> None:
        for dest, source in self.copies(way):
            self.code.move(dest, source)

    return copy


def _without_wait(take: Any) -> object:
    def wrong(self: _Writer, at: Any, way: Any) -> str:
        waited = at.wait
        part: str = take(self, at, way)
        at.wait = waited
        return part

    return wrong


def _arms_swapped(arms: Any) -> object:
    def wrong(self: MaskCode, condition: Any) -> Any:
        return arms(self, self.compute("lt.u32", condition, 1))

    return wrong


def _no_pop(_: object) -> object:
    return lambda self: self.lines.append(CodeLine("mov", self.virtual(), (LaneNumber("lane_id"),)))


def _only_ahead(following: Any) -> object:
    return lambda line, at, places: (at + 1,) if line.op == "mask_nz" else following(line, at, places)


def _no_other_arm(following: Any) -> object:
    return lambda line, at, places: (at + 1,) if line.op == "br_push" else following(line, at, places)


def _unchecked(code: MaskCode, a: Any, b: Any) -> Any:
    quotient = code.compute("div.u32", words.absolute(code, a), words.absolute(code, b))
    return words.select(code, words.negative(code, words.xor(code, a, b)), words.opposite(code, quotient), quotient)


def _plain_quotient(code: MaskCode, a: Any, b: Any) -> Any:
    return code.compute("div.f32", a, b)


def _always(answer: Any) -> Callable[[Any], Any]:
    return lambda _: lambda *_: answer


def _instead(other: Any) -> Callable[[Any], Any]:
    return lambda _: other


def _random(seed: int) -> Callable[[], Case]:
    return lambda: exported_case(seed)


BUGS: Final[tuple[Bug, ...]] = (
    Bug("the arms of a branch are exchanged", _random(0), MaskCode, "arms", _arms_swapped),
    Bug(
        "the condition of one arm is not inverted",
        _random(2),
        control,
        "invert",
        _instead(lambda _, truth: truth),
    ),
    Bug("phis are copied one after the other", _random(2), _Writer, "copy", _one_after_the_other),
    Bug("the mask is not popped behind an arm", _random(0), MaskCode, "_pop", _no_pop),
    Bug("lanes that leave a loop in an arm go on in it", _random(2), _Writer, "take", _without_wait),
    Bug(
        "copies of a way are made by lanes that go another one",
        written_case,
        _Writer,
        "may_precede",
        _always(True),
    ),
    Bug("what waiting lanes need is overwritten", _random(0), registers, "_next", _only_ahead),
    Bug("what the other arm needs is overwritten", _random(3), registers, "_next", _no_other_arm),
    Bug(
        "arms that share code are written as if they did not",
        _random(5),
        control,
        "reached",
        _always(set()),
    ),
    Bug(
        "signed numbers are compared as unsigned ones",
        _random(5),
        words.WHOLE,
        "slt",
        _instead(words.WHOLE["ult"]),
    ),
    Bug(
        "shifts to the right forget the sign",
        _random(119),
        words.WHOLE,
        "ashr",
        _instead(words.WHOLE["lshr"]),
    ),
    Bug("the quotient by 0 has a sign", _random(77), words.WHOLE, "sdiv", _instead(_unchecked)),
    Bug(
        "a quotient by 0 is what the ISA has",
        _random(102),
        FLOATS,
        "fdiv",
        _instead(_plain_quotient),
    ),
)
