"""Normalization: loops whose step is a variable run the same iterations once these are counted."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.loops.steps.refusals import Misfits, wrongly_answered
from tests.loops.steps.twins import Steps, function_text, stands, stepped
from warpsmith.base.source import Span
from warpsmith.base.verdict import Proved
from warpsmith.loops.steps.order import normalize
from warpsmith.loops.steps.order.normalize import Normalize
from warpsmith.loops.strided_loops import Strided
from warpsmith.poly.analyze import Facts
from warpsmith.poly.facts import PolyOptions
from warpsmith.tree.nodes import Expr, For
from warpsmith.tree.program import Assumption
from warpsmith.tree.walk import walk

STEP = "int s = k > 0 ? k : 1; "
LOOP = STEP + "for (int i = 0; i < n; i += s) x[i] = 2 * x[i] + i;"


def once(f: str) -> tuple[Normalize]:
    return (Normalize(f"{f}/for"),)


MISFITS: Misfits = {
    "a counted loop": ("does not count by", ("for (int i = 0; i < n; i++) x[i] = 0;", lambda f: Normalize(f"{f}/i"))),
    "a step that is multiplied": (
        "does not count by",
        ("for (int i = 1; i < n; i *= 2) x[i] = 0;", lambda f: Normalize(f"{f}/for")),
    ),
    "a step that changes": (
        "s may change in the loop",
        (STEP + "for (int i = 0; i < n; i += s) { x[i] = 0; s++; }", lambda f: Normalize(f"{f}/for")),
    ),
    "a bound that changes": (
        "n may change in the loop",
        (STEP + "for (int i = 0; i < n; i += s) { x[i] = 0; n--; }", lambda f: Normalize(f"{f}/for")),
    ),
    "a counter that the body moves": (
        "i is written in the body",
        (STEP + "for (int i = 0; i < n; i += s) { x[i] = 0; if (m) i++; }", lambda f: Normalize(f"{f}/for")),
    ),
    "a counter that others reach": (
        "may be read or changed elsewhere",
        (STEP + "int i, *p = &i; for (i = 0; i < n; i += s) { x[i] = 0; *p += 1; }", lambda f: Normalize(f"{f}/for")),
    ),
    "an early end": (
        "may be left early",
        (STEP + "for (int i = 0; i < n; i += s) { if (x[i] > 9) break; x[i] = 0; }", lambda f: Normalize(f"{f}/for")),
    ),
    "a step from memory": (
        "more than numbers and plain variables",
        ("for (int i = 0; i < n; i += (int)y[0] + 1) x[i] = 0;", lambda f: Normalize(f"{f}/for")),
    ),
    "a step that divides": (
        "more than numbers and plain variables",
        ("for (int i = 0; i < n; i += 9 / m) x[i] = 0;", lambda f: Normalize(f"{f}/for")),
    ),
}


def test_what_does_not_fit_says_why(tmp_path: Path) -> None:
    assert wrongly_answered(MISFITS, tmp_path) == {}


UNSIGNED = "unsigned u = n > 0 ? n : 0, h = k > 0 ? k : 1; "
SAME: tuple[tuple[str, Steps], ...] = (
    (LOOP, once),
    (STEP + "for (int i = n; i > 0; i -= s) x[i - 1] = 2 * x[i - 1] + i;", once),
    (STEP + "for (int i = n - s; i >= 0; i -= s) x[i] = 2 * x[i] + i;", once),
    (STEP + "int i = 7; for (i = n; s <= i; i = i - s) x[i - s] += i; y[0] = i;", once),
    (STEP + "int i = 7; for (i = n - 2 * s; i >= 2; i -= 2 * s) x[i] += i; y[0] = i;", once),
    (UNSIGNED + "for (unsigned i = u / h * h; i > 0; i -= h) x[i - 1] = 2 * x[i - 1] + i;", once),
    (UNSIGNED + "for (unsigned i = u; i >= h; i -= h) for (unsigned j = i; j < i + h; j++) x[j - h] += j;", once),
    (LOOP.replace("i < n", "n >= i"), once),
    (LOOP.replace("i += s", "i = s + i"), once),
    (LOOP.replace("i += s", "i = i + s"), once),
    (LOOP.replace("i < n", "i + s < n"), once),
    (LOOP.replace("i < n", "m + i <= n"), once),
    (LOOP.replace("i = 0", "i = s * s"), once),
    (LOOP.replace("i = 0", "i = n % 3 * (n > 0)"), once),
    (STEP + "int i = 7; for (i = 0; i <= n; i += s) x[i] += i; y[0] = i;", once),
    (STEP + "int i = 7; for (i = 2; i <= n; i += 2 * s) x[i] += i; y[0] = i;", once),
    ("unsigned u = n > 0 ? n : 0, h = k > 0 ? k : 1; for (unsigned i = 0; i < u; i += h) x[i] += i;", once),
    (
        "unsigned u = n > 0 ? n : 0, h = k > 0 ? k : 1; unsigned i; for (i = 0; i <= u; i += h) x[i] += i; y[3] = i;",
        once,
    ),
    (
        "unsigned long u = n > 0 ? n : 0, h = k > 0 ? k : 1; for (unsigned long i = 0; i < u; i += 2 * h) x[i] += i;",
        once,
    ),
    # inner loops that stand alone, from zero or from the counter
    (STEP + "for (int i = 0; i < n; i += 2 * s) for (int j = 0; j < s; j++) x[i + j] += y[i + j + s];", once),
    (STEP + "for (int i = 0; i < n; i += 2 * s) for (int j = i; j < i + s; j++) x[j] = x[j + s] + i;", once),
    (STEP + "for (int i = 0; i < n; i += s) for (int j = i; j < m + i; j++) { x[j] += i; y[i] += j; }", once),
    (STEP + "int i, j; for (i = 0; i < n; i += s << 1) for (j = i; j < i + s; j++) x[j] = x[j + s] + i;", once),
    (STEP + "int i, j = 4; for (i = 0; i < n; i += s) for (j = i; j < i + s; j++) x[j] = i; y[2] = j;", once),
    (STEP + "for (int i = 0; i < n; i += s) { for (int j = i; j <= n; j++) x[j] += i; y[i] = 1; }", once),
    (
        "unsigned u = n > 0 ? n : 0, h = k > 0 ? k : 1; "
        "for (unsigned i = 0; i < u; i += h + h) for (unsigned j = i; j < i + h; j++) x[j] = x[j + h] + i;",
        once,
    ),
    (
        "unsigned u = n > 0 ? n : 0, h = k > 0 ? k : 1; "
        "for (unsigned i = 0; i < u; i += h) for (unsigned j = i; j < i + m * m; j++) x[j] = i;",
        once,
    ),
)
SMALL = ((-3, 2, 1), (0, 1, 3), (1, 2, 1), (2, 0, 3), (5, 1, 2), (7, 2, 2), (9, 3, 3), (16, 1, 5), (16, 2, 4))


def test_normalized_loops_do_the_same(tmp_path: Path) -> None:
    assert stepped(SAME, tmp_path, SMALL) == []


def one_less(self: Strided, span: Span) -> Expr:
    """As `trips` of a loop that does not reach its bound."""
    if self.down and self.type.kind == "unsigned":
        return TRIPS(self, span)
    return TRIPS(replace(self, relation=">" if self.down else "<"), span)


def not_ahead(self: Strided, span: Span) -> Expr:
    """As `trips` of a loop that compares the counter alone."""
    return TRIPS(Strided(self.variable, self.declares, self.first, self.relation, self.bound, self.step), span)


TRIPS = Strided.trips


@pytest.mark.slow
@pytest.mark.parametrize("bug", [one_less, not_ahead])
def test_a_wrong_number_of_iterations_is_noticed(bug: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Strided, "trips", bug)
    assert stepped(SAME, tmp_path, SMALL) != []


def test_a_counter_that_is_read_later_must_be_restored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        normalize, "_restore", lambda header, loop: normalize._assign(header.variable, header.first, loop.span)
    )
    assert stepped(SAME, tmp_path, SMALL) != []


GUARDS: list[tuple[str, list[str]]] = [
    ("for (int i = 0; i < n; i += k) x[i] = 0;", ["k > 0"]),
    ("if (k > 2) for (int i = 0; i < n; i += k) x[i] = 0;", []),
    ("for (int s = k; s > 0; s /= 2) for (int i = 0; i < n; i += s) x[i] = 0;", []),
    ("for (int i = m; i < n; i += k) x[i] = 0;", ["k > 0", "m >= 0"]),
    ("for (int i = n % m; i < n; i += k) x[i] = 0;", ["k > 0", "m > 0 && n % m >= 0"]),
    ("for (int i = m * m; i < n; i += k) x[i] = 0;", ["k > 0"]),
    (
        "unsigned h = k; for (unsigned i = 0; i < 40; i += h) x[i] = 0;",
        ["h > 0", "40 <= 4294967295U - h"],
    ),
    (
        "long h = k; for (long i = 0; i < n; i += h) x[i] = 0;",
        ["h > 0", "n <= 9223372036854775807LL - h"],
    ),
]


@pytest.mark.parametrize(("body", "guards"), GUARDS)
def test_what_is_tested_before_the_loop(body: str, guards: list[str], tmp_path: Path) -> None:
    stand = stands(function_text("f", body), tmp_path)["f"]
    (name,) = [name for name in stand.loops() if name in ("f/for", "f/for/for")][-1:]
    verdict = stand.check(Normalize(name))
    assert isinstance(verdict, Proved)
    assert [a.text for a in verdict.assumptions] == guards
    assert all(isinstance(a, Assumption) and a.condition is not None for a in verdict.assumptions)
    refused = Normalize(name).check(stand.program, Facts.about(stand.program, PolyOptions(guards=False)))
    assert isinstance(refused, Proved) == (not guards)


def test_the_inner_loop_keeps_the_nest_perfect(tmp_path: Path) -> None:
    body = STEP + "for (int i = 0; i < n; i += 2 * s) for (int j = i; j < i + s; j++) x[j] = x[j + s] + i;"
    stand = stands(function_text("f", body), tmp_path)["f"].proved(Normalize("f/for"))
    outer, inner = (part for part in walk(stand.function.body) if isinstance(part, For))
    assert outer.body is inner
    assert all(facts.category == "parallel" for facts in stand.loops().values())
