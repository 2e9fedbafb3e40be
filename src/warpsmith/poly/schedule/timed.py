"""Leaves over the rows of their times: which rows are loops, what each counter is in terms of them, what is one leaf.

    for (t …) for (i …) for (j …) S;      row 0: 4t + 2i + j      free: a loop, w
    time (4t + 2i + j, t, i)              row 1: t                free: a loop
                                          row 2: i                free: a loop;  now j = w - 4t - 2i
                                          rows 3 …: the original order (t, i, j), all of it fixed: no more loops

Invariant: a leaf's points are exactly the row vectors of its instances, and each has its own vector. Leaves that are
the same statement at different points of the same rows become one: two triangles become a square.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from warpsmith.poly.isl.formula import Formula, at_least, atoms_of, both
from warpsmith.poly.isl.polynomial import ZERO, Polynomial, atom, constant
from warpsmith.poly.isl.rows import Points, spared
from warpsmith.poly.isl.space import Set, make_set, make_times
from warpsmith.poly.legality.order import Leaf, Ordered
from warpsmith.poly.legality.times import Time
from warpsmith.tree.nodes import Name, Node, Stmt
from warpsmith.tree.nodes import replace as changed
from warpsmith.tree.types import Symbol
from warpsmith.tree.walk import rebuild, same

__all__ = ["Item", "ItemError", "TimeRow", "parameters_known", "renamed", "timed"]


class ItemError(Exception):
    """A time cannot be one of its leaf."""


class TimeRow(Struct, frozen=True):
    """A row of a leaf, floor(value / divisor) over its counters. `number`: it is that constant; `fixed`: its value
    over the rows before it; both None: it is free."""

    value: Polynomial
    divisor: int
    number: int | None = None
    fixed: Polynomial | None = None

    @property
    def free(self) -> bool:
        """Whether the rows before it do not fix it."""
        return self.number is None and self.fixed is None

    @property
    def known(self) -> Polynomial | None:
        """The value where it is fixed."""
        return constant(self.number) if self.number is not None else self.fixed


class Item(Struct, frozen=True):
    """A leaf with its rows, its points (row vectors), and its counters over the rows."""

    leaf: Leaf
    rows: tuple[TimeRow, ...]
    points: Points
    counters: Mapping[str, Polynomial]


def parameters_known(model: Ordered) -> Set:
    """Return what is known of all parameters: the region's context and the ranges of their types."""
    state = model.state
    used = atoms_of(state.context).union(*(atoms_of(leaf.domain) for leaf in model.leaves))
    counters = {name for leaf in model.leaves for name in leaf.counters}
    quotients, _ = state.vocabulary.definitions(used)
    formula = both((state.context, state.ranges(frozenset(used - counters - quotients))))
    context = make_set(state.vocabulary, (), formula)
    for leaf in model.leaves:
        for beyond in _beyond(model, leaf):
            domain = model.domain(leaf).intersect(make_set(state.vocabulary, leaf.counters, beyond))
            context = spared(context, domain)
    return context


def _beyond(model: Ordered, leaf: Leaf) -> Iterator[Formula]:
    """Yield for each counter the values at which stepping it once more would leave its type: no program gets there."""
    for loop, name in zip(leaf.loops, leaf.counters, strict=True):
        low, high = model.state.vocabulary[name].low, model.state.vocabulary[name].high
        if low is None or high is None:
            continue
        if loop.step > 0:
            yield at_least(atom(name), constant(high - loop.step + 1))
        else:
            yield at_least(constant(low - loop.step - 1), atom(name))


def _timed(model: Ordered, leaf: Leaf, time: Time, length: int, dims: tuple[str, ...]) -> Item:
    values: list[tuple[Polynomial, int]] = []
    for row in time:
        value = model.row_value(leaf, row)
        if value is None or row.divisor <= 0:
            raise ItemError("a time names what changes in the run")
        values.append((value, row.divisor))
    values += [(ZERO, 1)] * (length - len(values))
    for row in leaf.time:
        value = model.row_value(leaf, row)
        assert value is not None, "an original time has counters only"
        values.append((value, 1))
    values += [(ZERO, 1)] * (len(dims) - len(values))
    rows, counters = _solved(leaf, values, dims)
    return Item(leaf, rows, Points.of(model.domain(leaf), make_times(leaf.counters, values), dims), counters)


