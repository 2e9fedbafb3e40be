"""Random kernels in which every rule about memory and barriers has something to say, or just not: in each a few idioms
(records, neighbors, tables, tiles, elections, masks …), with random strides, sizes and guards.

Every instruction has a line of its own in a text that is made up, so that a finding tells which one it is about.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from msgspec.structs import replace

from tests.analysis.accesses import PARAMETERS, TILE, Writer
from warpsmith.base.source import SourceFile, Span
from warpsmith.ssa.builder import constant
from warpsmith.ssa.nodes import (
    Address,
    Barrier,
    Branch,
    Exchange,
    Function,
    Instruction,
    Jump,
    Memory,
    Module,
    Operand,
    Return,
    Space,
    Symbol,
    Terminator,
)
from warpsmith.ssa.types import I1, I8, I16, I32, I64, Type

__all__ = ["SMALL", "idiom_module", "lined"]

SMALL = Symbol("small", "shared", I32, 12, 4)
_OTHER = Symbol("other", "shared", I32, 64, 4)
_OWN = Symbol("own", "local", I32, 16, 4)
_TABLE = Symbol("table", "constant", I32, 64, 4, tuple(range(64)))
_BIG = Symbol("big", "global", I32, 4096, 16)
_FULL = 0xFFFFFFFF


class _Idioms(Writer):
    """Writes one kernel of idioms."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed, barriers=True)
        self.idioms: tuple[Callable[[], None], ...] = (
            self.strided, self.strided, self.field, self.rows, self.twice, self.again, self.neighbors, self.table,
            self.private, self.banks, self.banks, self.small, self.small, self.unset, self.exchange, self.exchange,
            self.count, self.owned, self.waits, self.waits, self.leaves,
        )  # fmt: skip

    def statements(self, depth: int, *, together: bool) -> None:
        for _ in range(self.random.randint(1, 3)):
            kind = self.random.choice(("idiom", "idiom", "idiom", "if", "loop", "barrier"))
            if kind == "barrier" and (together or self.random.random() < 0.3):
                self.barrier()
            elif kind == "if" and depth:
                self.branch(depth)
            elif kind == "loop" and depth:
                self.loop(depth, together=together)
            else:
                self.random.choice(self.idioms)()

    def barrier(self) -> None:
        self.b.emit_many("barrier", (constant(I32, 0),), (), Barrier())

    # --- pieces

    def test(self) -> Operand:
        """Return a condition; some have two parts, some are of an index that goes on from block to block."""
        kind = self.random.random()
        if kind < 0.15:
            both = (super().test(), super().test())
            return self.b.emit(self.random.choice(("and", "or")), both, I1)
        if kind < 0.25:
            return self.b.emit("select", (super().test(), super().test(), constant(I1, kind > 0.2)), I1)
        if kind < 0.3:
            return self.b.emit("not", (super().test(),), I1)
        if kind < 0.8:
            return super().test()
        index = self.op("add", self.op("mul", self.block, self.number(8, 16, 12, 32)), self.x)
        return self.b.emit(self.random.choice(("eq", "ne", "eq", "slt")), (index, self.number(0, 1, 3, 8)), I1)

    def simple(self) -> Operand:
        """Return an index that lines up with the threads, most of the time."""
        kind = self.random.random()
        if kind < 0.6:
            total = self.op("mul", self.x, self.number(0, 1, 1, 1, 2, 4, 8, 9, -1))
        elif kind < 0.75:
            total = self.op("add", self.x, self.op("mul", self.y, self.number(1, 4, 8, 16, 33)))
        elif kind < 0.85:
            total = self.op("lshr", self.x, self.number(1, 2))
        else:
            return self.index()
        if self.random.random() < 0.3:
            total = self.op("add", total, self.op("mul", self.block, self.number(8, 32, 5)))
        if self.counters and self.random.random() < 0.4:
            total = self.op("add", total, self.op("mul", self.counters[-1], self.number(1, 8)))
        return self.op("add", total, self.number(0, 0, 0, 1, 4))

    def at(self, index: Operand, size: int) -> Operand:
        """Return the address of an element behind the pointer."""
        offset = self.b.emit("smulwide", (index, constant(I32, size)), I64)
        return self.b.emit("add", (self.p, offset), I64)

    def into(self, symbol: Symbol, index: Operand) -> Operand:
        """Return the address of a word of an array."""
        start = self.b.emit("address", (), I32, Address(symbol.name))
        return self.b.emit("add", (start, self.op("shl", index, constant(I32, 2))), I32)

    def touch(self, address: Operand, space: Space, detail: tuple[int, Type], *, write: bool | None = None) -> None:
        """Load or store one element; `detail`: the offset, and its type."""
        offset, type_ = detail
        memory = Memory(space, offset, min(type_.bytes, 4))
        if self.random.random() < 0.5 if write is None else write:
            value = self.b.emit("sext" if type_.bits > 32 else "trunc", (self.x,), type_) if type_ != I32 else self.x
            self.b.emit_many("store", (address, value), (), memory)
        else:
            self.b.emit("load", (address,), type_, memory)

    def under(self, guard: Operand, body: Callable[[], None]) -> None:
        """Write what only some threads do."""
        then, join = self.b.fresh("then"), self.b.fresh("join")
        self.b.end(Branch(guard, then, join))
        self.b.start(then)
        body()
        self.b.end(Jump(join))
        self.b.start(join)

    # --- idioms of device memory

    def strided(self) -> None:
        type_ = self.random.choice((I8, I16, I32, I32, I32, I64))
        self.touch(self.at(self.simple(), type_.bytes), "global", (self.random.choice((0, 0, 0, 4, 32)), type_))

    def field(self) -> None:
        address = self.at(self.simple(), self.random.choice((8, 12, 16, 24, 32, 64)))
        for _ in range(self.random.randint(1, 3)):
            self.touch(address, "global", (self.random.choice((0, 4, 8)), I32))

    def rows(self) -> None:
        """Touch a matrix by rows or by columns."""
        width = self.number(32, 64, 128) if self.random.random() < 0.7 else self.n
        one, two = self.random.choice(((self.x, self.y), (self.x, self.y), (self.y, self.x)))
        for _ in range(self.random.randint(1, 2)):
            index = self.op("add", self.op("mul", one, width), two)
            self.touch(self.at(self.op("add", index, self.number(0, 0, 8)), 4), "global", (0, I32))

    def twice(self) -> None:
        address = self.at(self.simple(), 4)
        self.touch(address, "global", (0, I32), write=False)
        between = self.random.choice(("", "", "store", "barrier", "other"))
        if between == "store":
            self.touch(self.at(self.simple(), 4), "global", (0, I32), write=True)
        elif between == "barrier":
            self.b.emit_many("warp_barrier", (), (), None)
        elif between == "other":
            self.touch(self.at(self.simple(), 4), "global", (0, I32), write=False)
        self.touch(address, "global", (self.random.choice((0, 0, 0, 4)), I32), write=False)

    def again(self) -> None:
        """Load the same in every iteration, or nearly."""
        head, done = self.b.fresh("head"), self.b.fresh("done")
        self.b.write(f"i{head}", self.number(0, 2))
        self.b.end(Jump(head))
        self.b.start(head)
        i = self.b.read(f"i{head}", I32)
        index = self.op("add", self.op("mul", self.x, self.number(0, 1)), self.op("mul", i, self.number(0, 0, 1)))
        self.touch(self.at(index, 4), "global", (0, I32), write=False)
        if self.random.random() < 0.3:
            self.touch(self.at(self.simple(), 4), "global", (0, I32))
        self.b.write(f"i{head}", self.op("add", i, constant(I32, 1)))
        self.b.end(Branch(self.b.emit("slt", (i, self.number(2, 4)), I1), head, done))
        self.b.start(done)

    def neighbors(self) -> None:
        """Touch two or four words side by side."""
        start = self.b.emit("address", (), I64, Address("big"))
        index = self.op("mul", self.x, self.number(1, 2, 4, 4, 8))
        index = self.op("add", index, self.number(0, 0, 1, 2, 4))
        inside = self.b.emit("smulwide", (index, constant(I32, 4)), I64)
        address = self.b.emit("add", (start, inside), I64)
        write = self.random.random() < 0.4
        first = self.random.choice((0, 0, 4, 8, 16))
        for n in range(self.random.choice((2, 2, 3, 4))):
            self.touch(address, "global", (first + 4 * n, I32), write=write)

    def owned(self) -> None:
        """Touch what blocks have of their own, or not quite."""
        size = self.number(8, 12, 16, 32, 5)
        scaled = self.op("mul", self.block, size) if self.random.random() < 0.7 else constant(I32, 0)
        index = self.op("add", scaled, self.x)
        for _ in range(self.random.randint(1, 2)):
            moved = self.op("add", index, self.number(0, 0, 1, -1, 8))
            if self.random.random() < 0.3:
                self.under(self.test(), partial(self.touch, self.at(moved, 4), "global", (0, I32)))
            else:
                self.touch(self.at(moved, 4), "global", (0, I32))

    # --- idioms of other memory

    def table(self) -> None:
        start = self.b.emit("address", (), I64, Address("table"))
        type_ = self.random.choice((I8, I32, I32, I64))
        inside = self.op("and", self.simple(), self.number(0, 1, 7, 31, 31))
        offset = self.b.emit("umulwide", (inside, constant(I32, type_.bytes)), I64)
        self.touch(self.b.emit("add", (start, offset), I64), "constant", (0, type_), write=False)

    def private(self) -> None:
        for _ in range(self.random.randint(1, 2)):
            index = self.op("and", self.simple(), self.number(0, 3, 7, 15, 15))
            self.touch(self.into(_OWN, index), "local", (0, self.random.choice((I32, I32, I8))))

    def banks(self) -> None:
        index = self.op("mul", self.simple(), self.number(1, 1, 2, 4, 8, 16, 32, 33))
        address = self.into(TILE, self.op("add", index, constant(I32, 2048)))
        if self.random.random() < 0.3:
            # all addresses are words: the halves of a wide access need not be aligned here
            self.touch(address, "shared", (0, self.random.choice((I8, I16, I64))))
        else:
            self.touch(address, "shared", (0, I32))

    def small(self) -> None:
        """Touch an array that is about as large as the block."""
        index = self.op("add", self.op("mul", self.x, self.number(0, 1, 1, 1, -1)), self.number(0, 0, 1, -1, 4, 11))
        if self.random.random() < 0.4:
            guard = self.b.emit("ult", (index, constant(I32, 12)), I1)
            self.under(guard, lambda: self.touch(self.into(SMALL, index), "shared", (0, I32)))
        else:
            self.touch(self.into(SMALL, index), "shared", (0, I32))

    def unset(self) -> None:
        index = self.op("and", self.simple(), constant(I32, 63))
        self.touch(self.into(_OTHER, index), "shared", (0, I32), write=self.random.random() < 0.4)

    def count(self) -> None:
        shared = self.random.random() < 0.5
        index = self.op("and", self.op("mul", self.x, self.number(0, 0, 1)), constant(I32, 7))
        address = self.into(_OTHER, index) if shared else self.at(index, 4)
        memory = Memory("shared" if shared else "global", 0, 4)

        def add() -> None:
            self.b.emit("atomic_add", (address, self.x), I32, memory)

        self.under(self.test(), add) if self.random.random() < 0.4 else add()

    # --- idioms of lanes and barriers

    def exchange(self) -> None:
        """Vote, shuffle or wait, perhaps where lanes are missing."""
        guard = self.random.random()
        if guard < 0.3:
            self.swap()
        elif guard < 0.75:
            self.under(self.test(), self.swap)
        else:
            after, out = self.b.fresh("stay"), self.b.fresh("out")
            self.b.end(Branch(self.test(), out, after))
            self.b.start(out)
            self.b.end(Return())
            self.b.start(after)
            self.swap()

    def leaves(self) -> None:
        """Wait where threads are missing, or have ended."""
        if self.random.random() < 0.5:
            self.under(self.test(), self.barrier)
            return
        after, out = self.b.fresh("stay"), self.b.fresh("out")
        self.b.end(Branch(self.test(), out, after))
        self.b.start(out)
        self.b.end(Return())
        self.b.start(after)
        self.barrier()

    def swap(self) -> None:
        mask = constant(I32, self.random.choice((_FULL, _FULL, _FULL, 0xF, 0x3)))
        op = self.random.choice(("vote", "shuffle", "warp_barrier", "match", "reduce"))
        if mask.bits != _FULL:
            lane = self.b.emit("ult", (self.lane, constant(I32, mask.bits.bit_length())), I1)
            self.under(lane, lambda: self.swapped(op, mask))
        else:
            self.swapped(op, mask)

    def swapped(self, op: str, mask: Operand) -> None:
        if op == "vote":
            self.b.emit("vote", (self.test(), mask), I32, Exchange("ballot"))
        elif op == "shuffle":
            operands = (self.x, constant(I32, 1), constant(I32, 0x1F), mask)
            self.b.emit_many("shuffle", operands, (I32, I1), Exchange("bfly"))
        elif op == "match":
            self.b.emit("match", (self.y, mask), I32, Exchange("any"))
        elif op == "reduce":
            self.b.emit("reduce", (self.x, mask), I32, Exchange("add"))
        else:
            self.b.emit_many("warp_barrier", (mask,), (), None)

    def waits(self) -> None:
        """Write words, wait, read words of others; the barrier may be missing, or under a condition."""
        index = self.op("add", self.x, self.number(2048, 2048, 2049))
        self.touch(self.into(TILE, index), "shared", (0, I32), write=self.random.random() < 0.8)
        kind = self.random.random()
        if kind < 0.5:
            self.barrier()
        elif kind < 0.65:
            self.b.emit_many("warp_barrier", (constant(I32, _FULL),), (), None)
        elif kind < 0.8:
            self.under(self.test(), self.barrier)
        other = self.op("add", self.x, self.number(2048, 2049, 2056, 2112))
        self.touch(self.into(TILE, other), "shared", (0, I32), write=self.random.random() < 0.3)


