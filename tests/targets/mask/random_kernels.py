"""Random kernels for export: what the mask ISA has of `tests/simt/engine/kernels.py`, integers and floats of 32 bits,
loads, stores, branches, switches, loops that are left in the middle, ends within them."""

from __future__ import annotations

import random
import struct

from tests.simt.engine.agree import Case
from tests.simt.engine.kernels import OWN, TABLE, VARIABLES, KernelText
from warpsmith.simt.launch import Launch
from warpsmith.ssa.builder import Builder, constant
from warpsmith.ssa.nodes import (
    Branch,
    Convert,
    Function,
    Jump,
    Memory,
    Module,
    Operand,
    Param,
    Parameter,
    Query,
    Return,
)
from warpsmith.ssa.types import F32, I1, I32, I64

__all__ = ["exported_case", "written_case"]

_WHOLE = ("add", "sub", "mul", "xor", "and", "or", "udiv", "urem", "srem", "sdiv", "umin", "smax", "umax", "smin",
          "shl", "lshr", "ashr", "umulhi", "smulhi")  # fmt: skip
_TESTS = ("eq", "ne", "ult", "ule", "ugt", "uge", "slt", "sle", "sgt", "sge")
_FLOAT_TESTS = (*(f"f{o}{name}" for o in "ou" for name in ("eq", "ne", "lt", "le", "gt", "ge")), "ordered", "unordered")


_LAUNCHES = (
    ((8, 1, 1), (1, 1, 1)),
    ((6, 1, 1), (2, 1, 1)),
    ((4, 2, 1), (2, 1, 1)),
    ((3, 2, 2), (1, 1, 1)),
    ((5, 1, 1), (2, 2, 1)),
)


def exported_case(seed: int) -> Case:
    """Return a kernel that can be exported, with its launch."""
    chosen = random.Random(seed)
    block, grid = chosen.choice(_LAUNCHES)
    threads = block[0] * block[1] * block[2]
    whole = threads * grid[0] * grid[1]
    width = chosen.choice((8, 16, 4))
    module = _Exported(chosen, width, threads).module()
    numbers = (chosen.choice((0, 1, 2, 3, 5, 40, chosen.getrandbits(32))) for _ in range(TABLE))
    arrays = {
        "table": (struct.pack(f"<{TABLE}I", *numbers), True),
        "out": (bytes(whole * len(VARIABLES) * 4), True),
        "own": (bytes(whole * OWN * 4), True),
    }
    arguments = {"n": struct.pack("<i", chosen.choice((0, 1, 3, 7, 40)))}
    return Case(module, "k", Launch(grid, block, arguments, warp=width, seed=seed, max_steps=100_000), arrays)


