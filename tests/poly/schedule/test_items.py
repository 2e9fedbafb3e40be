"""Statements over the dimensions of their schedules: which dimensions are loops, and what each counter is in terms of
them."""

from __future__ import annotations

import functools

import pytest

from tests.poly.analysis import program_of
from tests.poly.programs import function
from warpsmith.poly.analyze import Facts
from warpsmith.poly.facts import PolyOptions
from warpsmith.poly.isl.space import budget, ends, parameters_of
from warpsmith.poly.legality.order import Ordered, order_run
from warpsmith.poly.legality.schedules import Schedule, ScheduleDimension, at
from warpsmith.poly.schedule.items import Item, ItemError, make_items, parameter_facts, rename_variables
from warpsmith.tree.nodes import ExprStmt, For, Function, Name, Stmt, VarDecl
from warpsmith.tree.types import Symbol
from warpsmith.tree.walk import names, walk

TEXT = """double A[99][99], B[99][99];
void square(int n) { for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) A[i][j] = 0; }
void parts(int n, int m) {
  for (int i = 0; i < n; i++) { for (int j = 0; j < i; j++) A[i][j] = 0; for (int k = i; k < n; k++) A[i][k] = 0; } }
void other(int n) {
  for (int i = 0; i < n; i++) { for (int j = 0; j < i; j++) A[i][j] = 0; for (int k = i; k < n; k++) B[i][k] = 0; } }
void overlap(int n) {
  for (int i = 0; i < n; i++) { for (int j = 0; j < n; j++) A[i][j] = 0; for (int k = i; k < n; k++) A[i][k] = 0; } }
void changing(int n) { int c = 0; for (int i = 0; i < n; i++) { A[i][0] = c = i; } }
void most(int n) { for (int i = 0; i <= n; i++) A[i][0] = 0; }
void down(int n) { for (int i = n; i > 0; i -= 2) A[i][0] = 0; }
"""


@functools.cache
def _facts() -> Facts:
    return Facts.about(program_of(TEXT), PolyOptions())


def _statements(one: Function) -> tuple[Stmt, ...]:
    return tuple(n for n in walk(one) if isinstance(n, ExprStmt))


def _model(name: str) -> Ordered:
    one = function(_facts().program, name)
    run = tuple(s for s in one.body.statements if isinstance(s, For))
    with budget(10**7):
        return order_run(_facts(), one, run, _statements(one), guards=True)


def _counters(name: str) -> dict[str, Symbol]:
    return {n.variable.name: n.variable for n in walk(function(_facts().program, name)) if isinstance(n, For)}


def _items(name: str, *schedules: Schedule) -> tuple[Ordered, list[Item]]:
    model = _model(name)
    length = max(len(schedule) for schedule in schedules)
    depth = max(len(statement.schedule) for statement in model.statements)
    dims = tuple(f"row{k}" for k in range(length + depth))
    chosen = dict(zip(_statements(function(_facts().program, name)), schedules, strict=True))
    return model, make_items(model, chosen, length, dims)


def test_the_rows_of_a_wave() -> None:
    i, j = (_counters("square")[x] for x in "ij")
    _, (item,) = _items("square", (ScheduleDimension(((i, 1), (j, 1))), ScheduleDimension(((i, 1),))))
    assert [dimension.free for dimension in item.dimensions] == [True, True, False, False, False, False, False]
    own = {name: {"i": "i", "j": "j"}[name.split("_")[0]] for name in item.counters}
    shown = {own[name]: sorted((m, c) for m, c in value.terms.items()) for name, value in item.counters.items()}
    assert shown == {"i": [(("row1",), 1)], "j": [(("row0",), 1), (("row1",), -1)]}, "j = w - i"
    numbers = [dimension.number for dimension in item.dimensions]
    assert numbers[2] == 0 and numbers[4] == 0 and item.dimensions[3].fixed is not None


def test_rows_that_are_numbers_and_quotients() -> None:
    i = _counters("square")["i"]
    _, (item,) = _items(
        "square", (at(3), ScheduleDimension(((i, 1),), divisor=4), ScheduleDimension(constant=9, divisor=4))
    )
    assert [dimension.number for dimension in item.dimensions[:3]] == [3, None, 2]
    assert [dimension.free for dimension in item.dimensions[:3]] == [False, True, False]
    assert (
        item.dimensions[0].known is not None
        and item.dimensions[0].known.number == 3
        and item.dimensions[1].known is None
    )
    assert any(dimension.free for dimension in item.dimensions[3:]), "a quotient does not tell its counter"


@pytest.mark.parametrize("negative", [False, True])
def test_a_counter_that_runs_the_other_way(negative: bool) -> None:
    i, j = (_counters("square")[x] for x in "ij")
    _, (item,) = _items("square", (ScheduleDimension(((i, -1 if negative else 1),)), ScheduleDimension(((j, 1),))))
    (value,) = (v for name, v in item.counters.items() if name.startswith("i"))
    assert value.terms == {("row0",): -1 if negative else 1}


def test_one_statement_at_other_points_is_one_leaf() -> None:
    """Two triangles of one square: j and k are the same there."""
    counters = _counters("parts")
    schedules = (
        (ScheduleDimension(((counters["i"], 1),)), ScheduleDimension(((counters["j"], 1),))),
        (ScheduleDimension(((counters["i"], 1),)), ScheduleDimension(((counters["k"], 1),))),
    )
    _, merged = _items("parts", *schedules)
    assert len(merged) == 1
    model, apart = _items("other", *_swapped("other"))
    assert len(apart) == 2, "these are two statements"
    assert len(_items("overlap", *_swapped("overlap"))[1]) == 2, "these share points"
    assert len(model.statements) == 2


def _swapped(name: str) -> tuple[Schedule, Schedule]:
    counters = _counters(name)
    first = ScheduleDimension(((counters["i"], 1),))
    return (first, ScheduleDimension(((counters["j"], 1),))), (first, ScheduleDimension(((counters["k"], 1),)))


def test_leaves_at_different_numbers_stay_apart() -> None:
    counters = _counters("parts")
    i, j, k = (ScheduleDimension(((counters[x], 1),)) for x in "ijk")
    assert len(_items("parts", (at(0), i, j), (at(1), i, k))[1]) == 2


def test_a_time_of_what_changes_is_an_error() -> None:
    one = function(_facts().program, "changing")
    i = _counters("changing")["i"]
    c = next(n.symbol for n in walk(one) if isinstance(n, VarDecl) and n.symbol.name == "c")
    assert _items("changing", (ScheduleDimension(((i, 1),)),))[1]
    for dimension in (ScheduleDimension(((i, 1),), divisor=0), ScheduleDimension(((c, 1),))):
        with pytest.raises(ItemError, match="names what changes in the run"):
            _items("changing", (dimension,))


def test_no_program_steps_a_counter_out_of_its_type() -> None:
    most, down = (parameter_facts(_model(name)).params() for name in ("most", "down"))
    assert [ends(known, parameters_of(known)[0])[1] for known in (most, down)] == [2**31 - 2, 2**31 - 1]


def test_other_variables() -> None:
    one = function(_facts().program, "parts")
    first, second = _statements(one)
    counters = _counters("parts")
    moved = rename_variables(first, {counters["j"]: counters["k"], counters["i"]: counters["i"]})
    assert [n.symbol.name for n in names(moved)] == [n.symbol.name for n in names(second)]
    assert rename_variables(first, {counters["i"]: counters["i"]}) is first and rename_variables(first, {}) is first
    assert all(isinstance(n, Name) for n in names(moved))
