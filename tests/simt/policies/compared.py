"""Kernels run under policies, and held against the slow machine."""

from __future__ import annotations

import struct
from collections import Counter

from tests.simt.policies.mask_machine import Piece, Ways, graphs_of, maximal, per_lane, stack
from warpsmith.simt.interpreter import interpret
from warpsmith.simt.launch import Launch
from warpsmith.simt.memory import LaunchMemory
from warpsmith.simt.policies.machine import POLICIES, PolicyName, PolicyRun, run_policy, why_not
from warpsmith.ssa.graph import Graph
from warpsmith.ssa.nodes import Module
from warpsmith.ssa.reader import parse_module

__all__ = ["compare", "placed", "run"]

ORDERS = {"ipdom": "text", "true-first": "true", "smaller-first": "smaller"}
THREADS = 40


def placed(width: int) -> tuple[Launch, LaunchMemory]:
    memory = LaunchMemory()
    start = memory.allocate("a", bytes(8 * THREADS), known=False).address
    return Launch((1, 1, 1), (THREADS, 1, 1), {"a": struct.pack("<q", start)}, warp=width), memory


def replayed(module: Module, width: int) -> tuple[Ways, bytes]:
    launch, memory = placed(width)
    ways = Ways(module)
    assert interpret(module, "k", launch, memory, ways).complete
    return ways, bytes(memory.buffers[0].data)


def run(policy: PolicyName, module: Module, width: int) -> tuple[PolicyRun, bytes]:
    launch, memory = placed(width)
    done = run_policy(policy, module, "k", launch, memory)
    return done, bytes(memory.buffers[0].data)


def compare(text: str, width: int) -> int:
    """Hold every policy against the slow machine; return how many could take the graph."""
    module = parse_module(text)
    ways, results = replayed(module, width)
    graphs, taken = graphs_of(module), 0
    for policy in POLICIES:
        if why_not(policy, module):
            assert any(Graph.of(f).irreducible for f in module.functions)
            continue
        taken += 1
        done, found = run(policy, module, width)
        assert done.outcome.complete and found == results, policy
        for number, way in ways.warps.items():
            made: list[Piece] = [(p.block.name, p.start, p.mask) for p in done.pieces[number]]
            if policy in ORDERS:
                assert made == stack(way, graphs, ORDERS[policy]), policy
            elif policy == "per-lane":
                assert made == per_lane(way, graphs, 8)
            else:
                assert Counter(made) == maximal(way), policy
        sums = done.totals
        assert sums.lane_instructions == done.outcome.steps
        assert sums.issued_slots == sums.lane_instructions + sum(sums.lost.values()) + sums.unfilled + sums.other
    return taken
