"""Kinds of tests that branches make: a boundary, a loop over the grid, one that repeats every few lanes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.analysis.test_kernel import told
from tests.lower.harness import lowered
from warpsmith.analysis.kernel import examine
from warpsmith.analysis.rules.branch_kinds import is_boundary, is_bounded_by_guard, period_of
from warpsmith.analysis.rules.divergence import divergence
from warpsmith.analysis.rules.lanes import LaneValues, masks
from warpsmith.analysis.rules.sides import comparison
from warpsmith.analysis.uniformity.facts import KernelFacts, LaunchShape
from warpsmith.machine.devices import device
from warpsmith.ssa.nodes import Branch

SHAPE = LaunchShape((64, 1, 1))


def branched(lines: str) -> KernelFacts:
    body = "\n".join(f"  {line.strip()}" for line in lines.split(";"))
    return told(f"{body}\n  branch %c yes no\nyes:\n  store [shared +0 align 4] %t %x\n  jump no\nno:", SHAPE)


def boundary(lines: str) -> bool:
    facts = branched(lines)
    (branch,) = facts.branches
    return is_boundary(facts, branch)


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ("%c:i1 = slt %i %n", True),
        ("%c:i1 = sge %i %n", True),
        ("%c:i1 = slt %n %i", True),
        ("%c:i1 = eq %i %n", False),
        ("%c:i1 = slt %x %n", False),
        ("%c:i1 = slt %b %n", False),
        ("%d:i1 = slt %i %n; %e:i1 = slt %n 7:i32; %c:i1 = and %d %e", True),
        ("%d:i1 = slt %i %n; %e:i1 = slt %i 9:i32; %c:i1 = or %d %e", True),
        ("%d:i1 = slt %i %n; %e:i1 = eq %x 3:i32; %c:i1 = and %d %e", False),
        ("%e:i1 = slt %n 7:i32; %d:i1 = slt %b 3:i32; %c:i1 = and %d %e", False),
        ("%d:i1 = slt %i %n; %e:i1 = xor %d 1:i1; %c:i1 = add %e %d", False),
        # a bound that all load from one place, and one that each thread loads
        ("%v:i32 = load [global +0 align 4] %a; %c:i1 = slt %i %v", True),
        ("%w:i64 = sext %x; %d:i64 = add %a %w; %v:i32 = load [global +0 align 4] %d; %c:i1 = slt %i %v", False),
        ("%q:i32 = sdiv %i 3:i32; %c:i1 = slt %q %n", False),
        ("%m:i32 = mul %x %n; %c:i1 = slt %i %m", False),
        # (int)(i * sizeof(float4)), and of the thread in its block alone
        ("%d:i64 = zext %i; %e:i64 = mul %d 16:i64; %s:i32 = trunc %e; %c:i1 = sge %s %n", True),
        ("%d:i64 = zext %x; %e:i64 = mul %d 16:i64; %s:i32 = trunc %e; %c:i1 = sge %s %n", False),
    ],
)
def test_a_boundary_compares_the_global_index_with_one_bound(lines: str, *, expected: bool) -> None:
    assert boundary(lines) == expected


def loop(start: str, step: str, test: str) -> bool:
    facts = told(f"""
  %lane:i32 = and %x 31:i32
  %wide:i32 = shl %lane 3:i32
  %begin:i32 = load [global +0 align 4] %a
  %from:i32 = add %begin %x
  %at:i64 = smulwide %x 4:i32
  %mine:i64 = add %a %at
  %own:i32 = load [global +0 align 4] %mine
  jump head
head:
  %j:i32 = phi start {start} head %k
  %k:i32 = {step}
  store [shared +0 align 4] %t %k
  %c:i1 = {test}
  branch %c head done
