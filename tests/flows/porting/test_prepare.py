"""The search again, with some nests left as they are: what it found in other functions stands."""

from __future__ import annotations

from pathlib import Path

from warpsmith.front.load import FrontOptions, load_program
from warpsmith.loops.prepared import Prepared
from warpsmith.offload.automatic import automatic
from warpsmith.poly.analyze import analyze
from warpsmith.poly.facts import PolyOptions
from warpsmith.poly.openmp.apply_claims import apply_claims
from warpsmith.tree.walk import loops

# the call's body goes to where it is called, with the variables that steps gave it
PROGRAM = """
struct grid { int n; double *u, *v; };
static void row(struct grid *g, int j)
{
    for (int i = 0; i < g->n; i++)
        g->u[j * g->n + i] = g->v[i];
}
void all(struct grid *g)
{
    for (int j = 0; j < g->n; j++)
        row(g, j);
}
void first(struct grid *g)
{
    for (int i = 0; i < g->n; i++)
        g->v[i] = i;
}
void second(struct grid *g)
{
    for (int i = 1; i < g->n; i++)
        g->v[i] = 2 * g->u[i];
    for (int i = 1; i < g->n; i++)
        g->u[i] = g->v[i];
}
"""


def test_the_answer_is_that_of_a_search_from_the_start(tmp_path: Path) -> None:
    path = tmp_path / "a.c"
    path.write_text(PROGRAM)
    program = load_program([str(path)], FrontOptions()).program
    facts = analyze(program, PolyOptions(), apply_claims)
    prepared = Prepared(facts, facts)
    whole = automatic(prepared, None)
    assert {a.function.name for a in whole.applied} >= {"row", "first", "second"}
    for _, function in program.functions():
        for loop, _ in loops(function.body):
            left = frozenset({loop.span})
            again, new = automatic(prepared, None, left, earlier=whole), automatic(prepared, None, left)
            assert sorted(a.text for a in again.applied) == sorted(a.text for a in new.applied)
            assert not any(a.span == loop.span for a in again.applied)
            found = [
                [f.category for f in one.facts.of(g).loops] for one in (again, new) for _, g in one.program.functions()
            ]
            assert found[: len(found) // 2] == found[len(found) // 2 :]
