"""Collective functions of work-groups and sub-groups: run, and held against lists in Python; and who is uniform."""

from __future__ import annotations

import operator
import random
import struct
from collections.abc import Callable
from itertools import accumulate
from pathlib import Path

import pytest

from tests.lower.pocl import lowered
from warpsmith.analysis.kernel import examine
from warpsmith.analysis.uniformity.facts import LaunchShape
from warpsmith.machine.devices import device
from warpsmith.simt.interpreter import interpret
from warpsmith.simt.launch import Launch
from warpsmith.simt.memory import LaunchMemory
from warpsmith.ssa.verify import faults

NAMES = ("reduce_{}", "scan_inclusive_{}", "scan_exclusive_{}")
HOW = ("add", "min", "max")
BLOCK, WARP = 64, 32
COMBINED: dict[str, Callable[[int, int], int]] = {"add": operator.add, "min": min, "max": max}
NEUTRAL = {"add": 0, "min": 2**31 - 1, "max": -(2**31)}


def _expected(name: str, how: str, values: list[int]) -> list[int]:
    combine = COMBINED[how]
    prefixes = list(accumulate(values, combine))
    if "reduce" in name:
        return [prefixes[-1]] * len(values)
    return prefixes if "inclusive" in name else [NEUTRAL[how], *prefixes[:-1]]


def _ran(body: str, values: list[int], folder: Path) -> list[int]:
    text = f"kernel void k(global int *out, global int *in) {{ int g = get_global_id(0); int v = in[g]; {body} }}\n"
    made = lowered(text, folder, "-cl-std=CL2.0")
    assert not made.findings
    (function,) = made.module.functions
    assert not faults(function)
    memory = LaunchMemory()
    given = memory.allocate("in", struct.pack(f"<{len(values)}i", *values))
    out = memory.allocate("out", bytes(4 * len(values)))
    arguments = {"in": struct.pack("<q", given.address), "out": struct.pack("<q", out.address)}
    outcome = interpret(made.module, "k", Launch((len(values) // BLOCK, 1, 1), (BLOCK, 1, 1), arguments), memory)
    assert outcome.complete and not outcome.problems
    return list(struct.unpack(f"<{len(values)}i", out.data))


@pytest.mark.parametrize("group", ["work", "sub"])
def test_totals_and_prefixes_are_those_of_lists(group: str, tmp_path: Path) -> None:
    numbers = random.Random(group)
    values = [numbers.randint(-99, 99) for _ in range(2 * BLOCK)]
    width = BLOCK if group == "work" else WARP
    calls = [(name, how) for name in NAMES for how in HOW]
    body = " ".join(
        f"if (get_global_size(0) > {n}) s = s * 31 + (uint){group}_group_{name.format(how)}(v);"
        for n, (name, how) in enumerate(calls)
    )
    found = _ran(f"uint s = 0; {body} out[g] = s;", values, tmp_path)
    wanted = [0] * len(values)
    for name, how in calls:
        for start in range(0, len(values), width):
            for at, value in enumerate(_expected(name, how, values[start : start + width]), start):
                wanted[at] = wanted[at] * 31 + value
    assert found == [(w + 2**31) % 2**32 - 2**31 for w in wanted]


def test_votes_and_broadcasts(tmp_path: Path) -> None:
    numbers = random.Random(5)
    values = [numbers.randint(-99, 99) for _ in range(BLOCK)]
    body = (
        "int s = work_group_broadcast(v, 7) + 1000 * sub_group_broadcast(v, 9);"
        "s += work_group_any(v > 98) ? 1 << 20 : 0; s += work_group_all(v > -100) ? 1 << 21 : 0;"
        "s += sub_group_any(get_local_id(0) == 40) ? 1 << 22 : 0; s += get_sub_group_id() << 24;"
        "s += get_num_sub_groups() << 26; out[g] = s + sub_group_shuffle_xor(v, 3) * 0;"
    )
    found = _ran(body, values, tmp_path)
    for at, number in enumerate(found):
        warp = at // WARP
        wanted = values[7] + 1000 * values[warp * WARP + 9] + ((max(values) > 98) << 20) + (1 << 21)
        assert number == wanted + (warp << 22) + (warp << 24) + (2 << 26)


LEVELS = {
    "work_group_any(v > 3)": ("uniform", "uniform"),
    "work_group_reduce_add(v) > 3": ("uniform", "uniform"),
    "work_group_broadcast(v, 2) > 3": ("uniform", "uniform"),
    "work_group_scan_inclusive_add(v) > 3": ("divergent", "divergent"),
    "sub_group_any(v > 3)": ("uniform", "divergent"),
    "sub_group_reduce_add(v) > 3": ("uniform", "divergent"),
    "sub_group_broadcast(v, 2) > 3": ("uniform", "divergent"),
    "get_sub_group_id() == 1": ("uniform", "divergent"),
    "sub_group_shuffle_xor(v, 2) > 3": ("divergent", "divergent"),
    "v > 3": ("divergent", "divergent"),
}


@pytest.mark.parametrize("condition", LEVELS)
def test_who_decides_alike(condition: str, tmp_path: Path) -> None:
    text = (
        "kernel void k(global int *out, global int *in)\n"
        f"{{ int g = get_global_id(0); int v = in[g]; if ({condition}) out[g] = 1; }}\n"
    )
    made = lowered(text, tmp_path, "-cl-std=CL2.0")
    facts = examine(made.module, "k", LaunchShape((BLOCK, 1, 1)), device("sm_80"))
    (branch,) = facts.branches
    assert (branch.warp, branch.block) == LEVELS[condition]