class _Exported(KernelText):
    def __init__(self, chosen: random.Random, width: int, threads: int) -> None:
        super().__init__(chosen, width, threads)

    def module(self) -> Module:
        b = self.b
        self.thread = self.linear("tid", "ntid")
        self.block = self.linear("ctaid", "nctaid")
        self.whole = b.emit("add", (b.emit("mul", (self.block, constant(I32, self.threads)), I32), self.thread), I32)
        n = b.emit("param", (), I32, Param("n"))
        for name, value in zip(VARIABLES, (self.thread, self.whole, n, constant(I32, 3)), strict=True):
            b.write(name, value)
        for _ in range(self.chosen.randint(1, 3)):
            self.statements(3, [])
        for number, name in enumerate(VARIABLES):
            at = self.place("out", self.whole, len(VARIABLES), constant(I32, number))
            self.store("global", at, b.read(name, I32))
        b.end(Return())
        pointers = [Parameter(name, 8, 8, I64) for name in ("table", "out", "own")]
        return Module((Function("k", True, (*pointers, Parameter("n", 4, 4, I32)), (), b.finish()),))

    def value(self) -> Operand:
        b, x, y = self.b, self.any(), self.any()
        match self.chosen.choice(("op", "op", "op", "select", "register", "load", "float", "one", "swap")):
            case "select":
                return b.emit("select", (self.test(), x, y), I32)
            case "register":
                return b.emit("query", (), I32, Query(self.chosen.choice(("laneid", "tid.y", "ctaid.x", "ntid.x"))))
            case "load":
                return self.load("global", self.place("table", b.emit("urem", (x, constant(I32, TABLE)), I32)))
            case "float":
                return self.number(x, y)
            case "one":
                return b.emit(self.chosen.choice(("not", "neg", "abs")), (x,), I32)
            case "swap":
                one, other = self.chosen.sample(VARIABLES, 2)
                kept = b.read(one, I32)
                b.write(one, b.read(other, I32))
                b.write(other, kept)
                return b.read(self.chosen.choice(VARIABLES), I32)
            case _:
                return b.emit(self.chosen.choice(_WHOLE), (x, y), I32)

    def number(self, x: Operand, y: Operand) -> Operand:
        b = self.b
        f, g = (b.emit(self.chosen.choice(("sitof", "uitof")), (v,), F32) for v in (x, y))
        if self.chosen.random() < 0.3:
            f = b.emit(self.chosen.choice(("fneg", "fabs")), (f,), F32)
        ops = ("fadd", "fmul", "fsub", "fdiv", "fmin", "fmax")
        made = b.emit(self.chosen.choice(ops), (f, g), F32)
        if self.chosen.random() < 0.3:
            test = b.emit(self.chosen.choice(_FLOAT_TESTS), (made, g), I1)
            return b.emit("select", (test, x, y), I32)
        return b.emit(self.chosen.choice(("ftosi", "ftoui")), (made,), I32, Convert("zero"))

    def test(self) -> Operand:
        x = self.any()
        if self.chosen.random() < 0.6:
            x = self.b.emit("and", (x, constant(I32, self.chosen.choice((1, 3, 4, 7)))), I32)
        return self.b.emit(self.chosen.choice(_TESTS), (x, self.any()), I1)

    def statements(self, depth: int, exits: list[str]) -> None:
        kinds = ("assign", "assign", "own", "if", "if", "loop", "leave", "leave", "switch")
        for _ in range(self.chosen.randint(1, 3)):
            match self.chosen.choice(kinds) if depth else "assign":
                case "own":
                    self.own()
                case "if":
                    self.condition(depth, exits)
                case "loop":
                    self.loop(depth, exits)
                case "switch":
                    self.switch(depth, exits)
                case "leave":
                    self.leave(exits)
                case _:
                    self.b.write(self.chosen.choice(VARIABLES), self.value())


def written_case() -> Case:
    """Return a kernel in which some lanes begin the next iteration where others still read what it changes."""
    b = Builder("start")
    thread = b.emit("query", (), I32, Query("tid.x"))
    b.write("i", constant(I32, 0))
    b.write("sum", thread)
    b.end(Jump("head"))
    b.start("head")
    i = b.read("i", I32)
    b.write("i", b.emit("add", (i, constant(I32, 1)), I32))
    odd = b.emit("and", (b.emit("xor", (i, thread), I32), constant(I32, 1)), I32)
    b.end(Branch(b.emit("ne", (odd, constant(I32, 0)), I1), "head", "rest"))
    b.start("rest")
    b.write("sum", b.emit("add", (b.emit("mul", (b.read("sum", I32), constant(I32, 3)), I32), i), I32))
    b.end(Branch(b.emit("ult", (i, constant(I32, 6)), I1), "head", "done"))
    b.start("done")
    base = b.emit("param", (), I64, Param("out"))
    at = b.emit("add", (base, b.emit("umulwide", (thread, constant(I32, 4)), I64)), I64)
    b.emit_many("store", (at, b.read("sum", I32)), (), Memory("global", 0, 4))
    b.end(Return())
    module = Module((Function("k", True, (Parameter("out", 8, 8, I64),), (), b.finish()),))
    return Case(module, "k", Launch((1, 1, 1), (8, 1, 1), {}, warp=8), {"out": (bytes(32), True)})
