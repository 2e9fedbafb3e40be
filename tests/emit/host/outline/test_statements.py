"""What statements of a run read, write and declare."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.emit.examples import lu, saxpy
from warpsmith.emit.host.outline.statements import (
    declared,
    find_given,
    host_uses,
    is_final,
    is_plain_declaration,
    reads_memory,
    uses,
    writes_memory,
)
from warpsmith.front.load import FrontOptions, load_program
from warpsmith.tree.memory.device_writes import find_exposed
from warpsmith.tree.nodes import Copy, DataExit, DeclStmt, ExprStmt, For, Function, Update, replace
from warpsmith.tree.printing.printer import nothing, print_expr

_TEXT = """
struct s { int k; int row[4]; struct s *next; };
int shared, table[5][6];
void take(int *);
void f(int n, int *a, int **t, struct s *p, int own)
{
    struct s here;
    take(&own);
    (void)&a[n];
    (void)&t[n][1];
    (void)&table[n][1];
    (void)table[n];
    (void)&p->k;
    (void)&p->row[n];
    (void)&p->next->k;
    (void)&here.row[n];
    (void)here.row;
    (void)(n + 1);
    (void)a[n];
    (void)*a;
    (void)p->k;
    (void)&a[a[0]];
    (void)shared;
    (void)own;
    (void)&own;
    int local = n;
    n = n + 1;
    a[0] = 1;
    n = a[0];
    n += 1;
    if (n > 1)
        n = 2;
    int read = a[0];
}
"""
_READ = {"&t[n][1]", "&p->next->k", "a[n]", "*a", "p->k", "&a[a[0]]", "shared", "own"}
_KEPT = {
    "&a[n]", "&table[n][1]", "table[n]", "&p->k", "&p->row[n]", "&here.row[n]", "here.row", "(n + 1)", "&own",
}  # fmt: skip


@pytest.fixture
def function(tmp_path: Path) -> Function:
    path = tmp_path / "f.c"
    path.write_text(_TEXT)
    return next(f for _, f in load_program([str(path)], FrontOptions()).program.functions() if f.symbol.name == "f")


def test_which_expressions_read_memory(function: Function) -> None:
    exposed = find_exposed(function)
    said = {
        s.span.text.removeprefix("(void)").rstrip(";"): s for s in function.body.statements if "(void)" in s.span.text
    }
    assert said.keys() == _READ | _KEPT
    for text, stmt in said.items():
        assert reads_memory(stmt, exposed) == (text in _READ), text
    assert {symbol.name for symbol in exposed} >= {"shared", "own"} and "n" not in {s.name for s in exposed}


def test_which_statements_a_function_may_take(function: Function) -> None:
    finals = [s.span.text for s in function.body.statements if is_final(s)]
    assert finals == ["n = n + 1;", "if (n > 1)\n        n = 2;"]
    declarations = [s.span.text for s in function.body.statements if is_plain_declaration(s)]
    assert declarations == ["int local = n;", "int read = a[0];"]


def test_variables_with_one_value_are_what_they_are_set_to(tmp_path: Path) -> None:
    path = tmp_path / "f.c"
    path.write_text(
        """
void take(int *);
void f(int n, int *a)
{
    int once = n;
    long long wide = n + 1;
    int anew = n;
    anew += 2;
    int told = n;
    take(&told);
    int counted = n;
    for (counted = 0; counted < 3; counted++)
        a[counted] = 0;
    int nothing;
    for (int i = 0; i < n; i++) {
        int inside = a[i];
    }
}
"""
    )
    program = load_program([str(path)], FrontOptions()).program
    function = next(f for _, f in program.functions() if f.symbol.name == "f")
    run = function.body.statements
    said = {symbol.name: print_expr(value, nothing) for symbol, value in find_given(run).items()}
    assert said == {"once": "n", "wide": "(long long)(n + 1)", "inside": "a[i]"}
    # two scopes have it
    assert "once" not in {symbol.name for symbol in find_given((*run, run[0]))}


def test_what_a_run_declares_and_uses() -> None:
    (function,) = saxpy().ported.units[0].functions
    run = function.body.statements
    assert [symbol.name for symbol in declared(run)] == ["x_gpu", "y_gpu"]
    counts = {symbol.name: count for stmt in run for symbol, count in uses(stmt).items()}
    assert counts["x_gpu"] == counts["y_gpu"] == 1 and {"n", "a", "x", "y"} <= counts.keys()
    assert not host_uses(run)


def test_a_loop_of_the_users_is_in_his_text() -> None:
    (function,) = lu().ported.units[0].functions
    loop = next(stmt for stmt in function.body.statements if isinstance(stmt, For))
    assert {symbol.name for symbol in host_uses((loop,))} == {"N"}
    assert "A_gpu" in {symbol.name for symbol in uses(loop)}


def test_what_writes_memory_of_the_hosts() -> None:
    (function,) = saxpy().ported.units[0].functions
    copies = [stmt for stmt in function.body.statements if isinstance(stmt, Copy)]
    assert [writes_memory(stmt) for stmt in copies] == [False, False, True]
    at = copies[0]
    update = Update(span=at.span, to_device=False, variable=None, address=None, bytes=None, cause=at.span)
    assert writes_memory(update) and not writes_memory(replace(update, to_device=True))
    assert writes_memory(DataExit(span=at.span, buffer=at.buffer, written=True))
    assert not any(isinstance(stmt, DeclStmt | ExprStmt) for stmt in function.body.statements)
