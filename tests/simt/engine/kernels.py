"""Random kernels that touch everything the compiled machine has: control flow of any reducible kind, all memories,
barriers, atomics, exchanges. Threads write what is their own, so that a run has one result; some kernels do not, and
must be left to the interpreter."""

from __future__ import annotations

import random
import struct
from collections.abc import Callable

from tests.simt.engine.agree import Case
from warpsmith.simt.launch import Launch
from warpsmith.ssa.builder import Builder, constant
from warpsmith.ssa.nodes import (
    Address,
    Barrier,
    Branch,
    Exchange,
    Exit,
    Function,
    Jump,
    Memory,
    Module,
    Operand,
    Param,
    Parameter,
    Query,
    Return,
    Space,
    Switch,
    Symbol,
)
from warpsmith.ssa.types import F32, I1, I8, I16, I32, I64, Type

__all__ = ["KernelText", "random_case"]

VARIABLES = ("a", "b", "c", "d")
WIDTHS = (1, 2, 3, 4, 5, 7, 8, 12, 16, 20, 31, 32, 33, 48, 64)
BLOCKS = ((8, 1, 1), (32, 1, 1), (40, 1, 1), (64, 1, 1), (8, 4, 1), (5, 3, 2), (100, 1, 1), (17, 1, 1))
TABLE = 61
OWN = 4
SLOTS = 8
ALL = 0xFFFFFFFF


def random_case(seed: int, make: Callable[[random.Random, int, int], Module] | None = None) -> Case:
    """Return a kernel with its launch; `make` writes another one, for a width of warps and so many threads."""
    chosen = random.Random(seed)
    block, grid = chosen.choice(BLOCKS), chosen.choice(((1, 1, 1), (2, 1, 1), (2, 2, 1)))
    width = chosen.choice((32, 32, 8, *WIDTHS))
    threads = block[0] * block[1] * block[2]
    whole = threads * grid[0] * grid[1]
    module = (make or (lambda *given: KernelText(*given).module()))(chosen, width, threads)
    table = struct.pack(
        f"<{TABLE}I", *(chosen.choice((0, 1, 2, 3, 5, 40, chosen.getrandbits(32))) for _ in range(TABLE))
    )
    arrays = {
        "table": (table, True),
        "out": (bytes(whole * len(VARIABLES) * 4), False),
        "own": (bytes(whole * OWN * 4), chosen.random() < 0.95),
        "sums": (bytes(SLOTS * 4), True),
    }
    arguments = {"n": struct.pack("<i", chosen.choice((0, 1, 3, 7, 40)))}
    launch = Launch(grid, block, arguments, warp=width, seed=seed, max_steps=300_000)
    return Case(module, "k", launch, arrays)


