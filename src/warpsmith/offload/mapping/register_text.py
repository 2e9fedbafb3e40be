"""A thread's body for several iterations of the mapped loops: what they read alike is read once, into a variable.

    for (k_in = 0; k_in < k_last; k_in++)        for (k_in = 0; k_in < k_last; k_in++) {
        C_value += A_tile[i_in][k_in]                for (column …) B_tile_read[column] = B_tile[k_in][j_in + …];
                 * B_tile[k_in][j_in];               for (row …) {
                                           →             A_tile_read = A_tile[i_in * 8 + row][k_in];
                                                         for (column …)
                                                             C_value[row][column] += A_tile_read * B_tile_read[column];
                                                     }
                                                 }

Iterations that the launch does not have run this as well, where it only computes numbers of their own: tiles have zeros
where nothing is loaded. Else they are tested, unless the launch has all of a block's (`whole`):

    if (whole) for (k_in …) …; else for (k_in …) for (row …) for (column …) { if (i < n && j < n) … }

Invariant: each iteration of the mapped loops that the launch has runs once, with variables of its own, its statements
in the order that they had; nothing that all others compute is stored or decides anything. The loops over a thread's
iterations are unrolled, so that a compiler keeps the arrays of their variables in registers.
Limits: mapped loops count up by one; a loop with tiles runs from and to where it does for all iterations of a thread.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from functools import reduce
from typing import Final, TypeVar

from msgspec import field, structs

from warpsmith.base.verdict import Reason
from warpsmith.loops.analysis.substitute import copy_tree
from warpsmith.offload.expressions import binary, name, number
from warpsmith.offload.mapping.extremes import extremes
from warpsmith.offload.mapping.filling.words import ReadTile, count, declare, unqualified
from warpsmith.offload.mapping.own_variables import OwnVariables
from warpsmith.offload.mapping.ranges import guard
from warpsmith.offload.mapping.register_shape import is_straight
from warpsmith.offload.mapping.tile_shape import TileShape
from warpsmith.offload.mapping.tiled_text import NotTiledError, TiledBody, TileWriter, write_with
from warpsmith.offload.mapping.tiles import LoopReads, TileSearch, counts_up, is_made_of, is_read_behind
from warpsmith.poly.isl.bound_values import constant
from warpsmith.tree.nodes import (
    Assign,
    Binary,
    Block,
    Cast,
    Conditional,
    DeclStmt,
    Expr,
    ExprStmt,
    For,
    If,
    Index,
    Literal,
    Name,
    Node,
    Pragma,
    Stmt,
    Unary,
    VarDecl,
    replace,
)
from warpsmith.tree.program import Axis
from warpsmith.tree.types import BOOL, INT, UNSIGNED, Array, Scalar, Symbol, Type
from warpsmith.tree.walk import names, peel, rebuild, root_symbol, statements_of, walk

__all__ = ["write_elements"]

_UNROLL: Final = "#pragma unroll"
_SOME: Final = "#pragma unroll 4"

N = TypeVar("N", bound=Node)


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
    """Writes one body. `numbers`: what counts the iterations of a thread along an axis; `counters`: the counter of the
    iteration at hand, by the user's; `privates`: the arrays of what each iteration has of its own, by the variable of
    one; `outer`: those variables that are declared around the mapped loops; `valued`: those that each iteration has a
    value in, active or not; `wholes`: what says that all iterations of the thread are active, by what says it of one;
    `values`: what has one value in all threads."""

    numbers: dict[Axis, Symbol] = field(default_factory=dict)
    counters: dict[Symbol, Symbol] = field(default_factory=dict)
    privates: dict[Symbol, Symbol] = field(default_factory=dict)
    outer: list[Symbol] = field(default_factory=list)
    valued: set[Symbol] = field(default_factory=set)
    wholes: dict[Symbol, Symbol] = field(default_factory=dict)
    values: frozenset[Symbol] = frozenset()
    asks_whole: bool = False

    def name_counters(self) -> None:
        """Make the counters of the iterations of a thread, and the first value of each user's counter."""
        self.wholes[self.inside] = self.own.make("whole", BOOL, self.span)
        for head, axis in zip(self.shape.block.heads, self.shape.block.axes, strict=True):
            self.check_head(head)
            if self.shape.block.elements_along(axis) > 1:
                type = unqualified(head.variable.type)
                self.firsts[head.variable] = self.own.make(f"{head.variable.name}_first", type, head.variable.span)
                self.counters[head.variable] = self.variable(f"{head.variable.name}_at", type)
                self.numbers[axis] = self.variable("column" if axis == "x" else "row", INT)

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

    def privatize(self, symbol: Symbol, node: Node) -> Symbol:
        """Return the array of what each iteration has in place of a variable."""
        if not isinstance(symbol.type, Scalar):
            raise NotTiledError(f"{symbol.name} is more than a number", node)
        if symbol not in self.privates:
            type = self.array_of(unqualified(symbol.type), ("y", "x"))
            self.privates[symbol] = structs.replace(symbol, type=type)
        return self.privates[symbol]

    def array_of(self, type: Type, axes: Collection[Axis]) -> Type:
        """Return the type of an array with an element for each iteration along some axes."""
        for axis in ("x", "y"):
            if axis in axes and axis in self.numbers:
                type = Array(type, None, self.shape.block.elements_along(axis))
        return type

    def element(self, array: Symbol, axes: Sequence[Axis] = ("y", "x")) -> Expr:
        """Return the element of an array over some axes that belongs to the iteration at hand."""
        result: Expr = name(array, self.span)
        for axis in axes:
            if axis in self.numbers and isinstance(result.type, Array):
                index = name(self.numbers[axis], self.span)
                result = Index(span=self.span, type=result.type.of, base=result, index=index)
        return result

    # --- what is known of the thread

    def known_inside(self) -> Symbol | None:
        """Return nothing: the body tests each iteration."""
        return None

    def place(self, axis: Axis) -> Expr:
        """Return where the iteration at hand is along an axis of its block: along x a block's width behind the one
        before it, so that neighboring lanes have neighbors; else next to it."""
        if axis not in self.numbers:
            return self.position(axis)
        scaled, along = self.offset(axis), self.along(axis)
        return along if constant(scaled) == 0 else binary("+", scaled, along, INT)

    def offset(self, axis: Axis) -> Expr:
        """Return how far the first counter of a thread is from that of its block."""
        position = self.position(axis)
        if axis == "x" or axis not in self.numbers or constant(position) == 0:
            return position
        return binary("*", position, number(self.shape.block.elements_along(axis), self.span), INT)

    def along(self, axis: Axis) -> Expr:
        """Return how far the counter of the iteration at hand is from that of the thread's first one."""
        own: Expr = name(self.numbers[axis], self.span)
        if axis != "x" or self.shape.block.along("x") == 1:
            return own
        return binary("*", own, number(self.shape.block.along("x"), self.span), INT)

    def prologue(self) -> tuple[Stmt, ...]:
        """Return the declarations of variables, and of whether the launch has the whole block."""
        made: list[Stmt] = [*super().prologue()]
        if self.asks_whole:
            made.append(declare(self.wholes[self.inside], self.write_whole(), self.span))
        made += [self.declare_array(self.privates[symbol]) for symbol in self.outer]
        return tuple(made)

    def declare_array(self, array: Symbol) -> Stmt:
        """Return the declaration of an array without values."""
        return DeclStmt(span=self.span, declarations=(VarDecl(span=self.span, symbol=array, init=None),))

    def counter_of(self, head: For, axis: Axis) -> Expr:
        """Return what a counter is worth in the iteration at hand."""
        first: Expr = name(self.firsts[head.variable], self.span)
        type = unqualified(head.variable.type)
        if type.bits > INT.bits or constant(head.lower) == 0:
            return binary("+", first, self.along(axis), type)
        # a thread behind the last iteration may have wrapped around
        moved = binary("+", Cast(span=self.span, type=UNSIGNED, operand=first), self.along(axis), UNSIGNED)
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

    def tested(self, active: Symbol) -> Expr:
        """Return whether the iteration at hand is active."""
        if active in self.privates:
            return self.element(self.privates[active])
        found: list[Expr] = []
        outer: list[Symbol] = []
        for head in self.shape.block.heads:
            if constant(head.lower) != 0 and not any(n.symbol in outer for n in names(head.lower)):
                found.append(binary("<=", head.lower, name(head.variable, self.span), INT))
            found.append(guard(head, outer))
            outer.append(head.variable)
        return self.with_own(reduce(lambda a, b: binary("&&", a, b, INT), found))

    # --- each iteration for itself

    def with_own(self, node: N) -> N:
        """Return a copy of text with what the iteration at hand has in place of what all have."""

        def change(part: Node) -> Node:
            if not isinstance(part, Name):
                return part
            if part.symbol in self.counters:
                return name(self.counters[part.symbol], part.span)
            own = self.privates.get(part.symbol)
            return part if own is None else self.element(own)

        return rebuild(copy_tree(node), change)

    def for_each(self, statements: Sequence[Stmt], axes: Sequence[Axis] = ("y", "x")) -> list[Stmt]:
        """Return statements for each iteration of the thread along some axes, the last one running fastest."""
        made = list(statements)
        for axis in reversed([axis for axis in axes if axis in self.numbers]):
            used = {n.symbol for stmt in made for n in names(stmt)}
            heads = [head for head in self.shape.block.heads if self.shape.block.axis(head.variable) == axis]
            for head in heads:
                if self.counters[head.variable] in used:
                    made.insert(0, declare(self.counters[head.variable], self.counter_of(head, axis), self.span))
            past = number(self.shape.block.elements_along(axis), self.span)
            loop = count(self.numbers[axis], (number(0, self.span), past), 1, _block(heads[0], made), heads[0])
            made = [Pragma(span=self.span, text=_UNROLL), loop]
        return made

    def guarded(self, statements: Sequence[Stmt], active: Symbol) -> list[Stmt]:
        """Return statements for each iteration that is active."""
        if not statements:
            return []
        own = tuple(self.with_own(stmt) for stmt in statements)
        span = statements[0].span
        done = own[0] if len(own) == 1 else Block(span=span, statements=own)
        return self.for_each([If(span=span, condition=self.tested(active), then=done, other=None)])

    def declared(self, stmt: DeclStmt, active: Symbol) -> list[Stmt]:
        """Return a declaration for each iteration; only the active ones compute its values."""
        made: list[Stmt] = []
        for declaration in stmt.declarations:
            array = self.privatize(declaration.symbol, declaration)
            made.append(self.declare_array(array))
            if declaration.init is None:
                continue
            self.valued.add(declaration.symbol)
            value, type = self.with_own(declaration.init), unqualified(declaration.symbol.type)
            if not isinstance(peel(value), Literal):
                test, zero = self.tested(active), number(0, value.span)
                value = Conditional(span=value.span, type=type, condition=test, then=value, other=zero)
            made += self.for_each([_assign(self.element(array), value)])
        return made

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
        whole = self.wholes[enters] = self.own.make("whole", BOOL, stmt.span)
        both = binary("&&", self.tested(active), self.with_own(stmt.condition), BOOL)
        own = self.element(self.privatize(enters, stmt))
        one = number(1, stmt.span)
        more = binary("&&", name(whole, stmt.span), own, BOOL)
        tests = self.for_each([_assign(own, both), _assign(name(whole, stmt.span), more)])
        inner = self.run(statements_of(stmt.then), enters)
        return [
            self.declare_array(self.privates[enters]),
            DeclStmt(span=stmt.span, declarations=(VarDecl(span=stmt.span, symbol=whole, init=one),)),
            *tests,
            Block(span=stmt.then.span, statements=tuple(inner)),
        ]

    # --- the iterations of one tile

    def iterate(self, loop: For, at: tuple[Symbol, Symbol, int], ends: tuple[Expr, Expr], active: Symbol) -> list[Stmt]:
        """Return the iterations of one tile: without tests, where all iterations of the thread are active, or where
        those that are not may run as well."""
        first, inner, _ = at
        if any(n.symbol in self.firsts for end in (loop.lower, loop.bound) for n in names(end)):
            text = f"the loop over {loop.variable.name} runs differently for the iterations of one thread"
            raise NotTiledError(text, loop)
        body = self.with_tiles(loop.body, inner)
        fast = [*self.counter_in(loop, (first, inner), body), *self.unguarded(loop, inner)]
        every = count(inner, ends, 1, _block(loop, fast), loop)
        unrolled: list[Stmt] = [Pragma(span=loop.span, text=_SOME), every]
        if self.may_all_run(loop, body, active):
            self.cleared.add(self.rewritten[id(loop)])
            return unrolled
        self.asks_whole |= active == self.inside
        slow = [*self.counter_in(loop, (first, inner), body), *self.guarded(statements_of(body), active)]
        some = count(inner, ends, 1, _block(loop, slow), loop)
        condition = name(self.wholes[active], loop.span)
        return [If(span=loop.span, condition=condition, then=_block(loop, unrolled), other=_block(loop, [some]))]

    def may_all_run(self, loop: For, body: Stmt, active: Symbol) -> bool:
        """Whether iterations that the launch does not have may run a body with tiles: it computes floating point
        numbers of tiles and of what each iteration has of its own, and stores nothing else. Those that a condition of
        the nest leaves out go on with what they had."""
        if active != self.inside or self.rewritten[id(loop)] in self.shape.doubled:
            return False
        tiles = {tile.symbol for tile in self.tiles.values()}
        own = {n.symbol for n in names(body)} & self.privates.keys()
        return (
            is_straight(loop) and own <= self.valued and all(_computes(part, tiles, self.valued) for part in walk(body))
        )

    def unguarded(self, loop: For, inner: Symbol) -> list[Stmt]:
        """Return one iteration of a loop for all iterations of the thread, what several of these read alike read
        once: what does not change along y before the loop over y, the rest before that over x."""
        tiles = [tile for tile in self.tiles_of(loop) if is_straight(loop) and self.axes_of(tile) < {"x", "y"}]
        before, within = list[Stmt](), list[Stmt]()
        reads: dict[int, Expr] = {}
        for tile in tiles:
            down = "y" in self.axes_of(tile)
            kind = self.array_of(unqualified(tile.read.element), () if down else self.axes_of(tile))
            symbol = self.variable(f"{tile.symbol.name}_read", kind)
            reads |= {id(node): self.element(symbol, ("x",)) for node in tile.read.held}
            (within if down else before).extend(self.read_once(tile, symbol, inner))

        def change(node: Node) -> Node:
            return copy_tree(reads[id(node)]) if id(node) in reads else node

        body = self.with_tiles(rebuild(loop.body, change), inner)
        own = [self.with_own(stmt) for stmt in statements_of(body)]
        return [*before, *self.for_each([*within, *self.for_each(own, ("x",))], ("y",))]

    def read_once(self, tile: ReadTile, symbol: Symbol, inner: Symbol) -> list[Stmt]:
        """Return the statements that read what iterations use of a tile into a variable, or into an array."""
        value = self.element_at(tile, inner)
        if isinstance(symbol.type, Scalar):
            return [declare(symbol, value, self.span)]
        return [self.declare_array(symbol), *self.for_each([_assign(self.element(symbol, ("x",)), value)], ("x",))]

    def element_at(self, tile: ReadTile, inner: Symbol) -> Expr:
        """Return the element of a tile that an iteration reads."""
        axes = [self.shape.block.axis(loop.variable) for loop in tile.layout.by]
        places = [name(inner, self.span) if axis is None else self.place(axis) for axis in axes]
        return self.element_in_use(tile, places)

    def tiles_of(self, loop: For) -> Iterator[ReadTile]:
        """Yield the tiles of a loop, as it now is in the body."""
        inside = {id(part) for part in walk(loop.body)}
        yield from (tile for tile in self.tiles.values() if all(id(node) in inside for node in tile.read.held))

    def axes_of(self, tile: ReadTile) -> set[Axis]:
        """Return the axes along which the iterations of a thread read different elements of a tile."""
        axes = (self.shape.block.axis(loop.variable) for loop in tile.layout.by)
        return {axis for axis in axes if axis in self.numbers and axis is not None}


