"""A thread's body with tiles in shared memory: all threads of a block fill one, wait, use it, and wait once more.

    if (inside)                                  double C_value = inside ? C_gpu[…] : 0;
        double C_value = C_gpu[…];               for (k_first = 0; k_first < n; k_first += 16) {
        for (k = 0; k < n; k++)                      A_tile[i_in][j_in] = A_gpu[…]; B_tile[i_in][j_in] = B_gpu[…];
            C_value += A_gpu[…] * B_gpu[…];   →      barrier
        C_gpu[…] = C_value;                          if (inside) for (k_in …) C_value += A_tile[…] * B_tile[…];
                                                     barrier
                                                 }
                                                 if (inside) C_gpu[…] = C_value;

Invariant: every thread of a block comes to every barrier: what is left out by threads outside of the launch, or for
which a condition around the loop does not hold, is left out statement by statement. Each thread runs the iterations
that it ran before, in their order, and what it reads from a tile was loaded where it is read.
Limits: conditions around the loop have no `else`; what is declared beside it, with a value, is a number.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from typing import Self

from msgspec import Struct, field

from warpsmith.base.source import Span
from warpsmith.base.verdict import Reason
from warpsmith.offload.expressions import binary, name, number, shift_expression, wide
from warpsmith.offload.mapping.extremes import Range, extremes, is_far
from warpsmith.offload.mapping.filling.staged import write_staged
from warpsmith.offload.mapping.filling.wide import find_conjuncts, find_width
from warpsmith.offload.mapping.filling.words import (
    Filling,
    ReadTile,
    ThreadShare,
    Turn,
    assign,
    barrier,
    count,
    declare,
    store,
    store_wide,
    tile_element,
    unqualified,
    with_values,
)
from warpsmith.offload.mapping.own_variables import OwnVariables
from warpsmith.offload.mapping.tile_shape import Layout, TileShape, lay_out
from warpsmith.offload.mapping.tiles import LoopReads, SharedRead, array_of, counts_up
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
    Stmt,
    VarDecl,
    replace,
)
from warpsmith.tree.program import Axis
from warpsmith.tree.types import BOOL, INT, LONG_LONG, UNSIGNED, Array, Scalar, Symbol, Type
from warpsmith.tree.walk import names, peel, rebuild, statements_of, walk

__all__ = ["NotTiledError", "TileWriter", "TiledBody", "write_tiles", "write_with"]


class TiledBody(Struct, frozen=True):
    """The body that all threads of a block run, in the host's names. `inside`: whether the thread is one of the launch
    (None: the body tests that itself); `shared`: the tiles; `positions`: where the thread is in its block along each
    axis; `firsts`: the counters that start at the first of several iterations, by those of the user's loops;
    `elements`: how many iterations a thread has along x, y and z; `turn`: what counts the launches, where there are
    several."""

    body: Block
    inside: Symbol | None
    shared: tuple[Symbol, ...]
    positions: tuple[tuple[Symbol, Axis], ...]
    firsts: Mapping[Symbol, Symbol]
    elements: tuple[int, int, int]
    turn: Symbol | None = None


def write_tiles(body: Stmt, shape: TileShape, found: Sequence[LoopReads], own: OwnVariables) -> TiledBody | Reason:
    """Return the body of the innermost mapped loop with tiles, or why it cannot be written so."""
    return write_with(TileWriter.of(shape, found, own, body.span), body)


def write_with(writer: TileWriter, body: Stmt) -> TiledBody | Reason:
    """Return the body as a writer writes it, or why it cannot."""
    shape = writer.shape
    for one in writer.found.values():
        if one.loop in shape.widths and writer.find_rewritten(body, one.loop) is None:
            return Reason("STP002", f"the loop over {one.loop.variable.name} is not found any more", one.loop.header)
    try:
        written = writer.run(statements_of(body), writer.inside)
        whole = Block(span=body.span, statements=(*writer.prologue(), *written))
    except NotTiledError as error:
        return error.reason
    shared = tuple(tile.symbol for tile in writer.tiles.values())
    positions = tuple((symbol, axis) for axis, symbol in writer.positions.items())
    return TiledBody(whole, writer.known_inside(), shared, positions, writer.firsts, shape.block.elements)


class NotTiledError(Exception):
    """A body that cannot be written, with the `reason`."""

    def __init__(self, text: str, node: Node) -> None:
        super().__init__(text)
        self.reason = Reason("STP002", text, node.span)


class TileWriter(Struct):
    """Writes one body. `first`: the first iteration of the tile at hand, by loop; `thread`: the number of the thread in
    its block, where rows of tiles are not rows of the block; `ends`: the first and last value of a mapped counter in
    the block; `cleared`: the loops whose tiles have zeros where nothing is loaded."""

    shape: TileShape
    found: dict[For, LoopReads]
    own: OwnVariables
    span: Span
    inside: Symbol
    thread: Symbol
    positions: dict[Axis, Symbol] = field(default_factory=dict)
    tiles: dict[SharedRead, ReadTile] = field(default_factory=dict)
    rewritten: dict[int, For] = field(default_factory=dict)
    inner: dict[str, Symbol] = field(default_factory=dict)
    firsts: dict[Symbol, Symbol] = field(default_factory=dict)
    cleared: set[For] = field(default_factory=set)
    uses_thread: bool = False

    @classmethod
    def of(cls, shape: TileShape, found: Sequence[LoopReads], own: OwnVariables, span: Span) -> Self:
        """Return the writer with its variables."""
        inside, thread = own.make("inside", BOOL, span), own.make("thread", INT, span)
        writer = cls(shape, {one.loop: one for one in found}, own, span, inside, thread)
        for head, axis in zip(shape.block.heads, shape.block.axes, strict=True):
            # an axis with one thread a block has that thread everywhere
            if shape.block.along(axis) == 1:
                continue
            writer.positions[axis] = own.make(f"{head.variable.name}_in", INT, span)
        for loop, reads in shape.reads.items():
            for read in reads:
                layout = lay_out(read, shape.block, shape.widths[loop])
                assert layout is not None, "the shape was chosen with it"
                stages = shape.stages(loop)
                symbol = own.make(_tile_name(read), _tile_type(read, layout, stages), span)
                width = find_width(read, layout, shape, loop)
                writer.tiles[read] = ReadTile(read, layout, symbol, stages, width)
        return writer

    def find_rewritten(self, body: Stmt, loop: For) -> For | None:
        """Return the loop as it now is in the body: the only one over its counter that has its reads."""
        nodes = {id(node) for read in self.shape.reads[loop] for node in (*read.nodes, *read.held)}
        alike = [
            part
            for part in walk(body)
            if isinstance(part, For) and part.variable == loop.variable and nodes & {id(inner) for inner in walk(part)}
        ]
        if len(alike) != 1 or not nodes <= {id(inner) for inner in walk(alike[0].body)}:
            return None
        self.rewritten[id(alike[0])] = loop
        return alike[0]

    def prologue(self) -> tuple[Stmt, ...]:
        """Return the declaration of the thread's number."""
        if not self.uses_thread:
            return ()
        return (declare(self.thread, self.number_in(("z", "y", "x")), self.span),)

    def known_inside(self) -> Symbol | None:
        """Return what says whether the thread is one of the launch, if the body asks for it."""
        return self.inside

    def number_in(self, axes: Sequence[Axis]) -> Expr:
        """Return the number of the thread along some axes, that which is nearest to x counting fastest."""
        total: Expr = number(0, self.span)
        for axis in axes:
            size = self.shape.block.along(axis)
            if axis in self.positions and size > 1:
                scaled = total if constant(total) == 0 else binary("*", total, number(size, self.span), INT)
                total = binary("+", scaled, self.position(axis), INT)
        return total

    def variable(self, wanted: str, type: Type) -> Symbol:
        """Return a variable that blocks of their own declare, each for itself."""
        if wanted not in self.inner:
            self.inner[wanted] = self.own.make(wanted, type, self.span)
        return self.inner[wanted]

    def position(self, axis: Axis) -> Expr:
        """Return where the thread is along an axis of its block."""
        return name(self.positions[axis], self.span) if axis in self.positions else number(0, self.span)

    def place(self, axis: Axis) -> Expr:
        """Return where an iteration is along an axis of its block."""
        return self.position(axis)

    def offset(self, axis: Axis) -> Expr:
        """Return how far a thread's counter along an axis is from the first one of its block."""
        return self.position(axis)

    # --- the way to the loops

    def run(self, statements: Sequence[Stmt], active: Symbol) -> list[Stmt]:
        """Return statements of one block as all threads run them; a thread does what it did where `active` holds."""
        written: list[Stmt] = []
        plain: list[Stmt] = []
        for stmt in statements:
            if self.holds_loop(stmt) or isinstance(stmt, DeclStmt):
                written += self.guarded(plain, active)
                plain = []
                written += self.declared(stmt, active) if isinstance(stmt, DeclStmt) else self.enter(stmt, active)
            else:
                plain.append(stmt)
        return [*written, *self.guarded(plain, active)]

    def holds_loop(self, stmt: Stmt) -> bool:
        """Whether a loop with tiles is in a statement."""
        return any(id(part) in self.rewritten for part in walk(stmt))

    def guarded(self, statements: Sequence[Stmt], active: Symbol) -> list[Stmt]:
        """Return statements for the threads for which `active` holds."""
        if not statements:
            return []
        span = statements[0].span
        only = statements[0] if len(statements) == 1 else Block(span=span, statements=tuple(statements))
        return [If(span=span, condition=name(active, span), then=only, other=None)]

    def declared(self, stmt: DeclStmt, active: Symbol) -> list[Stmt]:
        """Return a declaration that stands for all threads; only the active ones compute its values."""
        made: list[VarDecl] = []
        for declaration in stmt.declarations:
            init = declaration.init
            if init is None or (isinstance(peel(init), Literal) and isinstance(declaration.symbol.type, Scalar)):
                made.append(declaration)
                continue
            if not isinstance(declaration.symbol.type, Scalar):
                raise NotTiledError(f"{declaration.symbol.name} is more than a number", declaration)
            zero = number(0, init.span)
            test = name(active, init.span)
            value = Conditional(span=init.span, type=declaration.symbol.type, condition=test, then=init, other=zero)
            made.append(replace(declaration, init=value))
        return [replace(stmt, declarations=tuple(made))]

    def enter(self, stmt: Stmt, active: Symbol) -> list[Stmt]:
        """Return a statement that has a loop with tiles in it."""
        if id(stmt) in self.rewritten:
            assert isinstance(stmt, For), "a loop is tiled"
            return self.loop(stmt, self.rewritten[id(stmt)], active)
        match stmt:
            case Block(statements=statements):
                return [replace(stmt, statements=tuple(self.run(statements, active)))]
            case If(condition=condition, then=then, other=None):
                enters = self.own.make("enters", BOOL, stmt.span)
                both = binary("&&", name(active, stmt.span), condition, BOOL)
                inner = Block(span=then.span, statements=tuple(self.run(statements_of(then), enters)))
                return [declare(enters, both, stmt.span), inner]
            case For(body=body):
                inner = Block(span=body.span, statements=tuple(self.run(statements_of(body), active)))
                return [replace(stmt, body=inner)]
            case _:
                raise NotTiledError("what the loop stands in has parts that some threads leave out", stmt)

    # --- one loop

    def loop(self, loop: For, original: For, active: Symbol) -> list[Stmt]:
        """Return a loop over tiles in place of a loop."""
        tiles = [self.tiles[read] for read in self.shape.reads[original]]
        width, span = self.shape.widths[original], loop.span
        first = self.variable(f"{loop.variable.name}_first", LONG_LONG)
        inner = self.variable(f"{loop.variable.name}_in", INT)
        ranges = self.ranges()
        if any(n.symbol in self.find_irregular() for end in (loop.lower, loop.bound) for n in names(end)):
            raise NotTiledError(f"how far {loop.variable.name} runs in a block cannot be written", loop)
        past = loop.bound if loop.relation == "<" else shift_expression(loop.bound, 1)
        low, high = extremes(loop.lower, ranges), extremes(past, ranges)
        if low is None or high is None or is_far(high[1]):
            raise NotTiledError(f"how far {loop.variable.name} runs in a block cannot be written", loop)
        uniform = not any(n.symbol in ranges for end in (loop.lower, loop.bound) for n in names(end))
        used = self.used(loop, (low[0], past), (first, inner, width, uniform), active)
        tiled = self.turns(Turn(loop, original, tuple(tiles), first, width, (low[0], high[1]), used))
        tests = [test for head in self.shape.block.heads for test in self.find_tests(head, ranges)]
        whole = reduce(lambda a, b: binary("&&", a, b, INT), tests) if tests else None
        return [tiled if whole is None else If(span=span, condition=whole, then=tiled, other=None)]

    def turns(self, turn: Turn) -> Stmt:
        """Return the loop over tiles: they are filled, and used."""
        if turn.original in self.shape.doubled:
            return write_staged(self, turn, self.variable("stage", INT))
        span, filling = self.span, Filling(turn.first, turn.original, store, store_wide)
        loads = [stmt for tile in turn.tiles for stmt in self.load(tile, filling)]
        body = Block(span=turn.loop.body.span, statements=(*loads, barrier(span), turn.used, barrier(span)))
        return count(turn.first, turn.ends, turn.width, body, turn.loop)

    def find_irregular(self) -> set[Symbol]:
        """Return the mapped counters that do not count up by one from thread to thread."""
        return {head.variable for head in self.shape.block.heads if not counts_up(head)}

    def ranges(self) -> dict[Symbol, Range]:
        """Return the first and the last value of each mapped counter in the block, of those that count up by one."""
        return {head.variable: self.ends(head) for head in self.shape.block.heads if counts_up(head)}

    def find_tests(self, head: For, ranges: Mapping[Symbol, Range]) -> Iterator[Expr]:
        """Yield what holds for a block in which some thread is one of the launch, where the ends of a mapped loop
        depend on another one: such a grid has blocks without any. All threads of the block find the same."""
        if head.variable not in ranges:
            return
        irregular = self.find_irregular()
        low, high = ranges[head.variable]
        for end, nearest, relation in ((head.lower, high, ">="), (head.bound, low, head.relation)):
            found = {n.symbol for n in names(end)}
            if found & ranges.keys() and not found & irregular and relation in ("<", "<=", ">="):
                ends = extremes(end, ranges)
                if ends is not None:
                    yield binary(relation, nearest, ends[0] if relation == ">=" else ends[1], INT)

    def ends(self, head: For) -> Range:
        """Return the first and the last value that a mapped counter has in the block, in 64 bits."""
        axis = self.shape.block.axis(head.variable)
        assert axis is not None, "it is mapped"
        low = wide(self.moved(head, number(0, self.span)))
        return low, binary("+", low, number(self.shape.block.size(head.variable) - 1, self.span))

    def used(self, loop: For, ends: tuple[Expr, Expr], at: tuple[Symbol, Symbol, int, bool], active: Symbol) -> Stmt:
        """Return the iterations of one tile, for the threads for which `active` holds."""
        first, inner, width, uniform = at
        span = loop.span
        _, past = ends
        last = self.variable(f"{loop.variable.name}_last", INT)
        start: Expr = number(0, span)
        if not uniform:
            start = _clamp(loop.lower, first, width)
        stop = _clamp(past, first, width) if not uniform else _least(past, first, width)
        new = self.iterate(loop, (first, inner, width), (start, name(last, span)), active)
        block = Block(span=span, statements=(declare(last, stop, span), *new))
        return block if self.firsts else If(span=span, condition=name(active, span), then=block, other=None)

    def iterate(self, loop: For, at: tuple[Symbol, Symbol, int], ends: tuple[Expr, Expr], active: Symbol) -> list[Stmt]:
        """Return the iterations of one tile, from one place in it to before another."""
        first, inner, _ = at
        body = self.with_tiles(loop.body, inner)
        statements = [*self.counter_in(loop, (first, inner), body), *statements_of(body)]
        block = Block(span=loop.body.span, statements=tuple(statements))
        return [count(inner, ends, 1, block if len(statements) > 1 else statements[0], loop)]

    def counter_in(self, loop: For, at: tuple[Symbol, Symbol], body: Stmt) -> list[Stmt]:
        """Return the declaration of a loop's counter in a tile, if its iterations name it."""
        if not any(n.symbol == loop.variable for n in names(body)):
            return []
        first, inner = at
        counted = binary("+", name(first, loop.span), name(inner, loop.span))
        counter = Cast(span=loop.span, type=unqualified(loop.variable.type), operand=counted)
        return [declare(loop.variable, counter, loop.span)]

    def with_tiles(self, body: Stmt, inner: Symbol) -> Stmt:
        """Return the loop's body with reads of tiles."""
        reads = {id(node): tile for tile in self.tiles.values() for node in tile.read.held}

        def change(node: Node) -> Node:
            tile = reads.get(id(node))
            if tile is None:
                return node
            places: list[Expr] = []
            for loop in tile.layout.by:
                axis = self.shape.block.axis(loop.variable)
                places.append(name(inner, node.span) if axis is None else self.place(axis))
            return self.element_in_use(tile, places)

        return rebuild(body, change)

    def element_in_use(self, tile: ReadTile, places: Sequence[Expr]) -> Expr:
        """Return an element of the tile that is used: of several, that whose turn it is."""
        stage = [name(self.variable("stage", INT), self.span)] if tile.stages > 1 else []
        return tile_element(tile, [*stage, *places])

    # --- filling a tile

    def load(self, tile: ReadTile, filling: Filling) -> list[Stmt]:
        """Return the statements with which the threads of a block fill a tile, each some elements of some rows."""
        layout, span, filled = tile.layout, self.span, self.share(tile)
        if layout.rows == 1:
            done = Block(span=span, statements=tuple(self.fill_row(tile, filling, filled.start, filled.column)))
            if filled.step == 1:
                return [done]
            return [If(span=span, condition=_less(filled.start, 1), then=done, other=None)]
        if layout.rows == filled.step:
            return [Block(span=span, statements=tuple(self.fill_row(tile, filling, filled.start, filled.column)))]
        row = self.variable("row", INT)
        inner = Block(span=span, statements=tuple(self.fill_row(tile, filling, name(row, span), filled.column)))
        if layout.rows < filled.step:
            chosen = If(span=span, condition=_less(name(row, span), layout.rows), then=inner, other=None)
            return [Block(span=span, statements=(declare(row, filled.start, span), chosen))]
        return [count(row, (filled.start, number(layout.rows, span)), filled.step, inner, filling.loop)]

    def share(self, tile: ReadTile) -> ThreadShare:
        """Return which elements of a tile a thread fills."""
        block, across = self.shape.block, tile.layout.extents[-1] // tile.wide
        step = block.threads // across
        if across == block.block[0]:
            return ThreadShare(self.widened(tile, self.position("x")), self.row_of_block(), step)
        self.uses_thread = True
        thread, whole = name(self.thread, self.span), number(across, self.span)
        column = self.widened(tile, binary("%", thread, whole, INT))
        return ThreadShare(column, binary("/", thread, whole, INT), step)

    def widened(self, tile: ReadTile, column: Expr) -> Expr:
        """Return the first of the neighbors that a thread loads at once, of those that are before it in a row."""
        return column if tile.wide == 1 else binary("*", column, number(tile.wide, self.span), INT)

    def enters_often(self, original: For) -> bool:
        """Whether the threads of a block may come to a loop with tiles more than once."""
        return bool(self.found[original].around)

    def row_of_block(self) -> Expr:
        """Return which row of the block the thread is in."""
        return self.number_in(("z", "y"))

    def fill_row(self, tile: ReadTile, filling: Filling, row: Expr, column: Expr) -> list[Stmt]:
        """Return the statements that load one element of a row."""
        leading = tile.layout.extents[:-1]
        if len(leading) < len("xy"):
            return self.fill(tile, filling, (row,) if leading else (), column)
        inner = number(leading[1], self.span)
        return self.fill(tile, filling, (binary("/", row, inner, INT), binary("%", row, inner, INT)), column)

    def fill(self, tile: ReadTile, filling: Filling, rows: tuple[Expr, ...], column: Expr) -> list[Stmt]:
        """Return the statements that load the element at a place of a tile."""
        places = [*rows, column]
        declared: list[DeclStmt] = []
        at: dict[Symbol, Symbol] = {}
        for one, place in zip(tile.layout.by, places, strict=True):
            if one is filling.loop:
                symbol = at[one.variable] = self.variable(f"{one.variable.name}_at", LONG_LONG)
                declared.append(declare(symbol, binary("+", name(filling.first, self.span), place), self.span))
            elif not self.is_own_place(one, place):
                symbol = self.variable(f"{one.variable.name}_at", unqualified(one.variable.type))
                at[one.variable] = symbol
                declared.append(declare(symbol, self.moved(one, place), self.span))
        done = self.fill_places(tile, filling, places, at)
        # what has been loaded is put into its place without a counter's value
        used = {n.symbol.key for n in names(done)}
        return [*(one for one in declared if any(v.symbol.key in used for v in one.declarations)), done]

    def fill_places(
        self, tile: ReadTile, filling: Filling, places: Sequence[Expr], at: Mapping[Symbol, Symbol]
    ) -> Stmt:
        """Return what is done for the element at a place of a tile, and for its neighbors where a thread loads several
        at once: for all of them if all are read, else for each that is."""
        filled: list[Stmt] = []
        tests: list[Expr] = []
        for number_of in range(tile.wide):
            values = self.values_at(tile, filling, at, number_of)
            target = [*places[:-1], binary("+", places[-1], number(number_of, self.span), INT)]
            done = filling.put(tile, target, {key: value for key, (value, _) in values.items()})
            condition = tile.read.condition
            if condition is not None:
                test = with_values(condition, _placed(tile.read, {key: value for key, (_, value) in values.items()}))
                tests.append(test)
                done = If(span=self.span, condition=test, then=done, other=self.clearing(tile, filling, target))
            filled.append(done)
        if tile.wide == 1:
            return filled[0]
        first = {key: value for key, (value, _) in self.values_at(tile, filling, at, 0).items()}
        wide = filling.put_wide(tile, places, first)
        if not tests:
            return wide
        every = reduce(lambda a, b: binary("&&", a, b, INT), find_conjuncts(tests))
        return If(span=self.span, condition=every, then=wide, other=Block(span=self.span, statements=tuple(filled)))

    def clearing(self, tile: ReadTile, filling: Filling, places: Sequence[Expr]) -> Stmt | None:
        """Return what is done for an element that is not loaded."""
        if filling.loop not in self.cleared:
            return None
        return assign(tile_element(tile, places), number(0, self.span), tile.read.element)

    def values_at(
        self, tile: ReadTile, filling: Filling, at: Mapping[Symbol, Symbol], by: int
    ) -> dict[Symbol, tuple[Expr, Expr]]:
        """Return what counters are worth, in their own types and as they are compared, so many elements behind a place
        of a row."""
        found: dict[Symbol, tuple[Expr, Expr]] = {}
        for one in tile.layout.by:
            symbol = at.get(one.variable)
            if symbol is not None:
                moved = number(by if one is tile.layout.by[-1] else 0, self.span)
                tested = binary("+", name(symbol, self.span), moved, symbol.type)
                counter = unqualified(one.variable.type)
                own = Cast(span=self.span, type=counter, operand=tested) if one is filling.loop else tested
                found[one.variable] = own, tested
        return found

    def is_own_place(self, head: For, place: Expr) -> bool:
        """Whether a place along an axis is the thread's own."""
        axis = self.shape.block.axis(head.variable)
        if axis is None or self.shape.block.elements_along(axis) > 1:
            return False
        return isinstance(place, Name) and place.symbol == self.positions.get(axis)

    def moved(self, head: For, place: Expr) -> Expr:
        """Return the value that a counter has for the thread at another place of the block."""
        axis = self.shape.block.axis(head.variable)
        assert axis is not None and isinstance(head.variable.type, Scalar), "a mapped counter"
        counter: Expr = name(self.firsts.get(head.variable, head.variable), self.span)
        own = kind = unqualified(head.variable.type)
        if head.variable.type.bits == INT.bits and constant(head.lower) != 0:
            # a thread behind the last iteration may have wrapped around
            counter, kind = Cast(span=self.span, type=UNSIGNED, operand=counter), UNSIGNED
        other = binary("+", binary("-", counter, self.offset(axis), kind), place, kind)
        return other if kind == own else Cast(span=self.span, type=own, operand=other)


