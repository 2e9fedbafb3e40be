"""Races: accesses of two threads to one place, one of them a write, that nothing orders (simt/memory.py says what
does).

For each granule of watched memory a cell of two words, so that memory is bounded by the kernel's data:

    word 0   block (32 bits) │ epoch (24) │ ... │ kinds that this block used (3) │ kinds that other blocks used (3)
    word 1   for loads, stores, atomics 21 bits each: warp epoch (8) │ who (2) │ thread + 1 (11)
             who: 0 nobody, 1 one thread, 2 several of its warp, 3 of several warps; since the last barrier

Of one warp only what it did since its last barrier is kept, which is enough: what came before is ordered with its own
lanes, and other warps conflict with either. A granule is as large as the smallest access of the kernel, so accesses to
its neighbors never meet. Epochs are kept modulo 2²⁴ and 2⁸: where they wrap, too much is found, never too little.

Barriers of the grid order what blocks do. Where there are some, the number of the last one is kept with the block:
grid epoch (12 bits) │ block (20). A cell of an earlier one says nothing any more; before it wraps, cells are cleared.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal

from llvmlite import ir
from msgspec import Struct

from warpsmith.simt.engine.lanes import I1, I64, POINTER, Emit, Ir

__all__ = ["CELL", "GRID_BIT", "KINDS", "Kind", "KnownCell", "race_function"]

CELL: Final = 16
"""Bytes of a cell."""

GRID_BIT: Final = 20
"""The first bit of the grid epoch in the number of a block, and how many numbers of blocks there are, as a power."""

Kind = Literal["load", "store", "atomic"]
KINDS: Final[tuple[Kind, ...]] = ("load", "store", "atomic")
_CONFLICTS: Final = {"load": ("store", "atomic"), "store": KINDS, "atomic": ("load", "store")}
_FIELD: Final = 21
_THREAD: Final = (1 << 11) - 1


class KnownCell(Struct, frozen=True):
    """How the cell of a granule looks that only this thread touched since the last barrier, by this kind of access, and
    by loads or stores at most besides: to enter the access again changes nothing, and is no race. `head` is its word 0
    without its kinds, `now` what word 1 has of the warp's epoch."""

    e: Emit
    kind: Kind
    head: Ir
    now: Ir

    @classmethod
    def of(cls, e: Emit, kind: Kind, block: Ir, epoch: Ir, warp_epoch: Ir) -> KnownCell:
        """Return it for a warp; arguments as race_function has them."""
        b = e.b
        epoch = b.and_(epoch, I64((1 << 24) - 1))
        now = b.or_(I64(1 << 11), b.shl(b.and_(warp_epoch, I64(0xFF)), I64(13)))
        return cls(e, kind, b.or_(b.shl(block, I64(32)), b.shl(epoch, I64(8))), now)

    def has(self, cell: Ir, me: Ir) -> Ir:
        """Return whether a cell looks like this for the thread `me`."""
        e, b, number = self.e, self.e.b, KINDS.index(self.kind)
        head, tail = e.read(cell, 0), e.read(cell, 1)
        against = sum(1 << KINDS.index(one) for one in _CONFLICTS[self.kind])
        ignored = 0b111111 & ~(against | 1 << number + 3)
        same = b.and_(head, I64(~ignored & 0xFFFFFFFFFFFFFFFF))
        own = b.icmp_unsigned("==", same, b.or_(self.head, I64(1 << number + 3)))
        mine = b.or_(me, self.now)
        alone = b.icmp_unsigned("==", tail, b.shl(mine, I64(_FIELD * number)))
        if self.kind != "atomic":
            both = b.mul(mine, I64(1 | 1 << _FIELD))
            alone = b.or_(alone, b.icmp_unsigned("==", tail, both))
        return b.and_(own, alone)


