"""Guards are tested only where their value cannot have changed, and run-time versions hold both texts."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.offload.hand import load
from warpsmith.loops.versions import can_version, usable, version
from warpsmith.offload.transfers.splice import splice
from warpsmith.tree.nodes import DeclStmt, Empty, Expr, For, Function, If, Stmt
from warpsmith.tree.printing.printer import print_stmt
from warpsmith.tree.program import Assumption, Program
from warpsmith.tree.walk import walk


def parts(directory: Path, body: str) -> tuple[Program, Function, Expr, tuple[Stmt, ...]]:
    """The condition is the initial value of `c`; the scope is what follows it."""
    text = f"extern void unknown(void); int g; void f(int n, double *a, double *b) {{ {body} }}"
    program = load(text, directory)
    function = next(f for _, f in program.functions() if f.symbol.name == "f")
    statements = function.body.statements
    at = next(i for i, s in enumerate(statements) if isinstance(s, DeclStmt) and s.declarations[0].symbol.name == "c")
    declaration = statements[at]
    assert isinstance(declaration, DeclStmt)
    condition = declaration.declarations[0].init
    assert condition is not None
    return program, function, condition, statements[at + 1 :]


LOOP = "for (int i = 0; i < n; i++) a[i] = 1;"


@pytest.mark.parametrize(
    ("before", "condition", "scope", "expected"),
    [
        ("", "n > 3", LOOP, True),
        ("", "&a[n] <= b", LOOP, True),
        ("int m = 3;", "m > n", LOOP, True),
        ("", "a[0] > 0", LOOP, False),
        ("", "*b > 0", LOOP, False),
        ("", "n > 3", LOOP + " n = 4;", False),
        ("", "a < b", LOOP + " a++;", False),
        ("", "g > 3", LOOP, True),
        ("", "g > 3", LOOP + " unknown();", False),
        ("int m = 3; int *p = &m;", "m > 3", LOOP + " *p = 1;", False),
        ("", "unknown == 0", LOOP, True),
    ],
)
def test_a_guard_is_usable(before: str, condition: str, scope: str, expected: bool, tmp_path: Path) -> None:
    program, function, found, statements = parts(tmp_path, f"{before} int c = {condition}; {scope}")
    assert usable(program, function, found, statements) == expected


def test_a_static_variable_or_a_jump_is_never_doubled(tmp_path: Path) -> None:
    *_, plain = parts(tmp_path, f"int c = 1; {LOOP}")
    *_, static = parts(tmp_path, f"int c = 1; {LOOP} {{ static int calls; calls++; }}")
    *_, jump = parts(tmp_path, f"int c = 1; {LOOP} if (n) goto end; n = 3; end: n = 4;")
    assert (can_version(plain), can_version(static), can_version(jump)) == (True, False, False)


def test_both_versions_stand_in_the_text(tmp_path: Path) -> None:
    _, function, condition, scope = parts(tmp_path, f"int c = n > 3; {LOOP}")
    guards = [
        Assumption("n > 3", "guarded", condition),
        Assumption("again", "guarded", condition),
        Assumption("asserted", "granted", condition),
    ]
    ported = (Empty(span=function.span),)
    (found,) = version(scope, ported, guards)
    assert isinstance(found, If)
    assert " ".join(print_stmt(found).split()) == f"if (n > 3) {{ ; }} else {{ {LOOP} }}"
    assert version(scope, ported, guards[2:]) == ported


def test_splice_replaces_runs_and_bare_bodies(tmp_path: Path) -> None:
    _, function, _, scope = parts(tmp_path, f"int c = 1; n = 2; n = 3; if (c) {LOOP} else n = 4;")
    loop = next(p for p in walk(function.body) if isinstance(p, For))
    empty = Empty(span=function.span)
    changed = splice(function, [(scope[:2], (empty,)), ((loop,), (empty, empty))])
    text = " ".join(print_stmt(changed.body).split())
    assert text == "{ int c = 1; ; if (c) { ; ; } else n = 4; }"
    with pytest.raises(ValueError, match="does not stand"):
        splice(changed, [((loop,), (empty,))])
