"""A run of statements as statement instances: where each runs, in what order, and which pairs may not change theirs.

    for (i …) {              statement S0: domain { [i] : … },     schedule (0, i, 0)
        a[i] = b[i];  (S0)   statement S1: domain { [i, j] : … },  schedule (0, i, 1, j, 0)
        for (j …)
            c[i] += a[j];    dependences  S0[i] -> S1[i', j] : j = i, i' >= i (flow),  S1[i, j] -> S0[i'] : … (anti), …
    }               (S1)

A statement is a statement of the run; its counters are those of the loops of the run around it, outermost first;
whatever it contains (loops too) happens at one point and keeps its order. Invariant: a pair of different statement
instances of which one may write what the other touches, in the original order, stands in `dependences`, except through
`private` variables, as long as no two names are one memory (poly/aliasing/overlap.py) and `obstacles` is empty.

isl sees only dimension names: `state.vocabulary[name]` is the atom behind a counter or parameter (its `symbol`, host
`expr`, the user's `text`). Work inside `space.budget`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from warpsmith.base.verdict import DependenceKind, Reason
from warpsmith.poly.analyze import Facts
from warpsmith.poly.dependences.dependences import Reference, access_map, common_steps, references
from warpsmith.poly.isl.formula import Formula, at_least, both
from warpsmith.poly.isl.polynomial import ZERO, Polynomial, atom, constant
from warpsmith.poly.isl.space import Map, Set, lexicographic, make_schedule_map, make_set, shallow, widen_relation
from warpsmith.poly.legality.schedules import Schedule, ScheduleDimension
from warpsmith.poly.legality.statements import StatementSurvey, survey
from warpsmith.poly.regions.model import build_region
from warpsmith.poly.regions.region import Region, Statement, Subscript
from warpsmith.poly.regions.state import State
from warpsmith.tree.nodes import For, Function, Loop, Name, Node, Stmt, While
from warpsmith.tree.program import Assumption
from warpsmith.tree.types import Symbol
from warpsmith.tree.walk import children

__all__ = ["OrderLink", "Ordered", "Placed", "ScheduledStatement", "order_run", "remembered_order"]


class ScheduledStatement(Struct, frozen=True):
    """A statement of the run. `name` is its isl tuple (S0, S1, … in the text's order); `loops` and `counters` (isl
    names) are those of the run around it; `domain` says where it runs (if `exact`; else at most there): the region's
    context is not part of it. `schedule` is the original one."""

    stmt: Stmt
    name: str
    loops: tuple[For, ...]
    counters: tuple[str, ...]
    domain: Formula
    exact: bool
    schedule: Schedule


class Placed(Struct, frozen=True):
    """A reference and the statement that makes it."""

    reference: Reference
    statement: ScheduledStatement


class OrderLink(Struct, frozen=True):
    """Two references to one object, the first in an earlier instance: {counters of source -> counters of sink} in
    `relation`. `certain`: each pair really touches one element (else it may)."""

    source: Placed
    sink: Placed
    relation: Map
    certain: bool

    @property
    def kind(self) -> DependenceKind:
        """flow: write then read; anti: read then write; output: both write."""
        if not self.source.reference.access.write:
            return "anti"
        return "output" if self.sink.reference.access.write else "flow"


class Ordered(Struct):
    """The ordered model of a run.

    `obstacles` say why the run cannot be reordered by this model at all (empty: it can be). `groups` are the references
    of each object that is written, `private` the variables that no value of crosses two statement instances.
    """

    region: Region
    state: State
    statements: tuple[ScheduledStatement, ...]
    groups: tuple[tuple[Placed, ...], ...]
    private: frozenset[Symbol]
    obstacles: tuple[Reason, ...]
    _accesses: dict[tuple[int, int], Map] = field(default_factory=dict)
    _meetings: dict[tuple[int, int, int], Map] = field(default_factory=dict)
    _schedules: dict[str, Map] = field(default_factory=dict)
    _before: dict[tuple[str, str], Map] = field(default_factory=dict)

    def domain(self, statement: ScheduledStatement) -> Set:
        """Return the points at which a statement runs, parameters within the region's context."""
        formula = both((statement.domain, self.state.context))
        return make_set(self.state.vocabulary, statement.counters, formula)

    def schedule_map(self, statement: ScheduledStatement, schedule: Schedule, length: int) -> Map | None:
        """Return {counters -> time}, padded with zeros to `length` rows; None where a dimension names what changes."""
        dimensions: list[tuple[Polynomial, int]] = []
        for dimension in schedule:
            value = self.dimension_value(statement, dimension)
            if value is None or dimension.divisor <= 0:
                return None
            dimensions.append((value, dimension.divisor))
        dimensions += [(ZERO, 1)] * (length - len(dimensions))
        return make_schedule_map(statement.counters, dimensions)

    def dimension_value(self, statement: ScheduledStatement, dimension: ScheduleDimension) -> Polynomial | None:
        """Return the numerator of a dimension of a statement's schedule over the model's atoms."""
        own = {loop.variable: name for loop, name in zip(statement.loops, statement.counters, strict=True)}
        own |= {loop.variable: name for loop, name in self.state.outer if loop.variable not in own}
        total = constant(dimension.constant)
        for symbol, factor in dimension.terms:
            value = atom(own[symbol]) if symbol in own else self._invariant(symbol)
            if value is None:
                return None
            total = total + value.scale(factor)
        return total

    def _invariant(self, symbol: Symbol) -> Polynomial | None:
        """Return the value of a variable that the run never changes."""
        if symbol in self.state.written or symbol in self.state.hidden:
            return None
        return self.state.scalar(Name(span=self.state.span, type=symbol.type, symbol=symbol))

    def before(self, first: ScheduledStatement, second: ScheduledStatement) -> Map:
        """Return {x -> y : `first` at x ran before `second` at y as written}, domains left out."""
        key = first.name, second.name
        if key not in self._before:
            self._before[key] = lexicographic(self._original(first), self._original(second))
        return self._before[key]

    def _original(self, statement: ScheduledStatement) -> Map:
        if statement.name not in self._schedules:
            found = self.schedule_map(
                statement, statement.schedule, max(len(other.schedule) for other in self.statements)
            )
            assert found is not None, "an original schedule has counters only"
            self._schedules[statement.name] = found
        return self._schedules[statement.name]

    def links(self) -> Iterator[OrderLink]:
        """Yield every dependence between two statement instances, at all depths; none of them is transitive only."""
        for first, second in self.pairs():
            link = self.link(first, second, self.before(first.statement, second.statement))
            if link is not None:
                yield link

    def pairs(self) -> Iterator[tuple[Placed, Placed]]:
        """Yield all pairs of references to one object of which one writes, in both orders."""
        for group in self.groups:
            for k, one in enumerate(group):
                for other in group[k:]:
                    if one.reference.access.write or other.reference.access.write:
                        yield one, other
                        if one is not other:
                            yield other, one

    def link(self, first: Placed, second: Placed, within: Map) -> OrderLink | None:
        """Return the pairs in `within` (statement counters to statement counters) that touch one element, or None."""
        shared = common_steps(first.reference.element, second.reference.element)
        if shared is None:
            return None
        length, overlap = shared
        pairs = self._meeting(first, second, length).intersect(within)
        if pairs.is_empty():
            return None
        certain = overlap and first.reference.exact and second.reference.exact
        return OrderLink(first, second, pairs, certain)

    def statement_link(self, link: OrderLink) -> Map:
        """Return the link between the iterations of the two statements, loops inside their statements included.

        Only where every subscript keeps to its dimension: beyond it the program has no meaning.
        """
        shared = common_steps(link.source.reference.element, link.sink.reference.element)
        length = 0 if shared is None else shared[0]
        ends = [placed.reference for placed in (link.source, link.sink)]
        left, right = (access_map(self.state, reference, length) for reference in ends)
        depths = [len(reference.statement.counters) for reference in ends]
        pairs = left.apply_range(right.reverse()).intersect(widen_relation(link.relation, depths[0], depths[1]))
        return pairs.intersect_domain(self._meaningful(ends[0])).intersect_range(self._meaningful(ends[1]))

    def _meaningful(self, reference: Reference) -> Set:
        """Return the iterations in which the subscripts of a reference keep to their dimensions."""
        vocabulary, parts = self.state.vocabulary, list[Formula]()
        for step in reference.access.path:
            if isinstance(step, Subscript) and step.value is not None and step.extent is not None:
                limits = step.value, step.extent.shift(-1) - step.value
                linear = (vocabulary.linear(limit) for limit in limits)
                parts += [at_least(limit, ZERO) for limit in linear if limit is not None]
        return make_set(vocabulary, reference.statement.counters, both(parts))

    def _meeting(self, first: Placed, second: Placed, length: int) -> Map:
        """Return the pairs of instances that touch one element, in whatever order: all orders are asked of these."""
        key = id(first.reference), id(second.reference), length
        if key not in self._meetings:
            left, right = self._access(first, length), self._access(second, length)
            self._meetings[key] = left.apply_range(right.reverse())
        return self._meetings[key]

    def _access(self, placed: Placed, length: int) -> Map:
        key = id(placed.reference), length
        if key not in self._accesses:
            whole = access_map(self.state, placed.reference, length)
            self._accesses[key] = shallow(whole, len(placed.statement.counters))
        return self._accesses[key]


