"""Loops are found again by their text after steps, and a step that is not Proved changes nothing."""

from __future__ import annotations

from pathlib import Path

from warpsmith.front.load import FrontOptions, load_program
from warpsmith.loops.prepared import Prepared
from warpsmith.loops.search.nest_steps import (
    apply_step,
    find_function,
    find_loop,
    find_loops,
    first_run,
    is_within,
    loop_address,
    nest_cost,
)
from warpsmith.loops.steps.data.promote import Promote
from warpsmith.poly.analyze import Facts
from warpsmith.poly.facts import PolyOptions
from warpsmith.tree.walk import loops

TEXT = """
void f(int n, const double *x, double *sum)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            *sum += x[i] * j;
    for (int i = 0; i < n; i++)
        sum[i] = 0;
}
"""


def _prepared(folder: Path) -> Prepared:
    path = folder / "given.c"
    path.write_text(TEXT)
    facts = Facts.about(load_program([str(path)], FrontOptions()).program, PolyOptions())
    return Prepared(facts, facts)


def test_a_loop_is_found_again_where_a_test_chooses_between_two(tmp_path: Path) -> None:
    prepared = _prepared(tmp_path)
    ((_, function),) = prepared.program.functions()
    symbol, outer = function.symbol, next(loop for loop, _ in loops(function.body))
    where = outer.span, outer.header
    assert [loop.variable.name for loop in find_loops(prepared.facts, symbol, outer.span)] == ["i", "j"]  # type: ignore[union-attr]
    step = Promote(loop_address(prepared.facts, symbol, outer), "*sum")
    after = apply_step(prepared, symbol, outer, step)
    assert [a.step for a in after.applied] == [step]
    changed = find_function(after.facts, symbol)
    same_text = [loop for loop, _ in loops(changed.body) if loop.span == outer.span]
    assert len(same_text) == 2
    assert find_loop(after, symbol, where) is same_text[0]
    assert first_run(after.facts, symbol, outer.span) == (same_text[0],)
    assert nest_cost(after.facts, symbol, outer.span) < nest_cost(prepared.facts, symbol, outer.span)


def test_a_step_that_is_refused_changes_nothing(tmp_path: Path) -> None:
    prepared = _prepared(tmp_path)
    ((_, function),) = prepared.program.functions()
    outer, inner, second = (loop for loop, _ in loops(function.body))
    for step in (Promote("f/i#2", "*sum"), Promote("f/i", "*x"), Promote("nowhere/i", "*sum")):
        assert apply_step(prepared, function.symbol, second if step.loop == "f/i#2" else outer, step) is prepared
    # a step on another loop than the one that was meant
    assert apply_step(prepared, function.symbol, inner, Promote("f/i", "*sum")) is prepared
    assert is_within(inner.span, outer.span)
    assert not is_within(second.span, outer.span)
