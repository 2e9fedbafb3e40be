"""Forwarding of stores to a thread's own loads, where nothing may have changed the value: held against random runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

import pytest

from tests.analysis.own_memory import own_memory_module
from tests.analysis.uniformity.test_uniformity import shape, wrong
from warpsmith.analysis.affine import forwarding
from warpsmith.analysis.affine.forwarding import find_forwarded
from warpsmith.analysis.uniformity.seeds import Threads
from warpsmith.analysis.uniformity.uniformity import uniformity
from warpsmith.ssa.graph import Graph
from warpsmith.ssa.nodes import Module
from warpsmith.ssa.reader import parse_module

Patch = pytest.MonkeyPatch


def _wrong(seeds: range) -> Iterator[tuple[int, list[str]]]:
    for seed in seeds:
        if found := wrong(own_memory_module(seed), shape(seed)):
            yield seed, found


def _known(module: Module) -> int:
    (function,) = module.functions
    return len(find_forwarded(function, Graph.of(function)))


# each bug below shows in these
SEEDS = range(20)


def test_what_is_found_in_own_memory_is_what_was_stored() -> None:
    assert not list(_wrong(SEEDS))
    met: Counter[str] = Counter()
    for seed in SEEDS:
        (function,) = own_memory_module(seed).functions
        loads = [i for _, i in function.instructions() if i.op == "load"]
        answer = uniformity(function, Threads("warp", shape(seed), 4))
        known = find_forwarded(function, answer.graph)
        met["known"] += len(known)
        met["unknown"] += len(loads) - len(known)
        met["same"] += sum(i.result not in answer.divergent for i in known)
    assert met["known"] > 10, met
    assert met["unknown"] > 10, met
    assert met["same"] > 3, met


@pytest.mark.slow
def test_what_is_found_in_own_memory_is_what_was_stored_in_many() -> None:
    assert not list(_wrong(range(SEEDS.stop, 800)))


def _stores_never_overlap(patch: Patch) -> None:
    patch.setattr(forwarding._Place, "overlaps", lambda self, other: self == other)


def _nothing_is_ordered(patch: Patch) -> None:
    patch.setattr(forwarding, "_orders", lambda i: False)


def _sizes_do_not_matter(patch: Patch) -> None:
    patch.setattr(forwarding._Place, "overlaps", lambda self, o: self.root != o.root or self.offset == o.offset)


def _one_way_is_enough(patch: Patch) -> None:
    patch.setattr(forwarding, "_start", lambda before: dict(before[0]) if before else {})


def _all_bits_are_the_same(patch: Patch) -> None:
    patch.setattr(forwarding, "_bits", lambda operands: range(32))


def _bits_are_where_they_begin(patch: Patch) -> None:
    patch.setattr(forwarding, "_bits", lambda operands: range(operands[0].bits, operands[0].bits + 1))


BUGS = [
    _all_bits_are_the_same,
    _bits_are_where_they_begin,
    _stores_never_overlap,
    _nothing_is_ordered,
    _sizes_do_not_matter,
    _one_way_is_enough,
]


@pytest.mark.slow
@pytest.mark.parametrize("bug", BUGS)
def test_a_seeded_bug_is_seen(bug: Callable[[Patch], None], monkeypatch: Patch) -> None:
    bug(monkeypatch)
    assert any(_wrong(SEEDS))


STORED = """
kernel @k(p 8 align 8 i64, q 8 align 8 i64, n 4 align 4 i32)
start:
  %p:i64 = param [p+0]
  %q:i64 = param [q+0]
  %t:i32 = query [tid.x]
  %far:i64 = smulwide %t 16:i32
  %mine:i64 = add %p %far
  store [global +8 align 4] %mine 1:i32
BETWEEN
  %next:i64 = add %mine 8:i64
  %x:i32 = load [global +0 align 4] %next
  %c:i1 = slt %x 3:i32
  branch %c more done
more:
  jump done
done:
  return
end
"""


@pytest.mark.parametrize(
    ("between", "count"),
    [
        ("", 1),
        ("  store [global +12 align 4] %mine %t", 1),
        ("  store [shared +8 align 4] %q %t", 1),
        ("  store [global +8 align 8] %mine %far", 0),
        ("  store [global +0 align 4] %q %t", 0),
        ("  barrier 0:i32", 0),
        ("  %old:i32 = atomic_add [global +0 align 4] %q 1:i32", 0),
        ("  store [global +8 align 4 volatile] %mine 1:i32", 0),
    ],
)
def test_what_stands_between_decides(between: str, count: int) -> None:
    assert _known(parse_module(STORED.replace("BETWEEN", between))) == count
