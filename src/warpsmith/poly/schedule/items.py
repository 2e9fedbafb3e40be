"""Statements over the dimensions of their schedules: which dimensions are loops, what each counter is in terms of them,
what is one statement.

    for (t …) for (i …) for (j …) S;      row 0: 4t + 2i + j      free: a loop, w
    schedule (4t + 2i + j, t, i)              row 1: t                free: a loop
                                          row 2: i                free: a loop;  now j = w - 4t - 2i
                                          rows 3 …: the original order (t, i, j), all of it fixed: no more loops

Invariant: a statement's points are exactly the schedule vectors of its instances, and each has its own vector.
Statements that are the same statement at different points of the same dimensions become one: two triangles become a
square.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from warpsmith.poly.isl.formula import Formula, at_least, atoms_of, both
from warpsmith.poly.isl.point_sets import Points, drop_impossible
from warpsmith.poly.isl.polynomial import ZERO, Polynomial, atom, constant
from warpsmith.poly.isl.space import Set, make_schedule_map, make_set
from warpsmith.poly.legality.order import Ordered, ScheduledStatement
from warpsmith.poly.legality.schedules import Schedule
from warpsmith.tree.nodes import Name, Node, Stmt
from warpsmith.tree.nodes import replace as changed
from warpsmith.tree.types import Symbol
from warpsmith.tree.walk import rebuild, same

__all__ = ["Item", "ItemDimension", "ItemError", "make_items", "parameter_facts", "rename_variables"]


class ItemError(Exception):
    """A schedule cannot be one of its statement."""


class ItemDimension(Struct, frozen=True):
    """A dimension of a statement, floor(value / divisor) over its counters. `number`: it is that constant; `fixed`: its
    value over the dimensions before it; both None: it is free."""

    value: Polynomial
    divisor: int
    number: int | None = None
    fixed: Polynomial | None = None

    @property
    def free(self) -> bool:
        """Whether the dimensions before it do not fix it."""
        return self.number is None and self.fixed is None

    @property
    def known(self) -> Polynomial | None:
        """The value where it is fixed."""
        return constant(self.number) if self.number is not None else self.fixed


class Item(Struct, frozen=True):
    """A statement with its dimensions, its points (schedule vectors), and its counters over the dimensions."""

    statement: ScheduledStatement
    dimensions: tuple[ItemDimension, ...]
    points: Points
    counters: Mapping[str, Polynomial]


def parameter_facts(model: Ordered) -> Set:
    """Return what is known of all parameters: the region's context and the ranges of their types."""
    state = model.state
    used = atoms_of(state.context).union(*(atoms_of(statement.domain) for statement in model.statements))
    counters = {name for statement in model.statements for name in statement.counters}
    quotients, _ = state.vocabulary.definitions(used)
    formula = both((state.context, state.ranges(frozenset(used - counters - quotients))))
    context = make_set(state.vocabulary, (), formula)
    for statement in model.statements:
        for beyond in _beyond(model, statement):
            domain = model.domain(statement).intersect(make_set(state.vocabulary, statement.counters, beyond))
            context = drop_impossible(context, domain)
    return context


def _beyond(model: Ordered, statement: ScheduledStatement) -> Iterator[Formula]:
    """Yield for each counter the values at which stepping it once more would leave its type: no program gets there."""
    for loop, name in zip(statement.loops, statement.counters, strict=True):
        low, high = model.state.vocabulary[name].low, model.state.vocabulary[name].high
        if low is None or high is None:
            continue
        if loop.step > 0:
            yield at_least(atom(name), constant(high - loop.step + 1))
        else:
            yield at_least(constant(low - loop.step - 1), atom(name))


def _make_item(
    model: Ordered, statement: ScheduledStatement, schedule: Schedule, length: int, dims: tuple[str, ...]
) -> Item:
    values: list[tuple[Polynomial, int]] = []
    for dimension in schedule:
        value = model.dimension_value(statement, dimension)
        if value is None or dimension.divisor <= 0:
            raise ItemError("a schedule names what changes in the run")
        values.append((value, dimension.divisor))
    values += [(ZERO, 1)] * (length - len(values))
    for dimension in statement.schedule:
        value = model.dimension_value(statement, dimension)
        assert value is not None, "an original schedule has counters only"
        values.append((value, 1))
    values += [(ZERO, 1)] * (len(dims) - len(values))
    dimensions, counters = _solve_counters(statement, values, dims)
    return Item(
        statement,
        dimensions,
        Points.of(model.domain(statement), make_schedule_map(statement.counters, values), dims),
        counters,
    )


