"""Copies share nothing with what they were made from, and names mean what they meant."""

from __future__ import annotations

from pathlib import Path

from tests.loops.steps.refusals import one
from warpsmith.loops.analysis.substitute import copy_tree, fixed_text, replace_values
from warpsmith.loops.fresh import Fresh, declared_symbols
from warpsmith.loops.linear import number
from warpsmith.loops.place import LoopContext
from warpsmith.tree.printing.printer import print_stmt
from warpsmith.tree.walk import names, same, walk

BODY = "for (int i = 0; i < n; i++) { double t = x[i]; for (int j = 0; j < m; j++) { t += a[i][j]; } y[i] = t; }"


def test_a_copy_has_its_own_nodes_and_variables(tmp_path: Path) -> None:
    stand = one(BODY, tmp_path)
    loop = LoopContext.of(stand.program, "F/i").require_counted()
    plain, fresh = copy_tree(loop), copy_tree(loop, Fresh.of(stand.program))
    assert same(plain, loop) and not same(fresh, loop)
    for copy in (plain, fresh):
        assert not {id(part) for part in walk(copy)} & {id(part) for part in walk(loop)}
        assert print_stmt(copy) == print_stmt(loop), "it still is the user's text"
    assert [s.name for s in declared_symbols(fresh)] == ["i", "t", "j"]
    assert not set(declared_symbols(fresh)) & set(declared_symbols(loop))
    used = {name.symbol for name in names(fresh)}
    assert not used & set(declared_symbols(loop)), "every use is renamed with its declaration"


def test_values_take_the_place_of_variables(tmp_path: Path) -> None:
    stand = one(BODY, tmp_path)
    loop = LoopContext.of(stand.program, "F/i").require_counted()
    body = replace_values(loop.body, {loop.variable: number(3, loop.span)})
    assert "x[3]" in print_stmt(body) and "a[3][j]" in print_stmt(body) and "y[3]" in print_stmt(body)
    assert fixed_text(loop.body, frozenset({loop.variable})) is None
