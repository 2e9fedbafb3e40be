"""A thread's body for several iterations of the mapped loops: what they read alike is read once, into a variable.

    for (k_in = 0; k_in < k_last; k_in++)            if (whole)
        C_value += A_tile[i_in][k_in]                    for (k_in = 0; k_in < k_last; k_in++) {
                 * B_tile[k_in][j_in];                       B_tile_0 = B_tile[k_in][j_in]; B_tile_1 = …[j_in + 16];
                                                             A_tile_0 = A_tile[i_in * 2][k_in];
                                               →             C_value_0_0 += A_tile_0 * B_tile_0; C_value_0_1 += …
                                                             A_tile_1 = A_tile[i_in * 2 + 1][k_in]; …
                                                         }
                                                     else
                                                         for (k_in …) { if (i_0 < n && j_0 < n) C_value_0_0 += … }

Invariant: each iteration of the mapped loops that the launch has runs once, with variables of its own, its statements
in the order that they had; all others run nothing. `whole` holds only where the launch has all of a block's.
Limits: mapped loops count up by one; a loop with tiles runs from and to where it does for all iterations of a thread.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from itertools import product
from typing import Final, TypeVar

from msgspec import Struct, field

from warpsmith.base.verdict import Reason
from warpsmith.loops.analysis.substitute import copy_tree
from warpsmith.offload.expressions import binary, name, number
from warpsmith.offload.mapping.extremes import extremes
from warpsmith.offload.mapping.own_variables import OwnVariables
from warpsmith.offload.mapping.ranges import guard
from warpsmith.offload.mapping.register_shape import is_straight
from warpsmith.offload.mapping.tile_shape import TileShape
from warpsmith.offload.mapping.tiled_text import (
    NotTiledError,
    ReadTile,
    TiledBody,
    TileWriter,
    count,
    declare,
    tile_element,
    unqualified,
    write_with,
)
from warpsmith.offload.mapping.tiles import LoopReads, TileSearch, counts_up, is_made_of, is_read_behind
from warpsmith.poly.isl.bound_values import constant
from warpsmith.tree.nodes import (
    Block,
    Cast,
    Conditional,
    DeclStmt,
    Expr,
    For,
    If,
    Literal,
    Name,
    Node,
    Pragma,
    Stmt,
    VarDecl,
    replace,
)
from warpsmith.tree.program import Axis
from warpsmith.tree.types import BOOL, INT, UNSIGNED, Scalar, Symbol
from warpsmith.tree.walk import names, peel, rebuild, statements_of, walk

__all__ = ["write_elements"]

_UNROLL: Final = "#pragma unroll 4"

N = TypeVar("N", bound=Node)


class _Element(Struct, frozen=True):
    """One iteration among those of a thread: along y, and along x."""

    row: int
    column: int

    def along(self, axis: Axis) -> int:
        """Return its number along an axis."""
        return self.row if axis == "y" else self.column if axis == "x" else 0


def write_elements(
    body: Stmt, shape: TileShape, found: Sequence[LoopReads], own: OwnVariables, search: TileSearch
) -> TiledBody | Reason:
    """Return the body of the innermost mapped loop for all iterations of a thread, or why it cannot be written so."""
    writer = _ElementWriter.of(shape, found, own, body.span)
    writer.values = search.values
    try:
        writer.name_counters()
        writer.take(body, search.draft.locals)
    except NotTiledError as error:
        return error.reason
    return write_with(writer, body)


class _ElementWriter(TileWriter):
    """Writes one body. `counters`: of each iteration along an axis; `places`: what stands for the place of an iteration
    along an axis until it is written for one; `privates`: the variables that each iteration has of its own; `outer`:
    those of them that are declared around the mapped loops; `wholes`: what says that all iterations of the thread are
    active, by what says it of one; `values`: what has one value in all threads."""

    counters: dict[tuple[Axis, int], Symbol] = field(default_factory=dict)
    places: dict[Axis, Symbol] = field(default_factory=dict)
    privates: dict[Symbol, dict[_Element, Symbol]] = field(default_factory=dict)
    outer: list[Symbol] = field(default_factory=list)
    wholes: dict[Symbol, Symbol] = field(default_factory=dict)
    values: frozenset[Symbol] = frozenset()

    def name_counters(self) -> None:
        """Make the counters of all iterations of a thread."""
        self.wholes[self.inside] = self.own.make("whole", BOOL, self.span)
        for head, axis in zip(self.shape.block.heads, self.shape.block.axes, strict=True):
            self.check_head(head)
            if self.shape.block.elements_along(axis) == 1:
                continue
            counter = head.variable
            type = unqualified(counter.type)
            self.firsts[counter] = self.own.make(f"{counter.name}_first", type, counter.span)
            self.places[axis] = self.own.make(f"{counter.name}_place", INT, counter.span)
            for number_along in range(self.shape.block.elements_along(axis)):
                made = self.own.make(f"{counter.name}_{number_along}", type, counter.span)
                self.counters[axis, number_along] = made

    def check_head(self, head: For) -> None:
        """Raise NotTiledError for a loop of which a thread cannot have several iterations."""
        if not counts_up(head):
            raise NotTiledError(f"the loop over {head.variable.name} does not count up by one", head)
        own = unqualified(head.variable.type).kind
        for part in (head.lower, head.bound):
            value, type = constant(part), peel(part).type
            if value is None:
                alike = isinstance(type, Scalar) and type.kind == own
            else:
                alike = value >= 0 or own == "signed"
            if not alike:
                raise NotTiledError(f"{head.variable.name} is compared with numbers of another kind", head)

    def take(self, body: Stmt, variables: Sequence[Symbol]) -> None:
        """Give each iteration its own of the variables that are declared around the mapped loop."""
        counted = {part.variable for part in walk(body) if isinstance(part, For)}
        named = {n.symbol for n in names(body)}
        mapped = {head.variable for head in self.shape.block.heads}
        for symbol in variables:
            if symbol in mapped or symbol not in named:
                continue
            if symbol not in counted:
                self.privatize(symbol, body)
                self.outer.append(symbol)
            elif is_read_behind(body, symbol):
                raise NotTiledError(f"the value that {symbol.name} has behind its loop is read", body)

    def privatize(self, symbol: Symbol, node: Node) -> dict[_Element, Symbol]:
        """Return the variable that each iteration has in place of one."""
        if not isinstance(symbol.type, Scalar):
            raise NotTiledError(f"{symbol.name} is more than a number", node)
        if symbol not in self.privates:
            self.privates[symbol] = {
                one: self.own.make(f"{symbol.name}_{one.row}_{one.column}", symbol.type, symbol.span)
                for one in self.elements()
            }
        return self.privates[symbol]

    def elements(self) -> list[_Element]:
        """Return the iterations of a thread."""
        across, down, _ = self.shape.block.elements
        return [_Element(row, column) for row, column in product(range(down), range(across))]

    # --- what is known of the thread

    def known_inside(self) -> Symbol | None:
        """Return nothing: the body tests each iteration."""
        return None

    def place(self, axis: Axis) -> Expr:
        """Return what stands for the place of an iteration."""
        return name(self.places[axis], self.span) if axis in self.places else self.position(axis)

    def offset(self, axis: Axis) -> Expr:
        """Return how far the first counter of a thread is from that of its block."""
        return self.place_of(axis, 0)

    def place_of(self, axis: Axis, along: int) -> Expr:
        """Return where an iteration of the thread is along an axis of its block: along x a block's width behind the
        one before it, so that neighboring lanes have neighbors; else next to it."""
        position, block = self.position(axis), self.shape.block
        if axis == "x":
            return binary("+", position, number(along * block.along("x"), self.span), INT)
        scaled = binary("*", position, number(block.elements_along(axis), self.span), INT)
        return binary("+", number(0, self.span) if constant(position) == 0 else scaled, number(along, self.span), INT)

    def prologue(self) -> tuple[Stmt, ...]:
        """Return the declarations of counters, of variables, and of whether the launch has the whole block."""
        made: list[Stmt] = [*super().prologue()]
        for head, axis in zip(self.shape.block.heads, self.shape.block.axes, strict=True):
            for along in range(self.shape.block.elements_along(axis) if head.variable in self.firsts else 0):
                made.append(declare(self.counters[axis, along], self.counter_of(head, axis, along), self.span))
        made.append(declare(self.wholes[self.inside], self.write_whole(), self.span))
        for symbol in self.outer:
            variables = (VarDecl(span=self.span, symbol=one, init=None) for one in self.privates[symbol].values())
            made.append(DeclStmt(span=self.span, declarations=tuple(variables)))
        return tuple(made)

    def counter_of(self, head: For, axis: Axis, along: int) -> Expr:
        """Return what a counter is worth in one iteration of the thread."""
        first: Expr = name(self.firsts[head.variable], self.span)
        by = along * (self.shape.block.along("x") if axis == "x" else 1)
        type = unqualified(head.variable.type)
        if by == 0 or type.bits > INT.bits or constant(head.lower) == 0:
            return binary("+", first, number(by, self.span), type)
        # a thread behind the last iteration may have wrapped around
        moved = binary("+", Cast(span=self.span, type=UNSIGNED, operand=first), number(by, self.span), UNSIGNED)
        return Cast(span=self.span, type=type, operand=moved)

    def write_whole(self) -> Expr:
        """Return whether the launch has all iterations of the block, so that no two threads of it differ: the first and
        the last along each axis are inside, whatever the others are that a loop's ends depend on."""
        found: list[Expr] = []
        ends = self.ranges()
        for head in self.shape.block.heads:
            low, high = ends[head.variable]
            first, past = extremes(head.lower, ends), extremes(head.bound, ends)
            if first is None or past is None:
                raise NotTiledError(f"how far {head.variable.name} runs in a block cannot be written", head)
            if any(n.symbol in ends for n in names(head.lower)):
                found.append(binary(">=", low, first[1], INT))
            relation = "<" if head.relation == "!=" else head.relation
            found.append(binary(relation, high, past[0], INT))
        return reduce(lambda a, b: binary("&&", a, b, INT), found)

    def tested(self, active: Symbol, element: _Element) -> Expr:
        """Return whether an iteration is active."""
        if active in self.privates:
            return name(self.privates[active][element], self.span)
        found: list[Expr] = []
        outer: list[Symbol] = []
        for head in self.shape.block.heads:
            if constant(head.lower) != 0 and not any(n.symbol in outer for n in names(head.lower)):
                found.append(binary("<=", head.lower, name(head.variable, self.span), INT))
            found.append(guard(head, outer))
            outer.append(head.variable)
        whole = reduce(lambda a, b: binary("&&", a, b, INT), found)
        return self.for_element(whole, element)

    # --- each iteration for itself

    def for_element(self, node: N, element: _Element, more: Mapping[Symbol, Expr] | None = None) -> N:
        """Return a copy of text with what one iteration has in place of what all have."""
        values: dict[Symbol, Expr] = dict(more or {})
        for head, axis in zip(self.shape.block.heads, self.shape.block.axes, strict=True):
            if head.variable in self.firsts:
                values[head.variable] = name(self.counters[axis, element.along(axis)], self.span)
                values[self.places[axis]] = self.place_of(axis, element.along(axis))
        for symbol, own in self.privates.items():
            values[symbol] = name(own[element], self.span)

        def change(part: Node) -> Node:
            return values[part.symbol] if isinstance(part, Name) and part.symbol in values else part

        return rebuild(copy_tree(node), change)

    def guarded(self, statements: Sequence[Stmt], active: Symbol) -> list[Stmt]:
        """Return statements for each iteration that is active."""
        made: list[Stmt] = []
        for element in self.elements() if statements else ():
            own = tuple(self.for_element(stmt, element) for stmt in statements)
            span = statements[0].span
            done = own[0] if len(own) == 1 else Block(span=span, statements=own)
            made.append(If(span=span, condition=self.tested(active, element), then=done, other=None))
        return made

    def declared(self, stmt: DeclStmt, active: Symbol) -> list[Stmt]:
        """Return a declaration for each iteration; only the active ones compute its values."""
        made: list[VarDecl] = []
        for declaration in stmt.declarations:
            init = declaration.init
            for element, symbol in self.privatize(declaration.symbol, declaration).items():
                value = None if init is None else self.for_element(init, element)
                if value is not None and not isinstance(peel(value), Literal):
                    test, zero = self.tested(active, element), number(0, value.span)
                    value = Conditional(span=value.span, type=symbol.type, condition=test, then=value, other=zero)
                made.append(replace(declaration, symbol=symbol, init=value))
        return [DeclStmt(span=stmt.span, declarations=(one,)) for one in made]

    def enter(self, stmt: Stmt, active: Symbol) -> list[Stmt]:
        """Return a statement that has a loop with tiles in it."""
        if not isinstance(stmt, If) or stmt.other is not None:
            return super().enter(stmt, active)
        inner_counters = {loop.variable for one in self.found.values() for loop in one.around}
        if is_made_of((stmt.condition,), self.values | inner_counters):
            # all threads of a block find the same, and come to the barriers or do not
            then = Block(span=stmt.then.span, statements=tuple(self.run(statements_of(stmt.then), active)))
            return [replace(stmt, then=then)]
        enters = self.own.make("enters", BOOL, stmt.span)
        self.wholes[enters] = self.own.make("whole", BOOL, stmt.span)
        made: list[Stmt] = []
        for element, symbol in self.privatize(enters, stmt).items():
            condition = self.for_element(stmt.condition, element)
            made.append(declare(symbol, binary("&&", self.tested(active, element), condition, BOOL), stmt.span))
        all_enter = (name(symbol, stmt.span) for symbol in self.privates[enters].values())
        made.append(declare(self.wholes[enters], reduce(lambda a, b: binary("&&", a, b, INT), all_enter), stmt.span))
        inner = self.run(statements_of(stmt.then), enters)
        return [*made, Block(span=stmt.then.span, statements=tuple(inner))]

    # --- the iterations of one tile

    def iterate(self, loop: For, at: tuple[Symbol, Symbol, int], ends: tuple[Expr, Expr], active: Symbol) -> list[Stmt]:
        """Return the iterations of one tile: without tests, where all iterations of the thread are active."""
        first, inner, _ = at
        if any(n.symbol in self.firsts for end in (loop.lower, loop.bound) for n in names(end)):
            text = f"the loop over {loop.variable.name} runs differently for the iterations of one thread"
            raise NotTiledError(text, loop)
        body = self.with_tiles(loop.body, inner)
        slow = [*self.counter_in(loop, (first, inner), body), *self.guarded(statements_of(body), active)]
        some = count(inner, ends, 1, _block(loop, slow), loop)
        fast = [*self.counter_in(loop, (first, inner), body), *self.unguarded(loop, inner)]
        every = count(inner, ends, 1, _block(loop, fast), loop)
        condition = name(self.wholes[active], loop.span)
        unrolled = _block(loop, [Pragma(span=loop.span, text=_UNROLL), every])
        return [If(span=loop.span, condition=condition, then=unrolled, other=_block(loop, [some]))]

    def unguarded(self, loop: For, inner: Symbol) -> list[Stmt]:
        """Return one iteration of a loop for all iterations of the thread, what several of these read alike read
        once."""
        tiles = [tile for tile in self.tiles_of(loop) if is_straight(loop) and self.axes_of(tile) < {"x", "y"}]
        stand_ins = {tile.symbol: self.variable(f"{tile.symbol.name}_read", tile.read.element) for tile in tiles}
        reads = {id(node): stand_ins[tile.symbol] for tile in tiles for node in tile.read.held}

        def change(node: Node) -> Node:
            return name(reads[id(node)], node.span) if id(node) in reads and isinstance(node, Expr) else node

        rest = rebuild(loop.body, change)
        body: Sequence[Stmt] = statements_of(self.with_tiles(rest, inner))
        if any(isinstance(stmt, DeclStmt) for stmt in body):
            body = [Block(span=loop.body.span, statements=tuple(body))]
        values: dict[tuple[Symbol, int], Expr] = {}
        made: list[Stmt] = []
        across, down, _ = self.shape.block.elements
        for tile in tiles:
            if "y" not in self.axes_of(tile):
                for column in range(across if self.axes_of(tile) else 1):
                    made.append(self.read_once(tile, inner, _Element(0, column), values))
        for row in range(down):
            own = [tile for tile in tiles if "y" in self.axes_of(tile)]
            line = [self.read_once(tile, inner, _Element(row, 0), values) for tile in own]
            for column in range(across):
                more = {stand_ins[tile.symbol]: values[tile.symbol, self.number_in_tile(tile, row, column)]
                        for tile in tiles}  # fmt: skip
                line += [self.for_element(stmt, _Element(row, column), more) for stmt in body]
            made += line
        return made

    def number_in_tile(self, tile: ReadTile, row: int, column: int) -> int:
        """Return which of the elements of a tile that a thread reads an iteration uses."""
        axes = self.axes_of(tile)
        return row if "y" in axes else column if "x" in axes else 0

    def read_once(
        self, tile: ReadTile, inner: Symbol, element: _Element, values: dict[tuple[Symbol, int], Expr]
    ) -> Stmt:
        """Return the declaration of a variable with an element of a tile."""
        along = self.number_in_tile(tile, element.row, element.column)
        symbol = self.variable(f"{tile.symbol.name}_{along}", unqualified(tile.read.element))
        values[tile.symbol, along] = name(symbol, self.span)
        return declare(symbol, self.for_element(self.element_at(tile, inner), element), self.span)

    def element_at(self, tile: ReadTile, inner: Symbol) -> Expr:
        """Return the element of a tile that an iteration reads."""
        axes = [self.shape.block.axis(loop.variable) for loop in tile.layout.by]
        return tile_element(tile, [name(inner, self.span) if axis is None else self.place(axis) for axis in axes])

    def tiles_of(self, loop: For) -> Iterator[ReadTile]:
        """Yield the tiles of a loop, as it now is in the body."""
        inside = {id(part) for part in walk(loop.body)}
        yield from (tile for tile in self.tiles.values() if all(id(node) in inside for node in tile.read.held))

    def axes_of(self, tile: ReadTile) -> set[Axis]:
        """Return the axes along which the iterations of a thread read different elements of a tile."""
        axes = (self.shape.block.axis(loop.variable) for loop in tile.layout.by)
        return {axis for axis in axes if axis in self.places and axis is not None}


def _block(loop: For, statements: Sequence[Stmt]) -> Stmt:
    return statements[0] if len(statements) == 1 else Block(span=loop.body.span, statements=tuple(statements))