class KernelText:
    """Writes one kernel `k(table, out, own, sums, n)`."""

    def __init__(self, chosen: random.Random, width: int, threads: int) -> None:
        self.chosen, self.width, self.threads = chosen, width, threads
        self.b = Builder("start")
        self.reckless = chosen.random() < 0.1
        self.exchanges = width <= 32
        self.returns = chosen.random() < 0.3
        self.calls = 0
        self.array = "mine"
        ops = ("atomic_add", "atomic_add", "atomic_umax", "atomic_xor", "atomic_smin", "atomic_or", "atomic_umin")
        self.atomic = chosen.choice(ops)

    def module(self) -> Module:
        b = self.b
        self.thread = self.linear("tid", "ntid")
        self.block = self.linear("ctaid", "nctaid")
        all_ = b.emit("mul", (self.block, constant(I32, self.threads)), I32)
        self.whole = b.emit("add", (all_, self.thread), I32)
        n = b.emit("param", (), I32, Param("n"))
        for name, value in zip(VARIABLES, (self.thread, self.whole, n, constant(I32, 3)), strict=True):
            b.write(name, value)
        for number in range(OWN if self.chosen.random() < 0.9 else 1):
            self.store("local", self.mine(constant(I32, number)), self.any())
        for _ in range(self.chosen.randint(1, 3)):
            self.statements(3, [])
            self.meeting()
        for number, name in enumerate(VARIABLES):
            at = self.place("out", self.whole, len(VARIABLES), constant(I32, number))
            self.store("global", at, b.read(name, I32))
        b.end(Return())
        pointers = [Parameter(name, 8, 8, I64) for name in ("table", "out", "own", "sums")]
        symbols = (
            Symbol("tile", "shared", I32, self.threads, 4),
            Symbol("more", "shared", I32, SLOTS, 4),
            Symbol("mine", "local", I32, OWN, 4),
        )
        return Module((Function("k", True, (*pointers, Parameter("n", 4, 4, I32)), (), b.finish(), symbols),))

    def linear(self, index: str, size: str) -> Operand:
        b = self.b
        x, y, z = (b.emit("query", (), I32, Query(f"{index}.{axis}")) for axis in "xyz")
        sx, sy = (b.emit("query", (), I32, Query(f"{size}.{axis}")) for axis in "xy")
        rest = b.emit("add", (b.emit("mul", (z, sy), I32), y), I32)
        return b.emit("add", (b.emit("mul", (rest, sx), I32), x), I32)

    # --- numbers

    def any(self) -> Operand:
        if self.chosen.random() < 0.2:
            return constant(I32, self.chosen.choice((0, 1, 2, 3, 4, 5, 8, 31, ALL)))
        return self.b.read(self.chosen.choice(VARIABLES), I32)

    def value(self) -> Operand:
        b, x, y = self.b, self.any(), self.any()
        match self.chosen.choice(("op", "op", "op", "select", "register", "load", "narrow", "float", "mine")):
            case "select":
                return b.emit("select", (self.test(), x, y), I32)
            case "register":
                return b.emit("query", (), I32, Query(self.chosen.choice(("laneid", "warpid", "tid.y", "ctaid.x"))))
            case "load":
                return self.load("global", self.place("table", b.emit("urem", (x, constant(I32, TABLE)), I32)))
            case "narrow":
                small = self.chosen.choice((I8, I16))
                cut = b.emit("trunc", (x,), small)
                return b.emit(self.chosen.choice(("sext", "zext")), (cut,), I32)
            case "float":
                f, g = (b.emit("sitof", (v,), F32) for v in (x, y))
                made = b.emit(self.chosen.choice(("fadd", "fmul", "fsub", "fmin")), (f, g), F32)
                return b.emit("ftosi", (made,), I32)
            case "mine":
                return self.load("local", self.mine(x))
            case _:
                ops = ("add", "sub", "mul", "xor", "and", "udiv", "srem", "sdiv", "umin", "smax", "shl", "lshr", "ashr")
                return b.emit(self.chosen.choice(ops), (x, y), I32)

    def test(self) -> Operand:
        x = self.any()
        if self.chosen.random() < 0.6:
            x = self.b.emit("and", (x, constant(I32, self.chosen.choice((1, 3, 4, 7)))), I32)
        op = self.chosen.choice(("eq", "ne", "ult", "slt", "eq", "uge"))
        return self.b.emit(op, (x, self.any()), I1)

    # --- memory

    def place(self, array: str, index: Operand, scale: int = 1, more: Operand | None = None) -> Operand:
        b = self.b
        if scale != 1:
            index = b.emit("mul", (index, constant(I32, scale)), I32)
        if more is not None:
            index = b.emit("add", (index, more), I32)
        base = b.emit("param", (), I64, Param(array))
        return b.emit("add", (base, b.emit("umulwide", (index, constant(I32, 4)), I64)), I64)

    def variable(self, symbol: str, index: Operand) -> Operand:
        base = self.b.emit("address", (), I64, Address(symbol))
        return self.b.emit("add", (base, self.b.emit("umulwide", (index, constant(I32, 4)), I64)), I64)

    def mine(self, index: Operand) -> Operand:
        return self.variable(self.array, self.b.emit("and", (index, constant(I32, OWN - 1)), I32))

    def load(self, space: Space, address: Operand, type: Type = I32) -> Operand:
        return self.b.emit("load", (address,), type, Memory(space, 0, type.bytes))

    def store(self, space: Space, address: Operand, value: Operand) -> None:
        self.b.emit_many("store", (address, value), (), Memory(space, 0, 4))

    # --- statements

    def statements(self, depth: int, exits: list[str]) -> None:
        for _ in range(self.chosen.randint(1, 3)):
            kinds = ("assign", "assign", "own", "local", "sum", "if", "loop", "leave", "switch")
            match self.chosen.choice(kinds) if depth else "assign":
                case "own":
                    self.own()
                case "local":
                    self.store("local", self.mine(self.any()), self.any())
                case "sum":
                    self.sum()
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

    def own(self) -> None:
        """Touch the thread's own part of an array; sometimes by a generic address, sometimes two elements."""
        b = self.b
        at = self.place("own", self.whole, OWN, constant(I32, self.chosen.choice((0, 2))))
        space: Space = self.chosen.choice(("global", "generic"))
        if self.chosen.random() < 0.4:
            pair = b.emit_many("load", (at,), (I32, I32), Memory(space, 0, self.chosen.choice((4, 8))))
            b.write(self.chosen.choice(VARIABLES), self.chosen.choice(pair))
        elif self.chosen.random() < 0.5:
            b.emit_many("store", (at, self.any(), self.any()), (), Memory(space, 0, 4))
        else:
            self.store(space, at, self.any())

    def sum(self) -> None:
        index = self.b.emit("and", (self.any(), constant(I32, SLOTS - 1)), I32)
        self.b.emit_many(self.atomic, (self.place("sums", index), self.any()), (), Memory("global", 0, 4))

    def condition(self, depth: int, exits: list[str]) -> None:
        b = self.b
        then, other, join = b.fresh("then"), b.fresh("else"), b.fresh("join")
        b.end(Branch(self.test(), then, other))
        for name in (then, other):
            b.start(name)
            if name == then or self.chosen.random() < 0.6:
                self.statements(depth - 1, exits)
            b.end(Jump(join))
        b.start(join)

    def switch(self, depth: int, exits: list[str]) -> None:
        b = self.b
        arms = [b.fresh("case") for _ in range(3)]
        join = b.fresh("join")
        value = b.emit("and", (self.any(), constant(I32, 3)), I32)
        cases = ((0, arms[0]), (1, arms[1]), (3, arms[0]), (2, self.chosen.choice((join, arms[2]))))
        b.end(Switch(value, cases, arms[2]))
        for number, name in enumerate(arms):
            b.start(name)
            self.statements(depth - 1, exits)
            b.end(Jump(arms[2] if number == 1 and self.chosen.random() < 0.5 else join))
        b.start(join)

    def leave(self, exits: list[str]) -> None:
        """Leave a loop, begin its next iteration, or end."""
        b = self.b
        ends = self.returns and self.chosen.random() < 0.2
        if not exits and not ends:
            return
        way, stay = b.fresh("way"), b.fresh("stay")
        b.end(Branch(self.test(), way, stay))
        b.start(way)
        if self.chosen.random() < 0.5:
            b.write(self.chosen.choice(VARIABLES), constant(I32, self.chosen.choice((0, 1, 2, 5))))
        b.end(self.chosen.choice((self.result(), Exit())) if ends else Jump(self.chosen.choice(exits)))
        b.start(stay)

    def result(self) -> Return:
        """Return how control goes back to who called."""
        return Return()

    def loop(self, depth: int, exits: list[str]) -> None:
        b = self.b
        head, again, done = b.fresh("head"), b.fresh("again"), b.fresh("done")
        counter = f"i{head}"
        b.write(counter, constant(I32, 0))
        b.end(Jump(head))
        b.start(head)
        self.statements(depth - 1, [*exits, done, done, again])
        b.end(Jump(again))
        b.start(again)
        b.write(counter, b.emit("add", (b.read(counter, I32), constant(I32, 1)), I32))
        limit = self.chosen.choice((constant(I32, 3), b.emit("and", (self.any(), constant(I32, 3)), I32)))
        b.end(Branch(b.emit("slt", (b.read(counter, I32), limit), I1), head, done))
        b.start(done)
        if self.chosen.random() < 0.5:
            b.write(self.chosen.choice(VARIABLES), b.read(counter, I32))

    # --- where threads meet

    def meeting(self) -> None:
        """Exchange something with other threads, perhaps in a loop that all go through together."""
        b = self.b
        if self.chosen.random() < 0.3:
            head, done, rounds = b.fresh("rounds"), b.fresh("over"), f"r{self.calls}"
            self.calls += 1
            b.write(rounds, constant(I32, 0))
            b.end(Jump(head))
            b.start(head)
            self.meet()
            self.statements(1, [])
            b.write(rounds, b.emit("add", (b.read(rounds, I32), constant(I32, 1)), I32))
            b.end(Branch(b.emit("ult", (b.read(rounds, I32), constant(I32, 3)), I1), head, done))
            b.start(done)
        else:
            self.meet()

    def meet(self) -> None:
        kinds = [self.tile, self.tile, self.count, self.more]
        if self.exchanges:
            kinds += [self.vote, self.shuffle, self.match, self.reduce, self.warp_step, self.active]
        self.chosen.choice(kinds)(self.chosen.choice(VARIABLES))

    def more(self, target: str) -> None:
        b, index = self.b, self.b.emit("and", (self.any(), constant(I32, SLOTS - 1)), I32)
        self.barrier()
        if self.chosen.random() < 0.9:
            self.clear_more()
        b.emit_many("atomic_add", (self.variable("more", index), self.any()), (), Memory("shared", 0, 4))
        self.barrier()
        b.write(target, self.load("shared", self.variable("more", index)))

    def told(self, target: str, found: Operand) -> None:
        """Keep a number, or one that a predicate chooses."""
        if found.type == I1:
            found = self.b.emit("select", (found, self.any(), self.any()), I32)
        self.b.write(target, found)

    def count(self, target: str) -> None:
        how = self.chosen.choice(("and", "or", "count"))
        made = I32 if how == "count" else I1
        self.told(target, self.b.emit("barrier", (constant(I32, 0), self.test()), made, Barrier(reduces=how)))

    def vote(self, target: str) -> None:
        how = self.chosen.choice(("all", "any", "uni", "ballot"))
        masked = self.chosen.random() < 0.7
        given = (self.test(), constant(I32, ALL)) if masked else (self.test(),)
        made = I32 if how == "ballot" else I1
        self.told(target, self.b.emit("vote", given, made, Exchange(how, masked)))

    def shuffle(self, target: str) -> None:
        clamp = constant(I32, self.chosen.choice((31, 0, 0x181F, 0x1C03, 0x101F)))
        how = self.chosen.choice(("up", "down", "bfly", "idx"))
        given = (self.any(), self.any(), clamp, constant(I32, ALL))
        value, inside = self.b.emit_many("shuffle", given, (I32, I1), Exchange(how))
        self.told(target, self.b.emit("select", (inside, value, self.any()), I32))

    def match(self, target: str) -> None:
        low = self.b.emit("and", (self.any(), constant(I32, 3)), I32)
        how = self.chosen.choice(("any", "all"))
        self.told(target, self.b.emit("match", (low, constant(I32, ALL)), I32, Exchange(how)))

    def reduce(self, target: str) -> None:
        how = self.chosen.choice(("add", "umin", "umax", "smin", "smax", "and", "or", "xor"))
        self.told(target, self.b.emit("reduce", (self.any(), constant(I32, ALL)), I32, Exchange(how)))

    def active(self, target: str) -> None:
        self.told(target, self.b.emit("active", (), I32))

    def barrier(self) -> None:
        if not (self.reckless and self.chosen.random() < 0.4):
            self.b.emit_many("barrier", (constant(I32, 0),), (), Barrier())

    def tile(self, target: str) -> None:
        """Write to shared memory, and read what another thread wrote."""
        b = self.b
        self.barrier()
        self.store("shared", self.variable("tile", self.thread), self.any())
        self.barrier()
        other = b.emit("urem", (self.any(), constant(I32, self.threads)), I32)
        b.write(target, self.load("shared", self.variable("tile", other)))

    def clear_more(self) -> None:
        b = self.b
        then, join = b.fresh("clear"), b.fresh("cleared")
        b.end(Branch(b.emit("ult", (self.thread, constant(I32, min(SLOTS, self.threads))), I1), then, join))
        b.start(then)
        self.store("shared", self.variable("more", self.thread), constant(I32, 0))
        b.end(Jump(join))
        b.start(join)
        self.barrier()

    def warp_step(self, target: str) -> None:
        """Write to shared memory, and read what another lane of the warp wrote, with a barrier of the warp between."""
        b = self.b
        self.barrier()
        self.store("shared", self.variable("tile", self.thread), self.any())
        if not (self.reckless and self.chosen.random() < 0.4):
            b.emit_many("warp_barrier", (constant(I32, ALL),), ())
        lane = b.emit("query", (), I32, Query("laneid"))
        other = b.emit("sub", (self.thread, lane), I32)
        b.write(target, self.load("shared", self.variable("tile", other)))
        self.barrier()