def idiom_module(seed: int) -> Module:
    """Return a module with a kernel `k(p, n, m)` that is made of idioms; which one comes first goes by the seed."""
    writer = _Idioms(seed)
    writer.idioms[seed % len(writer.idioms)]()
    writer.statements(2 if seed % 2 else 1, together=True)
    if not writer.b.ended:
        writer.b.end(Return())
    mine = (TILE, SMALL, _OTHER, _OWN)
    function = Function("k", True, PARAMETERS, (), writer.b.finish(), mine)
    return lined(Module((function,), (_TABLE, _BIG)), compiled=seed % 3 == 0)


# --- lines


def lined(module: Module, *, compiled: bool) -> Module:
    """Return a module whose instructions are each on a line of their own; `compiled`: it is taken to be PTX."""
    (function,) = module.functions
    texts = ["kernel k"]
    for number, block in enumerate(function.blocks):
        texts += [_line(i, number) for i in block.instructions]
        texts.append("return;" if isinstance(block.terminator, Return) else "branch")
    file = SourceFile("k.cu", "\n".join(texts))
    lines = iter([Span(file, file.offset(n), file.offset(n) + len(text)) for n, text in enumerate(texts, start=1)])
    head = next(lines)
    blocks = tuple(
        replace(
            block,
            instructions=tuple(replace(i, span=next(lines)) for i in block.instructions),
            terminator=_on(block.terminator, next(lines)),
        )
        for block in function.blocks
    )
    listing = file if compiled else None
    return replace(module, functions=(replace(function, blocks=blocks, span=head, listing=listing),))


def _line(i: Instruction, number: int) -> str:
    return f"{i.op} b[i].x" if isinstance(i.detail, Memory) and number % 2 else i.op


def _on(terminator: Terminator, span: Span) -> Terminator:
    return replace(terminator, span=span)
