"""Random kernels about lanes: numbers that threads know by their index, tables of constants, places where one thread or
few of them are, arrays of the thread's own.

    i = ctaid.x * 8 + tid.x                 c = numbers[(i >> 1) & 7]          own[c & 3] = …
    if (tid.x == n) …                       if ((i & 6) == 2) … else …         for (k …) if (laneid == k) …
"""

from __future__ import annotations

import random

from tests.analysis.kernels import VARIABLES
from warpsmith.ssa.builder import Builder, constant
from warpsmith.ssa.nodes import (
    Address,
    Branch,
    Exchange,
    Function,
    Jump,
    Memory,
    Module,
    Operand,
    Param,
    Query,
    Return,
    Symbol,
)
from warpsmith.ssa.types import I1, I32, I64

__all__ = ["lane_module"]

ALL = 0xFFFFFFFF
NUMBERS = (5, 1, 4, 1, 5, 9, 2, 6)
KINDS = ("assign", "assign", "assign", "store", "if", "few", "few", "halves", "loop")


def lane_module(seed: int) -> Module:
    """Return a module with a kernel `k(n)`."""
    return _Kernel(random.Random(f"lanes {seed}")).module()


class _Kernel:
    """One kernel on its way."""

    def __init__(self, chosen: random.Random) -> None:
        self.chosen, self.b = chosen, Builder("start")

    def module(self) -> Module:
        """Return the module."""
        b, chosen = self.b, self.chosen
        self.lanes: list[Operand] = [self._query(name) for name in ("tid.x", "tid.y", "laneid")]
        self.shared: list[Operand] = [self._query("ctaid.x"), b.emit("param", (), I32, Param("n"))]
        for scale in (8, 3):
            block = b.emit("mul", (self.shared[0], constant(I32, scale)), I32)
            self.lanes.append(b.emit("add", (block, self.lanes[0]), I32))
        self.lanes.append(b.emit("add", (self.lanes[-2], self.shared[1]), I32))
        for name in VARIABLES:
            b.write(name, chosen.choice([*self.lanes, *self.shared, constant(I32, 1)]))
        if chosen.random() < 0.6:
            for at in range(4):
                self._store(constant(I32, at), chosen.choice([constant(I32, 7), *self.shared, *self.lanes]))
        self._statements(3)
        b.end(Return())
        function = Function("k", True, (), (), b.finish(), (Symbol("own", "local", I32, 4, 4),))
        return Module((function,), (Symbol("numbers", "constant", I32, len(NUMBERS), 4, NUMBERS),))

    # --- values

    def _query(self, name: str) -> Operand:
        return self.b.emit("query", (), I32, Query(name), name.replace(".", ""))

    def _any(self) -> Operand:
        kind = self.chosen.random()
        if kind < 0.45:
            return self.b.read(self.chosen.choice(VARIABLES), I32)
        return self.chosen.choice(self.lanes if kind < 0.8 else self.shared)

    def _constant(self) -> Operand:
        return constant(I32, self.chosen.choice((0, 1, 2, 3, 4, 5, 7, 8, 12, 16, ALL, ALL - 3)))

    def _value(self) -> Operand:
        """Return a value made in one of the ways that rows of numbers have a rule for, or none."""
        b, x = self.b, self._any()
        match self.chosen.choice(
            ("mix", "mix", "shift", "bits", "table", "own", "own", "wide", "select", "vote", "idx")
        ):
            case "shift":
                op, by = self.chosen.choice(("lshr", "ashr", "shl")), constant(I32, self.chosen.choice((0, 1, 2, 3)))
                return b.emit(op, (x, by), I32)
            case "bits":
                op = self.chosen.choice(("and", "or", "xor", "urem", "udiv", "srem", "sdiv"))
                by = constant(I32, self.chosen.choice((1, 2, 3, 4, 7, 8)))
                return b.emit(op, (x, by), I32)
            case "table":
                return self._look("constant", "numbers", b.emit("and", (x, constant(I32, 7)), I32))
            case "own":
                return self._look("local", "own", b.emit("and", (x, constant(I32, 3)), I32))
            case "wide":
                return self._widened(x)
            case "select":
                return b.emit("select", (self._test(), x, self._any()), I32)
            case "vote":
                made = b.emit("vote", (self._test(),), I1, Exchange(self.chosen.choice(("any", "all")), False))
                return b.emit("select", (made, x, self._constant()), I32)
            case "idx":
                return self.chosen.choice(self.lanes)
            case _:
                y = self._constant() if self.chosen.random() < 0.7 else self._any()
                return b.emit(self.chosen.choice(("add", "sub", "mul")), (x, y), I32)

    def _widened(self, x: Operand) -> Operand:
        """Return what is made in 64 bits, cut back: what is carried out of 32 of them shows."""
        b = self.b
        if self.chosen.random() < 0.5:
            long = b.emit(self.chosen.choice(("zext", "sext")), (x,), I64)
        else:
            long = b.emit(self.chosen.choice(("umulwide", "smulwide")), (x, self._constant()), I64)
        return b.emit("trunc", (b.emit("lshr", (long, constant(I32, self.chosen.choice((1, 2, 31, 32)))), I64),), I32)

    def _place(self, symbol: str, index: Operand) -> Operand:
        at = self.b.emit("zext", (self.b.emit("mul", (index, constant(I32, 4)), I32),), I64)
        return self.b.emit("add", (self.b.emit("address", (), I64, Address(symbol)), at), I64)

    def _look(self, space: str, symbol: str, index: Operand) -> Operand:
        detail = Memory("local" if space == "local" else "constant", 0, 4)
        return self.b.emit("load", (self._place(symbol, index),), I32, detail)

    def _store(self, index: Operand, value: Operand) -> None:
        self.b.emit_many("store", (self._place("own", index), value), (), Memory("local", 0, 4))

    def _test(self) -> Operand:
        x = self._any()
        if self.chosen.random() < 0.5:
            x = self.b.emit("and", (x, constant(I32, self.chosen.choice((1, 3, 4, 7)))), I32)
        y = self._constant() if self.chosen.random() < 0.6 else self._any()
        return self.b.emit(self.chosen.choice(("eq", "eq", "ne", "ult", "sge", "slt", "ule")), (x, y), I1)

    def _few(self) -> Operand:
        """Return a condition that one thread, or few of them, fulfil."""
        x = self.chosen.choice(self.lanes)
        if self.chosen.random() < 0.4:
            return self.b.emit("ult", (x, constant(I32, self.chosen.choice((1, 2, 3)))), I1)
        if self.chosen.random() < 0.4:
            bits = self.b.emit("and", (x, constant(I32, self.chosen.choice((2, 3, 4, 6)))), I32)
            return self.b.emit("eq", (bits, constant(I32, self.chosen.choice((0, 2, 4)))), I1)
        y = self.chosen.choice((constant(I32, self.chosen.randrange(4)), *self.shared, self._any()))
        return self.b.emit(self.chosen.choice(("eq", "eq", "ne")), (x, y), I1)

    # --- statements

    def _statements(self, depth: int) -> None:
        for _ in range(self.chosen.randint(1, 4)):
            match self.chosen.choice(KINDS) if depth else "assign":
                case "store":
                    value = self._constant() if self.chosen.random() < 0.5 else self._any()
                    self._store(self.b.emit("and", (self._any(), constant(I32, 3)), I32), value)
                case "if":
                    self._if(self._test(), depth)
                case "few":
                    self._if(self._few(), depth)
                case "loop":
                    self._loop(depth)
                case "halves":
                    self._halves()
                case _:
                    self.b.write(self.chosen.choice(VARIABLES), self._value())

    def _if(self, condition: Operand, depth: int) -> None:
        b = self.b
        then, other, join = b.fresh("then"), b.fresh("else"), b.fresh("join")
        b.end(Branch(condition, then, other))
        for name in (then, other):
            b.start(name)
            if name == then or self.chosen.random() < 0.5:
                self._statements(depth - 1)
            b.end(Jump(join))
        b.start(join)

    def _halves(self) -> None:
        """Write the same on both sides of a branch: what is computed alike there, of different numbers."""
        b, x = self.b, self.chosen.choice(self.lanes)
        by = self.chosen.randrange(3)
        then, other, join = b.fresh("low"), b.fresh("high"), b.fresh("whole")
        b.end(
            Branch(b.emit("eq", (b.emit("and", (x, constant(I32, 1 << by)), I32), constant(I32, 0)), I1), then, other)
        )
        name, more = self.chosen.choice(VARIABLES), self._constant()
        for side in (then, other):
            b.start(side)
            b.write(name, b.emit("add", (b.emit("lshr", (x, constant(I32, by)), I32), more), I32))
            b.end(Jump(join))
        b.start(join)

    def _loop(self, depth: int) -> None:
        """Write a loop with a counter, in which one thread after the other may get its turn."""
        b = self.b
        head, body, done = b.fresh("head"), b.fresh("body"), b.fresh("done")
        counter = f"i{head}"
        b.write(counter, constant(I32, 0))
        b.end(Jump(head))
        b.start(head)
        i = b.read(counter, I32)
        limit = self.chosen.choice((constant(I32, 3), constant(I32, 4), *self.lanes[:1], self.shared[1]))
        b.end(Branch(b.emit("slt", (i, limit), I1), body, done))
        b.start(body)
        if self.chosen.random() < 0.5:
            turn, rest = b.fresh("turn"), b.fresh("rest")
            b.end(Branch(b.emit("eq", (self.chosen.choice(self.lanes), i), I1), turn, rest))
            b.start(turn)
            self._statements(depth - 1)
            b.end(Jump(self.chosen.choice((rest, done))))
            b.start(rest)
        else:
            self._statements(depth - 1)
        b.write(counter, b.emit("add", (b.read(counter, I32), constant(I32, 1)), I32))
        b.end(Jump(head))
        b.start(done)
        if self.chosen.random() < 0.5:
            b.write(self.chosen.choice(VARIABLES), b.read(counter, I32))
