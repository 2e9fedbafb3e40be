"""Statements in which walkers are written as places: what stands for them, and where iterations are left."""

from __future__ import annotations

from tests.poly.analysis import program_of
from warpsmith.base.verdict import Reason
from warpsmith.loops.linear import use
from warpsmith.loops.writing.walked import WalkerPlace, add, find_twice, left_at, sum_of, write_value, write_walked
from warpsmith.tree.nodes import Block, Break, Continue, Stmt, While
from warpsmith.tree.printing.printer import print_expr, print_stmt
from warpsmith.tree.types import Symbol
from warpsmith.tree.walk import names

HEAD = "int f(int n, int k, unsigned t, long h, int *a, int *p) { for (;;) { "


def body(text: str) -> tuple[tuple[Stmt, ...], dict[str, Symbol]]:
    function = next(f for _, f in program_of(f"{HEAD}{text} }} return k; }}").functions())
    loop = function.body.statements[0]
    assert isinstance(loop, While)
    inner = loop.body
    assert isinstance(inner, Block)
    symbols = {parameter.name: parameter for parameter in function.parameters}
    return inner.statements, symbols | {n.symbol.name: n.symbol for n in names(function)}


def written(text: str, far: str = "k") -> str:
    run, symbols = body(text)
    at = run[0].span
    places = {symbols["p"]: WalkerPlace(use(symbols["a"], at), use(symbols[far], at))}
    places[symbols["n"]] = WalkerPlace(None, use(symbols[far], at))
    return " ".join(" ".join(print_stmt(s) for s in write_walked(run, places, {})).split())


def test_what_is_written_for_pointers_and_numbers() -> None:
    assert written("*p = n; p[2] = p[-1];") == "a[k] = k; a[(long long)k + 2] = a[(long long)k - 1];"
    assert written("*p++ = 1; *p = 2; p++; p[0] = 3;") == "a[k] = 1; a[k + 1] = 2; a[k + 2] = 3;"
    assert written("*--p = 1;") == "a[k - 1] = 1;"
    assert written("if (*p++ > 0) break; else *p = 3;") == "if (a[k] > 0) break; else a[k + 1] = 3;"
    assert written("int *q = p; q[n] = 1;") == "int *q = a + k; q[k] = 1;"
    assert written("n++, p++; a[n] = n;") == "a[k + 1] = k + 1;"


def test_numbers_keep_their_type() -> None:
    assert written("a[n] = n / 2;", "h") == "a[h] = (int)h / 2;"
    run, symbols = body("a[0] = 0;")
    at = run[0].span
    assert print_expr(write_value(symbols["t"], WalkerPlace(None, use(symbols["t"], at)), -1, at)) == "t - 1"


def test_sums() -> None:
    run, symbols = body("a[0] = 0;")
    at = run[0].span
    n, h = use(symbols["n"], at), use(symbols["h"], at)
    assert add(None, n, at) is n and add(n, None, at) is n and add(None, None, at) is None
    assert print_expr(sum_of(n, n, at)) == "(long long)n + n" and print_expr(sum_of(n, h, at)) == "n + h"


def test_where_iterations_are_left() -> None:
    run, symbols = body("if (n) break; p++; if (k) { for (;;) break; continue; } switch (k) { case 1: break; }")
    assert [ahead for _, ahead in left_at(run, {}, Break)] == [{}]
    assert [ahead for _, ahead in left_at(run, {}, Continue)] == [{symbols["p"]: 1}]


def test_a_walker_is_not_moved_and_used_at_once() -> None:
    assert isinstance(find_twice(body("*p++ = p - a;")[0]), Reason)
    assert find_twice(body("*p++ = n--; n = n + 1;")[0]) is None
