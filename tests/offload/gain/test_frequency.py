"""How often text runs in which a run has counted loops: never-entered arms, calls, launches, recursion."""

from __future__ import annotations

from pathlib import Path

from tests.offload.hand import load
from warpsmith.offload.gain.choose import gather_knowledge
from warpsmith.offload.gain.estimate import estimate_program
from warpsmith.offload.gain.frequency import entries_at, is_guard, list_certain_runs, list_runs
from warpsmith.offload.gain.model import GainEstimate
from warpsmith.offload.plan import GainOptions, LoopCount, OffloadOptions
from warpsmith.offload.port import plan_port
from warpsmith.poly.analyze import analyze
from warpsmith.poly.facts import PolyOptions
from warpsmith.tree.nodes import If
from warpsmith.tree.walk import loops, walk

# line 4 runs 1,000 times, line 5 in 40 of them, line 7 in none; line 3 is called far more often than its text tells
TEXT = """
static double a[3000], b[3000];
static void step(int n, int c) {
    for (int t = 0; t < n; t++) {
        if (a[t] < c) { for (int i = 0; i < 3000; i++) a[i] = 2 * a[i]; }
        if (n < 0) {
            for (int i = 0; i < 3000; i++) b[i] = 2 * b[i];
        }
    }
}
int main(int argc, char **argv) {
    for (int k = 0; k < 10; k++) step(100, argc);
    return a[5] > b[5];
}
"""
COUNTS = {4: (10, 1000), 5: (40, 120_000), 7: (0, 0), 12: (1, 10)}


def estimates(text: str, tmp_path: Path, counts: dict[int, tuple[int, int]]) -> tuple[GainEstimate, GainEstimate]:
    """Return the estimates of a program as it is and ported; `counts` by line."""
    program, poly = load(text, tmp_path), PolyOptions()
    facts = analyze(program, poly)
    places = [loop.header for _, function in program.functions() for loop, _ in loops(function.body)]
    path = str((tmp_path / "input.c").resolve())
    known = {(path, p.line, p.column): LoopCount(*counts[p.line]) for p in places if p.line in counts}
    options = OffloadOptions(gain=GainOptions(counts=known))
    port = plan_port(program, facts, options, poly)
    knowledge = gather_knowledge(facts, options, port.plan.fragments)
    return estimate_program(program, knowledge), estimate_program(port.program, knowledge)


def test_loops_are_entered_as_often_as_in_the_run(tmp_path: Path) -> None:
    before, _ = estimates(TEXT, tmp_path, COUNTS)
    entries = {loop.span.line: time.entries for loop, time in before.loops.items()}
    assert entries == {4: 10, 5: 40, 7: 0, 12: 1}
    own = {loop.span.line: time.own for loop, time in before.loops.items()}
    assert own[5] > 0 and own[7] == 0


def test_kernels_are_launched_as_often_as_their_loops_are_entered(tmp_path: Path) -> None:
    _, guessed = estimates(TEXT, tmp_path, {})
    _, after = estimates(TEXT, tmp_path, COUNTS)
    launches = {kernel: time.launches for kernel, time in after.kernels.items()}
    assert sorted(launches.values()) == [0, 40], launches
    assert guessed.launches > 10 * after.launches, "half of each arm, of so many iterations"


def test_a_function_is_called_no_more_often_than_its_loops_are_entered(tmp_path: Path) -> None:
    text = """
    static double a[100];
    static void rare(void) {
        a[7] += 1;
        for (int i = 0; i < 100; i++) a[i] += 1;
    }
    int main(int argc, char **argv) {
        for (int t = 0; t < 1000; t++)
            if (t == argc) rare();
        return a[3] > 2;
    }
    """
    before, _ = estimates(text, tmp_path, {5: (1, 100), 8: (1, 1000)})
    assert {loop.span.line: time.entries for loop, time in before.loops.items()} == {5: 1, 8: 1}
    guessed, _ = estimates(text, tmp_path, {8: (1, 1000)})
    assert {loop.span.line: time.entries for loop, time in guessed.loops.items()} == {5: 500, 8: 1}


def test_a_ratio_holds_only_for_a_loop_that_was_written_inside(tmp_path: Path) -> None:
    ((_, step), _) = load(TEXT, tmp_path).functions()
    outer, inner, *_ = (loop.header for loop, _ in loops(step.body))
    count, around = LoopCount(40, 120_000), LoopCount(10, 1000)
    assert entries_at((inner, count), 50.0, (100.0, outer, around)) == 4
    # the run has not seen more; interchanged loops have no ratio; nor has what stands in no counted loop
    assert entries_at((inner, count), 900.0, (9e9, outer, around)) == 40
    assert entries_at((outer, count), 30.0, (100.0, inner, around)) == 30
    assert entries_at((inner, count), 30.0, (100.0, None, None)) == 30


def test_what_runs_for_certain_stands_under_no_if(tmp_path: Path) -> None:
    ((_, step), _) = load(TEXT, tmp_path).functions()
    (outer,) = list_certain_runs(step.body)
    assert [loop.span.line for loop in list_runs(step.body)] == [4]
    assert not isinstance(outer, If)
    branches = [part for part in walk(step.body) if isinstance(part, If)]
    assert [len(list(list_runs(branch))) for branch in branches] == [1, 1]
    assert not any(list(list_certain_runs(branch)) or is_guard(branch) for branch in branches)
