"""Where the statements of a run stand, what belongs to one instance alone, and what keeps the run from being
reordered."""

from __future__ import annotations

import functools

import pytest

from tests.poly.analysis import program_of
from tests.poly.programs import function, shown
from warpsmith.poly.analyze import Facts
from warpsmith.poly.facts import PolyOptions
from warpsmith.poly.legality.statements import StatementSurvey, survey
from warpsmith.tree.nodes import ExprStmt, For, Function, Stmt, VarDecl
from warpsmith.tree.types import Symbol
from warpsmith.tree.walk import walk

# the body of f; its statements are the statements that assign to elements of a and b. Where they stand, what is each
# instance's own, and words of what is in the way
CASES: list[tuple[str, list[str], str, str]] = [
    ("for (int i = 0; i < n; i++) a[i] = 0;", ["0 i 0"], "i", ""),
    ("for (int i = 0; i < n; i++) { a[i] = 0; b[i] = 1; }", ["0 i 0", "0 i 1"], "i", ""),
    ("for (int i = n; i > 0; i--) a[i] = 0;", ["0 -i 0"], "i", ""),
    (
        "for (int i = 0; i < n; i++) { a[i] = 0; for (int j = 0; j < n; j++) b[j] = 1; }",
        ["0 i 0", "0 i 1 j 0"],
        "i j",
        "",
    ),
    ("for (int i = 0; i < n; i++) a[i] = 0; for (int i = 0; i < n; i++) b[i] = 0;", ["0 i 0", "1 i 0"], "i i", ""),
    ("for (int i = 0; i < n; i++) if (n > 3) { a[i] = 0; } else b[i] = 1;", ["0 i 0", "0 i 1"], "i", ""),
    ("for (int i = 0; i < n; i++) { double u; { ; } a[i] = 0; }", ["0 i 0"], "i", ""),
    ("for (int i = 0; i < n; i++) { double u = 1; a[i] = u; }", ["0 i 0"], "i", "has no place in the new order"),
    ("for (int i = 0; i < n; i++) { t = i; a[i] = t; }", ["0 i 0"], "i", "has no place in the new order"),
    ("for (int i = 0; i < n; i++) a[i] = t = 2;", ["0 i 0"], "i t", ""),
    ("for (int i = 0; i < n; i++) a[i] = t += 2;", ["0 i 0"], "i", ""),
    ("for (int i = 0; i < n; i++) a[i] = t = 2; out[0] = t;", ["0 i 0"], "i", ""),
    ("for (k = 0; k < n; k++) a[k] = 0;", ["0 k 0"], "k", ""),
    ("for (k = 0; k < n; k++) a[k] = 0; out[0] = k;", ["0 k 0"], "k", "the counter k of the loop is read after it"),
    (
        "for (k = 0; k < n; k++) a[k] = 0; for (int i = k; i < n; i++) b[i] = 1;",
        ["0 k 0", "1 i 0"],
        "i k",
        "used outside",
    ),
    ("for (int i = 0; i < n; i++) a[i] = elsewhere();", ["0 i 0"], "i", "elsewhere"),
    ("for (int i = 0; i < n; i++) { if (n) break; a[i] = 0; }", ["0 i 0"], "i", "has no place in the new order"),
    ("while (n) { a[0] = 1; n--; }", [], "", "has no place in the new order"),
]
HEAD = "double elsewhere(void); double out[3];\n"


@functools.cache
def _facts() -> Facts:
    texts = (
        f"void f{number}(int n, double *restrict a, double *restrict b) {{ int k; double t = 0; {body} }}"
        for number, (body, *_) in enumerate(CASES)
    )
    return Facts.about(program_of(HEAD + "\n".join(texts)), PolyOptions())


def _is_leaf(stmt: Stmt) -> bool:
    return isinstance(stmt, ExprStmt) and stmt.span.text.startswith(("a[", "b["))


def _run(one: Function) -> tuple[Stmt, ...]:
    """Return the statements behind the declarations, without what reads the results."""
    return tuple(s for s in one.body.statements[2:] if not s.span.text.startswith("out"))


def _surveyed(
    name: str, statements: frozenset[Stmt] | None = None, owned: frozenset[Symbol] = frozenset()
) -> StatementSurvey:
    one = function(_facts().program, name)
    run = _run(one)
    found = frozenset(n for stmt in run for n in walk(stmt) if isinstance(n, ExprStmt) and _is_leaf(n))
    return survey(_facts(), one, run, found if statements is None else statements, owned)


def _time(schedule: tuple[object, ...]) -> str:
    dimensions: list[str] = []
    for dimension in schedule:
        terms = getattr(dimension, "terms", ())
        dimensions.append(
            "".join(f"{'-' if f < 0 else ''}{s.name}" for s, f in terms) or str(getattr(dimension, "constant", ""))
        )
    return " ".join(dimensions)


@pytest.mark.parametrize("number", range(len(CASES)), ids=[case[0] for case in CASES])
def test_leaves(number: int) -> None:
    _, schedules, private, said = CASES[number]
    found = _surveyed(f"f{number}")
    assert [_time(standing.schedule) for standing in found.standings] == schedules
    assert shown(found.private) == private
    reasons = [reason.text for reason in found.obstacles]
    assert any(said in text for text in reasons) if said else not reasons, reasons


def test_loops_around_leaves() -> None:
    found = _surveyed("f3")
    assert [[loop.variable.name for loop in standing.loops] for standing in found.standings] == [["i"], ["i", "j"]]


def test_what_is_owned_is_in_nobodys_way() -> None:
    one = function(_facts().program, "f13")
    (k,) = (n.symbol for n in walk(one) if isinstance(n, VarDecl) and n.symbol.name == "k")
    assert not _surveyed("f13", owned=frozenset({k})).obstacles


def test_a_leaf_that_does_not_stand_in_the_run() -> None:
    other = function(_facts().program, "f0").body.statements[2]
    statement = next(n for n in walk(other) if isinstance(n, ExprStmt))
    found = _surveyed("f1", frozenset({statement}))
    assert any("does not stand in the statements" in reason.text for reason in found.obstacles)


def test_a_leaf_that_cuts_the_loop_around_it_short() -> None:
    one = function(_facts().program, "f16")
    (loop,) = _run(one)
    assert isinstance(loop, For)
    found = survey(_facts(), one, (loop,), frozenset({loop.body}), frozenset())
    assert any("cuts the loop around it short" in reason.text for reason in found.obstacles)
