"""The context in which a loop is entered: the loops, conditions and early returns before it, if they still hold."""

from __future__ import annotations

import functools

import pytest

from tests.poly.analysis import program_of
from tests.poly.programs import function, loop
from tests.poly.regions.modelled import modelled
from warpsmith.poly.effects.origin import Origin
from warpsmith.poly.isl.host import condition_text
from warpsmith.poly.regions.model import build_region
from warpsmith.tree.program import Program

LOOP = "for (int i = 0; i < n; i++) a[i] = 0;"
# the function's body, the loop, what is known before it, and whether every point of that is reached
CASES: list[tuple[str, str, str, bool]] = [
    (LOOP, "i", "1", True),
    (f"if (n < 2) return; {LOOP}", "i", "n >= 2", True),
    (f"if (n < 2) {{ m = 1; return; }} {LOOP}", "i", "n >= 2", True),
    (f"if (m < 2) return; m = 1; {LOOP}", "i", "1", False),
    (f"if (n < 2) a[0] = 1; {LOOP}", "i", "1", True),
    (f"if (n < 2) return; else a[0] = 1; {LOOP}", "i", "1", False),
    (f"if (k[0] > 0) return; {LOOP}", "i", "1", False),
    (f"while (m) {{ if (n) return; m--; }} {LOOP}", "i", "1", False),
    (f"{LOOP} if (n < 2) return;", "i", "1", True),
    (f"if (n > 3) {{ {LOOP} }}", "i", "n >= 4", True),
    (f"if (n > 3) a[0] = 1; else {LOOP}", "i", "n <= 3", True),
    (f"if (n > 3 && k[0]) {{ {LOOP} }}", "i", "1", False),
    (f"if (m > 3) {{ {LOOP} m = 0; }}", "i", "1", False),
    (f"if (n != 3) {{ {LOOP} }}", "i", "n >= 4 || n <= 2", True),
    (f"for (int t = 0; t < m; t++) {LOOP}", "t/i", "t >= 0 && t < m", True),
    (f"for (int t = k[0]; t < 9; t++) {LOOP}", "t/i", "t <= 8", False),
    (f"for (int t = 0; t < 9; t += 3) if (t > 2) {LOOP}", "t/i", "t >= 0 && t <= 8", True),
    (f"while (m) {{ {LOOP} m--; }}", "while/i", "1", True),
    (f"for (int j = n; j > 0; j /= 2) {LOOP}", "for/i", "j >= 1", True),
    (f"for (; m > 2; m /= 2) {{ {LOOP} }}", "for/i", "m >= 3", True),
    (f"do {LOOP} while (m > 2);", "do/i", "1", True),
    (f"while (m > 2 && (m = k[0])) {LOOP}", "while/i", "1", True),
    (f"if (m > 2 && (m = k[0])) {LOOP}", "i", "1", False),
    (f"if (n > 9 && (n = 3)) {LOOP}", "i", "1", False),
    (f"goto in; if (n > 9) {{ in: a[0] = 1; {LOOP} }}", "i", "1", False),
    (f"goto in; while (n > 9) {{ in: a[0] = 1; {LOOP} n = 1; }}", "while/i", "1", False),
    (f"switch (m) {{ case 1: {LOOP} }}", "i", "1", False),
]


@functools.cache
def _program() -> Program:
    texts = (
        f"void f{number}(int n, int m, const int *restrict k, double *restrict a) {{ {body} }}"
        for number, (body, _, _, _) in enumerate(CASES)
    )
    return program_of("\n".join(texts))


@pytest.mark.parametrize("number", range(len(CASES)), ids=[case[0] for case in CASES])
def test_what_is_known_at_a_loop(number: int) -> None:
    _, address, known, reached = CASES[number]
    region, state = modelled(_program(), f"f{number}/{address}", guards=False)
    text = condition_text(state.vocabulary, region.context)
    assert text.startswith(known), text
    assert region.reached == reached
    outer = [one.variable.name for one, _ in region.outer]
    assert outer == [x for x in address.split("/")[:-1] if x not in ("while", "for", "do")]


def test_a_strided_loop_around_gives_its_values() -> None:
    number = next(k for k, case in enumerate(CASES) if "t += 3" in case[0])
    region, state = modelled(_program(), f"f{number}/t/i", guards=False)
    text = condition_text(state.vocabulary, region.context)
    assert "t >= 0" in text and "t <= 8" in text and "t >= 3" in text and "==" in text


def test_a_scope_of_no_text_has_the_loops_that_are_named() -> None:
    number = next(k for k, case in enumerate(CASES) if case[1] == "t/i" and case[3])
    one = function(_program(), f"f{number}")
    scope, around = loop(_program(), f"f{number}/t/i"), loop(_program(), f"f{number}/t")
    other = function(_program(), "f0")
    region, _ = build_region(Origin.of(_program(), other), (scope,), (around,), guards=False)
    assert [x.variable.name for x, _ in region.outer] == ["t"] and one is not other
