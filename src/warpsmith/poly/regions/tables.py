"""Tables: arrays of integers that keep the numbers of their initializer, as long as the program runs.

    static int dx[4] = {0, 1, 0, -1};        dx[k] is 0, 1, 0 or -1 by k, where nothing writes to dx
    const int at[N] = {5, 7, 9, 30, 32};     at[i] is 5 + 2 i for i in 0..2, and 30 + 2 (i - 3) for i in 3..4

Invariant: no text of the program stores to a table, and no address of it is at hand by which anything could; one that
other files can name is a table only where there are none, or where it is const.
Limits: one dimension, no designated initializers, and no more than a thousand numbers.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from warpsmith.poly.effects.constants import number_of
from warpsmith.tree.nodes import Assign, GlobalDecl, Index, InitList, Name, Node, Unary, VarDecl
from warpsmith.tree.program import Program
from warpsmith.tree.types import Array, Scalar, Symbol, integer_range, is_integer
from warpsmith.tree.walk import peel, root_symbol, walk

__all__ = ["TableRun", "find_tables", "runs_of"]

_LONGEST = 1024
_PLACES = ("++x", "--x", "x++", "x--", "&")
Table = tuple[int, ...]


class TableRun(Struct, frozen=True):
    """Neighbors of a table in equal steps: element `first` + k is `value` + k * `step`, for k from 0 to `count` - 1."""

    first: int
    count: int
    value: int
    step: int


def find_tables(program: Program) -> Mapping[Symbol, Table]:
    """Return the tables of a program with their numbers."""
    tops = [item for unit in program.units for item in unit.items if isinstance(item, GlobalDecl)]
    nodes: list[Node] = [*tops, *(function for _, function in program.functions())]
    alone = program.outside is None and any(f.symbol.name == "main" for _, f in program.functions())
    found: dict[Symbol, Table] = {}
    again: set[Symbol] = set()
    changed: set[Symbol] = set()
    for top in nodes:
        declared, touched = _read_text(top)
        again |= found.keys() & dict(declared).keys()
        found |= declared
        changed |= touched
    return {
        symbol: numbers
        for symbol, numbers in found.items()
        if symbol not in again
        and (_is_const(symbol) or (symbol not in changed and (alone or symbol.storage != "global")))
    }


def runs_of(numbers: Sequence[int]) -> tuple[TableRun, ...]:
    """Return a table as runs of equal steps, each as long as it can be."""
    found: list[TableRun] = []
    first = 0
    while first < len(numbers):
        step = numbers[first + 1] - numbers[first] if first + 1 < len(numbers) else 0
        count = 1
        while first + count < len(numbers) and numbers[first + count] == numbers[first] + count * step:
            count += 1
        found.append(TableRun(first, count, numbers[first], step if count > 1 else 0))
        first += count
    return tuple(found)


# nodes never change, and rewritten programs share most of theirs
@functools.lru_cache(maxsize=4096)
def _read_text(top: Node) -> tuple[tuple[tuple[Symbol, Table], ...], frozenset[Symbol]]:
    """Return the arrays that a part of the program declares with numbers, and those that it may change."""
    declared = tuple((n.symbol, t) for n in walk(top) if isinstance(n, VarDecl) and (t := _numbers_in(n)) is not None)
    return declared, frozenset(_find_changed(top))


def _numbers_in(declared: VarDecl) -> Table | None:
    kind, init = declared.symbol.type, declared.init
    if not isinstance(kind, Array) or not isinstance(init, InitList) or kind.count is None:
        return None
    element = kind.of
    if not isinstance(element, Scalar) or not is_integer(element) or element.volatile or kind.count > _LONGEST:
        return None
    low, high = integer_range(element)
    numbers = [number_of(item, {}) for item in init.items]
    known = [n for n in numbers if n is not None and low <= n <= high]
    if len(known) != len(numbers) or len(known) > kind.count:
        return None
    return (*known, *(0 for _ in range(kind.count - len(known))))


def _find_changed(top: Node) -> Iterator[Symbol]:
    """Yield the arrays that are more than read element by element."""
    read = {id(peel(n.base)) for n in walk(top) if isinstance(n, Index)}
    for node in walk(top):
        if isinstance(node, Name) and isinstance(node.symbol.type, Array) and id(node) not in read:
            yield node.symbol
        if isinstance(node, Assign | Unary):
            place = node.target if isinstance(node, Assign) else node.operand if node.op in _PLACES else None
            root = None if place is None else root_symbol(place)
            yield from () if root is None else (root,)
        # what is not modelled names what it may take the address of
        yield from (*getattr(node, "reads", ()), *getattr(node, "writes", ()))


def _is_const(symbol: Symbol) -> bool:
    kind = symbol.type
    return isinstance(kind, Array) and isinstance(kind.of, Scalar) and kind.of.const
