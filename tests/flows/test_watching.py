"""What a run shows of what proofs lack, against iterations that are compared by brute force."""

from __future__ import annotations

import functools
import random
import re
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from warpsmith.base.findings import Finding
from warpsmith.flows.watching import AssumptionCandidate, candidates, judge_seen, watch_project
from warpsmith.front.inputs import Source
from warpsmith.front.load import FrontOptions
from warpsmith.poly.facts import PolyOptions
from warpsmith.project.database import project_of_files
from warpsmith.project.profile import watched_run
from warpsmith.project.profile.model import LoopProfile, Profile
from warpsmith.project.profile.run import RunRequest
from warpsmith.project.profile.watch import Observation, watch_header
from warpsmith.project.profile.watched_run import WatchedRun, watch_run

N, ROUNDS = 200, 6

# the loops; a table that a line of numbers fills before each round
PROGRAM = """#include <stdio.h>
#include <stdlib.h>
struct pair { double *x, *y; };
double keep[64];
void scatter(int n, int *p, double *a, double *b)
{
    for (int i = 0; i < n; i++)
        b[p[i]] = a[i];
}
void rows(int n, int *first, double *restrict b)
{
    for (int i = 0; i + 1 < n; i++)
        for (int k = first[i]; k < first[i + 1]; k++)
            b[k] = i;
}
void members(int n, struct pair *g)
{
    for (int i = 0; i < n; i++)
        g->x[i] = g->y[i] + 1;
}
void gather(int n, int *p, int *q, double *b)
{
    for (int i = 0; i < n; i++)
        b[p[i]] = b[q[i]] + 1;
}
void bytes(int n, int *p, char *t)
{
    for (int i = 0; i < n; i++)
        t[p[i] * 2] = (char)i;
}
void flags(int n, int *p, int *found)
{
    for (int i = 0; i < n; i++)
        if (p[i] < 0)
            *found = 1;
}
int main(void)
{
    int n, rounds, found = 0, *p, *first, *q;
    if (scanf("%d %d", &n, &rounds) != 2) return 1;
    p = malloc(n * sizeof *p); q = malloc(n * sizeof *q); first = malloc(n * sizeof *first);
    double *a = calloc(2 * n + 2, sizeof *a), *b = calloc(2 * n + 2, sizeof *b);
    char *t = calloc(4 * n, 1);
    for (int r = 0; r < rounds; r++) {
        int shift;
        if (scanf("%d", &shift) != 1) return 1;
        for (int i = 0; i < n; i++) if (scanf("%d", &p[i]) != 1) return 1;
        for (int i = 0; i < n; i++) if (scanf("%d", &q[i]) != 1) return 1;
        for (int i = 0; i < n; i++) if (scanf("%d", &first[i]) != 1) return 1;
        struct pair g = {a + shift, a};
        scatter(n, p, a, b);
        rows(n, first, b);
        members(n, &g);
        gather(n, p, q, b);
        bytes(n, p, t);
        flags(n, p, &found);
    }
    double s = 0;
    for (int i = 0; i < n; i++) s += a[i] * (i + 1) + b[i] * (i + 2) + t[2 * i];
    printf("%g %d\\n", s, found);
    return 0;
}
"""


