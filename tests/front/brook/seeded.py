"""Bugs that are put into the reader of Brook+, one at a time: a kernel of the examples shows each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import pytest
from msgspec import Struct
from msgspec.structs import replace

from tests.front.brook.by_hand import CASES, agrees
from warpsmith.front.brook import expressions, functions, kinds
from warpsmith.front.brook.expressions import BrookExpressions, position
from warpsmith.front.brook.kernels import _Maker
from warpsmith.front.brook.operators import LEVELS
from warpsmith.tree.nodes import Binary, Empty, Literal
from warpsmith.tree.types import INT

__all__ = ["BUGS", "ReaderBug", "found_by"]


class ReaderBug(Struct, frozen=True):
    """`name` of `owner` (a module, a class or a table) is replaced by what `make` makes of it."""

    title: str
    owner: Any
    name: str
    make: Callable[[Any], Any]


def found_by(bug: ReaderBug) -> str | None:
    """Return the kernel that shows a bug; None where none does."""
    with pytest.MonkeyPatch.context() as patch:
        functions._prelude.cache_clear()
        if isinstance(bug.owner, Mapping):
            patch.setitem(bug.owner, bug.name, bug.make(bug.owner[bug.name]))
        else:
            patch.setattr(bug.owner, bug.name, bug.make(getattr(bug.owner, bug.name)))
        try:
            return next((case.kernel for case in CASES[::-1] if _shows(case)), None)
        finally:
            functions._prelude.cache_clear()


def _shows(case: Any) -> bool:
    try:
        return not agrees(case)
    except AssertionError:
        return True


def _other_axis(real: Any) -> Any:
    return lambda axis, span: position(1 - axis, span)


def _swapped_rows(real: Any) -> Any:
    def made(self: Any, subscripts: list[Any], axes: int, span: Any) -> Any:
        return real(self, subscripts, axes, span)[::-1]

    return made


def _next_place(real: Any) -> Any:
    def made(self: Any, value: Any) -> Any:
        one = Literal(span=value.span, type=INT, text="1", value=1)
        return Binary(span=value.span, type=INT, op="|", left=real(self, value), right=one)

    return made


def _columns_first(real: Any) -> Any:
    def made(self: Any) -> Any:
        row = self._of("*", position(0, self.place), self._name(self.height))
        return self._of("+", row, position(1, self.place))

    return made


def _without_last(real: Any) -> Any:
    return lambda self, op, left, right: real(self, "<=" if op == ">=" else op, left, right)


def _first_again(real: Any) -> Any:
    return lambda self, op, left, right: real(self, "==" if op == "!=" else op, left, right)


def _reversed_lanes(real: Any) -> Any:
    return lambda name, lanes: real(name, lanes)[::-1]


def _next_element(real: Any) -> Any:
    def made(self: Any, one: Any, index: Any) -> Any:
        return real(self, one, self._of("+", index, self._number(int(one.kind == "stream"))))

    return made


def _padded(real: Any) -> Any:
    return replace(real, bytes=16, alignment=16)


def _stores_nothing(real: Any) -> Any:
    return lambda self, one, symbol: Empty(span=self.place)


BUGS: Final = (
    ReaderBug("instance() has x and y swapped", expressions, "position", _other_axis),
    ReaderBug("subscripts g[y][x] are taken as g[x][y]", BrookExpressions, "_places", _swapped_rows),
    ReaderBug("a subscript is not what is written", BrookExpressions, "_whole", _next_place),
    ReaderBug("streams lie column by column", _Maker, "_here", _columns_first),
    ReaderBug("the guard lets the wrong threads through", _Maker, "_of", _without_last),
    ReaderBug("only the first element is reduced", _Maker, "_of", _first_again),
    ReaderBug("in streams are read one element further", _Maker, "_element", _next_element),
    ReaderBug("components of v.zyx are taken from behind", expressions, "find_lanes", _reversed_lanes),
    ReaderBug("a float3 has 16 bytes", kinds.TYPE_NAMES, "float3", _padded),
    ReaderBug("+ binds as tightly as *", LEVELS, "+", lambda real: LEVELS["*"]),
    ReaderBug("/ is read with what stands behind it", LEVELS, "*", lambda real: LEVELS["-"]),
    ReaderBug("min is max", functions._NAMED, "min", lambda real: "fmax"),
    ReaderBug("trunc rounds down", functions._FLOATS, "trunc", lambda real: 2),
    ReaderBug("out streams are not stored", _Maker, "_store", _stores_nothing),
)  # fmt: skip
