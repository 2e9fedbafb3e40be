"""Remembered answers about a program are those that it would give if asked for the first time."""

from __future__ import annotations

from tests.poly.analysis import program_of
from warpsmith.base.verdict import Reason
from warpsmith.poly.aliasing.aliasing import alias_pairs
from warpsmith.poly.effects.origin import Origin
from warpsmith.poly.effects.summaries import Summaries
from warpsmith.poly.facts import PolyOptions
from warpsmith.poly.isl.space import budget
from warpsmith.poly.regions.bounds import linear_bounds
from warpsmith.poly.regions.model import build_region
from warpsmith.tree.printing.printer import print_expr
from warpsmith.tree.walk import loops

# the guard that delinearizing needs, `m` being the length of a row
TEXT = """
void f(int n, int m, int w, double *A, double *B)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < w; j++)
            A[i*m + j] = B[j];
}
"""


def test_who_asks_for_a_region_has_a_state_of_its_own() -> None:
    program = program_of(TEXT)
    _, function = next(program.functions())
    loop, around = next(loops(function.body))
    origin = Origin.of(program, function)
    texts: list[str] = []
    with budget(20_000_000):
        for _ in range(2):
            region, state = build_region(origin, (loop,), around, guards=True)
            assert region.vocabulary is state.vocabulary
            before = list(state.assumptions), state.context, set(state.vocabulary.atoms)
            references = [(s, a) for s in region.statements for a in s.accesses if a.base.name == "A" and a.path]
            bounds = linear_bounds(state, references, loop.span)
            assert not isinstance(bounds, Reason)
            texts.append(f"{print_expr(bounds.upper)} {state.assumptions}")
            assert state.assumptions != before[0]
        region, state = build_region(origin, (loop,), around, guards=True)
        assert (state.assumptions, state.context, set(state.vocabulary.atoms)) == before
        _, unguarded = build_region(origin, (loop,), around, guards=False)
        assert not unguarded.guards
    assert texts[0] == texts[1]


def test_pairs_depend_on_what_the_user_grants_and_on_guards() -> None:
    program = program_of(TEXT)
    _, function = next(program.functions())
    known = Summaries.of(program)
    run = (next(loops(function.body))[0],)
    with budget(20_000_000):
        pairs = [
            alias_pairs(program, function, run, PolyOptions(guards=guards), known) for guards in (True, False, True)
        ]
    assert [pair.assumption is not None for found in pairs for pair in found] == [True, False, True]
    assert pairs[0] is pairs[2]
