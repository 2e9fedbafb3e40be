"""What unrolling leaves of loops: copies of loads that are there already, and counting that is gone."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from itertools import product
from typing import Any

import numpy as np
import pytest
from msgspec import Struct

from warpsmith.analysis.counts import unrolling
from warpsmith.analysis.counts.columns import Column, dtype_of
from warpsmith.analysis.counts.kinds import block_kinds
from warpsmith.analysis.counts.unrolling import FACTOR, Unrolling, find_unrolling, iterations_together
from warpsmith.base.findings import Finding
from warpsmith.kernels.units import KernelFile, read_unit
from warpsmith.ssa.graph import Graph
from warpsmith.ssa.nodes import Function, Memory
from warpsmith.ssa.types import Type

RANDOM, BUGS = 12, 12
WHOLE = """
__constant__ float f[64];
__global__ void k(float *out, const float *in, int n) {{
    __shared__ float t[4096];
    int y = threadIdx.y, x = threadIdx.x;
    t[y * 32 + x] = in[y * 32 + x];
    __syncthreads();
    float s = 0;
    {body}
    out[y * 32 + x] = s;
}}
"""


def function_of(body: str) -> Function:
    unit = read_unit(KernelFile("k.cu", "cuda", text=WHOLE.format(body=body)))
    assert not isinstance(unit, Finding)
    return unit.module.functions[0]


def left_of(body: str) -> tuple[Function, Unrolling]:
    function = function_of(body)
    return function, find_unrolling(function, Graph.of(function))


def shares(body: str, space: str = "shared") -> list[float]:
    function, left = left_of(body)
    loads = [i for _, i in function.instructions() if i.op == "load" and isinstance(i.detail, Memory)]
    return [left.share[i] for i in loads if isinstance(i.detail, Memory) and i.detail.space == space]


def test_rows_that_overlap_are_loaded_once() -> None:
    body = "for (int i = 0; i < 15; i++) for (int k = 0; k < 4; k++) s += t[(y + 2 * k + i) * 40 + x];"
    assert shares(body) == [21 / 60]


def test_constants_are_operands_where_their_address_is_a_number() -> None:
    known = "for (int i = 0; i < 15; i++) s += f[i] * t[x + i];"
    unknown = "for (int i = 0; i < n; i++) s += f[i] * t[x + i];"
    assert shares(known, "constant") == [0.0] and shares(unknown, "constant") == [1.0]


@pytest.mark.parametrize("inside", ["t[x] = s;", "__syncthreads();"])
def test_what_changes_memory_ends_the_reuse(inside: str) -> None:
    body = "for (int i = 0; i < 8; i++) {{ s += t[y * 40 + x]; {} }}"
    assert shares(body.format("")) == [1 / 8] and shares(body.format(inside)) == [1.0]


def test_volatile_loads_are_all_there() -> None:
    assert shares("for (int i = 0; i < 8; i++) s += ((volatile float *)t)[x];") == [1.0]


@pytest.mark.parametrize(
    ("between", "left"),
    [("", 0), ("s += in[x];", 0), ("out[n] = 2;", 1), ("__syncthreads();", 1), ("atomicAdd(out, 1.0f);", 1)],
)
def test_what_a_thread_has_just_stored_it_has_still(between: str, left: int) -> None:
    function, found = left_of(f"out[y * n + x] = n; {between} s += out[y * n + x] * in[n];")
    loads = [i for _, i in function.instructions() if i.op == "load" and i.results[0].type.name == "f32"]
    assert sum(found.share.get(i, 1.0) == 0 for i in loads if i.results) == 1 - left


def test_nothing_but_the_work_is_left_of_a_filter() -> None:
    body = "for (int i = 0; i < 15; i++) for (int j = 0; j < 15; j++) s += f[i * 4 + j] * t[(y + i) * 40 + x + j];"
    function = function_of(body)
    kinds = block_kinds(function, Graph.of(function))
    (inner,) = (b.name for b in function.blocks if any(i.op == "fmul" for i in b.instructions))
    assert kinds[inner].instructions == {"single": 1, "memory": 1}


def test_a_product_with_what_is_not_known_stays_in_each_copy() -> None:
    found: list[float] = []
    for index in ("i * n + x", "x * n + i"):
        function = function_of(f"for (int i = 0; i < 8; i++) s += t[{index}];")
        kinds = block_kinds(function, Graph.of(function))
        (inner,) = (b.name for b in function.blocks if any(i.op == "fadd" for i in b.instructions))
        found.append(kinds[inner].instructions.get("multiply", 0))
    inside, before = found
    # the product, and the one with the size of a float, which is of no sum of a number any more
    assert inside == 2 and before == 0


def test_long_loops_count_once_in_several_iterations() -> None:
    function = function_of("for (int i = 0; i < n; i++) s += in[i * 32 + x];")
    graph = Graph.of(function)
    left = find_unrolling(function, graph)
    (header,) = set(left.rare_ends.values())
    (end,) = left.rare_ends
    long = block_kinds(function, graph)[end].instructions["control"]
    short = block_kinds(function, graph, left, {header: 3.0})[end].instructions["control"]
    assert long == pytest.approx(1 / FACTOR) and short == 1


@pytest.mark.parametrize(("trips", "together"), [(0, 1), (3, 1), (4, 4), (7, 7 / 4), (8, 4), (1000, 4)])
def test_iterations_that_are_left_over_go_one_by_one(trips: int, together: float) -> None:
    assert iterations_together(trips) == pytest.approx(together)


def test_what_a_compiler_has_written_is_left_as_it_is() -> None:
    text = ".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry k() { ret; }"
    unit = read_unit(KernelFile("k.ptx", "ptx", text=text))
    assert not isinstance(unit, Finding)
    function = unit.module.functions[0]
    assert find_unrolling(function, Graph.of(function)) == Unrolling()


# --- against an enumeration of all copies


class Nest(Struct, frozen=True):
    """Loops with `trips`, in which t[x + Σ steps·counters] is loaded; `store`: the loop at whose end t is written."""

    trips: tuple[int, ...]
    steps: tuple[int, ...]
    starts: tuple[int, ...]
    store: int | None

    @property
    def text(self) -> str:
        body = "s += t[x + " + " + ".join(f"{s} * i{n}" for n, s in enumerate(self.steps)) + "];"
        for n in reversed(range(len(self.trips))):
            written = " t[x] = s;" if n == self.store else ""
            low, high = self.starts[n], self.starts[n] + self.trips[n]
            body = f"for (int i{n} = {low}; i{n} < {high}; i{n}++) {{ {body}{written} }}"
        return body

    @property
    def share(self) -> float:
        """Of the copies without a store between them, those with an address of their own."""
        quiet = 0 if self.store is None else self.store + 1
        ranges = [range(start, start + trips) for start, trips in zip(self.starts, self.trips, strict=True)][quiet:]
        copies = list(product(*ranges))
        places = {sum(s * i for s, i in zip(self.steps[quiet:], copy, strict=True)) for copy in copies}
        return len(places) / len(copies)


def nest(seed: int) -> Nest:
    chosen = random.Random(seed)
    depth = chosen.randint(1, 3)
    numbers = [tuple(chosen.randint(low, high) for _ in range(depth)) for low, high in ((2, 6), (0, 5), (-2, 3))]
    store = chosen.choice((None, None, chosen.randrange(depth)))
    return Nest(numbers[0], numbers[1], numbers[2], store)


def wrong(seeds: Iterable[int]) -> bool:
    return any(shares(one.text) != [pytest.approx(one.share)] for one in map(nest, seeds))


def test_random_nests() -> None:
    assert not wrong(range(RANDOM))


@pytest.mark.slow
def test_more_random_nests() -> None:
    assert not wrong(range(RANDOM, 20 * RANDOM))


def _one_more(self: Any, counter: Any) -> int:
    return len(counter.values)


def _all_the_same(bits: tuple[int, ...], type: Type) -> Column:
    return np.zeros(len(bits), dtype_of(type))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("owner", "name", "bug"),
    [
        (unrolling, "_changes", lambda i, space: False),
        (unrolling._Code, "trips", _one_more),
        (unrolling, "_column_of_bits", _all_the_same),
        (unrolling, "_SUMS", frozenset({"sub"})),
    ],
)
def test_bugs_are_seen(owner: Any, name: str, bug: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(owner, name, bug)
    assert wrong(range(BUGS))
