"""Expressions in parameters: C's grammar of sums and products, names in scope only."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.loops.steps.refusals import one
from warpsmith.loops.analysis.expression import parse, visible
from warpsmith.loops.linear import Linear
from warpsmith.loops.place import LoopContext
from warpsmith.tree.printing.printer import print_expr

BODY = (
    "int p = n; { double d = 1; x[0] = d; } for (int i = 0; i < n; i++) { int q = i; x[q] = p; }"
    " int later = 1; x[0] = later;"
)


@pytest.mark.parametrize(
    ("text", "constant", "terms"),
    [
        ("7", 7, {}),
        (" n ", 0, {"n": 1}),
        ("n - 2*(k + 1)", -2, {"n": 1, "k": -2}),
        ("-n--1", 1, {"n": -1}),
        ("2*3*m - m*4", 0, {"m": 2}),
        ("p", 0, {"p": 1}),
    ],
)
def test_sums_and_products(text: str, constant: int, terms: dict[str, int], tmp_path: Path) -> None:
    place = LoopContext.of(one(BODY, tmp_path).program, "F/i")
    found = parse(text, visible(place.function, place.loop), place.loop.header)
    assert not isinstance(found, str), found
    form = Linear.of(found)
    assert form is not None
    assert (form.constant, {s.name: c for s, c in form.terms}) == (constant, terms)
    again = parse(print_expr(found), visible(place.function, place.loop), place.loop.header)
    assert not isinstance(again, str) and Linear.of(again) == form


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "ends too early"),
        ("n +", "ends too early"),
        ("(n", "is missing"),
        ("n n", "not expected"),
        ("n / 2", "not expected"),
        ("a[0]", "not an integer variable"),
        ("d", "not an integer variable"),
        ("q", "not an integer variable"),
        ("later", "not an integer variable"),
        ("99999999999999999999", "too large"),
        ("(" * 200 + "n" + ")" * 200, "too deeply"),
        ("f()", "not an integer variable"),
    ],
)
def test_what_is_wrong_is_said(text: str, words: str, tmp_path: Path) -> None:
    place = LoopContext.of(one(BODY, tmp_path).program, "F/i")
    found = parse(text, visible(place.function, place.loop), place.loop.header)
    assert isinstance(found, str) and words in found, found
