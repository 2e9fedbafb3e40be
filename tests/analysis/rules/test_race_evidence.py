"""What a race rests on: what no launch gives, what data decide, reads that only spare an update."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.lower.harness import lowered
from warpsmith.analysis.kernel import examine
from warpsmith.analysis.rules.race_evidence import (
    is_locked_without_fence,
    is_looked_at_again,
    is_of_another_block,
    is_of_no_launch,
    is_polled,
    is_reduced,
    is_release,
    is_spared_update,
    is_thin,
)
from warpsmith.analysis.rules.synchronization import synchronization
from warpsmith.analysis.uniformity.facts import KernelFacts, LaunchCall, LaunchShape, RaceFact, Side
from warpsmith.machine.devices import device

BLOCK, GRID = (64, 1, 1), (4, 1, 1)


def facts_of(folder: Path, body: str, shape: LaunchShape | None = None) -> KernelFacts:
    text = f"""
        __global__ void k(const int *in, int *out, int *more, int n, int pitch) {{
            int i = blockIdx.x * blockDim.x + threadIdx.x;
            {body}
        }}
    """
    module = lowered(text, folder, "k.cu").module
    return examine(module, "k", shape or LaunchShape(BLOCK, GRID), device("h100"))


def races(facts: KernelFacts) -> list[RaceFact]:
    return [race for race in facts.races if race.certainty != "heuristic"]


@pytest.mark.parametrize(
    ("body", "spared"),
    [
        ("if (out[0] < in[i]) atomicMax(out, in[i]);", True),
        ("if (i < n && !(out[0] >= in[i])) atomicMax(&out[0], in[i]);", True),
        ("if (out[0] > in[i]) atomicMin(out, in[i]);", True),
        ("if ((out[0] & in[i]) == 0) atomicOr(out, in[i]);", True),
        ("int v = out[0], w; do { w = v; v = atomicCAS(out, w, w * in[i] + 1); } while (w != v);", True),
        # what is read goes elsewhere, or decides more
        ("int v = out[0]; if (v < in[i]) { atomicMax(out, in[i]); more[i] = v; }", False),
        ("int v = out[0]; if (v < in[i]) atomicMax(out, in[i]); if (v > 3) more[i] = 1;", False),
        ("int v = out[0]; if (v < in[i]) atomicMax(out, in[i]); else more[i] = 1;", False),
        ("int v = out[0]; if (v < in[i]) { atomicMax(out, in[i]); more[i] = 1; }", False),
        ("if (out[0] < in[i]) atomicAdd(out, in[i]);", False),
        ("if (out[0] < in[i]) atomicMax(out + i % 8, in[i]);", False),
        ("int v = out[0], w; do { w = v; v = atomicCAS(out, w, w + 1); } while (w != v); more[i] = w;", False),
        ("if (out[0] < in[i]) out[0] = in[i];", False),
    ],
)
def test_reads_that_only_spare_an_update(body: str, *, spared: bool, tmp_path: Path) -> None:
    facts = facts_of(tmp_path, body)
    found = [is_spared_update(facts, race) for race in races(facts)]
    assert found and all(found) == spared


@pytest.mark.parametrize(
    ("body", "again"),
    [
        ("while (*out < n) { int h = atomicAdd(out, 1); if (h < n) more[h] = in[h]; }", True),
        ("if (*out > 0) { int h = atomicSub(out, 1); if (h > 0) more[h] = in[h]; }", True),
        # what the update gives is not looked at, or what is read goes elsewhere, or to work that is not behind it
        ("while (*out < n) { int h = atomicAdd(out, 1); more[h] = in[h]; }", False),
        ("int v = *out; if (v < n) { int h = atomicAdd(out, 1); if (h < n) more[v] = in[h]; }", False),
        ("int v = *out; if (v < n) more[i] = 1; int h = atomicAdd(out, 1); if (h < n) more[h] = in[h];", False),
    ],
)
def test_an_update_that_looks_for_itself(body: str, *, again: bool, tmp_path: Path) -> None:
    facts = facts_of(tmp_path, body)
    read = next(one for one in facts.accesses if one.kind == "load" and one.variable == "out")
    update = next(one for one in facts.accesses if one.kind == "atomic")
    race = RaceFact("k", "out", "global", "grid", 0, Side(None, read), Side(None, update), "conditional", ())
    assert is_looked_at_again(facts, race) == again


@pytest.mark.parametrize(
    ("body", "polled"),
    [
        ("volatile int *v = out; atomicAdd(out, 1); while (*v < n); more[i] = 1;", True),
        ("volatile int *v = out; if (i == 0) *v = 1; while (*v == 0); more[i] = 1;", True),
        # read once, or used, not volatile, or something else decides how long
        ("volatile int *v = out; atomicAdd(out, 1); if (*v < n) more[i] = 1;", False),
        ("volatile int *v = out; atomicAdd(out, 1); int x; while ((x = *v) < n); more[i] = x;", False),
        ("volatile int *v = out; *out = i; while (*v < n); more[i] = 1;", False),
        ("volatile int *v = out; atomicAdd(out, 1); for (int k = 0; k < n; k++) if (*v == k) more[i] = k;", False),
    ],
)
def test_volatile_reads_that_wait(body: str, *, polled: bool, tmp_path: Path) -> None:
    facts = facts_of(tmp_path, body)
    read = next(one for one in facts.accesses if one.kind == "load" and one.variable == "out")
    write = next(one for one in facts.accesses if one.kind != "load" and one.variable == "out")
    race = RaceFact("k", "out", "global", "grid", 0, Side(None, write), Side(None, read), "conditional", ())
    assert is_polled(facts, race) == polled
    told = [one for one in synchronization(replace(facts, races=(race,), as_written=None)) if one.rule == "SYN008"]
    assert [one.at_most == "note" for one in told] == [polled]


@pytest.mark.parametrize(
    ("body", "released"),
    [
        ("while (atomicCAS(out, 0, 1)); *more += in[i]; *out = 0;", True),
        ("if (atomicExch(out, 1) == 0) { *more += in[i]; *out = 0; }", True),
        # it is no other number, none that is written out, of another place, or not behind it
        ("while (atomicCAS(out, 0, 1)); *more += in[i]; *out = 1;", False),
        ("while (atomicCAS(out, 0, 1)); *more += in[i]; *out = n;", False),
        ("while (atomicCAS(out, 0, 1)); *more += in[i]; out[n] = 0;", False),
        ("while (atomicCAS(out, 0, 1)); *more += in[i]; out[1] = 0;", False),
        ("*out = 0; while (atomicCAS(out, 0, 1)); *more += in[i];", False),
        ("atomicAdd(out, 1); *out = 0;", False),
    ],
)
def test_a_lock_that_a_plain_store_gives_back(body: str, *, released: bool, tmp_path: Path) -> None:
    facts = facts_of(tmp_path, body)
    sides = [(one, other) for one in facts.accesses for other in facts.accesses if one.kind == "atomic" != other.kind]
    swap, store = next(
        pair for pair in sides if pair[1].kind == "store" and pair[1].span and "out" in pair[1].span.text
    )
    race = RaceFact("k", "out", "global", "grid", 0, Side(None, swap), Side(None, store), "conditional", ())
    assert is_release(facts, race) == released
    if released:
        (one,) = (
            one for one in synchronization(replace(facts, races=(race,), as_written=None)) if one.rule == "SYN008"
        )
        assert one.at_most == "warning" and "atomicExch" in one.help[0]


@pytest.mark.parametrize(
    ("body", "thin"),
    [
        ("if (i < n) out[0] = i;", False),
        ("out[0] = i;", False),
        ("if (in[i] < 0) out[0] = i;", True),
        ("if (in[i] < 0) out[i / 2] = i;", True),
        ("out[i / 2] = i;", False),
        ("out[i / 2] = in[i];", True),
    ],
)
def test_thin_evidence(body: str, *, thin: bool, tmp_path: Path) -> None:
    facts = facts_of(tmp_path, body)
    found = [is_thin(facts, race) for race in races(facts)]
    assert found and all(found) == thin


def test_numbers_that_no_launch_gives(tmp_path: Path) -> None:
    facts = facts_of(tmp_path, "if (i < n) out[0] = i;")
    picked = [race for race in races(facts) if "n is 256" in race.assumptions]
    assert picked and not any(is_of_no_launch(facts, race) for race in picked), "no launch is known"
    for given, gone in (((256,), False), ((7, 9), True)):
        calls = (LaunchCall(None, {"n": given}),)
        made = facts_of(tmp_path, "if (i < n) out[0] = i;", LaunchShape(BLOCK, GRID, calls=calls))
        assert [is_of_no_launch(made, race) for race in picked] == [gone] * len(picked)


@pytest.mark.parametrize(
    ("text", "thin"),
    [
        ("both threads get there between the same two barriers", True),
        ("lanes of one warp write different values", False),
        ("the index of out does not overflow", False),
        ("more than one block gets there", False),
    ],
)
def test_what_makes_evidence_thin(text: str, *, thin: bool, tmp_path: Path) -> None:
    facts = facts_of(tmp_path, "if (i < n) out[0] = i;")
    race = replace(races(facts)[0], certainty="conditional", assumptions=(text,))
    assert is_thin(facts, race) == thin
    assert not is_thin(facts, replace(race, certainty="witnessed"))


@pytest.mark.parametrize(
    ("value", "alike"), [("__reduce_add_sync(~0u, in[i])", True), ("__shfl_xor_sync(~0u, v, 1)", True), ("v", False)]
)
def test_lanes_that_store_what_they_exchanged(value: str, *, alike: bool, tmp_path: Path) -> None:
    body = f"__shared__ int s[2]; int v = in[i]; s[threadIdx.x / 32] = {value}; __syncthreads(); out[i] = s[i % 2];"
    facts = facts_of(tmp_path, body)
    found = [is_reduced(facts, race) for race in facts.races if race.space == "shared"]
    assert found == [alike] * len(found) and (found or alike)


@pytest.mark.parametrize(
    ("body", "locked"),
    [
        ("while (atomicCAS(out, 0, 1)); *more += in[i]; atomicExch(out, 0);", True),
        (
            "bool d = false; while (!d) { if (!atomicCAS(out, 0, 1)) { *more += n; d = true; atomicExch(out, 0); } }",
            True,
        ),
        # it has a fence, another lock is given back, it is not given back on all ways, or it is never taken
        ("while (atomicCAS(out, 0, 1)); __threadfence(); *more += n; __threadfence(); atomicExch(out, 0);", False),
        ("while (atomicCAS(out, 0, 1)); *more += in[i]; atomicExch(out + 1, 0);", False),
        ("while (atomicCAS(out, 0, 1)); *more += in[i]; if (n) atomicExch(out, 0);", False),
        ("*more += in[i]; atomicExch(out, 0);", False),
    ],
)
def test_a_lock_that_has_no_fence(body: str, *, locked: bool, tmp_path: Path) -> None:
    facts = facts_of(tmp_path, body)
    read = next(one for one in facts.accesses if one.kind == "load" and one.variable == "more")
    write = next(one for one in facts.accesses if one.kind == "store" and one.variable == "more")
    race = RaceFact("k", "more", "global", "grid", 0, Side(None, write), Side(None, read), "conditional", ())
    assert is_locked_without_fence(facts, race) == locked
    told = [one for one in synchronization(replace(facts, races=(race,), as_written=None)) if one.rule == "SYN008"]
    assert ["without a fence" in one.message for one in told] == [locked]


@pytest.mark.parametrize(
    ("body", "shape", "another"),
    [
        ("out[threadIdx.x / 2] = in[i]; more[i] = out[threadIdx.x];", LaunchShape(likely=BLOCK), True),
        ("out[threadIdx.x / 2] = in[i]; more[i] = out[threadIdx.x];", LaunchShape(BLOCK), False),
        ("out[threadIdx.x] = in[i]; more[i] = out[threadIdx.x ^ 1];", LaunchShape(likely=BLOCK), False),
        ("out[0] = i; more[i] = out[0];", LaunchShape(likely=BLOCK), False),
    ],
)
def test_a_store_that_another_block_would_not_repeat(
    body: str, shape: LaunchShape, *, another: bool, tmp_path: Path
) -> None:
    facts = facts_of(tmp_path, body, shape)
    found = [race for race in facts.races if race.variable == "out" and race.reach == "block"]
    assert found and {is_of_another_block(facts, race) for race in found} == {another}
