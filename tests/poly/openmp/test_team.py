"""Teams taken apart: which functions share work among the threads that call them, and what is whose in these."""

from __future__ import annotations

from pathlib import Path

import pytest

from warpsmith.front.load import FrontOptions, load_program
from warpsmith.poly.claimed import regions_of
from warpsmith.poly.openmp.team import NotOneThreadError, orphan_in, sharing_functions, team_of, team_of_called
from warpsmith.tree.nodes import Function
from warpsmith.tree.program import Program

TEXT = """
static double a[64], sum; static int n = 64;
static void leaf(double h, double *p) {
    double mine = 0;
#pragma omp for
    for (int i = 0; i < n; i++) mine += p[i] * h;
#pragma omp critical
    sum += mine;
}
static void middle(int k) { if (k > 2) leaf(k * 0.5, a); }
static void alone(void) {
#pragma omp parallel for
    for (int i = 0; i < n; i++) a[i] = 1;
}
static void region_of_its_own(void) {
#pragma omp parallel
    leaf(1, a);
}
static void locked(void) {
#pragma omp critical
    sum += 1;
}
static void plain(void) { a[0] = 1; }
void region(void) {
#pragma omp parallel
    {
        middle(n);
#pragma omp single
        { alone(); plain(); region_of_its_own(); }
        locked();
    }
}
"""


@pytest.fixture
def program(tmp_path: Path) -> Program:
    (tmp_path / "p.c").write_text(TEXT)
    return load_program([str(tmp_path / "p.c")], FrontOptions()).program


def function(program: Program, name: str) -> Function:
    return next(f for _, f in program.functions() if f.symbol.name == name)


def test_functions_share_work_that_have_such_pragmas_or_lead_to_them(program: Program) -> None:
    body = regions_of(function(program, "region"))[0].body
    assert {f.symbol.name for f in sharing_functions(program, body)} == {"leaf", "middle"}
    assert sharing_functions(program, function(program, "alone").body) == ()
    # its threads are those of the region in it
    assert sharing_functions(program, function(program, "region_of_its_own").body) == ()
    found = {f.symbol.name: orphan_in(f) for _, f in program.functions()}
    assert [name for name, pragma in found.items() if pragma is not None] == ["leaf"]


def test_a_called_function_is_taken_apart(program: Program) -> None:
    region = regions_of(function(program, "region"))[0]
    leaf = team_of_called(program, function(program, "leaf"), region)
    assert leaf.called and len(leaf.shared_loops) == 1 and len(leaf.combining) == 1 and not leaf.calls
    assert {s.name for s in leaf.own} == {"h", "mine", "i"}, "what a pointer leads to is not the thread's own"
    middle = team_of_called(program, function(program, "middle"), region)
    assert len(middle.calls) == 1 and not middle.pragmas
    whole = team_of(program, function(program, "region"), region)
    assert [len(x) for x in (whole.calls, whole.once)] == [1, 1]


def test_a_region_inside_a_called_function_is_none_of_the_team(program: Program) -> None:
    with pytest.raises(NotOneThreadError):
        team_of_called(program, function(program, "alone"), regions_of(function(program, "region"))[0])