def _solve_counters(
    statement: ScheduledStatement, values: Sequence[tuple[Polynomial, int]], dims: Sequence[str]
) -> tuple[tuple[ItemDimension, ...], Mapping[str, Polynomial]]:
    """Find which dimensions are free, and every counter as a function of those: `w = 4t + 2i + j`, so
    `j = w - 4t - 2i`."""
    counters: dict[str, Polynomial] = {}
    equations: list[tuple[Polynomial, str]] = []
    dimensions: list[ItemDimension] = []
    for (value, divisor), dim in zip(values, dims, strict=True):
        reduced = _substitute(value, counters)
        if not reduced.atoms() & set(statement.counters) and divisor == 1:
            number = reduced.number
            dimensions.append(ItemDimension(value, divisor, number, None if number is not None else reduced))
            continue
        if value.number is not None:
            dimensions.append(ItemDimension(value, divisor, value.number // divisor))
            continue
        dimensions.append(ItemDimension(value, divisor))
        if divisor == 1:
            equations.append((value, dim))
            _solve(statement, equations, counters)
    return tuple(dimensions), counters


def _solve(
    statement: ScheduledStatement, equations: Sequence[tuple[Polynomial, str]], counters: dict[str, Polynomial]
) -> None:
    """Solve every equation that has one unknown left, with factor 1 or -1."""
    found = True
    while found:
        found = False
        for value, dim in equations:
            rest = _substitute(value, counters)
            unknown = sorted(rest.atoms() & set(statement.counters))
            if len(unknown) == 1 and abs(factor := rest.terms[(unknown[0],)]) == 1:
                counters[unknown[0]] = (atom(dim) - rest.drop_name(unknown[0])).scale(factor)
                found = True


def _substitute(value: Polynomial, known: Mapping[str, Polynomial]) -> Polynomial:
    for name in value.atoms() & known.keys():
        value = value.substitute(name, known[name])
    return value


def make_items(model: Ordered, schedules: Mapping[Stmt, Schedule], length: int, dims: tuple[str, ...]) -> list[Item]:
    """Return the statements of a model over the dimensions `dims`: the first `length` are those of `schedules`, padded
    with zeros, the others those of the original order. Raises ItemError."""
    return _merge_items(
        [_make_item(model, statement, schedules[statement.stmt], length, dims) for statement in model.statements],
        length,
    )


def _merge_items(items: Sequence[Item], length: int) -> list[Item]:
    """Make one of statements that are the same statement at different points of the same dimensions."""
    result: dict[int, Item] = {}
    for later, item in enumerate(items):
        for earlier, other in result.items():
            united = _unite(other, item, items[earlier + 1 : later], length)
            if united is not None:
                result[earlier] = united
                break
        else:
            result[later] = item
    return list(result.values())


def _unite(one: Item, other: Item, between: Sequence[Item], length: int) -> Item | None:
    """Return `one` at the points of both, where `other` is nothing but `one` at other points."""
    if [r.number for r in one.dimensions[:length]] != [r.number for r in other.dimensions[:length]]:
        return None
    names = _renaming(one, other, length)
    if names is None or not same(rename_variables(one.statement.stmt, names), other.statement.stmt):
        return None
    own = range(length)
    points = other.points.only(own)
    if not all(points.apart(item.points.only(own)) for item in (one, *between)):
        return None
    for k in range(length, len(one.dimensions)):
        value = one.dimensions[k].known
        if value is None:
            return None
        points = points.where(atom(f"row{k}") - value, equality=True)
    return replace(one, points=one.points.join([points]))


def _renaming(one: Item, other: Item, length: int) -> dict[Symbol, Symbol] | None:
    """Return the variable of `other` that has, at all its points, the value of each counter of `one` there."""
    late = {f"row{k}" for k in range(length, len(one.dimensions))}
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
    pairs = zip(item.statement.loops, item.statement.counters, strict=True)
    return {loop.variable: item.counters[name] for loop, name in pairs if name in item.counters}


def rename_variables(stmt: Stmt, renaming: Mapping[Symbol, Symbol]) -> Stmt:
    """Return a statement with other variables; it is the very same one where nothing changes."""
    moved = {a: b for a, b in renaming.items() if a != b}

    def change(node: Node) -> Node:
        if isinstance(node, Name) and node.symbol in moved:
            return changed(node, symbol=moved[node.symbol], type=moved[node.symbol].type)
        return node

    return rebuild(stmt, change) if moved else stmt
