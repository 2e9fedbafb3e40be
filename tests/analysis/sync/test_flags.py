"""Barriers of OpenCL whose flags leave out the memory in which work-items meet: told, and only that."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.lower.harness import lowered
from warpsmith.analysis.kernel import examine
from warpsmith.analysis.rules.judge import judge
from warpsmith.analysis.sync.decide import FLAGS
from warpsmith.analysis.uniformity.facts import KernelFacts, LaunchShape
from warpsmith.machine.devices import device

LOCAL, GLOBAL, BOTH = "CLK_LOCAL_MEM_FENCE", "CLK_GLOBAL_MEM_FENCE", "CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE"

NEIGHBOR = """__kernel void k(__global int *a, __global int *b, int f) {
  a[get_global_id(0)] = 1;
  barrier(FLAGS);
  b[get_global_id(0)] = a[get_global_id(0) ^ 1];
}
"""
TILE = """__kernel void k(__local int *s, __global int *b, int f) {
  s[get_local_id(0)] = b[get_global_id(0)];
  barrier(FLAGS);
  b[get_global_id(0)] = s[63 - get_local_id(0)];
}
"""
TREE = """__kernel void k(__global int *a, __global int *b, int f) {
  __local int s[64];
  int t = get_local_id(0);
  s[t] = b[get_global_id(0)];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int h = 32; h > 0; h /= 2) {
    if (t < h) s[t] += s[t + h];
    barrier(FLAGS);
  }
  if (t == 0) b[get_group_id(0)] = 0;
}
"""
TWICE = """__kernel void k(__global int *a, __global int *b, int f) {
  __local int s[64];
  int t = get_local_id(0);
  s[t] = 1;
  a[get_global_id(0)] = t;
  barrier(CLK_LOCAL_MEM_FENCE);
  int x = s[t ^ 1];
  barrier(FLAGS);
  if (t < 63) a[get_global_id(0) + 1] = x;
}
"""


def facts_of(text: str, flags: str, folder: Path) -> KernelFacts:
    """Return what is known of a kernel whose barrier has such flags."""
    module = lowered(text.replace("FLAGS", flags), folder, "k.cl").module
    return examine(module, "k", LaunchShape((64, 1, 1), (1, 1, 1)), device("h100"))


def told(facts: KernelFacts) -> list[tuple[str, str, list[int]]]:
    """Return the races that are reported: rule, certainty, the lines of both sides and of the barrier."""
    found = [one for one in judge(facts) if one.rule in ("SYN002", "SYN004", "SYN008")]
    spans = [(one, [one.span, *(note.span for note in one.related)]) for one in found]
    return [(one.rule, one.certainty, sorted(span.line for span in some if span)) for one, some in spans]


@pytest.mark.parametrize(
    ("text", "wrong", "right", "lines"),
    [
        (NEIGHBOR, LOCAL, GLOBAL, [2, 3, 4]), (NEIGHBOR, "0", BOTH, [2, 3, 4]),
        (TILE, GLOBAL, LOCAL, [2, 3, 4]), (TILE, "0", BOTH, [2, 3, 4]),
        (TREE, GLOBAL, LOCAL, [7, 7, 8]), (TWICE, LOCAL, GLOBAL, [5, 6, 9]),
    ],
)  # fmt: skip
def test_a_barrier_that_leaves_the_memory_out_orders_nothing(
    text: str, wrong: str, right: str, lines: list[int], tmp_path: Path
) -> None:
    facts = facts_of(text, wrong, tmp_path)
    assert told(facts) == [("SYN002", "conditional", lines)]
    assert facts.freedom.kind == "unknown"
    mended = facts_of(text, right, tmp_path)
    assert told(mended) == [] and mended.freedom.kind == "none"


def test_the_finding_names_the_flag_and_the_barrier(tmp_path: Path) -> None:
    (one,) = [one for one in judge(facts_of(NEIGHBOR, LOCAL, tmp_path)) if one.rule == "SYN002"]
    assert "leave global memory out" in one.message
    assert one.help[0] == "add CLK_GLOBAL_MEM_FENCE to the flags of the barrier in line 3"
    assert one.assumptions == ("the device goes by the flags of the barrier in line 3, which order local memory only",)
    assert [note.text for note in one.related] == ["thread (0, 0, 0) writes a", "orders local memory only"]


@pytest.mark.parametrize(
    ("text", "flags", "why"),
    [
        (NEIGHBOR, "f", FLAGS),
        (NEIGHBOR.replace("barrier", "mem_fence(CLK_GLOBAL_MEM_FENCE); barrier"), LOCAL, FLAGS),
        (TILE.replace("barrier", "sub_group_barrier(CLK_LOCAL_MEM_FENCE); barrier"), GLOBAL, FLAGS),
    ],
)
def test_what_may_be_ordered_is_left_open(text: str, flags: str, why: str, tmp_path: Path) -> None:
    facts = facts_of(text, flags, tmp_path)
    assert told(facts) == [] and facts.freedom.kind == "unknown" and why in facts.freedom.why


@pytest.mark.parametrize(("text", "flags"), [(NEIGHBOR.replace(" ^ 1", ""), LOCAL), (TILE.replace("63 -", ""), GLOBAL)])
def test_own_elements_need_no_flags(text: str, flags: str, tmp_path: Path) -> None:
    facts = facts_of(text, flags, tmp_path)
    assert told(facts) == [] and facts.freedom.kind == "none"
