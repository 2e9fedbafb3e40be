"""Random kernels whose functions call themselves and each other, with local arrays of their own and pointers to those
of who calls; lanes return, or end, wherever they like."""

from __future__ import annotations

import random

from tests.simt.engine.agree import Case
from tests.simt.engine.kernels import OWN, VARIABLES, KernelText, random_case
from warpsmith.ssa.builder import constant
from warpsmith.ssa.nodes import (
    Branch,
    Callee,
    Function,
    Jump,
    Memory,
    Module,
    Operand,
    Param,
    Parameter,
    Return,
    Symbol,
    Text,
)
from warpsmith.ssa.types import I1, I32, I64

__all__ = ["recursive_case"]

_POINTERS = ("table", "own", "sums", "above")
_NUMBERS = ("depth", "x", "y")
_DEEPEST = 3


def recursive_case(seed: int) -> Case:
    """Return a kernel with its launch."""
    return random_case(seed, _module)


def _module(chosen: random.Random, width: int, threads: int) -> Module:
    count = chosen.randint(1, 3)
    kernel = _Kernel(chosen, width, threads)
    kernel.functions, kernel.depth = count, constant(I32, chosen.randint(0, _DEEPEST))
    (made,) = kernel.module().functions
    functions = []
    for number in range(count):
        text = _Function(chosen, width, threads)
        text.functions, text.number, text.atomic = count, number, kernel.atomic
        functions.append(text.function())
    return Module((functions[0], made, *functions[1:]))


class _Caller(KernelText):
    """Writes code that calls functions."""

    functions = 1
    depth: Operand

    def statements(self, depth: int, exits: list[str]) -> None:
        """Write statements, among them calls."""
        if depth and self.chosen.random() < 0.6:
            self.call()
        super().statements(depth, exits)

    def call(self) -> None:
        """Call a function, where that is not too deep, perhaps in some lanes only."""
        b = self.b
        way, join = b.fresh("call"), b.fresh("back")
        test = b.emit("slt", (constant(I32, 0), self.depth), I1)
        if self.chosen.random() < 0.4:
            test = b.emit("and", (test, self.test()), I1)
        b.end(Branch(test, way, join))
        b.start(way)
        less = b.emit("sub", (self.depth, constant(I32, self.chosen.choice((1, 1, 2)))), I32)
        pointers = [b.emit("param", (), I64, Param(name)) for name in _POINTERS[:-1]]
        above = b.emit("to_generic", (self.mine(self.any()),), I64, Text("local"))
        given = (less, self.any(), self.any(), *pointers, above)
        callee = Callee(f"f{self.chosen.randrange(self.functions)}")
        made, other = b.emit_many("call", given, (I32, I32), callee)
        b.write(self.chosen.choice(VARIABLES), self.chosen.choice((made, other)))
        b.end(Jump(join))
        b.start(join)


class _Kernel(_Caller):
    """Writes the kernel."""


class _Function(_Caller):
    """Writes one function `f(depth, x, y, table, own, sums, above) → two numbers`."""

    number = 0

    def function(self) -> Function:
        """Return it."""
        b, chosen = self.b, self.chosen
        self.array = f"array{self.number}"
        self.returns = chosen.random() < 0.6
        self.thread, block = self.linear("tid", "ntid"), self.linear("ctaid", "nctaid")
        self.whole = b.emit("add", (b.emit("mul", (block, constant(I32, self.threads)), I32), self.thread), I32)
        self.depth, x, y = (b.emit("param", (), I32, Param(name)) for name in _NUMBERS)
        above = b.emit("param", (), I64, Param("above"))
        read = self.load("generic", above)
        for name, value in zip(VARIABLES, (x, y, self.thread, read), strict=True):
            b.write(name, value)
        for number in range(OWN if chosen.random() < 0.95 else 1):
            self.store("local", self.mine(constant(I32, number)), self.any())
        self.statements(2, [])
        if chosen.random() < 0.7:
            b.emit_many("store", (above, self.any()), (), Memory("generic", 0, 4))
        b.end(self.result())
        numbers = [Parameter(name, 4, 4, I32) for name in _NUMBERS]
        pointers = [Parameter(name, 8, 8, I64) for name in _POINTERS]
        symbols = (Symbol(self.array, "local", I32, OWN, 4),)
        return Function(f"f{self.number}", False, (*numbers, *pointers), (I32, I32), b.finish(), symbols)

    def result(self) -> Return:
        """Return two numbers."""
        return Return((self.any(), self.any()))
