"""What texts of kernels with tiles are made of: tiles and their elements, constants, loops, barriers; and what the
writer of a body hands to who fills its tiles.

    Turn       for (k_first = 0; k_first < n; k_first += 16) { loads; barrier; used; barrier }      its parts
    Filling    A_tile[row][column] = A[i_at][k_at]                                   what `put` makes of each element
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final, Protocol

from msgspec import Struct, structs

from warpsmith.base.source import Span
from warpsmith.loops.analysis.substitute import copy_tree
from warpsmith.offload.expressions import name
from warpsmith.offload.mapping.tile_shape import Layout
from warpsmith.offload.mapping.tiles import SharedRead
from warpsmith.tree.memory.tile_copies import LOAD_WIDE
from warpsmith.tree.nodes import (
    Assign,
    Binary,
    Call,
    DeclStmt,
    Expr,
    ExprStmt,
    For,
    Index,
    Name,
    Node,
    Stmt,
    Unary,
    VarDecl,
)
from warpsmith.tree.types import VOID, Array, FunctionType, Pointer, Scalar, Symbol, Type
from warpsmith.tree.walk import rebuild

__all__ = [
    "Filler",
    "Filling",
    "ReadTile",
    "ThreadShare",
    "Turn",
    "address_of",
    "assign",
    "barrier",
    "copy_wide",
    "count",
    "declare",
    "store",
    "store_wide",
    "tile_element",
    "unqualified",
    "with_values",
]

_BARRIER: Final = Symbol("__syncthreads", "cuda:__syncthreads", FunctionType(VOID, (), False), "function", None)


class ReadTile(Struct, frozen=True):
    """A read with its place in shared memory; `stages`: how many tiles it has there, which take turns;
    `wide`: how many neighbors in a row a thread loads at once."""

    read: SharedRead
    layout: Layout
    symbol: Symbol
    stages: int = 1
    wide: int = 1


class Turn(Struct, frozen=True):
    """A loop over tiles: `loop` as it now is in the body, the user's own `original`; its tiles; the counter of their
    first iterations, how many iterations one is wide, from where to before where the tiles go; and the statement that
    uses one of each."""

    loop: For
    original: For
    tiles: tuple[ReadTile, ...]
    first: Symbol
    width: int
    ends: tuple[Expr, Expr]
    used: Stmt


class Filling(Struct, frozen=True):
    """Tiles with the iterations of `loop` from `first` on: `put` makes the statement for one element, of the tile, the
    place in it, and what the counters are worth there; `put_wide` that for as many neighbors as a thread loads
    at once, the first one's place and values."""

    first: Symbol
    loop: For
    put: Callable[[ReadTile, Sequence[Expr], Mapping[Symbol, Expr]], Stmt]
    put_wide: Callable[[ReadTile, Sequence[Expr], Mapping[Symbol, Expr]], Stmt]


class ThreadShare(Struct, frozen=True):
    """Which elements of a tile a thread fills: those of one column, from a row on, each so many rows behind the last
    one."""

    column: Expr
    start: Expr
    step: int


class Filler(Protocol):
    """The writer of a body, as who fills its tiles sees it."""

    span: Span

    def variable(self, wanted: str, type: Type) -> Symbol:
        """Return a variable that blocks of their own declare, each for itself."""

    def share(self, tile: ReadTile) -> ThreadShare:
        """Return which elements of a tile a thread fills."""

    def load(self, tile: ReadTile, filling: Filling) -> list[Stmt]:
        """Return the statements with which the threads of a block fill a tile, each some elements of some rows."""

    def fill_row(self, tile: ReadTile, filling: Filling, row: Expr, column: Expr) -> list[Stmt]:
        """Return the statements that load one element of a row."""

    def enters_often(self, original: For) -> bool:
        """Whether the threads of a block may come to a loop with tiles more than once."""


def count(variable: Symbol, ends: tuple[Expr, Expr], step: int, body: Stmt, like: For) -> For:
    """Return a loop from one end to before the other."""
    lower, bound = ends
    return For(
        span=like.span,
        variable=variable,
        declares=True,
        lower=lower,
        relation="<",
        bound=bound,
        step=step,
        body=body,
        header=like.header,
    )


def unqualified(type: Type) -> Scalar:
    """Return the type of a number without qualifiers."""
    assert isinstance(type, Scalar), "a number"
    return Scalar(type.name, type.bits, type.kind, spelling=type.spelling.replace("const ", ""))


def tile_element(tile: ReadTile, places: Sequence[Expr]) -> Expr:
    """Return an element of a tile."""
    span = tile.read.nodes[0].span
    result: Expr = name(tile.symbol, span)
    for place in places:
        assert isinstance(result.type, Array), "as many subscripts as extents"
        result = Index(span=span, type=result.type.of, base=result, index=place)
    return result


def declare(symbol: Symbol, value: Expr, span: Span) -> DeclStmt:
    """Return the declaration of a constant."""
    type = symbol.type
    if isinstance(type, Scalar):
        symbol = structs.replace(symbol, type=structs.replace(type, const=True))
    return DeclStmt(span=span, declarations=(VarDecl(span=span, symbol=symbol, init=value),))


def barrier(span: Span) -> Stmt:
    """Return the statement at which the threads of a block wait for one another."""
    call = Call(span=span, type=VOID, function=name(_BARRIER, span), arguments=())
    return ExprStmt(span=span, expr=call)


def store(tile: ReadTile, places: Sequence[Expr], values: Mapping[Symbol, Expr]) -> Stmt:
    """Return the load of an element of a tile: what the program reads, where the counters are worth these values."""
    return assign(tile_element(tile, places), with_values(tile.read.held[0], values), tile.read.element)


def store_wide(tile: ReadTile, places: Sequence[Expr], values: Mapping[Symbol, Expr]) -> Stmt:
    """Return the load of neighbors in a row of a tile at once."""
    return copy_wide(LOAD_WIDE[tile.wide], tile, tile_element(tile, places), values)


def copy_wide(function: Symbol, tile: ReadTile, target: Expr, values: Mapping[Symbol, Expr]) -> Stmt:
    """Return the call with which a thread brings neighbors, the first one to `target`."""
    span = target.span
    element, held = tile.read.nodes[0], tile.read.held[0]
    addresses = (address_of(target), address_of(with_values(element, values)))
    factor: tuple[Expr, ...] = ()
    if held is not element:
        assert isinstance(held, Binary), "a product"
        factor = (with_values(held.right if held.left is element else held.left, values),)
    call = Call(span=span, type=VOID, function=name(function, span), arguments=(*addresses, *factor))
    return ExprStmt(span=span, expr=call)


def address_of(element: Expr) -> Expr:
    """Return the address of an element."""
    return Unary(span=element.span, type=Pointer(element.type), op="&", operand=copy_tree(element))


def assign(target: Expr, value: Expr, type: Type) -> Stmt:
    """Return an assignment as a statement."""
    return ExprStmt(span=value.span, expr=Assign(span=value.span, type=type, op="=", target=target, value=value))


def with_values(expr: Expr, values: Mapping[Symbol, Expr]) -> Expr:
    """Return a copy of an expression with values in place of variables."""

    def change(part: Node) -> Node:
        return values[part.symbol] if isinstance(part, Name) and part.symbol in values else part

    changed = rebuild(copy_tree(expr), change)
    assert isinstance(changed, Expr)
    return changed