done:""", SHAPE)  # fmt: skip
    (branch,) = facts.branches
    return is_bounded_by_guard(facts, branch, LaneValues(facts))


@pytest.mark.parametrize(
    ("start", "step", "test", "expected"),
    [
        ("%i", "add %j 1024:i32", "slt %k %n", True),
        ("%x", "add %j %w", "slt %k %n", True),
        # what a warp works on: each lane takes one of 32, or the first of eight of them
        ("%lane", "add %j 32:i32", "slt %k %n", True),
        ("%lane", "add %j 32:i32", "slt %j %n", True),
        ("%wide", "add %j 256:i32", "slt %k %n", True),
        ("%wide", "sub %j 256:i32", "sgt %j %n", True),
        ("%wide", "add %j 32:i32", "slt %k %n", False),
        ("%wide", "add %j 8:i32", "slt %j %n", False),
        ("%lane", "add %j 32:i32", "slt %j %x", False),
        # from where data say that the block's part begins, and from where they say that the thread's begins
        ("%from", "add %j %n", "slt %j %n", True),
        ("%own", "add %j %n", "slt %j %n", False),
        ("%x", "add %j %w", "sgt %n %k", True),
        ("%x", "add %j %w", "ne %k %n", False),
        ("0:i32", "add %j 1:i32", "slt %k %x", False),
        ("0:i32", "add %j %x", "slt %k %n", False),
    ],
)
def test_a_loop_over_the_grid_counts_by_the_threads_index(start: str, step: str, test: str, *, expected: bool) -> None:
    assert loop(start, step, test) == expected


def period(lines: str, *, known: bool = False) -> int | None:
    facts = branched(lines)
    (branch,) = facts.branches
    end = branch.place.terminator
    assert isinstance(end, Branch)
    split = masks(LaneValues(facts), end) if known else None
    return period_of(facts, comparison(facts, end.condition), split)


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ("%m:i32 = and %i 1:i32; %c:i1 = eq %m 0:i32", 2),
        ("%m:i32 = and %i 7:i32; %c:i1 = ne %m 0:i32", 8),
        ("%m:i32 = urem %i 3:i32; %c:i1 = eq %m 1:i32", 3),
        ("%m:i32 = srem %i 16:i32; %c:i1 = eq %m 1:i32", 16),
        ("%m:i32 = and %i 31:i32; %c:i1 = eq %m 0:i32", None),
        ("%m:i32 = urem %i 32:i32; %c:i1 = eq %m 0:i32", None),
        ("%m:i32 = and %i 0:i32; %c:i1 = eq %m 0:i32", None),
        ("%m:i32 = and %i 1:i32; %c:i1 = slt %m 1:i32", None),
        ("%d:i32 = mul %i 2:i32; %m:i32 = and %d 1:i32; %c:i1 = eq %m 0:i32", None),
        ("%m:i32 = or %i 1:i32; %c:i1 = eq %m 1:i32", None),
        ("%m:i32 = and %i 1:i32; %c:i1 = eq %m %n", None),
    ],
)
def test_a_remainder_of_the_index_repeats(lines: str, expected: int | None) -> None:
    assert period(lines) == expected


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ("%m:i32 = and %x 3:i32; %c:i1 = slt %m 2:i32", 4),
        ("%m:i32 = urem %x 5:i32; %c:i1 = eq %m 2:i32", 5),
        ("%m:i32 = and %x 31:i32; %c:i1 = slt %m 9:i32", None),
        ("%c:i1 = slt %x 40:i32", None),
        ("%m:i32 = and %x 31:i32; %d:i32 = urem %m 5:i32; %c:i1 = eq %d 2:i32", 5),
    ],
)
def test_the_masks_of_all_warps_repeat(lines: str, expected: int | None) -> None:
    assert period(lines, known=True) == expected


@pytest.mark.parametrize(("bytes_", "told_as"), [("16 * sizeof(int4)", set()), ("sizeof(int4)", {"DIV003"})])
def test_a_counter_whose_step_has_more_bits(bytes_: str, told_as: set[str], tmp_path: Path) -> None:
    text = f"""__global__ void k(float *out, const float *in, int n) {{
        float sum = 0;
        for (int i = threadIdx.x % 32 * 8; i < n; i += {bytes_}) sum += sinf(in[i]) * in[i + n];
        out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
    }}"""
    module = lowered(text, tmp_path, "k.cu").module
    facts = examine(module, "k", LaunchShape((128, 1, 1), (4, 1, 1)), device("h100"))
    assert {one.rule for one in divergence(facts) if one.certainty != "heuristic"} & {"DIV003"} == told_as