def _tile_name(read: SharedRead) -> str:
    return f"{array_of(read.nodes[0])}_tile"


def _tile_type(read: SharedRead, layout: Layout, stages: int) -> Type:
    kind: Type = unqualified(read.element)
    extents = [*([stages] if stages > 1 else []), *layout.extents[:-1], layout.extents[-1] + layout.padding]
    for extent in reversed(extents):
        kind = Array(kind, None, extent)
    return kind


def _placed(read: SharedRead, values: Mapping[Symbol, Expr]) -> dict[Symbol, Expr]:
    """Return what stands for each placeholder of a condition: the counter itself where it is the thread's own."""
    return {other: values.get(counter, name(counter, read.nodes[0].span)) for counter, other in read.at.items()}


def _less(left: Expr, right: int) -> Expr:
    return binary("<", left, number(right, left.span), INT)


def _least(past: Expr, first: Symbol, width: int) -> Expr:
    """Return how many iterations the tile at `first` has before `past`, which lies behind its first one."""
    span = past.span
    left = binary("-", wide(past), name(first, span))
    whole = number(width, span)
    rest = Cast(span=span, type=INT, operand=left)
    return Conditional(span=span, type=INT, condition=binary("<", left, whole, INT), then=rest, other=whole)


def _clamp(end: Expr, first: Symbol, width: int) -> Expr:
    """Return where in the tile at `first` an end of the thread's own lies: before it counts as 0, behind it as all."""
    span = end.span
    before = binary("<", wide(end), name(first, span), INT)
    zero = number(0, span)
    return Conditional(span=span, type=INT, condition=before, then=zero, other=_least(end, first, width))