def _computes(part: Node, tiles: Collection[Symbol], own: Collection[Symbol]) -> bool:
    """Whether a part of a text reads, writes and computes nothing but floating point numbers of tiles and `own`, and
    places in tiles."""
    if isinstance(part, Index):
        return root_symbol(part) in tiles
    if isinstance(part, Assign):
        stored = peel(part.target)
        return isinstance(stored, Name) and stored.symbol in own and _is_floating(stored.type)
    if isinstance(part, Binary):
        return part.op in ("+", "-", "*") or (part.op == "/" and _is_floating(part.type))
    if isinstance(part, Unary):
        return part.op in ("+", "-")
    if isinstance(part, Cast):
        return _is_floating(part.type) or not _is_floating(part.operand.type)
    if isinstance(part, VarDecl):
        return _is_floating(part.symbol.type)
    return isinstance(part, Name | Literal | ExprStmt | DeclStmt | Block)


def _is_floating(type: Type) -> bool:
    return isinstance(type, Scalar) and type.kind == "float"


def _assign(target: Expr, value: Expr) -> Stmt:
    stored = Assign(span=value.span, type=target.type, op="=", target=target, value=value)
    return ExprStmt(span=value.span, expr=stored)


def _block(loop: For, statements: Sequence[Stmt]) -> Stmt:
    return statements[0] if len(statements) == 1 else Block(span=loop.body.span, statements=tuple(statements))
