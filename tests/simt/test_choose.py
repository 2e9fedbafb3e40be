"""Which machine runs a kernel, and that nobody sees which it was."""

from __future__ import annotations

import struct
from functools import cache, partial

import pytest

from tests.simt.test_interpreter import kernel
from warpsmith.base.time_limit import OutOfTimeError, time_limit
from warpsmith.simt import choose
from warpsmith.simt.choose import TRIAL, Done, Engine, EngineChoice, execute
from warpsmith.simt.launch import Launch
from warpsmith.simt.memory import LaunchMemory
from warpsmith.ssa.nodes import Module

LONG = """
    mov.u32 %r2, 0;
$top: add.u32 %r2, %r2, %r1; setp.lt.u32 %p1, %r2, 3000;
    @%p1 bra $top;
    ld.global.u32 %r3, [%rd3]; add.u32 %r4, %r3, %r2; st.global.u32 [%rd3], %r4; ret;
"""


@cache
def made(body: str) -> Module:
    """Return a kernel whose threads are numbered from 1; the same one each time."""
    return kernel(f"add.u32 %r1, %r1, 1; {body}")


def ran(body: str, engine: Engine, *, timeline: bool = False) -> tuple[Done, bytes]:
    """Run a kernel of 32 threads."""
    module, memory = made(body), LaunchMemory()
    buffer = memory.allocate("out", struct.pack("<64I", *range(64)))
    arguments = {"out": struct.pack("<Q", buffer.address), "n": bytes(4)}
    done = execute(module, "k", Launch(arguments=arguments), memory, EngineChoice(engine, timeline))
    return done, bytes(buffer.data)


ENDLESS = "$top: ld.global.u32 %r3, [%rd3]; st.global.u32 [%rd3], %r3; bra $top;"
"""It reads what it writes, as a thread does that waits for another."""


@pytest.mark.parametrize("engine", ["", "compiled"])
def test_a_thread_that_goes_on_without_end_is_soon_known(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choose, "IN_TURN", 50_000)
    module, memory = made(ENDLESS), LaunchMemory()
    buffer = memory.allocate("out", struct.pack("<64I", *range(64)))
    launch = Launch(arguments={"out": struct.pack("<Q", buffer.address), "n": bytes(4)}, max_steps=10_000_000)
    done = execute(module, "k", launch, memory, EngineChoice(engine))
    assert not done.outcome.complete
    assert [problem.message for problem in done.outcome.problems] == [
        "it did not end within 10,000,000 steps of one block after the other, nor within 50,000 of threads in turn"
    ]
    assert done.totals.lane_instructions > 10_000_000
    assert bytes(buffer.data) == struct.pack("<64I", *range(64))


WAITS = """
    setp.eq.u32 %p1, %r1, 64; @%p1 bra $last;
$top: ld.global.u32 %r3, [%rd1]; setp.ne.u32 %p1, %r3, 7; @%p1 bra $top; ret;
$last: st.global.u32 [%rd1], 7; ret;
"""
"""Threads that wait for the last one, which is in another warp."""
TICKETS = """
    sub.u32 %r4, %r1, 1; $top: ld.global.u32 %r3, [%rd1]; setp.ne.u32 %p1, %r3, %r4; @%p1 bra $top;
    st.global.u32 [%rd1], %r1; ret;
"""
"""Threads that wait for the one before them, which is in the same warp."""


def test_a_thread_that_waits_for_another_ends_where_threads_take_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choose, "IN_TURN", 50_000)
    # warps take turns in machine code as well, lanes of one warp do not
    for body, why in ((WAITS, ""), (TICKETS, "more steps than are allowed")):
        module, memory = made(body), LaunchMemory(checks=False)
        buffer = memory.allocate("out", bytes(256))
        arguments = {"out": struct.pack("<Q", buffer.address), "n": bytes(4)}
        launch = Launch(block=(64, 1, 1), arguments=arguments, max_steps=2_000_000)
        done = execute(module, "k", launch, memory, EngineChoice("compiled"))
        assert done.outcome.complete and done.note == why


def test_threads_that_wait_for_ever_are_soon_known_though_they_race(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choose, "IN_TURN", 50_000)
    module, memory = made(WAITS.replace("[%rd1], 7; ret", "[%rd1], 8; ret")), LaunchMemory()
    buffer = memory.allocate("out", bytes(256))
    arguments = {"out": struct.pack("<Q", buffer.address), "n": bytes(4)}
    launch = Launch(block=(64, 1, 1), arguments=arguments, max_steps=5_000_000)
    done = execute(module, "k", launch, memory, EngineChoice("compiled"))
    assert not done.outcome.complete and done.outcome.conflicts
    assert done.outcome.steps <= 50_001


