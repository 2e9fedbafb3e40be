"""The steps that every command tries by itself, and what they leave alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.offload.hand import load
from warpsmith.front.load import FrontOptions, load_program
from warpsmith.loops.place import LoopContext
from warpsmith.loops.prepared import Prepared
from warpsmith.offload.automatic import automatic, standing_in
from warpsmith.offload.decisions import decide
from warpsmith.poly.analyze import Facts, analyze
from warpsmith.poly.facts import PolyOptions
from warpsmith.poly.openmp.apply_claims import apply_claims
from warpsmith.tree.nodes import Pragma
from warpsmith.tree.program import Decision, Program
from warpsmith.tree.walk import loops, walk

# the loop over i carries something in one of its statements: distribution makes a kernel of the other
TWO = """void NAME(int n, double *restrict a, double *restrict b, double *restrict c)
{
    for (int i = 1; i < n; i++) {
        a[i] = b[i] * 2 + c[i];
        b[i] = b[i - 1] * b[i - 1] + c[i];
    }
}
"""
TEXT = TWO.replace("NAME", "f") + TWO.replace("NAME", "g")


def prepared(program: Program) -> Prepared:
    facts = Facts.about(program, PolyOptions())
    return Prepared(facts, facts)


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Program:
    return load(TEXT, tmp_path_factory.mktemp("automatic"))


def changed(found: Prepared) -> set[str]:
    return {applied.function.name for applied in found.applied}


def test_every_loop_is_tried(program: Program) -> None:
    found = automatic(prepared(program), None)
    assert changed(found) == {"f", "g"}
    assert found.program is not program and found.original.program is program


def test_only_what_is_selected_changes(program: Program) -> None:
    loop = LoopContext.of(program, "g/i").loop
    assert changed(automatic(prepared(program), (loop,))) == {"g"}
    assert changed(automatic(prepared(program), ())) == set()


def test_what_is_left_stays_as_it_is(program: Program) -> None:
    loop = LoopContext.of(program, "g/i").loop
    assert changed(automatic(prepared(program), None, frozenset({loop.span}))) == {"f"}


def test_a_nest_with_a_decision_is_left_alone(program: Program) -> None:
    place = LoopContext.of(program, "f/i")
    made = decide(program, place, Decision("f/i", "f", "host", place.loop))
    assert changed(automatic(prepared(made), None)) == {"g"}


def test_a_function_that_there_was_no_time_for_is_left_alone(program: Program) -> None:
    start = prepared(program)
    start.facts.note_late(next(f for _, f in program.functions() if f.symbol.name == "f"))
    assert changed(automatic(start, None)) == {"g"}


def test_an_earlier_answer_stands_but_for_what_is_left_since(program: Program) -> None:
    start = prepared(program)
    whole = automatic(start, None)
    loop = LoopContext.of(program, "g/i").loop
    again = automatic(start, None, frozenset({loop.span}), earlier=whole)
    assert changed(again) == {"f"}
    functions = {f.symbol.name: f for _, f in again.program.functions()}
    assert functions["g"] is next(f for _, f in program.functions() if f.symbol.name == "g")
    # what was found in the other function is the very same
    assert functions["f"] is next(f for _, f in whole.program.functions() if f.symbol.name == "f")


def test_a_header_is_changed_only_below_the_root(tmp_path: Path) -> None:
    (tmp_path / "two.h").write_text("static " + TWO.replace("NAME", "inside"))
    (tmp_path / "main").mkdir()
    made = load('#include "../two.h"\n' + TWO.replace("NAME", "f"), tmp_path / "main")
    assert changed(automatic(prepared(made), None)) == {"f"}
    assert changed(automatic(prepared(made), None, root=str(tmp_path / "elsewhere"))) == {"f"}


def test_loops_stand_in_the_text_that_they_were_made_from(program: Program) -> None:
    loop = LoopContext.of(program, "f/i").loop
    assert standing_in(program, None) is None
    assert standing_in(program, (loop,)) == (loop,)
    after = automatic(prepared(program), None).program
    made = standing_in(after, (loop,))
    assert made is not None and len(made) == 2
    inside = next(f for _, f in after.functions() if f.symbol.name == "f").body
    assert all(any(one is other for other, _ in loops(inside)) for one in made)
    assert standing_in(program, ()) == ()


_ACROSS = """#include <math.h>
#include <stdio.h>
#include <stdlib.h>
static void twice(float *c, int n)
{
#pragma omp target teams distribute parallel for
    for (int i = 0; i < n; i++)
        c[i] = 2 * c[i];
}
void run(int n)
{
    float *c = malloc(n * sizeof *c);
    for (int i = 0; i < n; i++)
        c[i] = i % 3;
#pragma omp target data map(tofrom: c[0:n])
    for (int r = 0; r < 3; r++)
        twice(c, n);
    int ok = 1;
    for (int i = 0; i < n; i++) {
        if (c[i] > 8) {
            ok = 0;
            printf("%d", i);
            break;
        }
    }
    printf("%d", ok);
    free(c);
}
"""


def test_data_directives_come_back_and_go_in_all_functions_together(tmp_path: Path) -> None:
    """Where a step in one function is undone, those that took the directives out of others are too, and done again."""
    file = tmp_path / "across.c"
    file.write_text(_ACROSS)
    facts = analyze(load_program([str(file)], FrontOptions()).program, PolyOptions(), apply_claims)
    start = Prepared(facts, facts)
    first = automatic(start, None)
    assert "find-first" in {a.step.name for a in first.applied}
    run = next(f for _, f in start.program.functions() if f.symbol.name == "run")
    early = [loop for loop, _ in loops(run.body)][-1]
    found = automatic(start, None, frozenset({early.span}), None, first)
    assert [a.step.name for a in found.applied] == ["unmap"]
    pragmas = [p.text for _, f in found.program.functions() for p in walk(f.body) if isinstance(p, Pragma)]
    assert pragmas == ["#pragma omp teams distribute parallel for"]


_TEAM = """#include <stdio.h>
static double a[64], b[64];
static void step(double h)
{
#pragma omp for
    for (int i = 1; i < 64; i++)
        b[i] = a[i - 1] * h;
}
void run(int n)
{
#pragma omp parallel
    for (int t = 0; t < 3; t++)
        step(t * 0.5);
    int ok = 1;
    for (int i = 0; i < n; i++) {
        if (b[i] > 8) {
            ok = 0;
            break;
        }
    }
    printf("%d", ok);
}
int main(void) { run(64); return 0; }
"""


def _undone(folder: Path) -> tuple[list[str], list[str]]:
    """Return the steps and the pragmas of a program where a step beside a region was undone."""
    file = folder / "team.c"
    file.write_text(_TEAM)
    facts = analyze(load_program([str(file)], FrontOptions()).program, PolyOptions(), apply_claims)
    start = Prepared(facts, facts)
    first = automatic(start, None)
    assert {"unthread", "find-first"} <= {a.step.name for a in first.applied}
    run = next(f for _, f in start.program.functions() if f.symbol.name == "run")
    early = [loop for loop, _ in loops(run.body)][-1]
    found = automatic(start, None, frozenset({early.span}), None, first)
    pragmas = [p.text for _, f in found.program.functions() for p in walk(f.body) if isinstance(p, Pragma)]
    return [a.step.name for a in found.applied], pragmas


def test_threads_come_back_and_go_in_all_functions_together(tmp_path: Path) -> None:
    assert _undone(tmp_path) == (["unthread"], ["#pragma omp parallel for"])


def test_seeded_threads_come_back_in_one_function(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("warpsmith.offload.automatic._of_teams", lambda program: frozenset())
    assert "#pragma omp parallel" in _undone(tmp_path)[1], "threads of a region each share out the loop anew"
