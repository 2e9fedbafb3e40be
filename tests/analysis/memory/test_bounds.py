"""No number of a launch is above its bound, and what is said to do the same does: random functions, blocks at both ends
of the grid."""

from __future__ import annotations

import random
import struct
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from msgspec import Struct, field
from msgspec.structs import replace

from tests.lower.harness import lowered
from warpsmith.analysis.kernel import examine
from warpsmith.analysis.memory import bounds
from warpsmith.analysis.uniformity.facts import LaunchShape
from warpsmith.machine.devices import device
from warpsmith.machine.limits import MAX_GRID
from warpsmith.simt.interpreter import interpret
from warpsmith.simt.launch import Dim, Launch
from warpsmith.simt.memory import LaunchMemory
from warpsmith.simt.observer import Lane, Silent
from warpsmith.ssa.builder import Builder, constant
from warpsmith.ssa.nodes import (
    Branch,
    Constant,
    Function,
    Instruction,
    Jump,
    Module,
    Operand,
    Param,
    Parameter,
    Query,
    Return,
    Value,
)
from warpsmith.ssa.semantics.lane import lane as computed
from warpsmith.ssa.types import I1, I16, I32, I64, Type

TYPES = (I32, I32, I32, I64, I64, I16)
SAME = ("add", "sub", "mul", "and", "or", "xor", "umin", "umax", "smin", "sdiv", "udiv", "srem", "urem", "neg")
SHIFTS = ("shl", "lshr", "ashr")
QUERIES = ("tid.x", "tid.y", "ntid.x", "ctaid.x", "ctaid.y", "nctaid.x", "laneid")
SHAPES: tuple[Dim, ...] = ((64, 1, 1), (32, 2, 1), (16, 3, 2), (256, 1, 1))
GRIDS: tuple[Dim | None, ...] = (None, None, (7, 1, 1), (1 << 20, 3, 1), (1 << 24, 1, 1), MAX_GRID)


class Writer(Struct):
    """One random function: what is known of a thread's place, and what ops make of it, around a join and a loop."""

    chosen: random.Random
    b: Builder = field(default_factory=lambda: Builder("start"))
    known: list[Operand] = field(default_factory=list)

    def whole(self) -> Module:
        """Return a module with kernel `k`."""
        self.known += [self.b.emit("query", (), I32, Query(name)) for name in QUERIES]
        self.known.append(self.b.emit("param", (), I32, Param("n")))
        thread, _, threads, block, *_ = self.known
        index = self.b.emit("add", (self.b.emit("mul", (block, threads), I32), thread), I32)
        self.known += [index, self.b.emit(self.chosen.choice(("sdiv", "srem")), (index, self.number(I32)), I32)]
        self.several(12)
        self.joined()
        self.several(6)
        self.loop()
        self.several(6)
        self.b.end(Return(()))
        return Module((Function("k", True, (Parameter("n", 4, 4),), (), self.b.finish()),), ())

    def joined(self) -> None:
        """Let some threads give a variable one number, and the others another."""
        condition = self.b.emit("ult", (self.of(I32), self.of(I32)), I1)
        self.b.end(Branch(condition, "then", "other"))
        for name in ("then", "other"):
            self.b.start(name)
            self.b.seal(name)
            self.b.write("v", self.of(I32))
            self.b.end(Jump("join"))
        self.b.start("join")
        self.b.seal("join")
        self.known.append(self.b.read("v", I32))

    def loop(self) -> None:
        """Count in a loop by what may be any number."""
        self.b.write("i", self.of(I32))
        self.b.write("turn", constant(I32, 0))
        step = self.of(I32)
        self.b.end(Jump("head"))
        self.b.start("head")
        i, turn = self.b.read("i", I32), self.b.read("turn", I32)
        self.known.append(i)
        self.several(3)
        self.b.write("i", self.b.emit("add", (i, step), I32))
        self.b.write("turn", self.b.emit("add", (turn, constant(I32, 1)), I32))
        again = self.b.emit("ult", (turn, constant(I32, 3)), I1)
        self.b.end(Branch(again, "head", "behind"))
        self.b.seal("head")
        self.b.start("behind")
        self.b.seal("behind")

    def several(self, count: int) -> None:
        """Append instructions."""
        for _ in range(count):
            self.known.append(self.one(self.chosen.choice(TYPES)))

    def one(self, type: Type) -> Operand:
        kind = self.chosen.randrange(10)
        if kind < 5:
            op = self.chosen.choice(SAME)
            if op == "neg":
                return self.b.emit(op, (self.of(type),), type)
            by = self.number(type) if op.endswith(("div", "rem")) or kind < 2 else self.of(type)
            return self.b.emit(op, (self.of(type), by), type)
        if kind < 7:
            amount = constant(I32, self.chosen.choice((1, 2, 5, 8, 27, 31, 40)))
            return self.b.emit(self.chosen.choice(SHIFTS), (self.of(type), amount), type)
        if kind == 7:
            condition = self.b.emit("slt", (self.of(type), self.of(type)), I1)
            return self.b.emit("select", (condition, self.of(type), self.of(type)), type)
        if kind == 8:
            return self.b.emit(self.chosen.choice(("smulwide", "umulwide")), (self.of(I32), self.of(I32)), I64)
        return self.b.emit("trunc", (self.of(I64),), self.chosen.choice((I16, I32)))

    def of(self, type: Type) -> Operand:
        """Return a number of this type: one of the last, widened or cut where it has to be, or a constant."""
        if self.chosen.random() < 0.15:
            return self.number(type)
        found = self.chosen.choice(self.known[-16:])
        if found.type == type:
            return found
        op = "trunc" if found.type.bits > type.bits else self.chosen.choice(("zext", "sext"))
        return self.b.emit(op, (found,), type)

    def number(self, type: Type) -> Constant:
        """Return a constant that is not 0."""
        return constant(type, self.chosen.choice((1, 2, 3, 31, 32, 255, 256, 32767, -1, -32)))


