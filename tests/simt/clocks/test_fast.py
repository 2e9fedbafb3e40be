"""The compiled machine is the reference, clock for clock: traces by hand, random programs on random machines."""

from __future__ import annotations

import random
import re
import shutil
from functools import cache

import numpy as np
import pytest

from tests.simt.clocks.formed_traces import FORMED_TRACES
from tests.simt.clocks.traces import TRACES, Trace, lanes, letters, machine
from tests.simt.mask.programs import program, random_text, views_for
from warpsmith.machine.simt.parameters import CacheShape, ClockMachine, MemoryShape
from warpsmith.simt.clocks import build, fast
from warpsmith.simt.clocks.encode import INSTRUCTION_WORDS
from warpsmith.simt.clocks.fast import run_clocks, run_compiled
from warpsmith.simt.clocks.model import ClockLaunch, ClockRun
from warpsmith.simt.clocks.reference import run_reference
from warpsmith.simt.mask.ops import OPS
from warpsmith.simt.mask.run import Groups
from warpsmith.simt.mask.stack import FAULTS

TEXTS = build.read_texts(fast.PACKAGE)
TEXT = "".join(text.decode() for text in TEXTS.values())


@pytest.mark.parametrize("trace", TRACES + FORMED_TRACES, ids=lambda trace: trace.name)
def test_a_trace_by_hand(trace: Trace) -> None:
    run = run_compiled(trace.launch())
    assert letters(run) == trace.slots
    assert not trace.lanes or lanes(run) == trace.lanes


def _cache(made: random.Random) -> CacheShape:
    ways = made.choice([1, 2, 4])
    return CacheShape(made.choice([0, 1, 2, 4]) * 64 * ways, ways, made.randint(0, 9), made.choice(["fifo", "lru"]))


