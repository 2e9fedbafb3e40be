"""A thread's body that reads neighbors from tiles: all threads of a block fill them, wait, and do what they did.

    if (inside)                             for (at = thread; at < 340; at += 256) {
        B[i][j] = A[i-1][j] + A[i][j+1];  →     i_at = i - i_in - 1 + at / 34; j_at = …
                                                if (some thread reads it) A_tile[at] = A[i_at][j_at];
                                            }
                                            barrier
                                            if (inside) B[i][j] = A_tile[i_in*34 + j_in + 1] + …

Invariant: every thread of a block comes to the barrier, those outside of the launch as well, and no thread stores to a
tile behind it. A tile is one row, in which each element is stored by one thread. What a thread reads from a tile was
loaded, since some thread, itself, reads the element; nothing else was that the condition does not name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

from msgspec import Struct, field

from warpsmith.base.source import Span
from warpsmith.loops.analysis.substitute import copy_tree
from warpsmith.offload.expressions import binary, name, number, wide
from warpsmith.offload.mapping.filling.words import barrier, count, declare, unqualified
from warpsmith.offload.mapping.halo.neighbors import HaloRead
from warpsmith.offload.mapping.halo.tile_shape import HaloLayout, lay_out
from warpsmith.offload.mapping.own_variables import OwnVariables
from warpsmith.offload.mapping.tile_shape import TileBlock
from warpsmith.offload.mapping.tiled_text import TiledBody
from warpsmith.poly.isl.bound_values import constant
from warpsmith.poly.legality.moved import Distance
from warpsmith.tree.nodes import Assign, Block, Cast, Expr, ExprStmt, For, If, Index, Name, Node, Stmt, Unary
from warpsmith.tree.program import Axis
from warpsmith.tree.types import BOOL, INT, LONG_LONG, UNSIGNED, Array, Scalar, Symbol, Type
from warpsmith.tree.walk import rebuild

__all__ = ["declare_thread", "plus", "with_values", "write_halo"]


class PlacedRead(Struct, frozen=True):
    """A read with its place in shared memory."""

    read: HaloRead
    layout: HaloLayout
    symbol: Symbol


def write_halo(body: Stmt, reads: Sequence[HaloRead], block: TileBlock, own: OwnVariables) -> TiledBody:
    """Return the body of the innermost mapped loop, with tiles for `reads`."""
    writer = _HaloWriter.of(reads, block, own, body.span)
    filled = [stmt for tile in writer.tiles for stmt in writer.fill(tile)]
    used = If(span=body.span, condition=name(writer.inside, body.span), then=writer.with_tiles(body), other=None)
    statements = (declare_thread(writer.thread, writer.positions, block), *filled, barrier(body.span), used)
    whole = Block(span=body.span, statements=statements)
    positions = tuple((symbol, axis) for axis, symbol in writer.positions.items())
    return TiledBody(whole, writer.inside, tuple(one.symbol for one in writer.tiles), positions, {}, (1, 1, 1))


class _HaloWriter(Struct):
    """Writes one body. `thread`: the number of the thread in its block; `inner`: variables that each fill declares."""

    block: TileBlock
    own: OwnVariables
    span: Span
    inside: Symbol
    thread: Symbol
    tiles: tuple[PlacedRead, ...]
    positions: dict[Axis, Symbol]
    inner: dict[str, Symbol] = field(default_factory=dict)

    @classmethod
    def of(cls, reads: Sequence[HaloRead], block: TileBlock, own: OwnVariables, span: Span) -> _HaloWriter:
        """Return the writer with its variables."""
        inside, thread = own.make("inside", BOOL, span), own.make("thread", INT, span)
        positions = {
            axis: own.make(f"{head.variable.name}_in", INT, span)
            for head, axis in zip(block.heads, block.axes, strict=True)
            if block.along(axis) > 1
        }
        tiles = tuple(_tile(read, lay_out(read, block), own, span) for read in reads)
        return cls(block, own, span, inside, thread, tiles, positions)

    # --- filling a tile

    def fill(self, tile: PlacedRead) -> list[Stmt]:
        """Return the statements with which the threads of a block fill a tile, neighbors next to each other."""
        at = self.variable("at", INT)
        places = _places(tile.layout, name(at, self.span), self.span)
        declared: list[Stmt] = []
        values: dict[For, Expr] = {}
        for loop in tile.read.by:
            symbol = self.variable(f"{loop.variable.name}_at", _counter_type(tile.read, loop))
            place = places.get(loop, number(0, self.span))
            declared.append(declare(symbol, self.moved(loop, place, tile.read), self.span))
            values[loop] = name(symbol, self.span)
        target = _element(tile, name(at, self.span))
        value = tile.read.write(values)
        load: Stmt = ExprStmt(
            span=self.span, expr=Assign(span=self.span, type=tile.read.element, op="=", target=target, value=value)
        )
        if tile.read.condition is not None:
            placed = {tile.read.at[loop.variable]: value for loop, value in values.items()}
            load = If(span=self.span, condition=with_values(tile.read.condition, placed), then=load, other=None)
        body = Block(span=self.span, statements=(*declared, load))
        ends = name(self.thread, self.span), number(tile.layout.elements, self.span)
        return [count(at, ends, self.block.threads, body, self.block.heads[-1])]

    def variable(self, wanted: str, type: Type) -> Symbol:
        """Return a variable that each fill declares for itself."""
        key = f"{wanted} {type}"
        if key not in self.inner:
            self.inner[key] = self.own.make(wanted, type, self.span)
        return self.inner[key]

    def moved(self, loop: For, place: Expr, read: HaloRead) -> Expr:
        """Return the value of a counter at a place of a tile, which starts at the least distance from the block."""
        axis = self.block.axis(loop.variable)
        assert axis is not None and isinstance(loop.variable.type, Scalar), "a mapped counter"
        least, _ = read.reach[loop]
        counter: Expr = name(loop.variable, self.span)
        kind: Scalar = unqualified(loop.variable.type)
        if kind.bits == INT.bits:
            # a thread behind the last iteration may have wrapped around
            counter, kind = Cast(span=self.span, type=UNSIGNED, operand=counter), UNSIGNED
        first = binary("-", counter, self.position(axis), kind)
        result = _counter_type(read, loop)
        if kind is UNSIGNED and result.bits > INT.bits:
            first, kind = wide(Cast(span=self.span, type=INT, operand=first)), LONG_LONG
        moved = binary("+", plus(first, least, kind), place, kind)
        return moved if kind == result else Cast(span=self.span, type=result, operand=moved)

    def position(self, axis: Axis) -> Expr:
        """Return where the thread is along an axis of its block."""
        return name(self.positions[axis], self.span) if axis in self.positions else number(0, self.span)

    # --- using it

    def with_tiles(self, body: Stmt) -> Stmt:
        """Return the body with reads of tiles."""
        reads = {id(node): tile for tile in self.tiles for node in tile.read.nodes}

        def change(node: Node) -> Node:
            tile = reads.get(id(node))
            if tile is None:
                return node
            return _element(tile, self.place(tile, tile.read.distances[id(node)]))

        return rebuild(body, change)

    def place(self, tile: PlacedRead, distances: Mapping[For, Distance]) -> Expr:
        """Return the number in a tile of what lies at distances from the thread's own element."""
        total: Expr = number(0, self.span)
        known = 0
        for loop, stride in zip(tile.layout.by, _strides(tile.layout), strict=True):
            axis = self.block.axis(loop.variable)
            assert axis is not None, "a mapped counter"
            total = add_product(total, self.position(axis), stride)
            for inner, factor in distances[loop].inner:
                total = add_product(total, name(inner.variable, self.span), factor * stride)
            known += (distances[loop].number - tile.read.reach[loop][0]) * stride
        kind = total.type
        assert isinstance(kind, Scalar), "a place is an integer"
        return plus(total, known, kind)


