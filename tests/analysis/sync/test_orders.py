"""Orders that all threads agree on because nothing overflows: held against runs of random kernels where that is so."""

from __future__ import annotations

import random
import struct
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.analysis.memory.test_exact import flagged
from tests.analysis.uniformity.test_uniformity import Seen
from tests.lower.harness import lowered
from warpsmith.analysis.affine.symbols import Form
from warpsmith.analysis.kernel import examine
from warpsmith.analysis.memory import exact
from warpsmith.analysis.memory.forms import Forms
from warpsmith.analysis.sync import orders
from warpsmith.analysis.uniformity.facts import KernelFacts, LaunchShape
from warpsmith.machine.devices import device
from warpsmith.simt.interpreter import interpret
from warpsmith.simt.launch import Dim, Launch
from warpsmith.simt.memory import LaunchMemory
from warpsmith.ssa.builder import Builder, constant
from warpsmith.ssa.nodes import (
    Branch,
    Function,
    Instruction,
    Jump,
    Module,
    NoWrap,
    Operand,
    Param,
    Parameter,
    Query,
    Return,
)
from warpsmith.ssa.types import I1, I32

Patch = pytest.MonkeyPatch
SHAPES: tuple[Dim, ...] = ((8, 1, 1), (40, 1, 1), (6, 3, 1))
NUMBERS = (3, 1, 7, -2, 1 << 29, -(1 << 30))


def ordered_module(seed: int) -> Module:
    """Return a kernel `k(n)` with loops and branches about numbers that are near each other. In two of three, sums and
    products do not overflow, but for some."""
    module = _Kernel(random.Random(f"ordered {seed}")).module()
    return flagged(module) if seed % 3 else module


class _Kernel:
    """One kernel on its way: pairs of numbers that differ by something shared, or nearly so."""

    def __init__(self, chosen: random.Random) -> None:
        self.chosen, self.b = chosen, Builder("start")

    def module(self) -> Module:
        """Return the module."""
        b = self.b
        x, y = (b.emit("query", (), I32, Query(f"tid.{axis}")) for axis in "xy")
        self.n = b.emit("param", (), I32, Param("n"))
        block = b.emit("query", (), I32, Query("ctaid.x"))
        self.shared: list[Operand] = [self.n, block, constant(I32, 2), constant(I32, 2**32 - 1)]
        own = b.emit("xor", (x, b.emit("lshr", (y, constant(I32, 1)), I32)), I32)
        self.own: list[Operand] = [x, own, b.emit("and", (own, constant(I32, 6)), I32)]
        for _ in range(self.chosen.choice((0, 0, 1, 2, 3))):
            self._loop(2)
        self._if(*self._near())
        b.end(Return())
        parameters = (Parameter("n", 4, 4, I32),)
        return Module((Function("k", True, parameters, (), b.finish()),))

    def _sum(self, op: str, one: Operand, other: Operand) -> Operand:
        return self.b.emit(op, (one, other), I32)

    def _wrapped(self, one: Operand, other: Operand) -> Operand:
        """Return a sum that may overflow, as those of unsigned numbers."""
        return self.b.emit("add", (one, other), I32, NoWrap())

    def _near(self) -> tuple[Operand, Operand]:
        """Return two numbers: k·n + c and (k + d)·n, as they are or with a number of the thread's own between them."""
        k, step = self.chosen.choice(self.own), self.chosen.choice(self.shared)
        more = self._sum("add", k, self.chosen.choice((constant(I32, 1), step)))
        kind = self.chosen.random()
        if kind < 0.4:
            start, end = self._sum("mul", k, step), self._sum("mul", more, step)
        elif kind < 0.7:
            start = self._sum("add", self._wrapped(k, self.b.emit("shl", (k, constant(I32, 28)), I32)), step)
            end = self._sum("add", self._wrapped(start, constant(I32, 1 << 30)), step)
        else:
            start, end = k, more
        if self.chosen.random() < 0.3:
            start = self._sum(self.chosen.choice(("add", "sub")), start, self.chosen.choice(self.shared))
        if self.chosen.random() < 0.2:
            end = self._sum("add", end, self.chosen.choice(self.own))
        return start, end

    def _test(self, start: Operand, end: Operand) -> Operand:
        return self.b.emit(self.chosen.choice(("slt", "slt", "sle", "sgt", "eq", "ult")), (start, end), I1)

    def _if(self, start: Operand, end: Operand) -> None:
        b = self.b
        then, join = b.fresh("then"), b.fresh("join")
        b.end(Branch(self._test(start, end), then, join))
        b.start(then)
        b.end(Jump(join))
        b.start(join)

    def _loop(self, depth: int) -> None:
        """Count from one number to another, four times at most."""
        b = self.b
        head, body, done = b.fresh("head"), b.fresh("body"), b.fresh("done")
        start, end = self._near()
        step = self.chosen.choice((constant(I32, 1), constant(I32, 1), self.n, self.chosen.choice(self.own)))
        i, rounds = b.fresh("i"), b.fresh("rounds")
        b.write(i, start)
        b.write(rounds, constant(I32, 0))
        b.end(Jump(head))
        b.start(head)
        again = b.fresh("again")
        b.end(Branch(b.emit("ult", (b.read(rounds, I32), constant(I32, 4)), I1), again, done))
        b.start(again)
        b.end(Branch(self._test(b.read(i, I32), end), body, done))
        b.start(body)
        here = list(self.own)
        if depth and self.chosen.random() < 0.4:
            self._loop(depth - 1)
        if self.chosen.random() < 0.4:
            self.own.append(b.read(i, I32))
            self._if(*self._near())
        self.own = here
        b.write(i, self._sum("add", b.read(i, I32), step))
        b.write(rounds, b.emit("add", (b.read(rounds, I32), constant(I32, 1)), I32))
        b.end(Jump(head))
        b.start(done)
        if self.chosen.random() < 0.5:
            self._if(b.read(i, I32), self._sum("add", start, self.chosen.choice(self.shared)))
        if self.chosen.random() < 0.5:
            self.own.append(b.read(i, I32))


