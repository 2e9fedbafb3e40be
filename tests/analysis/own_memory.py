"""Random kernels whose threads store numbers and load them again: in words of their own, through addresses that may be
the same or not, in loops that make them anew, and, behind a barrier, in words of a neighbor.

    mine = words + 16·thread              store [mine+4], x      y = load [mine+4]
    some = mine + 4·(n & 3)               store [some], z        y = load [mine+8]
"""

from __future__ import annotations

import random
from collections.abc import Callable

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
    Query,
    Return,
    Symbol,
)
from warpsmith.ssa.types import I1, I32, I64

__all__ = ["own_memory_module"]

WORDS = 4
THREADS = 12
VARIABLES = ("a", "b", "c")


def own_memory_module(seed: int) -> Module:
    """Return a module with a kernel `k(n)`."""
    return _Kernel(random.Random(f"own {seed}")).module()


class _Kernel:
    """One kernel on its way."""

    def __init__(self, chosen: random.Random) -> None:
        self.chosen, self.b = chosen, Builder("start")

    def module(self) -> Module:
        """Return the module."""
        b = self.b
        x, y, z = (b.emit("query", (), I32, Query(f"tid.{axis}")) for axis in "xyz")
        row = b.emit("add", (y, b.emit("mul", (z, b.emit("query", (), I32, Query("ntid.y"))), I32)), I32)
        width = b.emit("query", (), I32, Query("ntid.x"))
        self.thread = b.emit("add", (x, b.emit("mul", (row, width), I32)), I32)
        self.number = b.emit("param", (), I32, Param("n"))
        self.words = b.emit("address", (), I64, Address("words"))
        b.write("mine", self._words_of(self.thread))
        for name in VARIABLES:
            b.write(name, self.chosen.choice((self.thread, self.number, constant(I32, 3))))
        for at in range(WORDS):
            self._store("mine", at)
        for _ in range(3):
            self._statements(2)
            if self.chosen.random() < 0.5:
                self._neighbors()
        b.end(Return())
        own = Symbol("words", "shared", I32, WORDS * THREADS, 4)
        return Module((Function("k", True, (), (), b.finish(), (own,)),))

    def _words_of(self, thread: Operand) -> Operand:
        far = self.b.emit("umulwide", (thread, constant(I32, 4 * WORDS)), I64)
        return self.b.emit("add", (self.words, far), I64)

    def _neighbors(self) -> None:
        """Let some threads write into the words of others, which load theirs behind a barrier."""
        b = self.b
        b.emit_many("barrier", (constant(I32, 0),), (), Barrier())
        odd = b.emit("ne", (b.emit("and", (self.thread, constant(I32, 1)), I32), constant(I32, 0)), I1)
        writers, others, join = b.fresh("writers"), b.fresh("others"), b.fresh("join")
        b.end(Branch(odd, writers, others))
        b.start(writers)
        there = b.emit("sub", (self.thread, constant(I32, 1)), I32)
        place = b.emit("add", (self._words_of(there), constant(I64, 4 * self.chosen.randrange(WORDS))), I64)
        b.emit_many("store", (place, there), (), Memory("shared", 0, 4))
        b.emit_many("barrier", (constant(I32, 0),), (), Barrier())
        b.end(Jump(join))
        b.start(others)
        b.emit_many("barrier", (constant(I32, 0),), (), Barrier())
        self._load()
        self._load()
        b.end(Jump(join))
        b.start(join)

    def _any(self) -> Operand:
        names = [self.b.read(name, I32) for name in VARIABLES]
        return self.chosen.choice([*names, self.thread, self.number, constant(I32, self.chosen.randrange(4))])

    def _test(self) -> Operand:
        one = self.b.emit("and", (self._any(), constant(I32, self.chosen.choice((1, 3)))), I32)
        return self.b.emit(self.chosen.choice(("eq", "ne", "slt")), (one, self._any()), I1)

    def _at(self, base: str, at: int) -> tuple[Operand, int]:
        """Return an address and an offset that together lead to a word."""
        place, offset = self.b.read(base, I64), 4 * at
        if self.chosen.random() < 0.5:
            part = self.chosen.choice((0, 4, offset))
            place, offset = self.b.emit("add", (place, constant(I64, part % 2**64)), I64), offset - part
        return place, offset

    def _somewhere(self) -> tuple[Operand, int]:
        """Return the address of one of the thread's own words, which one only the run knows."""
        which = self.b.emit("and", (self._any(), constant(I32, 3)), I32)
        far = self.b.emit("umulwide", (which, constant(I32, 4)), I64)
        return self.b.emit("add", (self.b.read("mine", I64), far), I64), 0

    def _store(self, base: str, at: int) -> None:
        place, offset = self._at(base, at) if self.chosen.random() < 0.8 else self._somewhere()
        self.b.emit_many("store", (place, self._any()), (), Memory("shared", offset, 4))
        if self.chosen.random() < 0.15:
            self._wide(self.chosen.randrange(WORDS - 1))

    def _wide(self, at: int) -> None:
        """Store over two words, and look at the second, which is not where the store begins."""
        mine = self.b.read("mine", I64)
        self.b.emit_many("store", (mine, self.number), (), Memory("shared", 4 * at + 4, 4))
        both = self.b.emit("shl", (self.b.emit("sext", (self._any(),), I64), constant(I32, 32)), I64)
        self.b.emit_many("store", (mine, both), (), Memory("shared", 4 * at, 4))
        self._load(at + 1)

    def _field(self) -> None:
        """Put some bits into a word, as bit-fields are written, and look at some."""
        at = self.chosen.randrange(WORDS)
        for _ in range(self.chosen.choice((1, 2))):
            place, offset = self._at("mine", at)
            old = self.b.emit("load", (place,), I32, Memory("shared", offset, 4))
            value = self.chosen.choice((self.number, constant(I32, 5), self._any()))
            new = self.b.emit("insert", (value, old, *self._bits()), I32)
            self.b.emit_many("store", (place, new), (), Memory("shared", offset, 4))
        if self.chosen.random() < 0.8:
            loaded = self.b.emit("load", (place,), I32, Memory("shared", offset, 4))
            self._extract(loaded)

    def _bits(self) -> tuple[Operand, Operand]:
        first, count = self.chosen.choice(((0, 4), (4, 4), (0, 4), (2, 3), (0, 2)))
        return constant(I32, first), constant(I32, count)

    def _extract(self, word: Operand) -> None:
        made = self.b.emit(self.chosen.choice(("uextract", "sextract")), (word, *self._bits()), I32)
        self.b.write(self.chosen.choice(VARIABLES), made)

    def _load(self, at: int | None = None) -> None:
        place, offset = self._at("mine", self.chosen.randrange(WORDS) if at is None else at)
        loaded = self.b.emit("load", (place,), I32, Memory("shared", offset, 4))
        if self.chosen.random() < 0.4:
            loaded = self.b.emit("add", (loaded, self._any()), I32)
        self.b.write(self.chosen.choice(VARIABLES), loaded)

    def _statements(self, depth: int) -> None:
        kinds: list[Callable[[], None]] = [self._load, self._field]
        kinds += [lambda: self._store("mine", self.chosen.randrange(WORDS))]
        kinds += [lambda: self._if(depth), lambda: self._loop(depth)] if depth else []
        for _ in range(self.chosen.randint(2, 5)):
            self.chosen.choice(kinds)()

    def _if(self, depth: int) -> None:
        b = self.b
        then, other, join = b.fresh("then"), b.fresh("else"), b.fresh("join")
        b.end(Branch(self._test(), then, other))
        for name in (then, other):
            b.start(name)
            self._statements(depth - 1)
            b.end(Jump(join))
        b.start(join)

    def _loop(self, depth: int) -> None:
        """Go round a few times; at times each round is about the words of this thread as they are found anew."""
        b = self.b
        head, done, counter = b.fresh("head"), b.fresh("done"), b.fresh("i")
        b.write(counter, constant(I32, 0))
        b.end(Jump(head))
        b.start(head)
        self._statements(depth - 1)
        b.write(counter, b.emit("add", (b.read(counter, I32), constant(I32, 1)), I32))
        limit = self.chosen.choice((constant(I32, 3), b.emit("and", (self._any(), constant(I32, 3)), I32)))
        b.end(Branch(b.emit("slt", (b.read(counter, I32), limit), I1), head, done))
        b.start(done)