class Seen(Struct, Silent):
    """What threads computed, held against the bounds and against the simpler instructions."""

    most: Mapping[Value, int]
    simpler: Mapping[Instruction, Instruction]
    met: Counter[str]
    wrong: list[str] = field(default_factory=list)
    numbers: dict[tuple[Lane, Value], int] = field(default_factory=dict)

    def value(self, lane: Lane, place: Instruction, moment: object, numbers: tuple[int, ...]) -> None:
        for value, number in zip(place.results, numbers, strict=True):
            self.numbers[lane, value] = number
            if value in self.most:
                self.met["bounded"] += 1
                self.met["tight"] += number == self.most[value]
                if number > self.most[value]:
                    self.wrong.append(f"{place.op} is {number}, at most {self.most[value]}")
        now = self.simpler.get(place)
        operands = [] if now is None else [self._number(lane, operand) for operand in now.operands]
        if now is not None and None not in operands:
            self.met[f"{place.op} as {now.op}"] += 1
            if computed(now, tuple(o for o in operands if o is not None)) != numbers:
                self.wrong.append(f"{place.op} is {numbers}, not so as {now.op}")

    def _number(self, lane: Lane, operand: Operand) -> int | None:
        if isinstance(operand, Constant):
            return operand.bits
        return self.numbers.get((lane, operand)) if isinstance(operand, Value) else None


