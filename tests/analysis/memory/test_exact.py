"""Where a language says that no number overflows, facts need no such assumption, and hold in runs that keep it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.analysis.accesses import PARAMETERS, memory_module
from tests.analysis.memory import test_accesses
from tests.analysis.runs import Run
from tests.lower.harness import lowered
from warpsmith.analysis.kernel import examine
from warpsmith.analysis.memory import exact
from warpsmith.analysis.uniformity.facts import LaunchShape
from warpsmith.machine.devices import device
from warpsmith.simt.interpreter import interpret
from warpsmith.simt.launch import Launch
from warpsmith.simt.memory import LaunchMemory as Buffers
from warpsmith.ssa.builder import Builder, constant
from warpsmith.ssa.nodes import Function, Instruction, Memory, Module, NoWrap, Param, Query, Return
from warpsmith.ssa.types import I32, I64

SOURCE = """
__global__ void rows(float *a, const float *b, int n, int c) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, row = threadIdx.y;
  a[row * n + i] = b[i * 4 + c];
  for (int j = threadIdx.x; j < n; j += c) a[j * 3 + 1] = b[row * n - j];
}
__global__ void skipped(float *a, int n, int c) {
  int i = threadIdx.x;
  unsigned u = i * 2u + n;
  if (i < n && i + c < n) a[u * c] = c > 0 ? c + n : n;
}
"""


def flagged(module: Module) -> Module:
    """Return a module all sums and products of which are said not to overflow."""

    def of(i: Instruction) -> Instruction:
        plain = i.op in ("add", "sub", "mul") and i.detail is None and i.result.type.bits == 32
        return replace(i, detail=NoWrap(signed=True)) if plain else i

    def whole(function: Function) -> Function:
        blocks = tuple(replace(b, instructions=tuple(map(of, b.instructions))) for b in function.blocks)
        return replace(function, blocks=blocks)

    return replace(module, functions=tuple(map(whole, module.functions)))


def runs_with_a_meaning(seeds: range) -> Iterator[tuple[int, Run]]:
    """Yield the runs of random kernels in which nothing overflows."""
    for seed in seeds:
        made = test_accesses.run(seed, module=flagged(memory_module(seed, barriers=False)))
        if not any(problem.kind == "overflow" for problem in made.did.outcome.problems):
            yield seed, made


def check(seeds: range) -> Counter[str]:
    mix: Counter[str] = Counter()
    for seed, made in runs_with_a_meaning(seeds):
        assert not (bad := list(test_accesses.wrong(made))), f"{seed}: {bad[:3]}"
        mix["runs"] += 1
        for fact in made.facts.accesses:
            mix[fact.certainty] += bool(made.did.requests[fact.instruction])
            mix["overflow"] += any("overflow" in text for text in fact.assumptions)
    return mix


def test_what_is_proven_holds_where_nothing_overflows() -> None:
    mix = check(range(30))
    assert mix["runs"] >= 15
    assert mix["proven"] > 30


@pytest.mark.slow
def test_what_is_proven_holds_in_many_runs() -> None:
    assert check(range(30, 1200))["proven"] > 1000


def wrapping() -> Module:
    """Return a kernel some threads of which have an index that wraps, as is meant."""
    b = Builder("start")
    pointer, x = b.emit("param", (), I64, Param("p")), b.emit("query", (), I32, Query("tid.x"))
    index = b.emit("mul", (x, constant(I32, 0x40000000)), I32)
    far = b.emit("add", (pointer, constant(I64, 1 << 40)), I64)
    address = b.emit("add", (far, b.emit("smulwide", (index, constant(I32, 4)), I64)), I64)
    b.emit_many("store", (address, x), (), Memory("global", 0, 4))
    b.end(Return(()))
    return Module((Function("k", True, PARAMETERS, (), b.finish()),), ())


def test_overflow_taken_for_impossible_where_it_is_not_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not list(test_accesses.wrong(test_accesses.run(0, module=wrapping())))
    monkeypatch.setattr(exact, "_is_flagged", lambda made: isinstance(made, Instruction) and made.op == "mul")
    assert list(test_accesses.wrong(test_accesses.run(0, module=wrapping())))


def test_indices_of_source_are_proven(tmp_path: Path) -> None:
    module = lowered(SOURCE, tmp_path).module
    found = examine(module, "rows", LaunchShape((32, 8, 1)), device("h100")).accesses
    assert len(found) == 4
    assert [(f.index, f.certainty, f.assumptions) for f in found if f.certainty != "proven"] == []


def test_only_signed_sums_that_are_not_skipped_are_exact(tmp_path: Path) -> None:
    function = lowered(SOURCE, tmp_path).module.function("skipped")
    assert function is not None
    sums = [i for _, i in function.instructions() if i.op in ("add", "sub", "mul")]
    assert sums
    assert all(not isinstance(i.detail, NoWrap) for i in sums if i.span is not None and "c" in i.span.text)


def test_the_interpreter_says_what_overflows(tmp_path: Path) -> None:
    text = "__global__ void k(int *a, int n) { a[0] = n * 3; a[1] = (int)((unsigned)n * 3u); }"
    module = lowered(text, tmp_path).module
    for n, kinds in ((5, []), (1 << 30, ["overflow"])):
        memory = Buffers(checks=False)
        place = memory.allocate("a", bytes(8)).address.to_bytes(8, "little")
        launch = Launch((1, 1, 1), (1, 1, 1), {"a": place, "n": n.to_bytes(4, "little")})
        outcome = interpret(module, "k", launch, memory)
        assert outcome.complete
        assert [problem.kind for problem in outcome.problems] == kinds