def _solved(
    leaf: Leaf, values: Sequence[tuple[Polynomial, int]], dims: Sequence[str]
) -> tuple[tuple[TimeRow, ...], Mapping[str, Polynomial]]:
    """Find which rows are free, and every counter as a function of those: `w = 4t + 2i + j`, so `j = w - 4t - 2i`."""
    counters: dict[str, Polynomial] = {}
    equations: list[tuple[Polynomial, str]] = []
    rows: list[TimeRow] = []
    for (value, divisor), dim in zip(values, dims, strict=True):
        reduced = _substituted(value, counters)
        if not reduced.atoms() & set(leaf.counters) and divisor == 1:
            number = reduced.number
            rows.append(TimeRow(value, divisor, number, None if number is not None else reduced))
            continue
        if value.number is not None:
            rows.append(TimeRow(value, divisor, value.number // divisor))
            continue
        rows.append(TimeRow(value, divisor))
        if divisor == 1:
            equations.append((value, dim))
            _solve(leaf, equations, counters)
    return tuple(rows), counters


def _solve(leaf: Leaf, equations: Sequence[tuple[Polynomial, str]], counters: dict[str, Polynomial]) -> None:
    """Solve every equation that has one unknown left, with factor 1 or -1."""
    found = True
    while found:
        found = False
        for value, dim in equations:
            rest = _substituted(value, counters)
            unknown = sorted(rest.atoms() & set(leaf.counters))
            if len(unknown) == 1 and abs(factor := rest.terms[(unknown[0],)]) == 1:
                counters[unknown[0]] = (atom(dim) - rest.without(unknown[0])).scaled(factor)
                found = True


def _substituted(value: Polynomial, known: Mapping[str, Polynomial]) -> Polynomial:
    for name in value.atoms() & known.keys():
        value = value.substitute(name, known[name])
    return value


def timed(model: Ordered, times: Mapping[Stmt, Time], length: int, dims: tuple[str, ...]) -> list[Item]:
    """Return the leaves of a model over the rows `dims`: the first `length` are those of `times`, padded with zeros,
    the others those of the original order. Raises ItemError."""
    return _merged([_timed(model, leaf, times[leaf.stmt], length, dims) for leaf in model.leaves], length)


def _merged(items: Sequence[Item], length: int) -> list[Item]:
    """Make one of leaves that are the same statement at different points of the same rows."""
    result: dict[int, Item] = {}
    for later, item in enumerate(items):
        for earlier, other in result.items():
            united = _united(other, item, items[earlier + 1 : later], length)
            if united is not None:
                result[earlier] = united
                break
        else:
            result[later] = item
    return list(result.values())


def _united(one: Item, other: Item, between: Sequence[Item], length: int) -> Item | None:
    """Return `one` at the points of both, where `other` is nothing but `one` at other points."""
    if [r.number for r in one.rows[:length]] != [r.number for r in other.rows[:length]]:
        return None
    names = _renaming(one, other, length)
    if names is None or not same(renamed(one.leaf.stmt, names), other.leaf.stmt):
        return None
    own = range(length)
    points = other.points.only(own)
    if not all(points.apart(item.points.only(own)) for item in (one, *between)):
        return None
    for k in range(length, len(one.rows)):
        value = one.rows[k].known
        if value is None:
            return None
        points = points.where(atom(f"row{k}") - value, equality=True)
    return replace(one, points=one.points.join([points]))


def _renaming(one: Item, other: Item, length: int) -> dict[Symbol, Symbol] | None:
    """Return the variable of `other` that has, at all its points, the value of each counter of `one` there."""
    late = {f"row{k}" for k in range(length, len(one.rows))}
    right = _by_symbol(other)
    found: dict[Symbol, Symbol] = {}
    for symbol, value in _by_symbol(one).items():
        if value.atoms() & late:
            return None
        equal = [s for s, v in right.items() if s.type == symbol.type and other.points.always(v - value)]
        if not equal:
            return None
        found[symbol] = next((s for s in equal if s.name == symbol.name), equal[0])
    return found


def _by_symbol(item: Item) -> dict[Symbol, Polynomial]:
    pairs = zip(item.leaf.loops, item.leaf.counters, strict=True)
    return {loop.variable: item.counters[name] for loop, name in pairs if name in item.counters}


def renamed(stmt: Stmt, renaming: Mapping[Symbol, Symbol]) -> Stmt:
    """Return a statement with other variables; it is the very same one where nothing changes."""
    moved = {a: b for a, b in renaming.items() if a != b}

    def change(node: Node) -> Node:
        if isinstance(node, Name) and node.symbol in moved:
            return changed(node, symbol=moved[node.symbol], type=moved[node.symbol].type)
        return node

    return rebuild(stmt, change) if moved else stmt