@pytest.mark.parametrize("engine", ["", "compiled"])
def test_a_long_run_is_the_same_from_either(engine: Engine) -> None:
    (one, data), (other, wanted) = ran(LONG, engine), ran(LONG, "interpreter")
    assert one.outcome.steps > TRIAL
    assert one.pieces is None and not one.note
    assert other.pieces is not None
    assert data == wanted
    assert one.outcome == other.outcome
    assert one.totals == other.totals
    assert [(c.visits, c.lanes, c.divergences) for c in one.branches.values()] == [
        (c.visits, c.lanes, c.divergences) for c in other.branches.values()
    ]


def test_a_short_run_is_the_interpreters() -> None:
    done, _ = ran("st.global.u32 [%rd3], %r1; ret;", "")
    assert done.pieces is not None and not done.note


def test_a_timeline_is_the_interpreters() -> None:
    done, _ = ran(LONG, "compiled", timeline=True)
    assert done.pieces is not None and "timeline" in done.note


def test_a_mistake_is_told_by_the_interpreter() -> None:
    body = LONG.replace("st.global.u32 [%rd3]", "st.global.u32 [%rd3+252]")
    engines: tuple[Engine, ...] = ("", "compiled")
    for engine in engines:
        done, data = ran(body, engine)
        assert [problem.kind for problem in done.outcome.problems][:1] == ["bounds"]
        assert ("out of bounds" in done.note) is (engine == "compiled")
        assert not done.outcome.complete and data


def test_what_depends_on_the_order_of_threads_is_the_interpreters() -> None:
    body = LONG.replace("ld.global.u32 %r3, [%rd3]", "atom.global.add.u32 %r3, [%rd1+128], 1")
    done, _ = ran(body, "")
    assert done.pieces is not None
    done, _ = ran(body, "compiled")
    assert done.pieces is None


def test_what_ends_a_long_run_is_not_looked_at_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("warpsmith.simt.choose.AGAIN", 0)
    done, _ = ran(LONG.replace("st.global.u32 [%rd3]", "st.global.u32 [%rd3+252]"), "compiled")
    assert done.pieces is None and not done.outcome.complete
    assert [problem.kind for problem in done.outcome.problems] == ["bounds"]
    assert done.totals.lane_instructions > TRIAL


@pytest.mark.slow
def test_counters_of_a_run_that_is_cut_short_are_kept() -> None:
    body = LONG.replace("setp.lt.u32 %p1, %r2, 3000", "setp.ge.u32 %p1, %r2, 0")
    module, memory, kept = made(body), LaunchMemory(), list[Done]()
    buffer = memory.allocate("out", bytes(256))
    launch = Launch(arguments={"out": struct.pack("<Q", buffer.address), "n": bytes(4)}, max_steps=1 << 62)
    execute_once = partial(execute, module, "k", launch, memory, EngineChoice("compiled"), rescue=kept.append)
    with pytest.raises(OutOfTimeError), time_limit(5):
        execute_once()
    assert [done.outcome.complete for done in kept] == [False]
    start, loop = (len(block.instructions) + 1 for block in module.functions[0].blocks[:2])
    rounds = max(count.visits for count in kept[0].branches.values())
    assert kept[0].totals.lane_instructions == 32 * (start + rounds * loop)
    assert not any(buffer.data)


@pytest.mark.parametrize("steps", [1, 3, 40])
def test_what_is_raised_while_it_is_interpreted_leaves_what_was_counted(steps: int) -> None:
    module = kernel("$top: add.u32 %r1, %r1, 1; bra $top;")
    memory, kept = LaunchMemory(), list[Done]()
    arguments = {"out": struct.pack("<Q", memory.allocate("out", bytes(128)).address), "n": bytes(4)}
    seen: list[object] = []

    def stop(activity: object) -> None:
        seen.append(activity)
        if len(seen) > steps:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        execute(
            module,
            "k",
            Launch(arguments=arguments),
            memory,
            EngineChoice("interpreter"),
            progress=stop,
            rescue=kept.append,
        )
    (done,) = kept
    assert not done.outcome.complete
    assert done.totals.lane_instructions > 32
