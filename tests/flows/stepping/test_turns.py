"""Lanes that are stepped through compute what they do otherwise, and take the same steps again."""

from __future__ import annotations

import struct

import pytest

from tests.simt.engine.kernels import random_case
from tests.simt.test_interpreter import kernel
from warpsmith.flows.stepping.turns import StepPosition, StepTurns
from warpsmith.simt.interpreter import interpret
from warpsmith.simt.launch import Launch
from warpsmith.simt.memory import LaunchMemory
from warpsmith.simt.policies.machine import run_policy
from warpsmith.ssa.graph import Graph


@pytest.mark.slow
def test_steps_are_those_of_the_policy_and_repeat_themselves() -> None:
    complete = 0
    for seed in range(12):
        case = random_case(seed)
        graphs = {function.name: Graph.of(function) for function in case.module.functions}
        runs = []
        for _ in range(2):
            memory, launch = case.placed(checks=True)
            steps: list[tuple[int, int, int, tuple[int, ...], int]] = []

            def note(position: StepPosition, steps: list[tuple[int, int, int, tuple[int, ...], int]] = steps) -> None:
                warp = position.warp
                steps.append((position.number, warp.block, warp.number, position.lanes, id(position.place)))

            turns = StepTurns(graphs, launch.warp, note, lambda thread, phi: None)
            outcome = interpret(case.module, case.name, launch, memory, turns=turns)
            runs.append((steps, [bytes(buffer.data) for buffer in memory.buffers]))
        assert runs[0] == runs[1]
        assert [step[0] for step in runs[0][0]] == list(range(turns.number))
        memory, launch = case.placed(checks=True)
        expected = run_policy("maximal", case.module, case.name, launch, memory)
        if expected.outcome.complete and outcome.complete:
            complete += 1
            assert turns.number == expected.totals.warp_instructions
            assert sum(len(step[3]) for step in runs[0][0]) == expected.totals.lane_instructions
            assert runs[0][1] == [bytes(buffer.data) for buffer in memory.buffers]
    assert complete >= 5


def test_it_is_known_where_lanes_parted() -> None:
    module = kernel("setp.lt.u32 %p1, %r1, 5; @%p1 bra $one; mov.u32 %r2, 1; $one: st.global.u32 [%rd3], %r1; ret;")
    memory = LaunchMemory()
    arguments = {"out": struct.pack("<Q", memory.allocate("out", bytes(128)).address), "n": bytes(4)}
    turns = StepTurns({"k": Graph.of(module.functions[0])}, 32, lambda _: None, lambda thread, phi: None)
    interpret(module, "k", Launch(arguments=arguments), memory, turns=turns)
    (parting,) = turns.warps[0, 0].partings
    taken = {lane for lane, way in parting.ways.items() if way == parting.ways[0]}
    assert taken == set(range(5))
    assert set(parting.ways) == set(range(32))