def wrong(seed: int, met: Counter[str]) -> list[str]:
    """Return what a random function does that it should not."""
    chosen = random.Random(seed)
    module = Writer(chosen).whole()
    block, grid = chosen.choice(SHAPES), chosen.choice(GRIDS)
    function = module.functions[0]
    simpler, assumed = bounds.in_launch(function, block, grid)
    met["assumed"] += bool(assumed)
    largest = grid or (bounds.countable(block) if assumed else MAX_GRID)
    seen = Seen(bounds._bounds(function, block, largest), simpler, met)
    last = largest[0] * largest[1] * largest[2] - 1
    for only in (0, last, chosen.randrange(last + 1)):
        arguments = {"n": struct.pack("<i", chosen.choice((0, 1, 100, -1, 1 << 30)))}
        threads = block[0] * block[1] * block[2]
        launch = Launch(largest, block, arguments, only=(only,), lanes=(0, 1, threads // 2, threads - 1))
        outcome = interpret(module, "k", launch, LaunchMemory(checks=False), seen)
        assert outcome.complete, outcome.problems[0].message
    return seen.wrong


def all_wrong(seeds: range, met: Counter[str]) -> list[str]:
    return [f"{seed}: {text}" for seed in seeds for text in wrong(seed, met)[:1]]


# each bug below shows in these
SEEDS = range(60)


def test_no_number_is_above_its_bound() -> None:
    met: Counter[str] = Counter()
    assert all_wrong(SEEDS, met) == []
    assert min(met["bounded"], met["tight"], met["sdiv as udiv"], met["srem as urem"], met["assumed"]) >= 3, met


@pytest.mark.slow
def test_no_number_is_above_its_bound_in_many() -> None:
    assert all_wrong(range(1000, 4000), Counter()) == []


RULES = bounds._RULES
Rule = Callable[[Instruction, "bounds._Bounds"], int | None]


def _most(bounds: bounds._Bounds) -> int:
    return max(bound or 0 for bound in bounds)


SEEDED: dict[str, tuple[str, Rule]] = {
    "a sum is as large as its larger part": ("add", lambda i, b: _most(b)),
    "a difference is at most what it is taken from": ("sub", lambda i, b: b[0]),
    "bits are not set anew": ("or", lambda i, b: None if None in b else _most(b)),
    "what is widened is not negative": ("sext", lambda i, b: RULES["zext"](replace(i, op="zext"), b)),
    "a number that is cut loses its high bits only": ("trunc", lambda i, b: _most(b) % (1 << i.result.type.bits)),
    "quotients have no sign": ("sdiv", lambda i, b: RULES["udiv"](replace(i, op="udiv"), b)),
    "remainders have no sign": ("srem", lambda i, b: RULES["urem"](replace(i, op="urem"), b)),
    "one side of a choice is all": ("select", lambda i, b: b[1]),
    "a shift to the left moves by one": ("shl", lambda i, b: None if b[0] is None else b[0] << 1),
    "products have no sign": ("smulwide", lambda i, b: RULES["umulwide"](replace(i, op="umulwide"), b)),
}


@pytest.mark.parametrize("name", SEEDED)
def test_a_bug_in_a_rule_is_seen(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    op, rule = SEEDED[name]
    monkeypatch.setattr(bounds, "_RULES", {**RULES, op: rule})
    assert any(wrong(seed, Counter()) for seed in SEEDS)


def test_a_sign_that_is_forgotten_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounds, "_is_positive", lambda operand, most: True)
    assert any(wrong(seed, Counter()) for seed in SEEDS)


def test_a_grid_that_is_too_large_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    real = bounds._queries
    monkeypatch.setattr(bounds, "_queries", lambda block, grid: real(block, (1, 1, 1)))
    assert any(wrong(seed, Counter()) for seed in SEEDS)


SOURCE = """
__global__ void rows(float *out, const float *in, int n, int m) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, warp = i / 32, lane = i % 32;
  if (warp < n)
    for (int k = lane; k < m; k += 32) out[warp * m + k] = in[k];
}
__global__ void wide(float *out, long n) {
  long i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i / warpSize < n) out[i] = 0;
}
"""


def test_the_number_of_a_warp_is_the_same_for_its_lanes(tmp_path: Path) -> None:
    module = lowered(SOURCE, tmp_path, "p.cu").module
    rows = examine(module, "rows", LaunchShape((256, 1, 1)), device("h100"))
    assert (rows.branches[0].warp, rows.grid_assumed) == ("uniform", (bounds.COUNTABLE,))
    assert all(access.sectors is not None for access in rows.accesses)
    known = examine(module, "rows", LaunchShape((256, 1, 1), (1000, 1, 1)), device("h100"))
    assert (known.branches[0].warp, known.grid_assumed) == ("uniform", ())
    large = examine(module, "rows", LaunchShape((256, 1, 1), (1 << 24, 1, 1)), device("h100"))
    assert large.branches[0].warp == "divergent"
    wide = examine(module, "wide", LaunchShape((256, 1, 1)), device("h100"))
    assert (wide.branches[0].warp, wide.grid_assumed) == ("uniform", ())
