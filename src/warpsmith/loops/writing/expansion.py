"""The dimensions that an expansion adds: one for each level of loops, before those of the variable itself.

    for (i < n) for (j < m) { … w … }        w_all[i*m + j]             levels [0, n - 1], [0, m - 1]
    for (r < n) { … sum[p] … }               sum_all[r*np + p]          levels [0, n - 1], dims [0, np - 1]

Invariant: different values of (counters, subscripts) within the covers have different slots, all of them inside the
storage.
Limits: bounds and subscripts that are not linear; see extremes.py.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping

from msgspec import Struct

from warpsmith.base.verdict import Reason
from warpsmith.loops.analysis.extremes import Cover, cover_of, extreme, is_writable, whole, wide_expr
from warpsmith.loops.analysis.uses import Chain, VariableUse, chains, element_of, find_declared_in, uses, variable
from warpsmith.loops.linear import Linear
from warpsmith.loops.place import LoopContext
from warpsmith.poly.analyze import Facts
from warpsmith.poly.legality.privacy import writes_all
from warpsmith.tree.nodes import Expr, For, Node
from warpsmith.tree.types import Array, Pointer, Scalar, Symbol, Type
from warpsmith.tree.walk import children, loops, walk, written_symbols

__all__ = ["Shape", "count_of", "origin_of", "settles", "shape_of", "slots_of"]

# a counter that starts here or below keeps its value as its slot
_SMALL = 16


class Shape(Struct, frozen=True):
    """What is added: a dimension for each level of loops, before those of the variable itself.

    `levels` and `dims` are the values that the counters and the subscripts take; `checked`: there may be more slots
    than the loops can ever use.
    """

    symbol: Symbol
    element: Scalar
    chains: tuple[Chain, ...]
    uses: tuple[tuple[VariableUse, Chain], ...]
    levels: tuple[Cover, ...]
    dims: tuple[Cover, ...]

    @property
    def covers(self) -> tuple[Cover, ...]:
        """All dimensions, outermost first."""
        return (*self.levels, *self.dims)

    @property
    def rectangular(self) -> bool:
        """Whether the iterations are all the combinations of the counters' values."""
        if len(self.chains) != 1 or not self.chains[0].straight:
            return False
        loops_of = self.chains[0].loops
        counters = {loop.variable for loop in loops_of}
        ends = [Linear.of(end) for loop in loops_of for end in (loop.lower, loop.bound)]
        plain = all(end is not None and not counters & set(end.symbols) for end in ends)
        return plain and all(abs(loop.step) == 1 for loop in loops_of)


def origin_of(cover: Cover) -> Linear:
    """Return what is taken off a counter to make it a slot: nothing where it starts at a small number."""
    return Linear() if not cover.low.terms and 0 <= cover.low.constant <= _SMALL else cover.low


def slots_of(cover: Cover) -> Linear:
    """Return how many slots there are: n rather than n - 1, so that products of sizes stay simple."""
    count = cover.high.shift(1).minus(origin_of(cover))
    return Linear(count.terms, max(0, count.constant)) if count.terms else count


def count_of(cover: Cover) -> Linear:
    """Return how many values there are; none where that is negative."""
    return cover.high.shift(1).minus(cover.low)


def shape_of(place: LoopContext, name: str, depth: int) -> Shape | Reason:
    """Return what the step would add, or what does not fit."""
    loop = place.require_counted()
    if depth < 1:
        return Reason("STP003", "depth is at least 1", loop.header)
    symbol = variable(place, name)
    if isinstance(symbol, Reason):
        return symbol
    kind = element_of(symbol.type)
    if kind is None:
        return Reason("STP002", f"{symbol.name} is not a number or an array of numbers", loop.header)
    element, rank = kind
    found = chains(loop, symbol, depth)
    if isinstance(found, Reason):
        return found
    pairs: list[tuple[VariableUse, Chain]] = []
    for chain in found:
        used = uses(chain.loops[-1].body, symbol, rank)
        if isinstance(used, Reason):
            return used
        pairs += [(use, chain) for use in used]
    if not pairs:
        return Reason("STP002", f"{symbol.name} is not used {depth} loops deep", loop.header)
    return _find_shape(place, symbol, element, (tuple(found), tuple(pairs)))


