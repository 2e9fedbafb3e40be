"""The body of a kernel that does several iterations of two nests in tiles.

    fill A_tile from A (turn 0, 2, …) or B (turn 1, 3, …), what is outside of the range from A; B_tile there from B
    barrier
    for each iteration:   B_tile[…] = f(A_tile[…])   in the block and what is needed around it;   barrier
                          A_tile[…] = g(B_tile[…])   in a little less around it;                  barrier
    B[i][j] or A[i][j] = A_tile[own]

Invariant: places of tiles are iterations, from the first one of the block and the farthest that it needs. Before each
step all that it reads is in the tile: what the step before it computed reaches as far as it reads, and what is outside
of the range was loaded, where some iteration reads it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from math import prod

from msgspec import Struct

from warpsmith.base.source import Span
from warpsmith.loops.analysis.substitute import copy_tree
from warpsmith.offload.expressions import binary, name, number, wide
from warpsmith.offload.mapping.filling.words import barrier, count, declare, unqualified
from warpsmith.offload.mapping.halo.neighbors import HaloRead, Neighbor
from warpsmith.offload.mapping.halo.tile_text import declare_thread, plus, with_values
from warpsmith.offload.mapping.own_variables import OwnVariables
from warpsmith.offload.mapping.tile_shape import TileBlock
from warpsmith.offload.mapping.tiled_text import TiledBody
from warpsmith.offload.mapping.tiles import array_of
from warpsmith.poly.legality.moved import Distance
from warpsmith.tree.nodes import (
    Assign,
    Block,
    Cast,
    Conditional,
    Expr,
    ExprStmt,
    For,
    If,
    Index,
    Node,
    Stmt,
)
from warpsmith.tree.program import Axis
from warpsmith.tree.types import BOOL, INT, LONG_LONG, UNSIGNED, Array, Scalar, Symbol
from warpsmith.tree.walk import rebuild

__all__ = ["PassNest", "PassTiles", "write_pass"]

Ends = tuple[tuple[int, int], ...]
"""How far something reaches from the block, along each loop."""


class PassNest(Struct, frozen=True, eq=False):
    """One of the two nests: its loops, the `store` of an iteration to `member`, what it reads of the other array."""

    heads: tuple[For, ...]
    store: Assign
    member: Neighbor
    read: HaloRead

    @property
    def array(self) -> str:
        """The array to which it stores."""
        return array_of(self.member.node)

    @property
    def reach(self) -> Ends:
        """How far it reads along each loop."""
        return tuple((min(0, self.read.reach[head][0]), max(0, self.read.reach[head][1])) for head in self.heads)


class PassTiles(Struct, frozen=True):
    """The nests, the block, and how many iterations a pass does."""

    nests: tuple[PassNest, PassNest]
    block: TileBlock
    iterations: int

    def needed(self, iterations: int) -> Ends:
        """Return how far around the block elements are needed before so many iterations."""
        one, other = (nest.reach for nest in self.nests)
        return tuple((iterations * (a + c), iterations * (b + d)) for (a, b), (c, d) in zip(one, other, strict=True))

    def between(self, iterations: int) -> Ends:
        """Return how far the first nest of the first of so many iterations computes."""
        reach = self.nests[1].reach
        return tuple((a + c, b + d) for (a, b), (c, d) in zip(self.needed(iterations - 1), reach, strict=True))

    def sizes(self, ends: Ends) -> tuple[int, ...]:
        """Return how many elements there are along each loop."""
        heads = self.nests[0].heads
        return tuple(self.block.size(head.variable) + high - low for head, (low, high) in zip(heads, ends, strict=True))

    @property
    def extents(self) -> tuple[int, ...]:
        """The extents of a tile."""
        return self.sizes(self.needed(self.iterations))

    @property
    def strides(self) -> tuple[int, ...]:
        """How many elements of a tile a step of each loop is."""
        return tuple(prod(self.extents[place + 1 :]) for place in range(len(self.extents)))

    @property
    def bytes(self) -> int:
        """What the tiles of a block take."""
        return sum(prod(self.extents) * nest.read.bytes for nest in self.nests)


def write_pass(tiles: PassTiles, turns: int, own: OwnVariables, span: Span) -> TiledBody:
    """Return the body of all launches: so many passes, and then one of each nest."""
    writer = _PassWriter.of(tiles, own, span)
    first, second = tiles.nests
    statements: list[Stmt] = [writer.fill(), barrier(span)]
    for done in range(tiles.iterations):
        left = tiles.iterations - done
        statements += [writer.step(first, tiles.between(left)), barrier(span)]
        statements += [writer.step(second, tiles.needed(left - 1)), barrier(span)]
    statements.append(writer.if_inside(writer.store()))
    passes = Block(span=span, statements=tuple(statements))
    alone = writer.if_inside(writer.plain(turns))
    passing = binary("<", name(writer.turn, span), number(turns, span), INT)
    whole = (
        declare_thread(writer.thread, writer.positions, tiles.block),
        If(span=span, condition=passing, then=passes, other=alone),
    )
    positions = tuple((symbol, axis) for axis, symbol in writer.positions.items())
    shared = tuple(writer.tiles.values())
    body = Block(span=span, statements=whole)
    return TiledBody(body, writer.inside, shared, positions, {}, (1, 1, 1), writer.turn)


class _PassWriter(Struct):
    """Writes one body. `tiles`: by the names of the arrays; `at`: the variables for the iteration at hand."""

    shape: PassTiles
    turn: Symbol
    span: Span
    inside: Symbol
    thread: Symbol
    number_at: Symbol
    place: Symbol
    tiles: dict[str, Symbol]
    positions: dict[Axis, Symbol]
    at: tuple[Symbol, ...]

    @classmethod
    def of(cls, shape: PassTiles, own: OwnVariables, span: Span) -> _PassWriter:
        """Return the writer with its variables."""
        block, heads = shape.block, shape.nests[0].heads
        positions = {
            axis: own.make(f"{head.variable.name}_in", INT, span)
            for head, axis in zip(block.heads, block.axes, strict=True)
            if block.along(axis) > 1
        }
        narrow = all(nest.read.narrow for nest in shape.nests)
        types = [unqualified(head.variable.type) if narrow else LONG_LONG for head in heads]
        tiles = {
            nest.read.array: own.make(
                f"{nest.read.array}_tile", Array(unqualified(nest.read.element), None, prod(shape.extents)), span
            )
            for nest in shape.nests
        }
        return cls(
            shape,
            own.make("turn", INT, span),
            span,
            own.make("inside", BOOL, span),
            own.make("thread", INT, span),
            own.make("at", INT, span),
            own.make("place", INT, span),
            tiles,
            positions,
            tuple(own.make(f"{head.variable.name}_at", type, span) for head, type in zip(heads, types, strict=True)),
        )

    # --- places

    def each(self, ends: Ends, body: Sequence[Stmt]) -> Stmt:
        """Return a loop over the places from one end to the other around the block, by all of its threads."""
        total = number(prod(self.shape.sizes(ends)), self.span)
        block = Block(span=self.span, statements=(*self.places(ends), *body))
        like = self.shape.block.heads[-1]
        return count(self.number_at, (name(self.thread, self.span), total), self.shape.block.threads, block, like)

    def places(self, ends: Ends) -> list[Stmt]:
        """Return the declarations of the iteration at a place, and of the number that it has in the tiles."""
        sizes, farthest = self.shape.sizes(ends), self.shape.needed(self.shape.iterations)
        declared: list[Stmt] = []
        in_tile: Expr = number(0, self.span)
        known = 0
        for position, (low, _) in enumerate(ends):
            behind = prod(sizes[position + 1 :])
            at: Expr = name(self.number_at, self.span)
            place = at if behind == 1 else binary("/", at, number(behind, self.span), INT)
            place = place if position == 0 else binary("%", place, number(sizes[position], self.span), INT)
            declared.append(declare(self.at[position], self.moved(position, place, low), self.span))
            stride = self.shape.strides[position]
            scaled = place if stride == 1 else binary("*", place, number(stride, self.span), INT)
            in_tile = binary("+", in_tile, scaled, INT)
            known += (low - farthest[position][0]) * stride
        in_tile = name(self.number_at, self.span) if sizes == self.shape.extents else in_tile
        declared.append(declare(self.place, plus(in_tile, known, INT), self.span))
        return declared

    def moved(self, position: int, place: Expr, low: int) -> Expr:
        """Return the value of a counter at a place behind the first one of the block and `low`."""
        head = self.shape.nests[0].heads[position]
        axis = self.shape.block.axis(head.variable)
        assert axis is not None, "a mapped counter"
        counter: Expr = name(head.variable, self.span)
        kind = unqualified(head.variable.type)
        if kind.bits == INT.bits:
            counter, kind = Cast(span=self.span, type=UNSIGNED, operand=counter), UNSIGNED
        first = binary("-", counter, self.position(axis), kind)
        result = self.at[position].type
        assert isinstance(result, Scalar), "a counter"
        if kind is UNSIGNED and result.bits > INT.bits:
            first, kind = wide(Cast(span=self.span, type=INT, operand=first)), LONG_LONG
        found = binary("+", plus(first, low, kind), place, kind)
        wanted = unqualified(result)
        return found if kind == wanted else Cast(span=self.span, type=wanted, operand=found)

    def position(self, axis: Axis) -> Expr:
        """Return where the thread is along an axis of its block."""
        return name(self.positions[axis], self.span) if axis in self.positions else number(0, self.span)

    def in_range(self) -> Expr:
        """Return whether the iteration at hand is one of the nests."""
        tests: list[Expr] = []
        for head, at in zip(self.shape.nests[0].heads, self.at, strict=True):
            tests.append(binary(">=", name(at, self.span), copy_tree(head.lower), INT))
            tests.append(binary(head.relation, name(at, self.span), copy_tree(head.bound), INT))
        return reduce(lambda a, b: binary("&&", a, b, INT), tests)

    def tile(self, array: str, place: Expr) -> Expr:
        """Return an element of a tile."""
        symbol = self.tiles[array]
        assert isinstance(symbol.type, Array), "a tile is a row of elements"
        return Index(span=self.span, type=symbol.type.of, base=name(symbol, self.span), index=place)

    # --- statements

    def fill(self) -> Stmt:
        """Return the loop that loads the tiles."""
        first, second = self.shape.nests
        back = self.is_back()
        here = Conditional(
            span=self.span,
            type=unqualified(first.read.element),
            condition=back,
            then=self.element(second.read),
            other=self.element(first.read),
        )
        loaded = self.assign(self.tile(first.read.array, name(self.place, self.span)), here)
        outside = Block(span=self.span, statements=tuple(self.load_outside(nest.read) for nest in self.shape.nests))
        choice = If(span=self.span, condition=self.in_range(), then=loaded, other=outside)
        return self.each(self.shape.needed(self.shape.iterations), (choice,))

    def load_outside(self, read: HaloRead) -> Stmt:
        """Return the load of an element that the nests do not store to, if some iteration reads it."""
        loaded = self.assign(self.tile(read.array, name(self.place, self.span)), self.element(read))
        if read.condition is None:
            return loaded
        values = {read.at[loop.variable]: at for loop, at in self.values(read).items()}
        return If(span=self.span, condition=with_values(read.condition, values), then=loaded, other=None)

    def element(self, read: HaloRead) -> Expr:
        """Return the element of an array at the iteration at hand."""
        return copy_tree(read.write(self.values(read)))

    def values(self, read: HaloRead) -> dict[For, Expr]:
        """Return the iteration at hand by the loops of the nest that reads."""
        heads = next(nest.heads for nest in self.shape.nests if nest.read is read)
        return {head: name(at, self.span) for head, at in zip(heads, self.at, strict=True)}

    def is_back(self) -> Expr:
        """Return whether a pass goes from the second array to the first one."""
        return binary("%", name(self.turn, self.span), number(2, self.span), INT)

    def step(self, nest: PassNest, ends: Ends) -> Stmt:
        """Return the loop that computes a nest in the tiles."""
        reads = {id(node): self.offset(nest, nest.read.distances[id(node)]) for node in nest.read.nodes}
        counters = {head.variable: name(at, self.span) for head, at in zip(nest.heads, self.at, strict=True)}
        narrowed = {symbol: _as(symbol, value) for symbol, value in counters.items()}

        def change(node: Node) -> Node:
            if id(node) in reads:
                place = plus(name(self.place, node.span), reads[id(node)], INT)
                return self.tile(nest.read.array, place)
            return node

        value = rebuild(nest.store.value, change)
        assert isinstance(value, Expr)
        computed = self.assign(self.tile(nest.array, name(self.place, self.span)), with_values(value, narrowed))
        return self.each(ends, (If(span=self.span, condition=self.in_range(), then=computed, other=None),))

    def offset(self, nest: PassNest, distances: Mapping[For, Distance]) -> int:
        """Return how far in a tile an element lies from the iteration's own."""
        total = 0
        for head, stride in zip(nest.heads, self.shape.strides, strict=True):
            total += distances[head].number * stride
        return total

    def store(self) -> Stmt:
        """Return the stores of the thread's own element to the array that the pass goes to."""
        first, second = self.shape.nests
        own: Expr = number(0, self.span)
        known = 0
        for position, (low, _) in enumerate(self.shape.needed(self.shape.iterations)):
            head, stride = first.heads[position], self.shape.strides[position]
            axis = self.shape.block.axis(head.variable)
            assert axis is not None, "a mapped counter"
            here = self.position(axis)
            scaled = here if stride == 1 else binary("*", here, number(stride, self.span), INT)
            own = binary("+", own, scaled, INT)
            known -= low * stride
        value = self.tile(first.read.array, plus(own, known, INT))
        counters = {b.variable: name(a.variable, self.span) for a, b in zip(first.heads, second.heads, strict=True)}
        to_first = self.assign(copy_tree(first.store.target), value)
        to_second = self.assign(with_values(second.store.target, counters), copy_tree(value))
        return If(span=self.span, condition=self.is_back(), then=to_second, other=to_first)

    def plain(self, turns: int) -> Stmt:
        """Return the thread's own iteration of either nest, in the launches behind so many passes."""
        first, second = self.shape.nests
        counters = {b.variable: name(a.variable, self.span) for a, b in zip(first.heads, second.heads, strict=True)}
        one = ExprStmt(span=self.span, expr=first.store)
        other = ExprStmt(span=self.span, expr=with_values(second.store, counters))
        is_first = binary("==", name(self.turn, self.span), number(turns, self.span), INT)
        return If(span=self.span, condition=is_first, then=one, other=other)

    def if_inside(self, stmt: Stmt) -> Stmt:
        """Return a statement for threads of the launch."""
        return If(span=self.span, condition=name(self.inside, self.span), then=stmt, other=None)

    def assign(self, target: Expr, value: Expr) -> Stmt:
        """Return a store."""
        return ExprStmt(
            span=self.span, expr=Assign(span=self.span, type=target.type, op="=", target=target, value=value)
        )


def _as(symbol: Symbol, value: Expr) -> Expr:
    """Return a counter's value in the counter's own type."""
    own = unqualified(symbol.type)
    return value if value.type == own else Cast(span=value.span, type=own, operand=value)
