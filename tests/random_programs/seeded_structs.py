"""Bugs to seed where arrays of structs are split: each is a slip that the step might make."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import pytest
from msgspec.structs import replace

from warpsmith.loops.linear import number
from warpsmith.loops.writing import member_arrays
from warpsmith.offload.steps import split_structs
from warpsmith.offload.steps.split_structs import _Writer

__all__ = ["BUGS"]

Patch = pytest.MonkeyPatch


def _made(change: Callable[[Any], Any]) -> Callable[[Patch], None]:
    """Change what is known of a member."""

    def seed(patch: Patch) -> None:
        real: Any = member_arrays._make

        def make(*given: Any) -> Any:
            one = real(*given)
            return one if one is None else change(one)

        patch.setattr(member_arrays, "_make", make)

    return seed


def _copies(gather: bool) -> Callable[[Patch], None]:
    """Leave out the first member where members are gathered, or scattered."""

    def seed(patch: Patch) -> None:
        real: Any = _Writer.copies

        def copies(writer: Any, members: Any, span: Any, **given: Any) -> Any:
            return real(writer, members[1:] if given["gather"] == gather else members, span, **given)

        patch.setattr(_Writer, "copies", copies)

    return seed


def _other_names(patch: Patch) -> None:
    """Forget that elements may be used by another name."""
    real: Any = split_structs._find_bases

    def find(split: Any, touched: Any) -> Any:
        mine = {id(one.node) for one in split.uses}
        return real(split, [one for one in touched if id(one.expr) in mine])

    patch.setattr(split_structs, "_find_bases", find)
    patch.setattr(split_structs, "overlaps", lambda *given, **named: ((), ()))
    patch.setattr(split_structs, "_find_between", lambda *given: ())


def _rows_one_short(patch: Patch) -> None:
    real: Any = member_arrays._find_rows

    def rows(*given: Any) -> Any:
        found = real(*given)
        return found and tuple(member_arrays._join("-", [row, number(1, row.span)]) for row in found)

    patch.setattr(member_arrays, "_find_rows", rows)
    patch.setattr(member_arrays, "_is_within", lambda *given: True)


BUGS: Final[dict[str, Callable[[Patch], None]]] = {
    "a member is not gathered": _copies(gather=True),
    "a member is not scattered": _copies(gather=False),
    "what is written is not gathered": _made(lambda one: replace(one, needed=one.needed and not one.written)),
    "no test before the loop": _made(lambda one: replace(one, tests=())),
    "the last element is forgotten": _made(
        lambda one: replace(
            one,
            elements=tuple(
                replace(e, past=member_arrays._join("-", [e.past, number(1, e.past.span)])) for e in one.elements
            ),
        )
    ),
    "other names are forgotten": _other_names,
    "rows are one short": _rows_one_short,
}
