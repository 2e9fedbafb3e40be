"""Random kernels that touch memory: affine indices and others, rows, shared arrays, guards, loops, barriers."""

from __future__ import annotations

import random

from warpsmith.ssa.builder import Builder, constant
from warpsmith.ssa.nodes import (
    Address,
    Barrier,
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
from warpsmith.ssa.types import I1, I8, I32, I64

__all__ = ["PARAMETERS", "TILE", "Writer", "memory_module", "phased_module"]

TILE = Symbol("tile", "shared", I8, 16384, 16)
PARAMETERS = (Parameter("p", 8, 8, I64), Parameter("n", 4, 4, I32), Parameter("m", 4, 4, I32))


class Writer:
    """Writes one kernel `k(p, n, m)`; `barriers`: they may stand where all threads are."""

    def __init__(self, seed: int, *, barriers: bool) -> None:
        self.random = random.Random(seed)
        self.b = Builder("start")
        self.barriers = barriers
        self.n = self.b.emit("param", (), I32, Param("n"), "n")
        self.m = self.b.emit("param", (), I32, Param("m"), "m")
        self.p = self.b.emit("param", (), I64, Param("p"), "p")
        names = ("tid.x", "tid.y", "tid.z", "ctaid.x", "laneid")
        self.x, self.y, self.z, self.block, self.lane = (self.query(name) for name in names)
        self.values: list[Operand] = [self.x, self.y, self.x, self.block, self.z, self.lane, self.n]
        self.counters: list[Operand] = []

    def query(self, name: str) -> Operand:
        return self.b.emit("query", (), I32, Query(name), name)

    def number(self, *numbers: int) -> Operand:
        return constant(I32, self.random.choice(numbers))

    def op(self, name: str, *operands: Operand) -> Operand:
        return self.b.emit(name, operands, I32)

    # --- indices

    def index(self) -> Operand:
        """Return an index; mostly an affine one."""
        kind = self.random.random()
        if kind < 0.55:
            return self.affine()
        if kind < 0.9:
            return self.bits(self.affine())
        loaded = self.load(self.random.choice(("global", "global", "shared")))
        return self.op("and", loaded, self.number(1, 3, 7))

    def near(self) -> Operand:
        """Return an index that moves from thread to thread and from iteration to iteration."""
        total = self.op("mul", self.x, self.number(1, 1, 2, -1))
        if self.counters:
            total = self.op("add", total, self.op("mul", self.counters[-1], self.number(0, 1, 1, 4, 8, -1)))
        return self.op("add", total, self.number(0, 0, 1, 4, 8))

    def affine(self) -> Operand:
        total: Operand = self.number(0, 0, 1, 3, 8, -1)
        for _ in range(self.random.randint(1, 3)):
            value = self.random.choice([*self.values, *self.values[-2:], *self.counters, *self.counters])
            factor = self.number(1, 1, 1, 2, 3, 4, 8, 16, 33, -1)
            if self.random.random() < 0.15:
                factor = self.random.choice([self.n, self.m])
            total = self.op(self.random.choice(("add", "add", "sub")), total, self.op("mul", value, factor))
        return total

    def bits(self, value: Operand) -> Operand:
        op = self.random.choice(("and", "and", "lshr", "ashr", "xor", "or", "udiv", "urem", "umin", "select", "shl"))
        if op == "select":
            return self.b.emit("select", (self.test(), value, self.affine()), I32)
        if op in ("lshr", "ashr", "shl"):
            return self.op(op, value, self.number(1, 2, 3))
        if op == "umin":
            return self.op(op, value, self.affine())
        return self.op(op, value, self.number(*((3, 4, 8) if op.startswith("u") else (1, 3, 7, -4, 5))))

    def test(self) -> Operand:
        op = self.random.choice(("slt", "ult", "eq", "ne", "sge"))
        left = self.random.choice([self.x, self.y, self.lane, self.x, self.n, self.m, self.block])
        right = self.random.choice([self.number(0, 1, 2, 3, 5), self.number(2, 4), self.n, self.m])
        return self.b.emit(op, (left, right), I1)

    # --- accesses

    def address(self, space: str) -> tuple[Operand, int]:
        """Return an address and what it is a multiple of."""
        index = self.index()
        size = self.random.choice((1, 4, 4, 4, 8, 16))
        if space == "shared":
            start = self.b.emit("address", (), I32, Address("tile"))
            index = self.near() if self.barriers and self.random.random() < 0.6 else index
            inside = self.op("and", index, constant(I32, 511)) if self.random.random() < 0.3 else index
            scaled = self.op("mul", inside, constant(I32, size))
            return self.op("add", self.op("add", start, constant(I32, 8192)), scaled), min(size, 4)
        wide = self.random.choice(("smulwide", "umulwide", "smulwide"))
        if self.random.random() < 0.3:
            longer = self.b.emit(self.random.choice(("sext", "zext")), (index,), I64)
            offset = self.b.emit("mul", (longer, constant(I64, size)), I64)
        else:
            offset = self.b.emit(wide, (index, constant(I32, size)), I64)
        return self.b.emit("add", (self.p, offset), I64), min(size, 4)

    def load(self, space: str) -> Operand:
        address, align = self.address(space)
        detail = Memory("shared" if space == "shared" else "global", self.random.choice((0, 4, 12, 32)), align)
        if self.random.random() < 0.2:
            return self.b.emit_many("load", (address,), (I32, I32), detail)[0]
        return self.b.emit("load", (address,), I32, detail)

    def store(self, space: str) -> None:
        address, align = self.address(space)
        detail = Memory("shared" if space == "shared" else "global", 0, align)
        if self.random.random() < 0.1:
            self.b.emit("atomic_add", (address, self.x), I32, detail)
        else:
            self.b.emit_many("store", (address, self.x), (), detail)

    # --- control

    def statements(self, depth: int, *, together: bool) -> None:
        for _ in range(self.random.randint(1, 4)):
            kind = self.random.choice(("access", "access", "access", "if", "loop", "barrier"))
            if kind == "barrier" and self.barriers and (together or self.random.random() < 0.4):
                if self.random.random() < 0.5:
                    self.b.emit_many("barrier", (constant(I32, 0),), (), Barrier())
                else:
                    told = self.b.emit("ne", (self.x, self.x), I1)
                    self.b.emit("barrier", (constant(I32, 0), told), I32, Barrier(reduces="count"))
            elif kind == "if" and depth:
                self.branch(depth)
            elif kind == "loop" and depth:
                self.loop(depth, together=together)
            else:
                space = "shared" if self.barriers and self.random.random() < 0.7 else "global"
                space = space if self.barriers else self.random.choice(("shared", "global"))
                if self.random.random() < 0.5:
                    self.store(space)
                else:
                    self.load(space)

    def branch(self, depth: int) -> None:
        then, other, join = (self.b.fresh(name) for name in ("then", "else", "join"))
        self.b.end(Branch(self.test(), then, other))
        kept = list(self.values)
        for name in (then, other):
            self.b.start(name)
            self.values = list(kept)
            if self.random.random() < 0.12:
                self.b.end(Return())
                continue
            self.statements(depth - 1, together=False)
            self.b.write("v", self.affine() if self.random.random() < 0.5 else self.number(1, 4, 9))
            self.b.end(Jump(join))
        self.b.start(join)
        self.values = kept
        self.values.append(self.b.read("v", I32))

    def loop(self, depth: int, *, together: bool) -> None:
        head, done = self.b.fresh("head"), self.b.fresh("done")
        name = f"i{head}"
        same = self.random.random() < 0.7 or together
        self.b.write(name, self.number(0, 1, 64) if same else self.random.choice([self.x, self.lane]))
        self.b.write(f"t{head}", constant(I32, 0))
        self.b.end(Jump(head))
        self.b.start(head)
        counter = self.b.read(name, I32)
        trips = self.b.read(f"t{head}", I32)
        kept = list(self.values)
        self.counters.append(counter)
        self.statements(depth - 1, together=together)
        if self.barriers and together and self.random.random() < 0.6:
            self.b.emit_many("barrier", (constant(I32, 0),), (), Barrier())
            self.statements(0, together=together)
        self.counters.pop()
        op, step = self.random.choice((("add", 1), ("add", 4), ("lshr", 1), ("shl", 1), ("add", -1), ("sub", 3)))
        if op == "add" and self.random.random() < 0.4:
            moved = self.op("add", counter, self.m if self.random.random() < 0.5 else self.lane)
        else:
            moved = self.op(op, counter, constant(I32, step))
        self.b.write(name, moved)
        more = self.op("add", trips, constant(I32, 1))
        self.b.write(f"t{head}", more)
        limit = constant(I32, 3) if together or self.random.random() < 0.5 else self.op("and", self.x, constant(I32, 3))
        self.b.end(Branch(self.b.emit("slt", (more, limit), I1), head, done))
        self.b.start(done)
        self.values = [*kept, moved]


def memory_module(seed: int, *, barriers: bool = False) -> Module:
    """Return a module with a kernel `k(p, n, m)` that touches global memory at p and a shared array."""
    writer = Writer(seed, barriers=barriers)
    writer.statements(2, together=barriers)
    if not writer.b.ended:
        writer.b.end(Return())
    return Module((Function("k", True, PARAMETERS, (), writer.b.finish(), (TILE,)),))


def phased_module(seed: int) -> Module:
    """Return a module with a kernel whose threads store and load along x and from iteration to iteration, with barriers
    in some places."""
    writer = Writer(seed, barriers=True)
    b, chosen = writer.b, writer.random
    b.write("i", constant(I32, 0))
    b.end(Jump("head"))
    b.start("head")
    i = b.read("i", I32)
    for _ in range(chosen.randint(2, 3)):
        threads = writer.op("mul", writer.x, writer.number(1, 1, 1, 2, -1))
        index = writer.op("add", threads, writer.op("mul", i, writer.number(0, 1, 4, 8, 16, -8)))
        scaled = writer.op("shl", writer.op("add", index, writer.number(0, 1, 8, 9, 64)), constant(I32, 2))
        start = writer.op("add", b.emit("address", (), I32, Address("tile")), constant(I32, 8192))
        address = writer.op("add", start, scaled)
        if chosen.random() < 0.5:
            b.emit_many("store", (address, writer.x), (), Memory("shared", 0, 4))
        else:
            b.emit("load", (address,), I32, Memory("shared", 0, 4))
        if chosen.random() < 0.5:
            b.emit_many("barrier", (constant(I32, 0),), (), Barrier())
    more = writer.op("add", i, constant(I32, 1))
    b.write("i", more)
    limit = constant(I32, 4) if chosen.random() < 0.5 else writer.n
    b.end(Branch(b.emit("slt", (more, limit), I1), "head", "done"))
    b.start("done")
    b.end(Return())
    return Module((Function("k", True, PARAMETERS, (), b.finish(), (TILE,)),))