def _find_shape(
    place: LoopContext,
    symbol: Symbol,
    element: Scalar,
    used: tuple[tuple[Chain, ...], tuple[tuple[VariableUse, Chain], ...]],
) -> Shape | Reason:
    chains_of, pairs = used
    loop = place.require_counted()
    levels: list[Cover] = []
    for level in zip(*(chain.loops for chain in chains_of), strict=True):
        found = [_covers(place, inner).get(inner.variable) for inner in level]
        taken_in = whole([r for r in found if r is not None]) if None not in found else None
        if taken_in is None:
            text = f"how often {level[0].variable.name} runs is not a sum of variables and numbers"
            return Reason("STP002", text, level[0].header)
        levels.append(taken_in)
    dims = _dims(place, symbol, [use for use, _ in pairs])
    if dims is None:
        text = f"which elements of {symbol.name} are used is not a range that can be written"
        return Reason("STP002", text, pairs[0][0].node.span)
    shape = Shape(symbol, element, chains_of, pairs, tuple(levels), tuple(dims))
    changed = written_symbols(loop) | find_declared_in(loop)
    moving = [s for r in shape.covers for f in (r.low, r.high) for s in f.symbols if s in changed]
    if moving:
        return Reason("STP002", f"{moving[0].name}, on which the size depends, changes in the loop", loop.header)
    sizes = [form for cover in shape.covers for form in (count_of(cover), slots_of(cover), origin_of(cover))]
    if not all(map(is_writable, sizes)):
        return Reason("STP002", f"the size of {symbol.name}'s copies might overflow", loop.header)
    return shape


def _dims(place: LoopContext, symbol: Symbol, used: list[VariableUse]) -> list[Cover] | None:
    """Return the values that the subscripts of a variable take. Where one of them may run over into the next row, the
    dimensions around it are whole, so that the rows follow each other as they do in the variable."""
    dims: list[Cover] = []
    for position in range(len(used[0].subscripts)):
        taken = [_subscript(place, use, position) for use in used]
        taken_in = whole([r for r in taken if r is not None]) if None not in taken else None
        if taken_in is not None and _fits(symbol, position, taken_in):
            dims.append(taken_in)
            continue
        dims = [r for around in range(position + 1) if (r := _declared_cover(symbol, around)) is not None]
        if len(dims) <= position:
            return None
    return dims


def _covers(place: LoopContext, inner: Node) -> dict[Symbol, Cover]:
    """Return the values of the counters of the loops around a part of the loop, itself included."""
    found: dict[Symbol, Cover] = {}
    for around in _path(place.loop, inner):
        if isinstance(around, For):
            values = cover_of(around, found)
            if values is not None:
                found[around.variable] = values
    return found


def _path(top: Node, wanted: Node) -> tuple[Node, ...]:
    """Return the nodes from `top` to `wanted`; none where that is not below."""
    parents = _find_parents(top)
    found = [wanted]
    while found[-1] is not top:
        parent = parents.get(found[-1])
        if parent is None:
            return ()
        found.append(parent)
    return tuple(reversed(found))


# every use of a variable asks for the loops around it
@functools.lru_cache(maxsize=16)
def _find_parents(top: Node) -> Mapping[Node, Node]:
    """Return what each node below `top` is part of: the first that has it, in the order of the text."""
    parents: dict[Node, Node] = {}
    for node in walk(top):
        for child in children(node):
            parents.setdefault(child, node)
    return parents


def _subscript(place: LoopContext, use: VariableUse, position: int) -> Cover | None:
    form = Linear.of(use.subscripts[position])
    if form is None:
        return None
    ranges = _covers(place, use.node)
    inside = {loop.variable for loop, _ in loops(place.loop) if isinstance(loop, For)}
    if any(symbol in inside and symbol not in ranges for symbol in form.symbols):
        return None
    return Cover(extreme(form, ranges, greatest=False), extreme(form, ranges, greatest=True))


def _declared_cover(symbol: Symbol, position: int) -> Cover | None:
    """Return the whole dimension of an array as it is declared, where that is a number. An element outside of it is
    none of the array's, unless a subscript runs over into the next row: rows then follow each other here as well."""
    type: Type = symbol.type
    for _ in range(position):
        type = type.of if isinstance(type, Array) else type.to if isinstance(type, Pointer) else type
    if not isinstance(type, Array) or type.count is None:
        return None
    return Cover(Linear(), Linear((), type.count - 1))


def _fits(symbol: Symbol, position: int, taken: Cover) -> bool:
    """Whether subscripts keep to their own dimension (the outermost one has no end that matters)."""
    if position == 0:
        return True
    extent = Linear.of(extent_expr) if (extent_expr := _extent(symbol.type, position)) is not None else None
    if extent is None or taken.low.terms or taken.low.constant < 0:
        return False
    room = extent.minus(taken.high.shift(1))
    return not room.terms and room.constant >= 0


def _extent(type: Type, position: int) -> Expr | None:
    """Return the extent of an array's dimension as written."""
    for _ in range(position):
        type = type.of if isinstance(type, Array) else type.to if isinstance(type, Pointer) else type
    return type.extent if isinstance(type, Array) else None


def settles(facts: Facts, place: LoopContext, shape: Shape) -> bool:
    """Whether each iteration certainly writes all that is kept, so that the last one leaves what the loop leaves."""
    if not shape.rectangular or any(origin_of(r) != r.low for r in shape.dims):
        return False
    loops_of = shape.chains[0].loops
    span = place.loop.span
    if any(r.low != Linear() for r in shape.dims):
        return False
    extents = [wide_expr(r.high.shift(1), span) for r in shape.dims]
    return writes_all(facts, place.function, loops_of, shape.symbol, extents)
