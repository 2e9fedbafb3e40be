"""What follows from which variables, what changes a variable, and what lasts."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.front.teams.as_text import read_text
from warpsmith.front.teams.own import changes_in, is_pure, lasting, named_in
from warpsmith.tree.nodes import DeclStmt, Function, If
from warpsmith.tree.types import Symbol
from warpsmith.tree.walk import walk

HEAD = """void use(double *p); int side(void); struct s { int n; double v[4]; };
void f(int n, int m, int k, double *p, struct s *q)
{
    double own[4]; const double table[2] = {1, 2}; int x; struct s one; double *walk; int *at = &m;
    if (n) {
        BODY
    }
}
"""


def function(tmp_path: Path, body: str) -> Function:
    program, _ = read_text(HEAD.replace("BODY", body), tmp_path)
    return program.units[0].functions[0]


def region(f: Function) -> If:
    return next(part for part in walk(f) if isinstance(part, If))


def symbol(f: Function, name: str) -> Symbol:
    return next(s for s in named_in(f.body) | {d.symbol for n in walk(f) if isinstance(n, DeclStmt)
                                               for d in n.declarations} if s.name == name)  # fmt: skip


@pytest.mark.parametrize(
    ("text", "pure"),
    [
        ("int y = n * 3 + (n < 4 ? -n : n);", True),
        ("int y = (long)n << 2;", True),
        ("double *y = &p[n * 2];", True),
        ("double *y = q->v + n;", False),
        ("double *y = &q->v[n];", True),
        ("double y = p[n];", False),
        ("int y = m;", False),
        ("int y = side();", False),
        ("int y = q->n;", False),
        ("double *y = &p[m];", False),
        ("int y = n++;", False),
        ("int y = (x = 2, n);", False),
    ],
)
def test_what_follows_from_variables(tmp_path: Path, text: str, *, pure: bool) -> None:
    f = function(tmp_path, text)
    declared = next(part for part in walk(region(f)) if isinstance(part, DeclStmt)).declarations[0]
    assert declared.init is not None
    fixed = {s for s in named_in(f.body) if s.name in ("n", "p", "q")}
    assert is_pure(declared.init, fixed) is pure


@pytest.mark.parametrize(
    ("text", "name", "changes"),
    [
        ("x = 1;", "x", 1),
        ("x += n; --x;", "x", 2),
        ("n = x;", "x", 0),
        ("own[n] = 1;", "own", 1),
        ("use(own);", "own", 1),
        ("use(&own[1]);", "own", 1),
        ("n = table[1] > own[0];", "own", 0),
        ("one.n = 2;", "one", 1),
        ("walk = own; walk[1] = 2;", "walk", 1),
        ("*walk = 2; walk++;", "walk", 1),
        ("use(walk);", "walk", 0),
        ("for (x = 0; x < n; x++) p[x] = 1;", "x", 1),
    ],
)
def test_what_changes_a_variable(tmp_path: Path, text: str, name: str, changes: int) -> None:
    f = function(tmp_path, text)
    assert len([*changes_in(region(f), symbol(f, name))]) == changes


def test_what_lasts_is_neither_written_nor_known_by_its_address(tmp_path: Path) -> None:
    f = function(tmp_path, "k = 2; p[n] = m + *at + own[0];")
    found = {s.name for s in lasting(f, region(f), set())}
    assert {"n", "p", "own"} <= found
    assert not {"k", "m"} & found
