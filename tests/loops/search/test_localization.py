"""The choices of localization on whole programs: bodies are written out for kernels that nobody has otherwise."""

from __future__ import annotations

from pathlib import Path

import pytest

from warpsmith.front.load import FrontOptions, load_program
from warpsmith.loops.prepared import Prepared
from warpsmith.offload.automatic import automatic
from warpsmith.poly.analyze import Facts
from warpsmith.poly.facts import PolyOptions

SWEEPS = """
struct grid { double *u, *v; int n; };
static void sweep(struct grid *g, int odd)
{
    double *u = g->u;
    const double *v = g->v;
    for (int i = 1; i < g->n; i++)
        u[i] = v[i - 1] + odd;
}
static double at(const struct grid *g, int i) { return g->v[i] * 2; }
"""
BOTH_COLORS = "void f(struct grid *g) { for (int odd = 0; odd < 2; odd++) sweep(g, odd); }"
READS = "void f(struct grid *g, double *out) { for (int i = 0; i < g->n; i++) out[i] = at(g, i); }"
BOTH = """
void f(struct grid *g, double *out)
{
    for (int i = 0; i < g->n; i++)
        out[i] = at(g, i);
    for (int odd = 0; odd < 2; odd++)
        sweep(g, odd);
}
"""
BESIDE = """
void f(struct grid *g, double *out)
{
    for (int odd = 0; odd < 2; odd++) {
        for (int i = 0; i < g->n; i++)
            out[i] = g->v[i] + out[i] * odd;
        sweep(g, odd);
    }
}
"""


@pytest.mark.parametrize(
    "text, inlined",
    [(BOTH_COLORS, set()), (READS, {"at"}), (BOTH, {"at"}), (BESIDE, set())],
    ids=["sweep", "reads", "both", "beside"],
)
def test_a_body_whose_loop_is_a_kernel_at_home_stays_there(text: str, inlined: set[str], tmp_path: Path) -> None:
    path = tmp_path / "given.c"
    path.write_text(SWEEPS + text)
    facts = Facts.about(load_program([str(path)], FrontOptions()).program, PolyOptions())
    prepared = automatic(Prepared(facts, facts), None)
    steps = [a.step for a in prepared.applied if a.function.name == "f" and a.step.name == "inline"]
    assert {getattr(step, "function", "") for step in steps} == inlined