def remembered_order(
    facts: Facts,
    function: Function,
    run: tuple[Stmt, ...],
    statements: Sequence[Stmt],
    *,
    owned: frozenset[Symbol] = frozenset(),
    guards: bool = False,
    granted: tuple[Assumption, ...] = (),
) -> Ordered:
    """As `order_run`, from the memo of `facts` where the same was asked before: one run is asked for many orders."""
    parts = (function, run, frozenset(statements), owned, guards, tuple(a.text for a in granted))
    known = facts.orders.get(parts)
    if not isinstance(known, Ordered):
        known = order_run(facts, function, run, statements, owned=owned, guards=guards, granted=granted)
        facts.orders[parts] = known
    return known


def order_run(
    facts: Facts,
    function: Function,
    run: tuple[Stmt, ...],
    statements: Sequence[Stmt],
    *,
    owned: frozenset[Symbol] = frozenset(),
    guards: bool = False,
    granted: tuple[Assumption, ...] = (),
) -> Ordered:
    """Return the model of `run` (consecutive statements of one block of `function`), `statements` being what moves.

    `owned` are variables of which each statement instance has its own copy. With `guards` conditions may be assumed
    (`region.assumptions`). Raises OutOfBudgetError inside a `budget`.
    """
    origin = facts.origin(function)
    found = survey(facts, function, run, frozenset(statements), owned)
    region, state = build_region(origin, run, _around(function, run[0]), guards=guards, granted=granted)
    placed = _statements(region, found)
    owner = {statement.stmt: statement for statement in placed}
    grouped = references(state, region, found.private, lambda s: _name(s, owner))
    obstacles = [*found.obstacles, *_control(grouped, owner), *_find_broken(region, placed)]
    groups = tuple(
        tuple(Placed(r, statement) for r in group if (statement := _owner(r.statement, owner)) is not None)
        for group in grouped
    )
    if state.lost:
        obstacles.append(Reason("POR005", state.lost_words, state.lost[0].span))
    whole = replace(
        region,
        context=state.context,
        assumptions=tuple(state.assumptions),
        unproved=tuple(dict.fromkeys((*region.unproved, *state.unproved))),
    )
    return Ordered(whole, state, placed, groups, found.private, tuple(obstacles))


