"""A stack of masks: where lanes meet, how many sets of them wait, and which kernels never end on it."""

from __future__ import annotations

import struct
from math import log2

import pytest

from tests.sampling import one_in
from tests.simt.policies.compared import compare, run
from tests.simt.policies.graphs import fork_join_kernel, random_kernel
from tests.simt.policies.mask_machine import graphs_of, meeting
from warpsmith.simt.launch import Launch
from warpsmith.simt.memory import LaunchMemory
from warpsmith.simt.policies.machine import POLICIES, PolicyName, run_policy
from warpsmith.ssa.graph import EXIT, Graph
from warpsmith.ssa.reader import parse_module


@pytest.mark.slow
@pytest.mark.parametrize("seed", one_in(8, range(40)))
def test_smaller_first_keeps_no_more_than_log2_of_the_lanes_waiting(seed: int) -> None:
    module = parse_module(fork_join_kernel(seed))
    assert compare(fork_join_kernel(seed), 8) == len(POLICIES)
    for width in (4, 16, 32):
        done, _ = run("smaller-first", module, width)
        assert done.most_waiting <= log2(width)


def test_a_block_meets_where_its_post_dominator_is() -> None:
    for seed in range(60):
        module = parse_module(random_kernel(seed))
        graph = Graph.of(module.functions[0])
        slow = graphs_of(module)["k"]
        for name in graph.order:
            if not all(graph.post_dominates(EXIT, one) for one in graph.order):
                continue
            assert graph.post_dominator[name] == meeting(slow, name), (seed, name)


SPIN = """
kernel @k(a 8 align 8 i64)
start:
  %a:i64 = param [a+0]
  jump try
try:
  %old:i32 = atomic_compare [global +0 align 4] %a 0:i32 1:i32
  %mine:i1 = eq %old 0:i32
  branch %mine inside try
inside:
  %n:i32 = load [global +4 align 4] %a
  %m:i32 = add %n 1:i32
  store [global +4 align 4] %a %m
  %free:i32 = atomic_exchange [global +0 align 4] %a 0:i32
  return
end
"""


# the lock is given back before lanes meet again
POLITE = SPIN.replace("branch %mine inside try", "branch %mine inside again").replace(
    "  return\nend",
    """  jump again
again:
  %go:i1 = eq %old 0:i32
  branch %go done try
done:
  return
end""",
)


@pytest.mark.parametrize(
    ("kernel", "ends"), [(SPIN, {"per-lane"}), (POLITE, set(POLICIES))], ids=["lanes meet inside", "lanes meet behind"]
)
@pytest.mark.parametrize("policy", POLICIES)
def test_a_spin_lock_ends_where_its_holder_goes_on(policy: PolicyName, kernel: str, ends: set[str]) -> None:
    memory = LaunchMemory()
    start = memory.allocate("a", bytes(8)).address
    launch = Launch((1, 1, 1), (8, 1, 1), {"a": struct.pack("<q", start)}, warp=8, max_steps=20_000)
    done = run_policy(policy, parse_module(kernel), "k", launch, memory)
    assert done.outcome.complete is (policy in ends)
    if policy in ends:
        assert struct.unpack("<2I", bytes(memory.buffers[0].data)) == (0, 8)
    else:
        assert any(problem.kind == "budget" for problem in done.outcome.problems)
        assert done.waiting == "lane 0 waits"
