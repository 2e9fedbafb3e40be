"""A stack of masks in the frame of a warp: what waits there, and how many sets at most."""

from __future__ import annotations

from math import log2

import pytest

from tests.simt.engine.agree_policy import agree_under, policy_checks
from tests.simt.engine.policy_kernels import SPIN, text_case
from tests.simt.policies.graphs import fork_join_kernel
from warpsmith.simt.engine.engine import run
from warpsmith.simt.engine.words import Stop
from warpsmith.simt.policies.machine import PolicyName


def test_smaller_first_keeps_no_more_than_log2_of_the_lanes_waiting() -> None:
    case = text_case(fork_join_kernel(20), 32, 32)
    assert agree_under("smaller-first", case) == ""
    memory, launch = case.placed(checks=False)
    made = run(case.module, "k", launch, memory, policy_checks("smaller-first"))
    assert 0 < made.counts.most_waiting <= log2(32)


SWITCH = """
kernel @k(a 8 align 8 i64)
start:
  %a:i64 = param [a+0]
  %x:i32 = query [tid.x]
  %o:i64 = umulwide %x 4:i32
  %p:i64 = add %a %o
  %c:i32 = udiv %x 3:i32
  switch %c 0 zero 1 one 2 zero 3 last other
zero:
  jump last
one:
  jump other
other:
  jump last
last:
  %k:i32 = phi start 1:i32 zero 2:i32 other 3:i32
  %n:i32 = atomic_add [global +64 align 4] %a %k
  store [global +0 align 4] %p %n
  return
end
"""


@pytest.mark.parametrize("policy", ["ipdom", "true-first", "smaller-first", "per-lane"])
def test_the_arms_of_a_switch_go_in_order(policy: PolicyName) -> None:
    assert agree_under(policy, text_case(SWITCH, 16, 16, words=17)) == ""


def test_lanes_that_spin_for_a_lane_beneath_them_run_out_of_steps() -> None:
    case = text_case(SPIN, 8, 8, words=2)
    memory, launch = case.placed(checks=False)
    made = run(case.module, "k", launch, memory, policy_checks("ipdom"))
    assert made.stop is Stop.BUDGET
    assert bytes(memory.buffers[0].data) == bytes(8)
