"""The parts of a `for`, those that are empty and those that a macro writes."""

from __future__ import annotations

import pytest

from tests.front.test_kernels import boxes, functions, load
from warpsmith.tree.nodes import Block, DeclStmt, ExprStmt, While
from warpsmith.tree.printing.printer import print_expr
from warpsmith.tree.walk import walk


def parts(text: str) -> tuple[str, str, str]:
    unit = load(f"#define LOOP(a, b, c) for (a; b; c) x[0]++;\n__global__ void k(int *x, int n, int i) {{ {text} }}")
    assert not boxes(unit)
    (loop,) = [n for n in walk(functions(unit)["k"].body) if isinstance(n, While)]
    init = "" if loop.init is None else "declares" if isinstance(loop.init, DeclStmt) else "sets"
    if isinstance(loop.init, ExprStmt):
        init = print_expr(loop.init.expr)
    return init, *("" if e is None else print_expr(e) for e in (loop.condition, loop.advance))  # type: ignore[return-value]


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        ("for (int j = 0; j < n; j++)", ("declares", "j < n", "j++")),
        ("for (; i < n; i++)", ("", "i < n", "i++")),
        ("for (i = 0; ; i++)", ("i = 0", "", "i++")),
        ("for (i = 0; i < n; )", ("i = 0", "i < n", "")),
        ("for (; n--; )", ("", "n--", "")),
        ("for (; ; i++)", ("", "", "i++")),
        ("for (i++; ; )", ("i++", "", "")),
    ],
)
def test_semicolons_tell_the_parts(head: str, expected: tuple[str, str, str]) -> None:
    assert parts(f"{head} {{ if (x[0]) break; }}") == expected


@pytest.mark.parametrize(
    ("use", "expected"),
    [
        ("LOOP(, i < n, i++)", ("", "i < n", "i++")),
        ("LOOP(i = 0, i < n, )", ("i = 0", "i < n", "")),
        ("LOOP(, i < n, i += 2)", ("", "i < n", "i += 2")),
        ("LOOP(, n && i, )", ("", "n && i", "")),
        ("LOOP(i = 0, , i++)", ("i = 0", "", "i++")),
    ],
)
def test_in_a_macro_the_form_tells(use: str, expected: tuple[str, str, str]) -> None:
    assert parts(use) == expected


def test_a_range_for_over_an_array_counts_its_elements() -> None:
    unit = load("__global__ void k(int *x) { int a[3] = {1}; for (int e : a) x[e]++; for (int &r : a) r = 2; }")
    first, second = [n for n in walk(functions(unit)["k"].body) if isinstance(n, While)]
    assert first.condition is not None and print_expr(first.condition) == "e_at < 3"
    inits = []
    for loop in (first, second):
        assert isinstance(loop.body, Block) and isinstance(loop.body.statements[0], DeclStmt)
        init = loop.body.statements[0].declarations[0].init
        assert init is not None
        inits.append(print_expr(init))
    assert inits == ["a[e_at]", "&a[r_at]"]
