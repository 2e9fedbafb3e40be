"""Barriers of OpenCL whose flags leave out the memory in which work-items meet: told, and only that."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.lower.harness import lowered
from warpsmith.analysis.kernel import examine
from warpsmith.analysis.memory.phases import full_barrier
from warpsmith.analysis.rules.judge import judge
from warpsmith.analysis.sync import decide, flags
from warpsmith.analysis.sync.decide import FLAGS
from warpsmith.analysis.uniformity.facts import KernelFacts, LaunchShape
from warpsmith.lower.builtins.opencl import opencl
from warpsmith.machine.devices import device
from warpsmith.ssa.nodes import Instruction

Patch = pytest.MonkeyPatch
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
IN_A_ROW = NEIGHBOR.replace("barrier(FLAGS);", "barrier(FLAGS);\n  barrier(FLAGS);")
"""Two barriers, of which each would order it."""


def facts_of(text: str, flags: str, folder: Path) -> KernelFacts:
    """Return what is known of a kernel whose barrier has such flags."""
    module = lowered(text.replace("FLAGS", flags), folder, "k.cl").module
    return examine(module, "k", LaunchShape((64, 1, 1), (1, 1, 1)), device("h100"))


def told(facts: KernelFacts) -> list[tuple[str, str, list[int]]]:
    """Return the races that are reported: rule, certainty, the lines of both sides and of the barrier."""
    found = [one for one in judge(facts) if one.rule in ("SYN002", "SYN004", "SYN008")]
    spans = [(one, [one.span, *(note.span for note in one.related)]) for one in found]
    return [(one.rule, one.certainty, sorted(span.line for span in some if span)) for one, some in spans]


TOLD = [
    (NEIGHBOR, LOCAL, GLOBAL, [2, 3, 4]), (NEIGHBOR, "0", BOTH, [2, 3, 4]), (IN_A_ROW, LOCAL, GLOBAL, [2, 3, 5]),
    (TILE, GLOBAL, LOCAL, [2, 3, 4]), (TILE, "0", BOTH, [2, 3, 4]),
    (TREE, GLOBAL, LOCAL, [7, 7, 8]), (TWICE, LOCAL, GLOBAL, [5, 6, 9]),
]  # fmt: skip
OPEN = [
    (NEIGHBOR, "f"),
    (NEIGHBOR.replace("barrier", "mem_fence(CLK_GLOBAL_MEM_FENCE); barrier"), LOCAL),
    (TILE.replace("barrier", "sub_group_barrier(CLK_LOCAL_MEM_FENCE); barrier"), GLOBAL),
]
OWN = [(NEIGHBOR.replace(" ^ 1", ""), LOCAL), (TILE.replace("63 -", ""), GLOBAL)]


@pytest.mark.parametrize(("text", "wrong", "right", "lines"), TOLD)
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


@pytest.mark.parametrize(("text", "given"), OPEN)
def test_what_may_be_ordered_is_left_open(text: str, given: str, tmp_path: Path) -> None:
    facts = facts_of(text, given, tmp_path)
    assert told(facts) == [] and facts.freedom.kind == "unknown" and FLAGS in facts.freedom.why


@pytest.mark.parametrize(("text", "given"), OWN)
def test_own_elements_need_no_flags(text: str, given: str, tmp_path: Path) -> None:
    facts = facts_of(text, given, tmp_path)
    assert told(facts) == [] and facts.freedom.kind == "none"


# --- bugs


def _the_other_bit(patch: Patch) -> None:
    patch.setattr(opencl, "_ORDERED", ("none", "global", "shared", "all"))


def _one_bit_is_all(patch: Patch) -> None:
    patch.setattr(opencl, "_ORDERED", ("none", "all", "all", "all"))


def _flags_are_ignored(patch: Patch) -> None:
    patch.setattr(decide, "left_out", lambda *given: [])


def _only_local_memory_counts(patch: Patch) -> None:
    original = flags.left_out
    patch.setattr(decide, "left_out", lambda *given: original(*given) if given[-1] == "shared" else [])


def _orders(patch: Patch, what: str, instead: str) -> None:
    original = flags._orders
    patch.setattr(flags, "_orders", lambda i: instead if original(i) == what else original(i))


def _no_flag_is_every_flag(patch: Patch) -> None:
    _orders(patch, "none", "all")


def _unknown_flags_are_all(patch: Patch) -> None:
    _orders(patch, "unknown", "all")


def _unknown_flags_are_none(patch: Patch) -> None:
    _orders(patch, "unknown", "none")


def _fences_order_nothing(patch: Patch) -> None:
    patch.setattr(flags, "_ORDERING", ("call", "unmodeled"))


def _every_barrier_stays(patch: Patch) -> None:
    patch.setattr(flags, "_is_left", lambda gone, i: full_barrier(i))


def _no_barrier_stays(patch: Patch) -> None:
    patch.setattr(flags, "_is_left", lambda gone, i: False)


def _one_barrier_goes(patch: Patch) -> None:
    def is_left(gone: frozenset[Instruction], i: Instruction) -> bool:
        return full_barrier(i) and (len(gone) > 1 or i not in gone)

    patch.setattr(flags, "_is_left", is_left)


def _what_is_apart_is_told(patch: Patch) -> None:
    patch.setattr(decide, "_are_apart", lambda judge, meeting: False)


BUGS = [
    _the_other_bit, _one_bit_is_all, _flags_are_ignored, _only_local_memory_counts, _no_flag_is_every_flag,
    _unknown_flags_are_all, _unknown_flags_are_none, _fences_order_nothing, _every_barrier_stays, _no_barrier_stays,
    _one_barrier_goes, _what_is_apart_is_told,
]  # fmt: skip


def _misjudged(folder: Path) -> list[str]:
    """Return the kernels above of which something else is said."""
    expected = [
        *((text, wrong, 1, "unknown") for text, wrong, _, _ in TOLD),
        *((text, right, 0, "none") for text, _, right, _ in TOLD),
        *((text, given, 0, "unknown") for text, given in OPEN),
        *((text, given, 0, "none") for text, given in OWN),
    ]
    found = [(facts_of(text, given, folder), count, kind) for text, given, count, kind in expected]
    return [str(facts.span) for facts, count, kind in found if (len(told(facts)), facts.freedom.kind) != (count, kind)]


@pytest.mark.slow
@pytest.mark.parametrize("bug", BUGS)
def test_a_bug_in_what_flags_order_is_seen(bug: Callable[[Patch], None], monkeypatch: Patch, tmp_path: Path) -> None:
    bug(monkeypatch)
    assert _misjudged(tmp_path)


def test_nothing_is_misjudged(tmp_path: Path) -> None:
    assert not _misjudged(tmp_path)
