"""References to members of structs: what of them is the element, and what a part of it."""

from __future__ import annotations

import pytest

from warpsmith.base.source import SourceFile, Span
from warpsmith.poly.isl.polynomial import ZERO
from warpsmith.poly.regions.region import ROW_STEP, Access, MemberStep, Path, Subscript
from warpsmith.tree.nodes import Name
from warpsmith.tree.types import DOUBLE, Symbol

AT, X, IN = Subscript(ZERO), MemberStep("x"), MemberStep("in")


@pytest.mark.parametrize(("path", "part"), [
    ((), ()), ((AT,), ()), ((AT, AT), ()), ((AT, X), (X,)), ((AT, IN, X), (IN, X)), ((AT, AT, X, AT), (X, AT)),
    ((X,), (X,)), ((AT, ROW_STEP, AT), (ROW_STEP, AT)),
])  # fmt: skip
def test_an_element_ends_where_a_member_is_named(path: Path, part: Path) -> None:
    span = Span(SourceFile("a.c", "a"), 0, 1)
    symbol = Symbol("a", "a", DOUBLE, "global", span)
    access = Access(Name(span=span, type=DOUBLE, symbol=symbol), symbol, "", path, True, DOUBLE, False)
    assert access.part == part
    whole = access.of_whole_elements()
    assert whole.path + part == path and whole.part == () and whole.expr is access.expr