def declare_thread(thread: Symbol, positions: Mapping[Axis, Symbol], block: TileBlock) -> Stmt:
    """Return the declaration of the number that a thread has in its block, that along x counting fastest."""
    span = thread.span
    assert span is not None, "a variable of the kernel"
    total: Expr = number(0, span)
    axes: tuple[Axis, ...] = ("z", "y", "x")
    for axis in axes:
        if axis in positions:
            place = name(positions[axis], span)
            scaled = binary("*", total, number(block.along(axis), span), INT)
            total = place if constant(total) == 0 else binary("+", scaled, place, INT)
    return declare(thread, total, span)


def _tile(read: HaloRead, layout: HaloLayout, own: OwnVariables, span: Span) -> PlacedRead:
    type = Array(unqualified(read.element), None, layout.elements)
    return PlacedRead(read, layout, own.make(f"{read.array}_tile", type, span))


def _counter_type(read: HaloRead, loop: For) -> Scalar:
    """Return the type in which a counter is moved."""
    assert isinstance(loop.variable.type, Scalar), "a canonical loop counts with an integer"
    return unqualified(loop.variable.type) if read.narrow else LONG_LONG


def _places(layout: HaloLayout, at: Expr, span: Span) -> Mapping[For, Expr]:
    """Return the places along each dimension of an element of which the number in the tile is given."""
    found: dict[For, Expr] = {}
    for loop, extent, stride in zip(layout.by, layout.extents, _strides(layout), strict=True):
        place = at if stride == 1 else binary("/", at, number(stride, span), INT)
        found[loop] = place if loop is layout.by[0] else binary("%", place, number(extent, span), INT)
    return found


def _strides(layout: HaloLayout) -> tuple[int, ...]:
    """Return how many elements a step along each dimension of a tile is."""
    return tuple(prod(layout.extents[position + 1 :]) for position in range(len(layout.extents)))


def add_product(total: Expr, value: Expr, factor: int) -> Expr:
    """Return a sum with a product more, in the wider of their types."""
    if constant(value) == 0:
        return total
    types = [one.type for one in (total, value) if isinstance(one.type, Scalar)]
    kind = max((INT, *types), key=lambda one: one.bits)
    scaled = value if abs(factor) == 1 else binary("*", value, number(abs(factor), value.span), kind)
    if factor < 0 and constant(total) == 0:
        return Unary(span=value.span, type=kind, op="-", operand=scaled)
    return binary("+" if factor > 0 else "-", total, scaled, kind)


def _element(tile: PlacedRead, place: Expr) -> Expr:
    assert isinstance(tile.symbol.type, Array), "a tile is a row of elements"
    return Index(span=place.span, type=tile.symbol.type.of, base=name(tile.symbol, place.span), index=place)


def plus(value: Expr, added: int, type: Scalar) -> Expr:
    """Return a sum with a number, in a type."""
    span = value.span
    return binary("+" if added > 0 else "-", value, number(abs(added), span), type)


def with_values(expr: Expr, values: Mapping[Symbol, Expr]) -> Expr:
    """Return a copy of an expression with values in place of variables."""

    def change(part: Node) -> Node:
        return values[part.symbol] if isinstance(part, Name) and part.symbol in values else part

    changed = rebuild(copy_tree(expr), change)
    assert isinstance(changed, Expr)
    return changed
