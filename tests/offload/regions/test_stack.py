"""Objects on the stack that outlive a data region, and the functions that may begin one."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.offload.regions.planned import planned, shown, straight
from warpsmith.offload.memory.host_calls import HostCalls
from warpsmith.offload.plan import DataRegion
from warpsmith.offload.regions.stack import drop_lasting, find_kept_by_functions, outermost
from warpsmith.poly.effects.summaries import Summaries
from warpsmith.tree.nodes import Function
from warpsmith.tree.types import DOUBLE, Pointer, Symbol

# where memory may die in a data region, the run time is told what does not
DIES = "free(v); v = malloc(400);"


def begin(body: str, folder: Path) -> str:
    found = [one for one in shown(straight(body, folder)) if ": begin" in one]
    return found[0].partition(": begin")[2].strip() if found else "no data region"


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (f"double w[50]; for (int t = 0; t < 9; t++) {{ step(u, w, n); {DIES} }}", "w callers"),
        # nothing dies: nobody asks
        ("double w[50]; for (int t = 0; t < 9; t++) step(u, w, n);", ""),
        # not given to kernels, of another type, a single number, declared inside
        (f"double w[50]; w[1] = 2; for (int t = 0; t < 9; t++) {{ step(u, v, n); {DIES} }}", "callers"),
        (f"int q[50]; for (int t = 0; t < 9; t++) {{ observe((double *)q); step(u, v, n); {DIES} }}", "callers"),
        (f"double e; for (int t = 0; t < 9; t++) {{ step(u, &e, 1); {DIES} }}", "callers"),
        (f"for (int t = 0; t < 9; t++) {{ double w[50]; step(u, w, n); {DIES} }}", "callers"),
        # another variable of the same name hides the first
        (f"int w[5]; {{ double w[9]; for (int t = 0; t < 9; t++) {{ step(u, w, n); {DIES} }} }}", "w callers"),
        (f"struct {{ double a[50]; }} s; for (int t = 0; t < 9; t++) {{ step(u, s.a, n); {DIES} }}", "callers"),
    ],
)  # fmt: skip
def test_what_the_run_time_is_told_of(body: str, told: str, tmp_path: Path) -> None:
    assert begin(body, tmp_path) == told


def test_main_has_no_callers(tmp_path: Path) -> None:
    text = """#include <stdlib.h>
    void step(double *u, double *v, int n) { for (int i = 1; i < n - 1; i++) v[i] = u[i - 1] + u[i + 1]; }
    int main(int argc, char **argv) { double w[50] = {0}, *v = malloc(400);
        for (int t = 0; t < 9; t++) { step(w, v, 50); free(v); v = malloc(400); } return (int)w[3]; }"""
    found = [one for one in shown(planned(text, tmp_path), "main") if "begin" in one]
    assert found == ["before for: begin w"]


def function(text: str, folder: Path) -> tuple[HostCalls, dict[str, Function]]:
    from tests.offload.hand import load

    program = load(text, folder)
    summaries = Summaries.of(program)
    functions = {f.symbol.name: f for _, f in program.functions()}
    return HostCalls.of(summaries, (), frozenset()), functions


CALLS = """
static void inner(double *u) { u[0] = 1; }
static void middle(double *u) { inner(u); }
static void handler(double *u) { u[0] = 2; }
static void never(double *u) { u[0] = 3; }
void (*table)(double *) = handler;
OPEN
"""


@pytest.mark.parametrize(
    ("open", "found"),
    [
        # main's own hold is around middle, and inner is called by nobody else
        ("int main(void) { double a[4]; middle(a); return 0; }", {"main", "handler"}),
        ("int main(void) { double a[4]; a[0] = 1; middle(a); return 0; }", {"main", "middle", "handler"}),
        # without a main anybody may call what is not static
        ("void open(double *u) { middle(u); }", {"open", "handler"}),
        ("int main(void) { void (*p)(double *) = inner; p(0); return 0; }", {"main", "inner", "handler"}),
    ],
)
def test_who_may_be_called_while_no_data_region_lasts(open: str, found: set[str], tmp_path: Path) -> None:
    calls, functions = function(CALLS.replace("OPEN", open), tmp_path)
    first = functions.get("main") or functions["open"]
    stmt = next(s for s in first.body.statements if "a[0] = 1" not in s.span.text and "double a" not in s.span.text)
    run = (first.body.statements[1],) if "a[0] = 1" in first.span.text else (stmt,)
    data_regions = [
        DataRegion(first, run),
        *(DataRegion(f, f.body.statements) for n, f in functions.items() if f is not first),
    ]
    assert {f.symbol.name for f in outermost(calls, data_regions, ())} == found


def test_what_functions_keep_of_their_own(tmp_path: Path) -> None:
    _, functions = function("void f(double *u, int n) { u[n] = 1; }", tmp_path)
    mine = functions["f"]
    extra = Symbol("w", "w", Pointer(DOUBLE), "local")
    told = DataRegion(mine, mine.body.statements, lasting=(extra,), callers=True)
    assert [s.name for s in find_kept_by_functions([told])] == ["w", "u", "n"]
    assert list(find_kept_by_functions([drop_lasting(told)])) == []
    assert drop_lasting(told).run == told.run