class Inputs:
    """The tables of all rounds, and what iterations touch in them: (what, is it written)."""

    def __init__(self, seed: int, change: str) -> None:
        source = random.Random(seed)
        self.rounds: list[tuple[int, list[int], list[int], list[int]]] = []
        late = source.randrange(ROUNDS - 2, ROUNDS)
        for number in range(ROUNDS):
            p, first = list(range(N)), [2 * i for i in range(N)]
            source.shuffle(p)
            q = list(p)
            shift, bad = N, number == late
            if bad and change == "rows":
                first[source.randrange(N // 2, N - 1)] -= 3
            if bad and change == "table":
                p[source.randrange(N // 2, N)] = p[source.randrange(N // 2)]
            if bad and change == "gather":
                q[source.randrange(N)] = p[source.randrange(N)]
            if bad and change == "shift":
                shift = source.choice((1, 5, N - 1))
            self.rounds.append((shift, p, q, first))
        self.late = late + 1

    @property
    def text(self) -> str:
        lines = (f"{shift} {' '.join(map(str, (*p, *q, *first)))}" for shift, p, q, first in self.rounds)
        return f"{N} {ROUNDS}\n" + "\n".join(lines) + "\n"

    def touches(self, loop: str, number: int) -> list[list[tuple[int, bool]]]:
        """Return what each iteration of a loop touches in a round, in the order of the program."""
        shift, p, q, first = self.rounds[number]
        made: dict[str, Callable[[int], list[tuple[int, bool]]]] = {
            "scatter/i": lambda i: [(p[i], True)],
            "rows/i": lambda i: [(k, True) for k in range(first[i], first[i + 1])],
            "members/i": lambda i: [(i, False), (i + shift, True)],
            "gather/i": lambda i: [(q[i], False), (p[i], True)],
            "bytes/i": lambda i: [(2 * p[i], True)],
        }
        return [made[loop](i) for i in range(N - 1 if loop == "rows/i" else N)]


def first_conflict(iterations: Sequence[Sequence[tuple[int, bool]]]) -> set[tuple[int, int]]:
    """Return the pairs of iterations that conflict with the first one that conflicts with one before it."""
    for later, touched in enumerate(iterations):
        found = {
            (earlier, later)
            for earlier in range(later)
            for place, writes in iterations[earlier]
            for other, writes_too in touched
            if place == other and (writes or writes_too)
        }
        if found:
            return found
    return set()


@functools.cache
def found() -> tuple[AssumptionCandidate, ...]:
    with tempfile.TemporaryDirectory() as folder:
        return tuple(in_folder(Path(folder)))


def in_folder(folder: Path) -> list[AssumptionCandidate]:
    path = folder / "p.c"
    path.write_text(PROGRAM)
    return candidates((Source(str(path), (), "c"),), FrontOptions(), PolyOptions(described=1), lambda _: True)


def said(folder: Path, inputs: Inputs) -> dict[str, Finding]:
    """Return the finding on each loop of a watched run."""
    (folder / "in.txt").write_text(inputs.text)
    mine = in_folder(folder)
    request = RunRequest(folder, folder, ("gcc", "-w", "-O1", "p.c", "-o", "p"), "./p < in.txt", timeout_s=100)
    run = watch_run(request, [watch for one in mine for watch in one.watches])
    assert run.ended
    return {one.message.partition(":")[0]: one for one in judge_seen(mine, run)}


LOOPS = {"scatter/i", "rows/i", "members/i", "gather/i", "bytes/i", "flags/i"}


def test_what_is_missing_is_a_candidate() -> None:
    texts = {one.loop: one.assumptions for one in found()}
    assert texts.keys() == LOOPS
    assert texts["scatter/i"] == ("injective(p)",)
    assert all(texts[loop] == (f"parallel({loop})",) for loop in LOOPS - {"scatter/i", "bytes/i"})


def check(folder: Path, seed: int, change: str) -> set[str]:
    """Watch one run, compare with brute force, and return the loops that it violates."""
    inputs = Inputs(seed, change)
    findings = said(folder, inputs)
    violated = set()
    for loop in sorted(LOOPS - {"flags/i"}):
        finding = findings[loop]
        rounds = (first_conflict(inputs.touches(loop, number)) for number in range(ROUNDS))
        broken = next(((number, pairs) for number, pairs in enumerate(rounds, 1) if pairs), None)
        if broken is None:
            assert finding.rule == "PRF007" and f"{ROUNDS} executions" in finding.message, finding.message
            assert "--assume" in finding.help[0]
            continue
        violated.add(loop)
        told = re.search(r"iterations (\d+) and (\d+) of execution (\d+)", finding.message)
        assert finding.rule == "PRF008" and not finding.help and told is not None, (loop, finding.message)
        assert (int(told[1]), int(told[2])) in broken[1] and int(told[3]) == broken[0] == inputs.late, finding.message
    return violated


CHANGES = {
    "": set[str](),
    "table": {"scatter/i", "gather/i", "bytes/i"},
    "gather": {"gather/i"},
    "shift": {"members/i"},
    "rows": {"rows/i"},
}


@pytest.mark.parametrize("change", [pytest.param(c, marks=pytest.mark.slow) if c != "table" else c for c in CHANGES])
def test_a_violation_is_seen_however_late(change: str, tmp_path: Path) -> None:
    assert check(tmp_path, 3, change) == CHANGES[change]


# what the run time forgets
BUGS = {
    "values": ("} else if (held->place != (long)place) {", "} else if (0) {", "table"),
    "the iteration": ("ws_states[watch].iteration++;", "", "table"),
    "executions": ("state->iteration = -1;", "", "table"),
    "who wrote": ("held->place = now;", ";", "table"),
    "who read": ("held->iteration = now;", ";", "gather"),
    "entries of before": ("held->place = held->iteration = held->other = -1;", "", ""),
}


@pytest.mark.slow
@pytest.mark.parametrize("bug", BUGS)
def test_a_seeded_bug_is_seen(bug: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old, new, change = BUGS[bug]
    assert old in watch_header("", 1)
    monkeypatch.setattr(watched_run, "watch_header", lambda *given: watch_header(*given).replace(old, new))
    with pytest.raises(AssertionError):
        assert check(tmp_path, 3, change) == CHANGES[change]


# --- the project


def profile_of(file: str, lines: Sequence[int]) -> Profile:
    loops = {(file, line): LoopProfile(file, line, 1, 100, 0.1, 0) for line in lines}
    return Profile(loops, 1.0)


def test_only_loops_that_ran_are_watched_and_nothing_is_granted(tmp_path: Path) -> None:
    (tmp_path / "p.c").write_text(PROGRAM)
    (tmp_path / "in.txt").write_text(Inputs(1, "").text)
    file = str(tmp_path / "p.c")
    request = RunRequest(tmp_path, tmp_path, ("gcc", "-w", "p.c", "-o", "p"), "./p < in.txt")
    project = project_of_files((file,))
    after = watch_project(project, request, profile_of(file, (7,)), FrontOptions(), PolyOptions(described=1))
    (finding,) = after.findings
    assert finding.rule == "PRF007" and finding.span is not None and finding.span.line == 7
    assert (
        finding.message
        == "scatter/i: injective(p) was not violated in 6 executions of the loop, 1,200 accesses watched"
    )
    none = watch_project(project, request, profile_of(file, (999,)), FrontOptions(), PolyOptions(described=1))
    assert none == project, "nothing is built where nothing is to be watched"


def test_a_copy_that_cannot_be_built_is_told(tmp_path: Path) -> None:
    (tmp_path / "p.c").write_text(PROGRAM)
    file = str(tmp_path / "p.c")
    request = RunRequest(tmp_path, tmp_path, ("false",), "./p")
    after = watch_project(
        project_of_files((file,)), request, profile_of(file, (7,)), FrontOptions(), PolyOptions(described=1)
    )
    assert [one.rule for one in after.findings] == ["PRF009"]


def test_what_was_not_looked_at_is_told() -> None:
    (one,) = (c for c in found() if c.loop == "scatter/i")
    seen = Observation(executions=2, seen=7, lost=3)
    (finding,) = judge_seen([one], WatchedRun((seen,), ended=False))
    assert "3 accesses were not looked at" in finding.message and "the run was ended before its end" in finding.message
    assert judge_seen([one], WatchedRun((None,), ended=True)) == []
    assert judge_seen([one], WatchedRun((Observation(),), ended=True)) == [], "a loop that never ran"


def test_a_loop_inside_one_that_is_free_is_not_told() -> None:
    (one,) = (c for c in found() if c.loop == "scatter/i")
    inner = AssumptionCandidate("scatter/i/j", one.span, ("parallel(scatter/i/j)",), one.watches)
    good, bad = Observation(executions=1, seen=1), Observation(executions=1, seen=1, violated=1)
    assert len(judge_seen([one, inner], WatchedRun((good, good), ended=True))) == 1
    assert len(judge_seen([one, inner], WatchedRun((bad, good), ended=True))) == 2
