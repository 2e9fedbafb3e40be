"""Names mean what they meant."""

from __future__ import annotations

import pytest

from tests.front.conftest import Load, function
from warpsmith.front.c.jumps.runs import NotNestedError
from warpsmith.front.c.jumps.scopes import check_scopes
from warpsmith.tree.nodes import Block, Stmt, replace


def _body(load: Load, text: str) -> Block:
    return function(load(f"void f(int n, int *a) {{ {text} }}")).body


def _moved(load: Load, text: str, place: int) -> Stmt:
    """Return a body whose last statement stands in the block at `place`."""
    *first, last = _body(load, text).statements
    block = first[place]
    assert isinstance(block, Block)
    first[place] = replace(block, statements=(*block.statements, last))
    return Block(span=last.span, statements=tuple(first))


@pytest.mark.parametrize(
    "text",
    [
        "int x = n; { int y = x; a[y] = x; } for (int i = 0; i < x; i++) { int z = i; a[z] = x; }",
        "int x; if (n) { int x = 2; a[x] = n; } a[0] = 1;", "int i; for (i = 0; i < n; i++) a[i] = 0; a[0] = i;",
        "switch (n) { case 1: { int x = 1; a[x] = 2; } }", "int x[3]; x[0] = n; a[0] = x[0];",
    ],
)  # fmt: skip
def test_a_body_as_it_was_written_is_right(load: Load, text: str) -> None:
    check_scopes(_body(load, text))


def test_a_declaration_that_went_into_a_block_is_missed(load: Load) -> None:
    *first, decl, use = _body(load, "{ a[0] = 1; } int x = 2; a[x] = 3;").statements
    block = first[0]
    assert isinstance(block, Block)
    body = Block(span=use.span, statements=(replace(block, statements=(*block.statements, decl)), use))
    with pytest.raises(NotNestedError, match="past the declaration of x"):
        check_scopes(body)


def test_a_use_that_comes_under_another_name_is_seen(load: Load) -> None:
    with pytest.raises(NotNestedError, match="hides another n"):
        check_scopes(_moved(load, "{ int n = 1; a[n] = 2; } a[n] = 3;", 0))
    with pytest.raises(NotNestedError, match="hides another x"):
        check_scopes(_moved(load, "int x = 3; { int x = n; a[0] = 2; } a[x] = 3;", 1))
    check_scopes(_moved(load, "{ int x = 1; a[x] = 2; } a[n] = 3;", 0))


def test_an_opaque_statement_names_its_variables(load: Load) -> None:
    asm = '__asm__ volatile("" : "+m"(a[n]));'
    with pytest.raises(NotNestedError, match="hides another n"):
        check_scopes(_moved(load, f"{{ int n = 1; a[n] = 2; }} {asm}", 0))
