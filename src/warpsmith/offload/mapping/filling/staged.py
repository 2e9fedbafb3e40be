"""Two tiles for each read: one is filled while threads compute with the other, and a turn has one barrier.

    for (k_first …) {                    fill A_tile[0]
        fill A_tile                      for (k_pair = 0; k_pair < n; k_pair += 32)
        barrier                              for (stage = 0; stage < 2; stage++) {            unrolled
        use A_tile                 →             k_first = k_pair + 16 · stage, k_next = k_first + 16
        barrier                                  if (k_first < n) {
    }                                                barrier
                                                     if (k_next < n) fetch what A_tile[1 - stage] will have
                                                     use A_tile[stage]
                                                     if (k_next < n) put it there
                                                 }
                                             }

Two turns are one iteration, so that a compiler, and who reads the text, knows which tile a turn uses.

Invariant: between two barriers threads read the tile `stage` alone and store to the other one alone; what a turn reads
was put there, and waited for, before the barrier at its head. Which elements are loaded, under which conditions, is
what it is with one tile. Where threads come to the loop again, a barrier parts the first fill from the last use.
Limits: what is not copied as it is (a product of an element and a value; 1 and 2 bytes) waits in a register. Neighbors
that are copied at once do not, before compute capability 8.0 either: they are put straight into the other tile.
Source: CUDA C++ Programming Guide, "Asynchronous Data Copies using cuda::pipeline" (the primitives of
`__pipeline_memcpy_async`), which the functions of emit/runtime/tile_copies.cu call.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from msgspec import Struct

from warpsmith.base.source import Span
from warpsmith.offload.expressions import binary, name, number
from warpsmith.offload.mapping.filling.words import (
    Filler,
    Filling,
    ReadTile,
    Turn,
    address_of,
    assign,
    barrier,
    copy_wide,
    count,
    declare,
    tile_element,
    unqualified,
    with_values,
)
from warpsmith.offload.mapping.tiles import SharedRead
from warpsmith.tree.memory.tile_copies import ARRIVED, FETCH, FETCH_WIDE, LAND, LOAD_WIDE
from warpsmith.tree.nodes import (
    Block,
    Call,
    DeclStmt,
    Expr,
    ExprStmt,
    If,
    Index,
    Node,
    Pragma,
    Stmt,
    VarDecl,
)
from warpsmith.tree.types import INT, LONG_LONG, VOID, Array, Symbol, Type
from warpsmith.tree.walk import rebuild

__all__ = ["count_held", "is_copied", "write_staged"]

_UNROLL: Final = "#pragma unroll"
_STAGES: Final = 2
Put = Callable[[ReadTile, Sequence[Expr], Mapping[Symbol, Expr]], Stmt]
_COPIED: Final = (4, 8)
"""The bytes of an element that a GPU copies by itself."""


def write_staged(writer: Filler, turn: Turn, stage: Symbol) -> Stmt:
    """Return the loop over tiles of which one is filled while the other is used: that is `stage`."""
    span = writer.span
    low, high = turn.ends
    upcoming = writer.variable(f"{turn.loop.variable.name}_next", LONG_LONG)
    staged = [_Staged.of(writer, tile, stage) for tile in turn.tiles]
    held = [one for one in staged if one.tile.wide == 1]

    def filling(put: Put, wide: Put) -> Filling:
        return Filling(upcoming, turn.original, put, wide)

    first = [stmt for one in staged for stmt in writer.load(one.tile, filling(one.store_first, one.store_first_wide))]
    fetched = [stmt for one in staged for stmt in one.repeat(filling(one.fetch, one.fetch_wide))]
    landed = [stmt for one in held for stmt in one.repeat(filling(one.land, one.fetch_wide))]
    more = binary("<", name(upcoming, span), high, INT)
    body = (
        declare(upcoming, binary("+", name(turn.first, span), number(turn.width, span)), span),
        *(one.declaration() for one in held),
        barrier(span),
        If(span=span, condition=more, then=Block(span=span, statements=tuple(fetched)), other=None),
        turn.used,
        If(span=span, condition=more, then=Block(span=span, statements=(*landed, _arrived(span))), other=None),
    )
    turns = _take_turns(writer, turn, stage, Block(span=turn.loop.body.span, statements=body))
    again = (barrier(span),) if writer.enters_often(turn.original) else ()
    begun = Block(span=span, statements=(declare(upcoming, low, span), *first))
    return Block(span=span, statements=(*again, begun, turns))


def _take_turns(writer: Filler, turn: Turn, stage: Symbol, body: Stmt) -> Stmt:
    """Return the loop over pairs of tiles: `body` for the first tile, and for the second where there is one."""
    span, (low, high) = writer.span, turn.ends
    pair = writer.variable(f"{turn.loop.variable.name}_pair", LONG_LONG)
    behind = binary("*", name(stage, span), number(turn.width, span), INT)
    there = binary("<", name(turn.first, span), high, INT)
    one = (
        declare(turn.first, binary("+", name(pair, span), behind), span),
        If(span=span, condition=there, then=body, other=None),
    )
    stages = count(stage, (number(0, span), number(_STAGES, span)), 1, Block(span=span, statements=one), turn.loop)
    both = Block(span=span, statements=(Pragma(span=span, text=_UNROLL), stages))
    return count(pair, (low, high), _STAGES * turn.width, both, turn.loop)


def is_copied(read: SharedRead) -> bool:
    """Whether a tile has elements as memory has them, so that no thread needs to see them on the way."""
    return read.held[0] is read.nodes[0] and read.bytes in _COPIED


def count_held(rows: int, step: int) -> int:
    """Return how many elements of a tile a thread fills, one of every `step` rows."""
    return -(-rows // step)


class _Staged(Struct):
    """A tile of which a thread fetches elements before it puts them there: `held` has them meanwhile, the one at hand
    being `turn`."""

    writer: Filler
    tile: ReadTile
    stage: Symbol
    held: Symbol
    turn: Symbol
    several: int

    @classmethod
    def of(cls, writer: Filler, tile: ReadTile, stage: Symbol) -> _Staged:
        """Return the tile with its variables."""
        several = count_held(tile.layout.rows, writer.share(tile).step)
        kind: Type = unqualified(tile.read.element)
        type = Array(kind, None, several) if several > 1 else kind
        held = writer.variable(f"{tile.symbol.name}_next", type)
        return cls(writer, tile, stage, held, writer.variable("turn", INT), several)

    @property
    def span(self) -> Span:
        """Where the loop is in the user's text."""
        return self.writer.span

    def declaration(self) -> Stmt:
        """Return the declaration of what holds the elements."""
        return DeclStmt(span=self.span, declarations=(VarDecl(span=self.span, symbol=self.held, init=None),))

    def repeat(self, filling: Filling) -> list[Stmt]:
        """Return what the thread does for each of its elements."""
        share, span = self.writer.share(self.tile), self.span
        if self.several == 1 and self.tile.layout.rows == share.step:
            row = self.writer.fill_row(self.tile, filling, share.start, share.column)
            return [Block(span=span, statements=tuple(row))]
        if self.several == 1:
            return [self.tested(filling, share.start)]
        # written out, so that what holds the elements is registers
        behind = binary("*", name(self.turn, span), number(share.step, span), INT)
        body = self.tested(filling, binary("+", share.start, behind, INT))
        ends = number(0, span), number(self.several, span)
        return [Pragma(span=span, text=_UNROLL), count(self.turn, ends, 1, body, filling.loop)]

    def tested(self, filling: Filling, at: Expr) -> Stmt:
        """Return what a thread does for its element in the row `at`, where the tile has it."""
        span, layout, share = self.span, self.tile.layout, self.writer.share(self.tile)
        row = self.writer.variable("row", INT)
        statements = self.writer.fill_row(self.tile, filling, name(row, span), share.column)
        if layout.rows % share.step:
            inside = binary("<", name(row, span), number(layout.rows, span), INT)
            done = Block(span=span, statements=tuple(statements))
            statements = [If(span=span, condition=inside, then=done, other=None)]
        return Block(span=span, statements=(declare(row, at, span), *statements))

    # --- what becomes of one element

    def store_first(self, tile: ReadTile, places: Sequence[Expr], values: Mapping[Symbol, Expr]) -> Stmt:
        """Return the store of an element of the first tile."""
        target = tile_element(tile, [number(0, self.span), *places])
        return assign(target, with_values(tile.read.held[0], values), tile.read.element)

    def store_first_wide(self, tile: ReadTile, places: Sequence[Expr], values: Mapping[Symbol, Expr]) -> Stmt:
        """Return the store of neighbors of the first tile."""
        target = tile_element(tile, [number(0, self.span), *places])
        return copy_wide(LOAD_WIDE[tile.wide], tile, target, values)

    def fetch_wide(self, tile: ReadTile, places: Sequence[Expr], values: Mapping[Symbol, Expr]) -> Stmt:
        """Return the copy of neighbors that are not used yet, straight to the tile that is not in use."""
        return copy_wide(FETCH_WIDE[tile.wide], tile, self.other(places), values)

    def fetch(self, tile: ReadTile, places: Sequence[Expr], values: Mapping[Symbol, Expr]) -> Stmt:
        """Return the load of an element that is not used yet."""
        value = with_values(tile.read.nodes[0], values)
        if tile.wide > 1:
            return assign(self.other(places), value, tile.read.element)
        if is_copied(tile.read):
            value = self.call(FETCH, tile, (address_of(self.other(places)), address_of(value)))
        return assign(self.element(), value, tile.read.element)

    def land(self, tile: ReadTile, places: Sequence[Expr], values: Mapping[Symbol, Expr]) -> Stmt:
        """Return the store of an element that was loaded."""
        if is_copied(tile.read):
            call = self.call(LAND, tile, (address_of(self.other(places)), self.element()))
            return ExprStmt(span=self.span, expr=call)

        def change(node: Node) -> Node:
            return self.element() if node is tile.read.nodes[0] else node

        value = rebuild(tile.read.held[0], change)
        assert isinstance(value, Expr)
        return assign(self.other(places), with_values(value, values), tile.read.element)

    def other(self, places: Sequence[Expr]) -> Expr:
        """Return an element of the tile that is not in use."""
        return tile_element(self.tile, [self.next_stage(), *places])

    def next_stage(self) -> Expr:
        """Return which tile is not in use."""
        return binary("-", number(1, self.span), name(self.stage, self.span), INT)

    def element(self) -> Expr:
        """Return what holds the element at hand."""
        held = name(self.held, self.span)
        if not isinstance(held.type, Array):
            return held
        return Index(span=self.span, type=held.type.of, base=held, index=name(self.turn, self.span))

    def call(self, function: Symbol, tile: ReadTile, arguments: tuple[Expr, ...]) -> Expr:
        """Return a call of a function that ports carry."""
        type = unqualified(tile.read.element) if function is FETCH else VOID
        return Call(span=self.span, type=type, function=name(function, self.span), arguments=arguments)


def _arrived(span: Span) -> Stmt:
    call = Call(span=span, type=VOID, function=name(ARRIVED, span), arguments=())
    return ExprStmt(span=span, expr=call)
