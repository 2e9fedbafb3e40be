"""Through which of its names a fragment may store."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.offload.analyzed import Analyzed, analyzed
from warpsmith.offload.selection.stores import find_stored_through
from warpsmith.offload.selection.uses import find_accessed
from warpsmith.tree.nodes import For, VarDecl
from warpsmith.tree.walk import walk

HEAD = """
struct grid { double *u, *v; };
static void fill(double *x, int i) { x[i] = 1; }
static double look(const double *x, int i) { return x[i]; }
double **table(void);
"""
CASES = {
    "named": ("out[i] = u[i];", "out"),
    "both": ("out[i] = u[i]; u[i + n] = 1;", "out u"),
    "element": ("*(out + i) = u[i];", "out"),
    "derived": ("double *p = out + i; *p = u[i];", "out"),
    "chosen": ("double *p = i < 3 ? out : w; p[i] = u[i];", "out w"),
    "none": ("double s = u[i]; s += 1;", ""),
    "call": ("fill(out, i); double s = u[i];", "out u w"),
    "pure": ("out[i] = look(u, i);", "out"),
    "deep": ("table()[i][0] = u[i] + out[i];", "out u w"),
    "loaded": ("g->v[i] = u[i] + out[i] + w[i];", "out u w"),
    "member": ("double *p = g->v; p[i] = u[i]; out[0] += w[i];", "out u w"),
    "array": ("double t[2] = {u[i], w[i]}; t[0] = 3; out[i] = t[0];", "out"),
}


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Analyzed:
    functions = "".join(
        f"void {name}(int n, struct grid *g, double *out, double *w) {{ double *u = g->u;"
        f" for (int i = 0; i < n; i++) {{ {body} }} }}\n"
        for name, (body, _) in CASES.items()
    )
    return analyzed(HEAD + functions, tmp_path_factory.mktemp("stored"))


@pytest.mark.parametrize("case", CASES)
def test_a_store_is_through_the_names_that_it_may_be_made_from(case: str, program: Analyzed) -> None:
    loop = program.find("for", For, case)
    inside = {part.symbol for part in walk(loop) if isinstance(part, VarDecl)}
    asked = frozenset(program.symbol(name, case) for name in ("out", "u", "w"))
    found = find_stored_through(program.request(case), (loop,), inside, asked)
    assert " ".join(sorted(s.name for s in found)) == CASES[case][1]


SET_INSIDE = {
    "set": ("p = &out[4 * i];", "out"),
    "either": ("if (w[i] > 0) p = out + i; else p = w;", "out w"),
    "copied": ("q = out; p = q + i;", "out"),
    "stepped": ("p = out + i; p++;", "out"),
    "by_address": ("double **at = &p; *at = out + i;", "out"),
}


@pytest.mark.parametrize("case", SET_INSIDE)
def test_a_pointer_that_each_iteration_sets_leads_to_what_it_is_set_to(case: str, tmp_path: Path) -> None:
    text = (
        f"void {case}(int n, double *restrict out, double *restrict w, const double *restrict u)\n"
        f"{{ double *p, *q; for (int i = 0; i < n; i++) {{ {SET_INSIDE[case][0]} p[0] = u[i]; }} }}\n"
    )
    program = analyzed(text, tmp_path)
    found = find_accessed(program.request(case), (program.find("for", For, case),))
    assert set(SET_INSIDE[case][1].split()) <= {symbol.name for symbol in found.element_writes}
    assert "u" not in {symbol.name for symbol in found.element_writes} or case == "by_address"
