"""Facts about accesses hold in every request of a run: random kernels, and seeded bugs that must be seen."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

import pytest

from tests.analysis.accesses import memory_module, phased_module
from tests.analysis.runs import Launched, Run, launched, ran
from warpsmith.analysis.kernel import examine
from warpsmith.analysis.memory.accesses import places
from warpsmith.analysis.memory.solved import solved_forms
from warpsmith.analysis.uniformity.facts import AccessFact, LaunchShape
from warpsmith.kernels.units import KernelFile, KernelUnit, read_unit
from warpsmith.machine.devices import device
from warpsmith.simt.counters import WarpRequest
from warpsmith.ssa.nodes import Module


@lru_cache(maxsize=512)
def _of_seed(seed: int, barriers: bool) -> Launched:
    phased = barriers and seed % 2 == 1
    return launched(seed, phased_module(seed) if phased else memory_module(seed, barriers=barriers))


def run(seed: int, *, barriers: bool = False, module: Module | None = None) -> Run:
    """Return the run of a random kernel, or of a module that was made from one."""
    return ran(seed, _of_seed(seed, barriers) if module is None else launched(seed, module))


def holds(made: Run, fact: AccessFact, texts: tuple[str, ...] | None = None) -> bool:
    """Whether what a fact assumes (or these sentences of it) is so in this run, as far as that can be seen."""
    for text in fact.assumptions if texts is None else texts:
        if found := re.fullmatch(r"(n|m) >= (-?\d+)", text):
            if (made.did.n if found[1] == "n" else made.did.m) < int(found[2]):
                return False
        elif "overflow" in text:
            asked = [a for r in made.did.requests[fact.instruction] for a in r.addresses.values()]
            base = 0 if fact.space == "shared" else made.did.base
            if any(abs(a - base) > 1 << 24 for a in asked):
                return False
        else:
            return False
    return True


def wrong(made: Run) -> Iterator[str]:
    """Yield what a fact says and a request does not bear out."""
    for fact in made.facts.accesses:
        if fact.certainty == "heuristic" or not holds(made, fact):
            continue
        for request in made.did.requests[fact.instruction]:
            yield from _wrong(made, fact, request)


def _wrong(made: Run, fact: AccessFact, request: WarpRequest) -> Iterator[str]:
    full = made.present(request)
    lanes = sorted(request.addresses)
    where = f"{fact.kind} {fact.index} lanes {lanes} {sorted(request.addresses.values())[:3]}"
    if fact.active == "all" and not full and made.did.outcome.complete:
        yield f"all lanes: {where}"
    if len(lanes) > fact.lanes:
        yield f"more than {fact.lanes} lanes: {where}"
    exact = made.did.outcome.complete and (full or fact.active == "known")
    counts = [("sectors", fact.sectors, request.sectors), ("ways", fact.bank_ways, request.ways)]
    counts += [("addresses", fact.addresses, len(set(request.addresses.values())))]
    if made.did.base % 256 == 0:
        counts.append(("aligned", fact.sectors_aligned, request.sectors))
    for name, count, measured in counts:
        if count is not None and (measured > count.most or (exact and measured < count.least)):
            yield f"{name} {count}, measured {measured}: {where}"
    if full:
        yield from _misplaced(made, fact, request, where)


def _misplaced(made: Run, fact: AccessFact, request: WarpRequest, where: str) -> Iterator[str]:
    """Yield what is wrong with where the lanes of a full request are."""
    lanes = sorted(request.addresses)
    if fact.pattern == "uniform" and len(set(request.addresses.values())) > 1:
        yield f"uniform: {where}"
    if fact.offsets and request.warp == 0:
        # addresses of shared memory have 32 bits
        steps = [request.addresses[lane] - request.addresses[lanes[0]] for lane in lanes]
        if any((step - o + fact.offsets[0]) % (1 << 32) for step, o in zip(steps, fact.offsets, strict=True)):
            yield f"offsets {fact.offsets}: {where}"
    if fact.stride_bytes is not None and made.facts.block[0] > 1:
        step = request.addresses[1] - request.addresses[0]
        if (step - fact.stride_bytes) % (1 << 32) and request.warp == 0:
            yield f"stride {fact.stride_bytes}: {where}"


def all_wrong(count: int, start: int = 0) -> dict[int, list[str]]:
    found = {seed: list(wrong(run(seed))) for seed in range(start, start + count)}
    return {seed: texts for seed, texts in found.items() if texts}


@pytest.mark.slow
def test_every_count_holds_in_many() -> None:
    assert not all_wrong(1500, start=45)


def test_every_count_holds_in_every_request() -> None:
    mix: Counter[str] = Counter()
    for seed in range(45):
        made = run(seed)
        assert not (bad := list(wrong(made))), f"{seed}: {bad[:3]}"
        for fact in made.facts.accesses:
            if made.did.requests[fact.instruction]:
                mix[fact.certainty] += 1
                mix[fact.active] += 1
                mix[fact.space] += 1
                mix["exact"] += fact.sectors is not None and fact.sectors.exact
    assert mix["proven"] > mix["heuristic"] > 10, mix
    assert min(mix["conditional"], mix["known"], mix["all"], mix["some"], mix["shared"], mix["exact"]) > 8, mix


_POINTERS = "float *p, float *q, const long long *w, int n, size_t m"


@pytest.mark.parametrize(
    ("address", "base"),
    [
        ("p + threadIdx.x * m", "p"),
        ("p + (threadIdx.x + 3) * m - 2 * m", "p"),
        ("p + w[threadIdx.x]", "p"),
        ("p + w[threadIdx.x] * n", "p"),
        ("p + m * m", "p"),
        ("(n > 3 ? p : q) + threadIdx.x", None),
        ("(n > 3 ? p : q) + threadIdx.x * m", None),
        ("(threadIdx.x > 3 ? p : q) + n", None),
        ("(float *)((char *)p + w[0] * ((char *)q - (char *)p))", None),
        ("(float *)((char *)p + (size_t)q)", None),
    ],
)
def test_the_array_of_an_address(address: str, base: str | None, tmp_path: Path) -> None:
    path = tmp_path / "one.cu"
    path.write_text(f'extern "C" __global__ void one({_POINTERS}) {{ *({address}) = 1; }}\n')
    unit = read_unit(KernelFile(str(path)))
    assert isinstance(unit, KernelUnit)
    shape = LaunchShape(block=(32, 1, 1))
    facts = examine(unit.module, "one", shape, device("a100"))
    found = places(solved_forms(unit.module, facts.block_level, shape))
    (store,) = (site for site in found if site.kind == "store")
    assert (store.base.name if store.base is not None and not store.chosen else None) == base
