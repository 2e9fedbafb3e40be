"""The search again, with some nests left as they are: what it found in other functions stands."""

from __future__ import annotations

from pathlib import Path

import pytest

from warpsmith.flows.port import PortOptions, port
from warpsmith.flows.porting.plan import Written
from warpsmith.flows.porting.prepare import plan_port
from warpsmith.front.load import FrontOptions, load_program
from warpsmith.loops.prepared import Prepared
from warpsmith.loops.search import cost
from warpsmith.offload.automatic import automatic
from warpsmith.offload.plan import OffloadOptions
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


# a nest that only a new order makes parallel, four iterations at a time; and one that a step does make a kernel
HOST = """
void f(int n, double *a, double *b)
{
    for (int t = 0; t < 4; t++) {
        for (int i = 1; i < n - 1; i++)
            b[i] = (a[i - 1] + a[i + 1]) * 0.5;
        if (t % 2) {
            for (int i = 1; i < n; i++)
                a[i] = a[i - 1] * a[i - 1] + b[i];
        } else {
            for (int i = 1; i < n - 1; i++)
                a[i] = b[i];
        }
    }
}
void g(int n, double c[n][n])
{
    for (int i = 1; i < n; i++)
        for (int j = 0; j < n; j++)
            c[i][j] = c[i - 1][j] * 2;
}
"""


def _plan(text: str, tmp_path: Path) -> tuple[Prepared, Written]:
    path = tmp_path / "a.c"
    path.write_text(text)
    facts = analyze(load_program([str(path)], FrontOptions()).program, PolyOptions(), apply_claims)
    return plan_port(Prepared(facts, facts), None, OffloadOptions(), search=0, single_file=False)


def test_a_step_without_a_kernel_is_taken_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # as if the search took these kernels for some that the selection keeps
    monkeypatch.setattr(cost, "_threads", lambda loop, depth: 1_000_000)
    path = tmp_path / "a.c"
    path.write_text(HOST)
    facts = analyze(load_program([str(path)], FrontOptions()).program, PolyOptions(), apply_claims)
    found = automatic(Prepared(facts, facts), None)
    assert {(a.function.name, a.step.name) for a in found.applied} == {("f", "reschedule"), ("g", "interchange")}
    prepared, written = _plan(HOST, tmp_path)
    assert {(a.function.name, a.step.name) for a in prepared.applied} == {("g", "interchange")}
    kept = {loop for fragment in written.port.plan.fragments for loop in fragment.loops}
    assert {name.split("/")[0] for name in kept} == {"f", "g"} and "f/t" not in kept


def test_the_search_knows_which_kernels_the_selection_leaves_out(tmp_path: Path) -> None:
    prepared, written = _plan(HOST, tmp_path)
    assert {a.function.name for a in prepared.applied} == {"g"}
    assert len(written.port.plan.fragments) == 3


@pytest.mark.slow
def test_steps_of_a_function_do_not_keep_it_from_its_callers_kernel() -> None:
    """`nearest` is written into a loop that would stay, were the steps kept that its own text has got for itself."""
    path = Path(__file__).parent / "grouping.c"
    options = PortOptions(front=FrontOptions(arguments=("-D_OPENMP=201511",)))
    result = port([str(path)], options)
    assert result.verification is not None and result.verification.status == "pass"
    assert result.plan is not None
    assert any("group/do/i" in fragment.loops for fragment in result.plan.fragments)
