"""Launches under every policy: the same results, and the masks, their order and counts of a slow machine."""

from __future__ import annotations

from unittest.mock import patch

import pytest

from tests.sampling import one_in
from tests.simt.policies.compared import compare, run
from tests.simt.policies.graphs import FOUR_GRAPHS, drawn_kernel, random_kernel
from warpsmith.simt.policies import per_lane
from warpsmith.simt.policies.linear import LinearPolicy
from warpsmith.simt.policies.machine import POLICIES, PolicyName, why_not
from warpsmith.simt.policies.stack import StackPolicy
from warpsmith.ssa.graph import Graph
from warpsmith.ssa.reader import parse_module


@pytest.mark.slow
@pytest.mark.parametrize("seed", one_in(10, range(120)))
def test_every_policy_has_the_masks_of_the_slow_machine(seed: int) -> None:
    width = (32, 8, 5, 16, 64, 2)[seed % 6]
    assert compare(random_kernel(seed), width) >= len(POLICIES) - 1


def test_some_random_graphs_have_loops_with_several_entries() -> None:
    modules = [parse_module(random_kernel(seed)) for seed in range(40)]
    taken = [not why_not("structurized", module) for module in modules]
    assert 5 < sum(taken) < 35
    refused = next(module for module, fits in zip(modules, taken, strict=True) if not fits)
    assert "of k has 2 entries" in why_not("structurized", refused)


def _costs(name: str, width: int) -> dict[PolicyName, int]:
    """Return the slots that a graph takes under each policy that can take it."""
    module = parse_module(drawn_kernel(FOUR_GRAPHS[name]))
    taken: list[PolicyName] = [policy for policy in POLICIES if not why_not(policy, module)]
    return {policy: run(policy, module, width)[0].totals.issued_slots for policy in taken}


@pytest.mark.parametrize("width", one_in(2, [8, 32]))
def test_policies_differ_on_loops_with_two_exits(width: int) -> None:
    """Stacks join at the immediate post-dominator: who leaves a loop by its second exit goes there alone. One block
    behind the other, or a counter for each lane, lets all that leave so wait for each other."""
    for name in FOUR_GRAPHS:
        assert compare(drawn_kernel(FOUR_GRAPHS[name]), width) == len(POLICIES) - (name == "two entries")
    assert len(set(_costs("if/else", width).values())) == 1
    looped = _costs("while", width)
    alone = looped.pop("per-lane")
    assert len(set(looped.values())) == 1
    # lanes that have waited for long go on without the others
    assert alone > looped["ipdom"]
    exits = _costs("two exits", width)
    assert exits["maximal"] == exits["structurized"] == exits["per-lane"] < exits["ipdom"]
    assert exits["ipdom"] == exits["true-first"] == exits["smaller-first"]


def test_masks_of_structured_control_flow_cannot_take_a_loop_with_two_entries() -> None:
    module = parse_module(drawn_kernel(FOUR_GRAPHS["two entries"]))
    assert [policy for policy in POLICIES if why_not(policy, module)] == ["structurized"]
    assert why_not("structurized", module) == "the loop at b of k has 2 entries"


_STACK = StackPolicy._in_order
BUGS: dict[str, tuple[object, str, object]] = {
    "arms in the other order": (StackPolicy, "_in_order", lambda self, arms, block: _STACK(self, arms, block)[::-1]),
    "lanes meet at the end only": (StackPolicy, "_meeting", lambda self, block, depth, thread: None),
    "sets wait too short": (per_lane, "PATIENCE", 3),
    "iterations do not count": (
        LinearPolicy,
        "_of_frame",
        lambda self, frame: (Graph.of(frame.code.function).rank[frame.block.name], frame.place),
    ),
    "a piece of one lane": (StackPolicy, "pick", lambda self, threads, pick=StackPolicy.pick: pick(self, threads)[:1]),
    "parted sets are one": (StackPolicy, "parted", lambda self, block, depth, threads: None),
}


@pytest.mark.slow
@pytest.mark.parametrize("bug", BUGS)
def test_seeded_bugs_are_caught(bug: str) -> None:
    holder, name, wrong = BUGS[bug]
    with patch.object(holder, name, wrong):
        for seed in range(24):
            try:
                compare(random_kernel(seed), 8)
            except (AssertionError, KeyError, ValueError):
                return
    pytest.fail(f"nobody saw: {bug}")