def random_machine(seed: int) -> ClockMachine:
    """Return a machine of random parameters."""
    made = random.Random(seed)
    width = made.choice([1, 2, 4, 8, 16, 32, 64])
    return machine(
        width=width, lanes_per_alu=max(1, width // made.choice([1, 1, 2, 4])), waves=made.randint(1, 6),
        alus=made.randint(1, 3), issue=made.randint(1, 4), cores=made.randint(1, 3), registers=made.randint(8, 40),
        threading=made.choice(["smt", "smt", "interleaved"]),
        scheduler=made.choice(["greedy", "round-robin", "oldest", "majority"]), pipe=made.randint(1, 4),
        stack=made.choice([3, 20, 20, 20]), control=made.randint(1, 3), l1=_cache(made), l2=_cache(made),
        sampler=_cache(made), dram=MemoryShape(made.randint(0, 30), made.choice([3, 16, 64, 500])),
        formation=made.choice(["none", "homes", "crossbar"]), forming=made.randint(0, 3), crossbar=made.randint(0, 3),
    )  # fmt: skip


def random_launch(seed: int) -> ClockLaunch:
    """Return a random program on a random machine, which may read the clock; some run out of their stack or of time."""
    made = random.Random(seed)
    threads = made.randint(1, 70)
    groups = Groups(threads, made.randint(1, 2))
    views = views_for(made.choice([threads, 2 * threads, 2 * threads]), seed)
    text = random_text(seed, clocks=True)
    return ClockLaunch(program(text), random_machine(seed), views, groups, made.choice([400, 100_000, 100_000]))


def differs(one: ClockRun, other: ClockRun) -> str:
    """Return what two runs differ in, "" where they are the same."""
    for part in ("fault", "totals", "slots", "left", "stretches", "alus", "caches"):
        if getattr(one, part) != getattr(other, part):
            return part
    if not np.array_equal(one.thread_clocks, other.thread_clocks):
        return "thread_clocks"
    same = all(np.array_equal(one.views[key].words, other.views[key].words) for key in one.views)
    return "" if same else "views"


@cache
def expected(seed: int) -> ClockRun:
    """Return what the reference says of a random launch."""
    return run_reference(random_launch(seed))


SEEDS = range(60)
NO_NUMBER = "mov r0.x, f(inf)\nsub.f32 r0.x, r0.x, r0.x\nst u0, u(0), r0.x\nret\n"
FAR = """
    utof r0.xy, lane_id
    mul.f32 r0.xy, r0.xy, f2(5.3, -7.9)
    sample r1, t1, s0, r0.xy
    mul.u32 r2.x, thread_id, u(16)
    st u2, r2.x, r1
    ret
"""


@pytest.mark.parametrize("text", [NO_NUMBER, FAR])
def test_values_that_random_programs_have_not(text: str) -> None:
    launch = ClockLaunch(program(text), machine(), views_for(4), Groups(4))
    assert differs(run_reference(launch), run_compiled(launch)) == ""


@pytest.mark.parametrize("seed", SEEDS)
def test_random_programs_on_random_machines(seed: int) -> None:
    assert differs(expected(seed), run_compiled(random_launch(seed))) == ""


@pytest.mark.slow
@pytest.mark.parametrize("part", range(10))
def test_many_random_programs_on_random_machines(part: int) -> None:
    for seed in range(1000 + 200 * part, 1200 + 200 * part):
        launch = random_launch(seed)
        assert (seed, differs(run_reference(launch), run_compiled(launch))) == (seed, "")


def test_random_launches_end_in_every_way() -> None:
    faults = {run.fault.kind if run.fault else "none" for run in (run_compiled(random_launch(seed)) for seed in SEEDS)}
    assert {"none", "overflow", "endless", "outside"} <= faults


BUGS = {
    "no coalescing": (
        "if (lines && number[last[n]] == line) at = last[n];\n            while (at >= 0 && number[at] != line) at--;",
        "at = -1;",
    ),
    "locks last a clock longer": ("(end + m->p.pipe - 1 + m->p.late)", "(end + m->p.pipe + m->p.late)"),
    "a wave is looked at too late": (
        "s->recheck = waits ? first >> 1 : m->now",
        "s->recheck = waits ? (first >> 1) + 1 : m->now",
    ),
    "clocks are passed over": ("next = m->now + 1;\n    }\n    for", "next = m->now + 2;\n    }\n    for"),
    "least recently used is not moved": ("lines[held - 1] = found;", ""),
    "bandwidth begins anew": ("(begin > m->dram_free ? begin : m->dram_free)", "begin"),
    "masked lanes are written": ("(to[l] & ~mask[l]) | (row[l] & mask[l])", "row[l]"),
    "the lower row is the upper one": ("y[k / 2][l] * (int32_t)view->width", "y[1][l] * (int32_t)view->width"),
    "what is no number keeps its bits": ("return f != f ? (uint32_t)NAN_BITS : w;", "return w;"),
    "greedy forgets": ("core->current[group] = slot;\n", ""),
    "round robin stays": ("core->first = (slot + 1) % m->rows;", "core->first = slot;"),
    "a hit does not wait": ("return there > found.arrives ? there : found.arrives;", "return there;"),
    "interleaved waves go on behind control": ("if (is_control) break;", ""),
    "waves meet whatever their stacks are": ("if (a->stack[n].target != b->stack[n].target) return 0;", ""),
    "waves that wait are met": ("!a->present || !a->pooled ||", "!a->present ||"),
    "a thread leaves its home's lane": ("if (m->p.formation == CROSSBAR)\n", ""),
    "other labels are lost": (
        "other = (struct way){0, i->target[0], depth};",
        "other = (struct way){0, i->target[0], depth - 1};",
    ),
    "threads go home to the wrong lane": (
        "home_registers[(at * 4 + c) * width + s->home[l]] = s",
        "home_registers[(at * 4 + c) * width + l] = s",
    ),
    "a lane waits for the lines of the one before": ("is_other[k] |= t->address[n][k] ^ t->address[n][k - 1];", ";"),
    "only one of a lane's texels is asked for": (
        "n = 0; n < t->count; n++) {\n            int64_t line",
        "n = 0; n < 1; n++) {\n            int64_t line",
    ),
    "far places are not wrapped": ("is_power ? index & (count - 1) :", ""),
    "far places of other sizes are not wrapped": ("is_far && !is_power && l < width", "0 && l < width"),
    "lanes are all active": (
        "t->lanes = __builtin_popcountll(s->exec);\n    if (is_full(m, s))",
        "t->lanes = (int)WIDTH(m);\n    if (1)",
    ),
    "quotients are rounded": ("(double)(b[l] + !b[l]))", "(double)(b[l] + !b[l]) + 0.5)"),
    "locks do not go home": ("core->home_ready[at * width + s->home[l]] = s->ready[reg * width + l];", ""),
    "majority counts waves": ("+= __builtin_popcountll(core->slots[n].exec);", "+= 1;"),
    "loads are not late": ("2 * (until + m->p.late) + 1", "2 * until + 1"),
    "threads are not told apart": ("m->p.formation ? s->seen_threads[l] : first + l", "first + l"),
    "the rest of a branch is lost": ("!push(m, s, s->exec & ~true_lanes, i->target[0])", "0"),
}


@pytest.mark.slow
@pytest.mark.parametrize("bug", BUGS)
def test_a_bug_in_the_compiled_machine_is_seen(bug: str, monkeypatch: pytest.MonkeyPatch) -> None:
    right, wrong = BUGS[bug]
    assert TEXT.count(right) == 1
    compiler = shutil.which("gcc")
    assert compiler is not None
    texts = {name: text.replace(right.encode(), wrong.encode()) for name, text in TEXTS.items()}
    made = build.compile_texts(compiler, (*build.FLAGS, "-O1"), texts, "machine.c")
    planted = fast.declare(build.load_library(made))
    monkeypatch.setattr(fast, "library", lambda width: planted)
    special = (ClockLaunch(program(text), machine(), views_for(4), Groups(4)) for text in (NO_NUMBER, FAR))
    assert any(differs(run_reference(one), run_compiled(one)) for one in special) or any(
        differs(expected(seed), run_compiled(random_launch(seed))) for seed in SEEDS
    )


def test_numbers_of_operations_and_faults_are_those_of_the_tables() -> None:
    listed = re.search(r"enum op \{(.*?)\}", TEXT, re.DOTALL)
    assert listed is not None
    names = [name.strip().lower() for name in listed[1].split(",")]
    assert names == [name.replace(".", "_") for name in OPS]
    listed = re.search(r"enum fault \{(.*?)\}", TEXT)
    assert listed is not None
    assert [name.strip(" _").lower() for name in listed[1].split(",")] == list(FAULTS)
    assert INSTRUCTION_WORDS == 58


def test_without_a_compiler_the_reference_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    launch = TRACES[0].launch()
    monkeypatch.setattr(fast, "library", lambda width: None)
    assert differs(run_clocks(launch), run_reference(launch)) == ""
    with pytest.raises(RuntimeError):
        run_compiled(launch)


def test_totals_without_a_history() -> None:
    launch = random_launch(5)
    bare = ClockLaunch(launch.program, launch.machine, launch.views, launch.groups, launch.most, recorded=False)
    kept, run = run_compiled(launch), run_compiled(bare)
    assert run.totals == kept.totals == run_reference(bare).totals
    assert not run.stretches and not run.alus and not run.caches and kept.stretches