def race_function(e: Emit, kind: Kind, *, resident: bool = False) -> Ir:
    """Return `race(cell, thread + 1, block + 1, epoch, warp epoch, first thread of its warp + 1, warp's width)`, which
    enters an access and says whether it conflicts with an earlier one. `resident`: the block is given with the epoch of
    the grid."""
    made = ir.Function(e.module, ir.FunctionType(I1, [POINTER, *[I64] * 6]), f"race.{kind}")
    cell, me, block, epoch, warp_epoch, *warp = made.args
    e.at(made.append_basic_block("entry"))
    b = e.b
    head, tail = e.read(cell, 0), e.read(cell, 1)
    same_block = b.icmp_unsigned("==", b.lshr(head, I64(32)), block)
    own = b.and_(b.lshr(head, I64(3)), I64(7))
    others = b.and_(head, I64(7))
    others = b.select(same_block, others, b.or_(others, own))
    own = b.select(same_block, own, I64(0))
    if resident:
        now = b.icmp_unsigned("==", b.lshr(head, I64(32 + GRID_BIT)), b.lshr(block, I64(GRID_BIT)))
        others = b.select(now, others, I64(0))
    epoch = b.and_(epoch, I64((1 << 24) - 1))
    now = b.and_(same_block, b.icmp_unsigned("==", b.and_(b.lshr(head, I64(8)), I64((1 << 24) - 1)), epoch))
    tail = b.select(now, tail, I64(0))
    against = sum(1 << KINDS.index(one) for one in _CONFLICTS[kind])
    bad = b.icmp_unsigned("!=", b.and_(others, I64(against)), I64(0))
    for one in _CONFLICTS[kind]:
        bad = b.or_(bad, _Field(e, tail, KINDS.index(one), me, warp_epoch, warp=warp).is_unordered())
    mine = _Field(e, tail, KINDS.index(kind), me, warp_epoch, warp=warp)
    own = b.or_(own, I64(1 << KINDS.index(kind)))
    word = b.or_(b.or_(b.shl(block, I64(32)), b.shl(epoch, I64(8))), b.or_(b.shl(own, I64(3)), others))
    e.write(cell, 0, word)
    e.write(cell, 1, mine.add_access())
    b.ret(bad)
    return made


class _Field:
    """What a cell knows of one kind of access, as a thread finds it; `warp`: the first thread of its warp + 1, and how
    many it has."""

    def __init__(self, e: Emit, word: Ir, number: int, me: Ir, warp_epoch: Ir, *, warp: Sequence[Ir]) -> None:
        b = self.b = e.b
        self.word, self.shift, self.me = word, _FIELD * number, me
        self.epoch = b.and_(warp_epoch, I64(0xFF))
        field = b.lshr(word, I64(self.shift))
        self.thread = b.and_(field, I64(_THREAD))
        self.who = b.and_(b.lshr(field, I64(11)), I64(3))
        since = b.and_(b.lshr(field, I64(13)), I64(0xFF))
        first, width = warp
        self.same_warp = b.icmp_unsigned("<", b.sub(self.thread, first), width)
        self.now = b.icmp_unsigned("==", since, self.epoch)

    def _is(self, who: int) -> Ir:
        return self.b.icmp_unsigned("==", self.who, I64(who))

    def is_unordered(self) -> Ir:
        """Return whether another thread did it, with nothing between."""
        b = self.b
        apart = b.or_(b.not_(self.same_warp), self.now)
        another = b.icmp_unsigned("!=", self.thread, self.me)
        one = b.and_(b.and_(self._is(1), another), apart)
        return b.or_(b.or_(one, b.and_(self._is(2), apart)), self._is(3))

    def add_access(self) -> Ir:
        """Return the word with this access in it."""
        b = self.b
        fresh = self._make_word(1)
        again = b.select(self.now, self._make_word(2), fresh)
        several = b.select(b.and_(self._is(2), self.now), self._make_word(2), fresh)
        inside = b.select(self._is(1), b.select(b.icmp_unsigned("==", self.thread, self.me), fresh, again), several)
        known = b.select(self.same_warp, inside, self._make_word(3))
        known = b.select(self._is(3), self._make_word(3), known)
        field = b.select(self._is(0), fresh, known)
        kept = b.and_(self.word, I64(~(((1 << _FIELD) - 1) << self.shift) & 0xFFFFFFFFFFFFFFFF))
        return b.or_(kept, b.shl(field, I64(self.shift)))

    def _make_word(self, who: int) -> Ir:
        b = self.b
        return b.or_(b.or_(self.me, I64(who << 11)), b.shl(self.epoch, I64(13)))
