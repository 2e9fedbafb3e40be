"""Random kernels of loops whose ends are known: nests of any shape, affine addresses, guards of threads and blocks."""

from __future__ import annotations

import random

from warpsmith.ssa.builder import Builder, constant
from warpsmith.ssa.nodes import (
    Address,
    Branch,
    Function,
    Jump,
    Memory,
    Module,
    Operand,
    Param,
    Parameter,
    Query,
    Return,
    Symbol,
)
from warpsmith.ssa.types import I1, I32, I64

__all__ = ["nest_module"]

_TILE = Symbol("tile", "shared", I32, 4096, 16)
_PARAMETERS = (
    Parameter("p", 8, 8, I64), Parameter("q", 8, 8, I64), Parameter("n", 4, 4, I32), Parameter("m", 4, 4, I32),
)  # fmt: skip


class _Nest:
    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.b = Builder("start")
        self.n, self.m = (self.b.emit("param", (), I32, Param(name), name) for name in "nm")
        self.x, self.y, self.column, self.row = (
            self.b.emit("query", (), I32, Query(name)) for name in ("tid.x", "tid.y", "ctaid.x", "ctaid.y")
        )
        wide, high = (self.b.emit("query", (), I32, Query(name)) for name in ("ntid.x", "ntid.y"))
        self.i = self.op("add", self.op("mul", self.column, wide), self.x)
        self.j = self.op("add", self.op("mul", self.row, high), self.y)
        self.counters: list[Operand] = []
        self.loops = 0

    def op(self, name: str, *operands: Operand) -> Operand:
        return self.b.emit(name, operands, I32)

    def number(self, *numbers: int) -> Operand:
        return constant(I32, self.random.choice(numbers) % (1 << 32))

    def index(self) -> Operand:
        total: Operand = self.number(0, 0, 1, 7, -1)
        terms = [self.i, self.x, self.j, self.y, *self.counters, *self.counters]
        for _ in range(self.random.randint(1, 3)):
            factor = self.random.choice([self.number(1, 1, 1, 2, 4, 8, 40, -1), self.n, self.m])
            total = self.op("add", total, self.op("mul", self.random.choice(terms), factor))
        if self.random.random() < 0.1:
            total = self.op("and", total, self.number(7, 63))
        return total

    def access(self) -> None:
        index, size = self.index(), self.random.choice((4, 4, 8))
        if self.random.random() < 0.25:
            start = self.b.emit("address", (), I32, Address("tile"))
            inside = self.op("and", index, constant(I32, 1023)) if self.random.random() < 0.3 else index
            address = self.op("add", start, self.op("mul", inside, constant(I32, 4)))
            self.b.emit("load", (address,), I32, Memory("shared", 0, 4))
            return
        base = self.b.emit("param", (), I64, Param(self.random.choice("pq")))
        offset = self.b.emit("smulwide", (index, constant(I32, size)), I64)
        address = self.b.emit("add", (base, offset), I64)
        if self.random.random() < 0.3:
            self.b.emit_many("store", (address, self.x), (), Memory("global", self.random.choice((0, 4)), 4))
        else:
            self.b.emit("load", (address,), I32, Memory("global", 0, 4))

    def statements(self, depth: int) -> None:
        for _ in range(self.random.randint(1, 3)):
            kind = self.random.choice(("access", "access", "loop", "loop", "if"))
            if kind == "loop" and depth:
                self.loop(depth)
            elif kind == "if" and depth:
                self.branch(depth)
            else:
                self.access()

    def test(self) -> Operand:
        left = self.random.choice([self.i, self.j, self.x, self.y, self.i, self.column, *self.counters])
        right = self.random.choice([self.number(1, 3, 30), self.n, self.m, self.op("add", self.n, self.m)])
        return self.b.emit(self.random.choice(("slt", "slt", "sge", "ult", "sgt", "eq")), (left, right), I1)

    def branch(self, depth: int) -> None:
        then, join = self.b.fresh("then"), self.b.fresh("join")
        self.b.end(Branch(self.test(), then, join))
        self.b.start(then)
        self.statements(depth - 1)
        self.b.end(Jump(join))
        self.b.start(join)

    def loop(self, depth: int) -> None:
        """Write a loop that counts up or down, and tests first or last."""
        self.loops += 1
        head, body, done = (self.b.fresh(name) for name in ("head", "body", "done"))
        name = f"k{self.loops}"
        end = self.random.choice([self.number(6, 19, 33), self.n, self.n, self.m, self.random.choice([self.i, self.x])])
        ends = [end, self.op("add", self.random.choice([self.counters[-1], self.y]) if self.counters else self.y, end)]
        end = self.random.choice(ends)
        step = self.random.choice((1, 1, 1, 2, 3))
        down = self.random.random() < 0.2
        self.b.write(name, end if down else self.number(0, 0, 1))
        self.b.end(Jump(head))
        self.b.start(head)
        counter = self.b.read(name, I32)
        first = self.random.random() < 0.6
        if first:
            self.b.end(Branch(self.more(counter, end, down=down), body, done))
            self.b.start(body)
        self.counters.append(counter)
        self.statements(depth - 1)
        self.counters.pop()
        moved = self.op("sub" if down else "add", counter, constant(I32, step))
        self.b.write(name, moved)
        self.b.end(Jump(head) if first else Branch(self.more(moved, end, down=down), head, done))
        self.b.start(done)

    def more(self, counter: Operand, end: Operand, *, down: bool) -> Operand:
        if down:
            return self.b.emit("sgt", (counter, constant(I32, 0)), I1)
        return self.b.emit(self.random.choice(("slt", "slt", "sle")), (counter, end), I1)


def nest_module(seed: int) -> Module:
    """Return a module with a kernel `k(p, q, n, m)`."""
    nest = _Nest(seed)
    if nest.random.random() < 0.6:
        body, done = nest.b.fresh("inside"), nest.b.fresh("outside")
        nest.b.end(Branch(nest.test(), body, done))
        nest.b.start(done)
        nest.b.end(Return())
        nest.b.start(body)
    nest.statements(3)
    nest.b.end(Return())
    return Module((Function("k", True, _PARAMETERS, (), nest.b.finish(), (_TILE,)),))
