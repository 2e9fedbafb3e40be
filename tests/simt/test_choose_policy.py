"""Which machine runs a kernel under a policy, and that nobody sees which it was."""

from __future__ import annotations

import re
import struct

import pytest

from tests.simt.test_choose import LONG, made
from warpsmith.simt.choose import Engine
from warpsmith.simt.choose_policy import PolicyChoice, execute_policy
from warpsmith.simt.launch import Launch
from warpsmith.simt.memory import LaunchMemory
from warpsmith.simt.policies.machine import POLICIES, PolicyName, PolicyRun
from warpsmith.ssa.nodes import Module


def ran(module: Module, choice: PolicyChoice, launch: Launch) -> tuple[PolicyRun, bytes]:
    memory = LaunchMemory(checks=False)
    buffer = memory.allocate("out", struct.pack("<64I", *range(64)))
    arguments = {"out": struct.pack("<Q", buffer.address), "n": bytes(4)}
    launch = Launch(launch.grid, launch.block, arguments, max_steps=launch.max_steps)
    return execute_policy(module, "k", launch, memory, choice), bytes(buffer.data)


@pytest.mark.slow
@pytest.mark.parametrize("policy", POLICIES[1:])
def test_a_long_run_is_the_same_from_either(policy: PolicyName) -> None:
    (one, data), (other, wanted) = (
        ran(made(LONG), PolicyChoice(policy, engine), Launch()) for engine in ("", "interpreter")
    )
    assert not one.pieces and other.pieces and not one.note
    assert data == wanted
    assert (one.outcome, one.totals, one.most_waiting) == (other.outcome, other.totals, other.most_waiting)
    assert dict(one.blocks) == dict(other.blocks)


def note(body: str, launch: Launch, engine: Engine = "compiled", *, timeline: bool = False) -> str:
    done, _ = ran(made(body), PolicyChoice("ipdom", engine, timeline), launch)
    assert bool(done.pieces) is bool(done.note)
    return done.note


TAKES = "atom.global.add.u32 %r2, [%rd3], 1; st.global.u32 [%rd3+4], %r2; ret;"
RACES = "ld.global.u32 %r2, [%rd1]; add.u32 %r2, %r2, 1; st.global.u32 [%rd1], %r2; ret;"


def test_the_order_of_several_warps_is_the_interpreters() -> None:
    assert note(TAKES, Launch((1, 1, 1), (16, 1, 1))) == ""
    assert "order of the threads (policy ipdom)" in note(TAKES, Launch((1, 1, 1), (48, 1, 1)))


def test_threads_of_several_warps_that_race_are_the_interpreters() -> None:
    assert note(RACES, Launch((1, 1, 1), (32, 1, 1))) == ""
    assert note(RACES, Launch((2, 1, 1), (32, 1, 1))).startswith("a data race")


def test_a_timeline_is_the_interpreters() -> None:
    assert "timeline" in note(LONG, Launch(), timeline=True)
    done, _ = ran(made(LONG), PolicyChoice("ipdom", "", timeline=True), Launch())
    assert done.pieces and not done.note


def test_a_lock_that_is_never_free_is_told_at_once() -> None:
    spin = """
    $top: atom.global.cas.b32 %r2, [%rd1], 0, 1; setp.ne.u32 %p1, %r2, 0;
        @%p1 bra $top;
        atom.global.exch.b32 %r3, [%rd1], 0; ret;"""
    done, _ = ran(made(spin), PolicyChoice("ipdom"), Launch(max_steps=50_000_000))
    (problem,) = done.outcome.problems
    assert problem.message == "it did not end within 50,000,000 steps" and not done.outcome.complete
    # the lane that has the lock waits for the others behind the loop
    (lane,) = re.findall(r"^lane (\d+) waits at line \d+$", done.waiting)
    assert 0 <= int(lane) < 32
    done, data = ran(made(spin), PolicyChoice("per-lane"), Launch(max_steps=50_000_000))
    assert done.outcome.complete and data[:4] == bytes(4)
