"""Bugs that are put into the code generator, one at a time, and a random kernel that shows each.

A bug replaces one function of the generator while a kernel is compiled. `seed`: the kernel of kernels.py with which the
compiled machine and the interpreter then differ; `python -m tests.simt.engine.seeded` looks for them anew.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from tests.simt.engine.agree import Differs, agree
from tests.simt.engine.kernels import random_case
from warpsmith.simt.engine import exchange, integers, kernel, ops
from warpsmith.simt.engine.access import _Written
from warpsmith.simt.engine.kernel import KernelWriter
from warpsmith.simt.engine.lanes import I1, I32, I64, Emit
from warpsmith.simt.engine.observers import races
from warpsmith.simt.engine.observers.requests import _Counted
from warpsmith.simt.engine.tables import Tables
from warpsmith.simt.engine.values import Homes
from warpsmith.simt.engine.words import Request, Site

__all__ = ["BUGS", "Bug", "planted", "shown"]


class Bug(Struct, frozen=True):
    """`name` of `owner` (a class, a module, a table) is replaced by what `make` makes of it."""

    what: str
    owner: Any
    name: str
    make: Callable[[Any], Any]
    seed: int = 0


@contextmanager
def planted(bug: Bug) -> Iterator[None]:
    """Put a bug into the code generator for a while."""
    if isinstance(bug.owner, dict):
        right = bug.owner[bug.name]
        bug.owner[bug.name] = bug.make(right)
        yield
        bug.owner[bug.name] = right
        return
    right = bug.owner.__dict__[bug.name]
    plain = right.__func__ if isinstance(right, classmethod) else right
    wrong = bug.make(plain)
    setattr(bug.owner, bug.name, classmethod(wrong) if isinstance(right, classmethod) else wrong)
    try:
        yield
    finally:
        setattr(bug.owner, bug.name, right)


def shown(bug: Bug, seed: int) -> bool:
    """Whether a kernel shows a bug."""
    with planted(bug):
        try:
            agree(random_case(seed))
        except Differs:
            return True
    return False


# --- the bugs


def _no_blend(right: Any) -> Any:
    """Values that leave a loop are overwritten in lanes that have left it."""
    return lambda cls, *given: (lambda homes: replace(homes, blended=frozenset()))(right(cls, *given))


def _edge(self: KernelWriter, target: str, mask: Any) -> None:
    """The way that comes last is the only one."""
    e, before = self.e, self.block.name
    for phi in self.blocks[target].phis:
        made = self.value(dict(phi.incoming)[before])
        old = self.frame.load(phi.result, made.type)
        self.frame.store(phi.result, e.b.select(e.chosen(mask), made, old))
    self.frame.store(("pending", target), mask)


def _phis_in_turn(self: KernelWriter, target: str, mask: Any) -> None:
    """Phis are written in all lanes, not only in those that come."""
    e, before = self.e, self.block.name
    for phi in self.blocks[target].phis:
        self.frame.store(phi.result, self.value(dict(phi.incoming)[before]))
    self.frame.store(("pending", target), e.b.or_(self.pending(target), mask))


def _wrapping_shift(name: str) -> Callable[[Any], Any]:
    def emit(e: Emit, i: Any, o: list[Any], active: Any) -> Any:
        n = e.b.and_(o[1], e.splat_constant(I32, 31))
        return getattr(e.b, name)(o[0], integers.sized(e, n, o[0].type.element))

    return lambda right: emit


def _without_zero(right: Any) -> Any:
    def emit(e: Emit, i: Any, o: list[Any], active: Any) -> Any:
        one = e.splat_constant(I32, 1)
        return right(e, i, [o[0], e.b.or_(o[1], one)], active)

    return emit


def _count(self: KernelWriter, which: int) -> Any:
    """Visits and lanes are counted for the block that comes next in the table."""
    return self.e.word(self.counters, kernel.COUNTERS * self.numbers[self.block.name] + (which + 1) % 2)


def _runs(self: _Counted) -> Any:
    """Lanes that are missing in between are not noticed."""
    return I1(1)


def _tight(right: Any) -> Any:
    """Sums of a request are kept where its last region is."""

    def count_once(self: _Written, there: Any) -> None:
        e = self.e
        sums = e.pointer(e.read(self.site, Site.SUMS))
        with e.b.if_then(e.b.icmp_unsigned("==", there, self.mask)):
            e.b.call(self.request, [sums, self.addresses, self.mask])

    return count_once


def _no_conflict(right: Any) -> Any:
    return lambda self: I1(0)


def _forgets_several(right: Any) -> Any:
    """Of several readers only the last is kept."""
    return lambda self: self.b.or_(
        self.b.and_(self.word, I64(~(((1 << 21) - 1) << self.shift) & (2**64 - 1))),
        self.b.shl(self._made(1), I64(self.shift)),
    )


def _same_local(right: Any) -> Any:
    """All threads have one local memory."""

    def region(self: Tables, place: Any, words: Any) -> None:
        right(self, place, {word: number for word, number in words.items() if word.name != "STRIDE"})

    return region


def _never_cleared(right: Any) -> Any:
    return lambda self, address, size: None


def _always_inside(right: Any) -> Any:
    def source(k: Any, how: str, other: Any, clamp: Any) -> Any:
        lane, inside = right(k, how, other, clamp)
        return lane, k.e.b.or_(inside, k.e.b.not_(inside))

    return source


def _no_join(right: Any) -> Any:
    """Lanes that leave a loop at one branch share an entry, whenever they entered the loop."""

    def joined(self: KernelWriter, branch: Any) -> Any:
        flag, since = right(self, branch)
        return flag, I64(0) if self.graph.cycles_around(self.block.name) else since

    return joined


def _one_phase(right: Any) -> Any:
    """The banks serve 64 lanes at once."""

    def banks(self: _Counted) -> None:
        e = self.e
        worst = e.slot(I64)
        e.b.store(I64(0), worst)
        self.phase(e.b.and_(self.mask, e.mask((1 << (e.lanes // 2)) - 1)), worst)
        self.add(Request.CONFLICTS, e.b.load(worst, typ=I64))

    return banks


def _keeps_epoch(right: Any) -> Any:
    """A barrier of the warp is no barrier for who looks for races."""
    return lambda k, operands: None


BUGS = (
    Bug("values that leave loops are not blended", Homes, "of", _no_blend),
    Bug("where ways meet the last wins", KernelWriter, "edge", lambda right: _edge),
    Bug("phis are written in all lanes", KernelWriter, "edge", lambda right: _phis_in_turn),
    Bug("shl wraps its amount", integers.INTEGERS, "shl", _wrapping_shift("shl")),
    Bug("ashr wraps its amount", integers.INTEGERS, "ashr", _wrapping_shift("ashr")),
    Bug("sdiv never divides by an even number", integers.INTEGERS, "sdiv", _without_zero),
    Bug("visits and lanes change places", KernelWriter, "counter", lambda right: _count),
    Bug("requests with gaps are runs", _Counted, "one_run", lambda right: _runs),
    Bug("requests are all of the first region", _Written, "count_once", _tight),
    Bug("no access conflicts with another", races._Field, "unordered", _no_conflict),
    Bug("of several readers one is kept", races._Field, "entered", _forgets_several),
    Bug("threads share local memory", Tables, "region", _same_local),
    Bug("what a block owns is not cleared", Tables, "clear", _never_cleared),
    Bug("a shuffle is always in range", exchange, "_source", _always_inside),
    Bug("lanes of two runs of a loop leave together", KernelWriter, "leaves", _no_join),
    Bug("banks serve half of the lanes", _Counted, "banks", _one_phase),
    Bug("a barrier of the warp orders nothing", ops, "warp_barrier", _keeps_epoch),
)

if __name__ == "__main__":
    start, stop = (int(word) for word in sys.argv[1:3])
    for bug in BUGS[int(sys.argv[3]) :: 2] if len(sys.argv) > 3 else BUGS:
        found = next((seed for seed in range(start, stop) if shown(bug, seed)), None)
        print(f"{found}  {bug.what}", flush=True)