def _facts(seed: int) -> KernelFacts:
    return examine(ordered_module(seed), "k", LaunchShape(SHAPES[seed % len(SHAPES)]), device("h100"))


def wrong(facts: KernelFacts) -> list[str]:
    """Return what was called uniform and differs in a run that has a meaning."""
    answers = {"warp": facts.warp_level, "block": facts.block_level}
    found = []
    for n in NUMBERS:
        seen = Seen()
        launch = Launch((2, 1, 1), facts.block, {"n": struct.pack("<i", n)}, max_steps=60_000)
        outcome = interpret(facts.module, "k", launch, LaunchMemory(checks=False), seen)
        if any(problem.kind == "overflow" for problem in outcome.problems):
            continue
        for (level, _, moment, place), numbers in seen.values.items():
            if len(numbers) > 1 and not any(value in answers[level].divergent for value in place.results):
                found.append(f"{n}, {level}: {place.op} at {moment} is {sorted(numbers)[:3]}")
        for (level, _, moment, name), taken in seen.ways.items():
            if len(taken) > 1 and name not in answers[level].branches:
                found.append(f"{n}, {level}: the branch of {name} at {moment} goes {sorted(taken)}")
    return found


def _wrong(seeds: range) -> Iterator[tuple[int, list[str]]]:
    for seed in seeds:
        if found := wrong(_facts(seed)):
            yield seed, found


# each bug below shows in these
SEEDS = range(10)


def test_orders_that_are_agreed_on_hold(monkeypatch: Patch) -> None:
    met: Counter[str] = Counter()
    original = orders.find_agreed

    def counted(forms: Forms, comparisons: list[Instruction]) -> frozenset[Instruction]:
        found = original(forms, comparisons)
        met.update(i.op for i in found)
        met["not"] += len(comparisons) - len(found)
        return found

    monkeypatch.setattr("warpsmith.analysis.kernel.find_agreed", counted)
    assert not list(_wrong(SEEDS))
    assert all(met[what] >= 1 for what in ("slt", "sle", "sgt", "not")), met


@pytest.mark.slow
def test_orders_that_are_agreed_on_hold_in_many() -> None:
    assert not list(_wrong(range(SEEDS.stop, 1500)))


def _everything_is_exact(patch: Patch) -> None:
    patch.setattr(exact, "_is_flagged", lambda made: isinstance(made, Instruction) and made.op in ("add", "sub", "mul"))


def _numbers_of_bits_are_exact(patch: Patch) -> None:
    patch.setattr(orders, "_side", lambda forms, operand, block, *, exactly: forms.of(operand, block))


def _threads_know_the_same(patch: Patch) -> None:
    def varying(form: Form) -> Form:
        return Form(form.bits, {m: c for m, c in form.terms.items() if any(a.kind == "own" for a in m)})

    patch.setattr(Form, "varying", varying)


def _loops_end_together(patch: Patch) -> None:
    patch.setattr(Forms, "form_used", lambda self, form, *blocks: form)


BUGS = [_everything_is_exact, _numbers_of_bits_are_exact, _threads_know_the_same, _loops_end_together]


@pytest.mark.slow
@pytest.mark.parametrize("bug", BUGS)
def test_a_seeded_bug_is_seen(bug: Callable[[Patch], None], monkeypatch: Patch) -> None:
    bug(monkeypatch)
    assert any(_wrong(SEEDS))


SOURCE = """
__global__ void rows(float *a, const int *b, int n) {
  int k = b[threadIdx.x];
  for (int i = k * n; i < (k + 1) * n; i++) a[i] = 0;
  for (unsigned i = k * n; i < (unsigned)(k + 1) * n; i++) a[i] += 1;
  for (long i = (long)k * n; i < ((long)k + 1) * n; i++) a[i] += 2;
}
"""


def test_the_rows_of_a_matrix_are_equally_long(tmp_path: Path) -> None:
    facts = examine(lowered(SOURCE, tmp_path).module, "rows", LaunchShape((64, 1, 1)), device("h100"))
    told = {fact.span.line: (fact.warp, fact.block) for fact in facts.branches if fact.span is not None}
    assert told[4] == ("uniform", "uniform")
    # unsigned numbers may wrap in some threads, and wide ones are not looked at
    assert told[5] == told[6] == ("divergent", "divergent")
