"""Ways between barriers, and places that two threads are at in one interval."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.analysis.sync.kernels_of_text import judge_of
from warpsmith.analysis.memory.accesses import AccessSite
from warpsmith.analysis.memory.phases import full_barrier
from warpsmith.analysis.sync.ways import TriedWays, Ways

FIRST, SECOND = "s[t] = 1;", "b[t] = s[t + 1];"


@pytest.mark.parametrize(
    ("body", "leads", "both"),
    [
        (f"{FIRST} {SECOND}", True, True),
        (f"{FIRST} __syncthreads(); {SECOND}", False, False),
        (f"{FIRST} __syncwarp(); {SECOND}", True, True),
        (f"if (n > 3) {{ {FIRST} }} else {{ {SECOND} }}", False, False),
        (f"if (t > 3) {{ {FIRST} }} else {{ {SECOND} }}", False, True),
        (f"if (n > 3) {{ {FIRST} }} {SECOND}", True, True),
        (f"for (int i = 0; i < n; i++) {{ {SECOND} __syncthreads(); {FIRST} }}", True, True),
        (f"for (int i = 0; i < n; i++) {{ __syncthreads(); {SECOND} __syncthreads(); {FIRST} }}", False, False),
        (f"for (int i = 0; i < n; i++) {{ {FIRST} __syncthreads(); }} {SECOND}", False, False),
        (f"for (int i = 0; i < n; i++) {{ if (n > i) {{ {FIRST} }} else {{ {SECOND} }} }}", True, True),
    ],
)
def test_ways(body: str, *, leads: bool, both: bool, tmp_path: Path) -> None:
    judge, places = judge_of(f"int t = threadIdx.x; {body}", tmp_path)
    (first,) = (p for p in places if p.space == "shared" and p.kind == "store")
    (second,) = (p for p in places if p.space == "shared" and p.kind == "load")
    ways = Ways(judge.forms)
    assert ways.leads(first, second) == leads
    assert ways.may_both(first, second) == ways.may_both(second, first) == both


TURNS = """
    int t = threadIdx.x, sum = 0;
    for (int k = 0; k < n; k += 64) {
        sum += s[t + 1];
        if (k + 64 < n) { s[t] = sum; __syncthreads(); }
    }
    b[t] = sum;
"""


@pytest.mark.parametrize(
    ("order", "n", "at", "ahead", "leads"),
    [
        ("load store", 256, 0, 0, True),
        ("load store", 256, 3, 0, False),  # the last iteration stores nothing
        ("load store", 256, 0, 1, False),  # the barrier of iteration 0 stands between
        ("load store", 64, 0, 1, False),  # there is no iteration 1
        ("load store", None, 0, 1, True),
        ("load store", 256, 1, None, True),
        ("store load", 256, 0, 1, False),
        ("store load", 256, 0, 0, False),
        ("load store", 256, 1, -1, False),
    ],
)
def test_ways_with_numbers(
    order: str, n: int | None, at: int, ahead: int | None, *, leads: bool, tmp_path: Path
) -> None:
    judge, places = judge_of(TURNS, tmp_path)
    kinds: dict[str, AccessSite] = {p.kind: p for p in places if p.space == "shared"}
    first, second = (kinds[kind] for kind in order.split())
    (cycle,) = judge.forms.around[first.block]
    known = {a: n for a in judge.forms.lanes.atoms.values() if a.argument == "n" and n is not None}
    count = judge.forms.iteration(cycle)
    trials = judge.trial({**known, count: at}), judge.trial({**known, count: at + (ahead or 0)})
    tried = TriedWays(judge, trials, {cycle.header: ahead}, full_barrier)
    assert tried.leads(first, second) == leads


@pytest.mark.parametrize(("n", "leads"), [(256, False), (1, True), (None, True)])
def test_a_loop_that_is_entered_is_passed_by_its_barrier(n: int | None, *, leads: bool, tmp_path: Path) -> None:
    text = f"int t = threadIdx.x; {FIRST} for (int d = n / 2; d > 0; d /= 2) {{ __syncthreads(); }} {SECOND}"
    judge, places = judge_of(text, tmp_path)
    kinds: dict[str, AccessSite] = {p.kind: p for p in places if p.space == "shared"}
    trial = judge.trial({a: n for a in judge.forms.lanes.atoms.values() if a.argument == "n" and n is not None})
    assert TriedWays(judge, (trial, trial), {}, full_barrier).leads(kinds["store"], kinds["load"]) == leads