def _around(function: Function, goal: Stmt) -> tuple[Loop, ...]:
    """Return the loops around a statement of a function, outermost first."""
    stack: list[tuple[Node, tuple[Loop, ...]]] = [(function.body, ())]
    while stack:
        node, around = stack.pop()
        if node is goal:
            return around
        inner = (*around, node) if isinstance(node, For | While) else around
        stack += [(child, inner) for child in children(node)]
    return ()


def _statements(region: Region, found: StatementSurvey) -> tuple[ScheduledStatement, ...]:
    """Return the statements as the region's walk met them."""
    placed: list[ScheduledStatement] = []
    for number, standing in enumerate(found.standings):
        entry = region.entries[standing.stmt]
        placed.append(
            ScheduledStatement(
                standing.stmt,
                f"S{number}",
                entry.loops,
                entry.counters,
                both(entry.path),
                entry.exact,
                standing.schedule,
            )
        )
    return tuple(placed)


def _owner(inner: Statement, owner: Mapping[Stmt, ScheduledStatement]) -> ScheduledStatement | None:
    return next((owner[stmt] for stmt in inner.within if stmt in owner), None)


def _name(inner: Statement, owner: Mapping[Stmt, ScheduledStatement]) -> str:
    statement = _owner(inner, owner)
    return "" if statement is None else statement.name


def _control(grouped: Sequence[Sequence[Reference]], owner: Mapping[Stmt, ScheduledStatement]) -> Iterator[Reason]:
    """Yield an obstacle for each bound or condition around statements that the run may change."""
    for group in grouped:
        for reference in group:
            if _owner(reference.statement, owner) is None:
                span = reference.access.expr.span
                shown = " ".join(span.text.split())
                text = f"{shown} decides which statements run, and may change among them"
                yield Reason("STP001", text, span)


def _find_broken(region: Region, statements: Sequence[ScheduledStatement]) -> Iterator[Reason]:
    """Yield an obstacle for each loop around statements whose counter may repeat a value."""
    for loop in dict.fromkeys(loop for statement in statements for loop in statement.loops):
        if loop in region.broken:
            yield Reason("POR008", region.broken[loop], loop.header, legal_if=("use a wider or signed counter",))
