"""Loads that find what the thread itself has stored there: their result is the number that was stored.

    store [p+8], x        nothing between the two on any way that may touch p+8, or let another thread write there in
    store [p+12], 1       good order: a barrier, a fence, an atomic, an exchange between lanes, a call
    y = load [p+8]        y = x, and where x has some bits from z (insert), these bits of y (extract) are those of z

Available expressions, of places in memory (Muchnick, Advanced Compiler Design, 13.3): a place is a value, the root of
its address, and a number of bytes from there. Neither the root nor the number stored can be computed anew behind the
store: each is above the store, so that a way from there to the load that avoids the store would be one from the entry.
That another thread writes there without anything in between that orders the two is a race.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from warpsmith.ssa.graph import Graph
from warpsmith.ssa.nodes import BasicBlock, Constant, Function, Instruction, Memory, Operand, Value
from warpsmith.ssa.ops import OPS
from warpsmith.ssa.semantics.patterns import to_signed
from warpsmith.ssa.types import Type

__all__ = ["find_forwarded"]

_APART: Final = frozenset({"shared", "local", "global"})
"""Spaces no two of which have a byte in common."""


class _Place(Struct, frozen=True):
    """`offset` bytes from where `root` points to, in `space`."""

    root: Operand
    offset: int
    space: str
    type: Type

    def overlaps(self, other: _Place) -> bool:
        """Whether the two may have a byte in common."""
        if {self.space, other.space} <= _APART and self.space != other.space:
            return False
        if self.root != other.root or self.space != other.space:
            return True
        return self.offset < other.offset + other.type.bytes and other.offset < self.offset + self.type.bytes


_Held = dict[_Place, Operand]
"""What places are known to hold."""

_MOST_HELD: Final = 32
_MOST_SWEEPS: Final = 12


def find_forwarded(function: Function, graph: Graph) -> Mapping[Instruction, Operand]:
    """Return the loads that find what the thread has stored, with what that is, and the extractions of bits that find
    what was inserted."""
    blocks = {block.name: block for block in function.blocks}
    made = {value: i for name in graph.order for i in blocks[name].instructions for value in i.results}
    places = {i: place for i in made.values() if (place := _place(i, made)) is not None}
    stores = [i for name in graph.order for i in blocks[name].instructions if i.op == "store"]
    places |= {i: place for i in stores if (place := _place(i, made)) is not None}
    if not {places[i] for i in stores if i in places} & {place for i, place in places.items() if i.op == "load"}:
        return {}
    ends: dict[str, _Held] = {}
    for _ in range(_MOST_SWEEPS):
        found: dict[Instruction, Operand] = {}
        last = dict(ends)
        for name in graph.order:
            # ways that have not been looked at say nothing against what the others know
            held = _start([] if name == graph.order[0] else [ends[b] for b in graph.predecessors[name] if b in ends])
            _through(blocks[name], held, places, found)
            ends[name] = held
        if ends == last:
            fields = [i for i in made.values() if i.op in ("uextract", "sextract")]
            return found | {i: x for i in fields if (x := _insert(i, made, found)) is not None}
    return {}


def _insert(i: Instruction, made: Mapping[Value, Instruction], found: Mapping[Instruction, Operand]) -> Operand | None:
    """Return the number whose bits an extraction finds, where they were inserted as they are extracted."""
    place = _bits(i.operands[1:])
    source = i.operands[0]
    while place is not None and isinstance(source, Value) and source in made:
        by = made[source]
        if by in found:
            source = found[by]
            continue
        there = _bits(by.operands[2:]) if by.op == "insert" else None
        if there is None:
            return None
        if there == place:
            return by.operands[0]
        if there.start < place.stop and place.start < there.stop:
            return None
        source = by.operands[1]
    return None


def _bits(operands: tuple[Operand, ...]) -> range | None:
    """Return the bits from a place on, so many, None where they are not known."""
    match operands:
        case (Constant(_, first), Constant(_, count)) if 0 < count <= 64:
            return range(first, first + count)
        case _:
            return None


def _place(i: Instruction, made: Mapping[Value, Instruction]) -> _Place | None:
    """Return the place of an ordinary load or store of one number."""
    detail = i.detail
    if i.op not in ("load", "store") or not isinstance(detail, Memory) or detail.order:
        return None
    if len(i.results) + len(i.operands) != 2:
        return None
    root, offset = i.operands[0], detail.offset
    while isinstance(root, Value) and root in made and made[root].op == "add":
        base, step = made[root].operands
        if not isinstance(step, Constant):
            break
        root, offset = base, offset + to_signed(step.bits, step.type)
    return _Place(root, offset, detail.space, i.result.type if i.op == "load" else i.operands[1].type)


def _start(before: list[_Held]) -> _Held:
    """Return what is known on all ways."""
    if not before:
        return {}
    first, *others = before
    return {place: x for place, x in first.items() if all(other.get(place) == x for other in others)}


def _through(
    block: BasicBlock, held: _Held, places: Mapping[Instruction, _Place], found: dict[Instruction, Operand]
) -> None:
    """Follow what places hold through a block."""
    for i in block.instructions:
        if i.op == "load" and i in places and places[i] in held:
            found[i] = held[places[i]]
        if i.op == "store":
            place = places.get(i)
            for other in [other for other in held if place is None or place.overlaps(other)]:
                del held[other]
            if place is not None and len(held) < _MOST_HELD:
                held[place] = i.operands[1]
        elif _orders(i):
            held.clear()


def _orders(i: Instruction) -> bool:
    """Whether other threads' writes may be seen behind this in good order, or it writes itself who knows where."""
    if i.op == "load":
        return isinstance(i.detail, Memory) and bool(i.detail.order)
    return OPS[i.op].effect not in ("pure", "reads") and i.op != "lanewise"
