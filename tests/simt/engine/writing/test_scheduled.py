"""Kernels run under policies by the compiled machine and by the interpreter: same results, counters and order.

As many random kernels as you like on demand, from another seed on:
`WARPSMITH_PROGRAMS=5000 WARPSMITH_SEED=1000 pytest -m slow tests/simt/engine/writing/test_scheduled.py -k random`.
"""

from __future__ import annotations

import os
from collections import Counter

import pytest

from tests.sampling import one_in
from tests.simt.engine.agree_policy import agree_under
from tests.simt.engine.kernels import random_case
from tests.simt.engine.policy_kernels import graph_case, text_case, timed_case
from tests.simt.engine.seeded import Bug, shown
from tests.simt.engine.seeded_policies import BUGS
from tests.simt.policies.graphs import FOUR_GRAPHS, drawn_kernel
from warpsmith.simt.policies.machine import POLICIES, PolicyName

PROGRAMS = int(os.environ.get("WARPSMITH_PROGRAMS", "100"))
SEED = int(os.environ.get("WARPSMITH_SEED", "60"))
MADE = {"graph": graph_case, "random": random_case, "timed": timed_case}


@pytest.mark.parametrize("policy", ["maximal", "ipdom", "smaller-first", "per-lane"])
def test_a_random_kernel_with_barriers_does_the_same(policy: PolicyName) -> None:
    assert agree_under(policy, random_case(7)) == ""


@pytest.mark.parametrize("policy", POLICIES[2:])
def test_lanes_that_take_numbers_take_them_in_the_same_order(policy: PolicyName) -> None:
    assert agree_under(policy, timed_case(1)) == ""


@pytest.mark.parametrize("policy", one_in(3, ["smaller-first", "maximal", "per-lane"]))
def test_the_four_graphs_of_textbooks_do_the_same(policy: PolicyName) -> None:
    left = {name: agree_under(policy, text_case(drawn_kernel(graph), 40, 8)) for name, graph in FOUR_GRAPHS.items()}
    entries = left.pop("two entries")
    assert set(left.values()) == {""}
    assert entries == ("a loop that has several entries" if policy == "maximal" else "")


@pytest.mark.slow
@pytest.mark.parametrize("kind", MADE)
@pytest.mark.parametrize("policy", POLICIES)
def test_most_kernels_are_the_machines_to_finish(policy: PolicyName, kind: str) -> None:
    """Without those that only one of them can take, for which it says so."""
    why = Counter(agree_under(policy, MADE[kind](seed)) for seed in range(20, 60))
    linear = policy in ("maximal", "structurized")
    assert why[""] >= (12 if linear and kind != "random" else 30), why


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(SEED, SEED + PROGRAMS))
def test_many_random_kernels_do_the_same(seed: int) -> None:
    for policy in POLICIES:
        for make in MADE.values():
            agree_under(policy, make(seed))


@pytest.mark.slow
@pytest.mark.parametrize("bug", one_in(4, BUGS), ids=lambda bug: bug.what)
def test_a_bug_is_found(bug: Bug) -> None:
    assert shown(bug)
    assert bug.against(bug.case()) == ""


def test_there_are_enough_bugs() -> None:
    assert len({bug.what for bug in BUGS}) >= 10
