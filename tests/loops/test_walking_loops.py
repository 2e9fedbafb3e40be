"""Loops that walk: which variables do, the bound that ends the loop, and what else it needs to go on."""

from __future__ import annotations

import pytest

from tests.poly.analysis import program_of
from warpsmith.base.verdict import Reason
from warpsmith.loops.walking_loops import WalkingLoop, moved_by, read_walk, unconditional_moves
from warpsmith.tree.nodes import ExprStmt, Stmt, While
from warpsmith.tree.printing.printer import print_expr
from warpsmith.tree.walk import walk

HEAD = "int f(int n, unsigned u, int *a, int *e, int **r) { int i = 0, k = 0; int *p = a; "


def read(text: str) -> WalkingLoop | str:
    function = next(f for _, f in program_of(f"{HEAD}{text} return k + i + *p; }}").functions())
    loop = next(n for n in walk(function.body) if isinstance(n, While))
    found = read_walk(loop, frozenset())
    return found.text if isinstance(found, Reason) else found


def parts(text: str) -> tuple[str, dict[str, int], list[str], int]:
    found = read(text)
    assert isinstance(found, WalkingLoop), found
    bound = f"{found.bound.walker.name} {found.bound.relation} {print_expr(found.bound.expr)}"
    steps = {symbol.name: by for symbol, by in found.steps.items()}
    return bound, steps, [print_expr(test) for test in found.goes_on], len(found.body)


def test_the_parts_of_loops() -> None:
    assert parts("for (p = a; p != e; ++p) k += *p;") == ("p != e", {"p": 1}, [], 1)
    assert parts("for (p = a, i = 3; e > p; p += 2, i--) k += i;") == ("p < e", {"p": 2, "i": -1}, [], 1)
    assert parts("while (i < n && a[i] != 3) i++;") == ("i < n", {"i": 1}, ["a[i] != 3"], 1)
    assert parts("while (a[i] != 3 && i < n) i = 2 + i;") == ("i < n", {"i": 2}, ["a[i] != 3"], 1)
    assert parts("while (n-- > 0) k += *p++;") == ("n > 0", {"n": -1, "p": 1}, [], 1)
    assert parts("while (u) { k++; if (k > 3) k = 1; u -= 1; }") == ("u != 0", {"u": -1}, [], 3)
    assert parts("while (1) { if (i >= n) break; k += a[i]; i++; }") == ("i < n", {"i": 1}, [], 2)
    assert parts("for (;;) { if (p == e) return 1; k += *p++; }") == ("p != e", {"p": 1}, [], 1)
    assert parts("do k += a[i]; while (++i < n);") == ("i < n", {"i": 1}, [], 1)


def test_the_setup_is_one_statement_for_each_variable() -> None:
    found = read("for (int *q = a, *z = e; q < z; q++) k += *q;")
    assert isinstance(found, WalkingLoop) and len(found.setup) == 2 and found.step == 1
    found = read("while (1) { if (i >= n) { k = 7; return k; } k += a[i]; i++; }")
    assert isinstance(found, WalkingLoop) and len(found.last) == 2


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("while (i < n) { if (a[i]) i++; }", "no variable moves"),
        ("while (i < n) i += n;", "no variable moves"),
        ("while (p != e) { p++; p = a; }", "no variable moves"),
        ("while (p != e) p += 2;", "compares no variable"),
        ("while (i > n) i++;", "compares no variable"),
        ("while (a[i]) i++;", "compares no variable"),
        ("while (i < n + i) i++;", "its bound moves"),
        ("for (p = a; p != e; ++p) { if (*p) ++p; }", "p is written in the body"),
        ("while (k++ == 3 && n < 5) n++;", "its condition changes"),
        ("do i++; while (i < n && a[i]);", "more than to compare"),
        ("do k += a[n]; while (n-- > 0);", "more than to compare"),
    ],
)
def test_other_loops_say_why(text: str, reason: str) -> None:
    found = read(text)
    assert isinstance(found, str) and reason in found, found


def test_moves_that_every_execution_makes() -> None:
    function = next(
        f for _, f in program_of(f"{HEAD} k = i++ && n++; k = u ? n-- : a[i]; *p++ = a[--i]; return k; }}").functions()
    )
    stmts: list[Stmt] = [s for s in function.body.statements if isinstance(s, ExprStmt)]
    moves = [[moved_by(m) for m in unconditional_moves(s)] for s in stmts]
    assert [sorted((s.name, by) for found in line if found for s, by in [found]) for line in moves] == [
        [("i", 1)],
        [],
        [("i", -1), ("p", 1)],
    ]
