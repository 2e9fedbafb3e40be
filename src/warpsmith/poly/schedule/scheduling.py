"""Finding new schedules for a run: hyperplanes for one statement, isl's scheduler for several.

    for (i …) for (j …) A[i][j] = A[i-1][j] + A[i][j-1];        dependences (1, 0), (0, 1)
        hyperplane c = (1, 1): c·d >= 1 for both, so that all of i + j = w may run at once

Nothing here decides whether an order is legal: what is proposed is judged as what a user writes (`keeps_order`).
Hyperplanes are after L. Lamport: The parallel execution of DO loops (CACM 1974): the least nonnegative factors along
the loops' own directions. The scheduler is isl's, with the options that PPCG gives it (S. Verdoolaege and others:
Polyhedral parallel code generation for CUDA, TACO 2013): outer parallelism where there is some, else the loop that
carries most (P. Feautrier, Some efficient solutions to the affine scheduling problem II, IJPP 1992).
Limits: factors up to 4 for hyperplanes; schedules with quotients or factors above 8 are dropped.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import chain, count, islice
from operator import mul

from msgspec import Struct
from msgspec.structs import replace

from warpsmith.poly.analyze import Facts
from warpsmith.poly.isl.library import isl
from warpsmith.poly.isl.space import Map, OutOfBudgetError, Set, budget, count_steps, point, whole_number
from warpsmith.poly.legality.order import Ordered, OrderLink, ScheduledStatement, order_run
from warpsmith.poly.legality.schedules import Schedule, ScheduleDimension
from warpsmith.tree.nodes import Function, Name, Node, Stmt
from warpsmith.tree.nodes import replace as changed
from warpsmith.tree.types import Symbol
from warpsmith.tree.walk import rebuild, same, walk

__all__ = ["hyperplane", "proposals", "wavefront_schedule"]

_SET = isl.dim_type.set
_PARAM = isl.dim_type.param
_IN = isl.dim_type.in_
_MOST_FACTOR = 4
# all sums of five counters, and the smallest of more
_MOST_TRIED = 4_000
_MOST_COEFFICIENT = 8
_MOST_ROWS = 12
# The linear programs of isl's scheduler grow with the counters and parameters, and with the coefficients of what bounds
# the dependences: 4,000 at most in programs of PolyBench, which take 0.03 s; 7,500 of one loop inside eleven others,
# whose counters are parameters, took minutes.
_DEEPEST = 7
_MOST_VARIABLES = 10
_MOST_COEFFICIENTS = 10_000
# What one search may cost. Scheduling takes two to nine times the steps in which isl makes the dual of each dependence,
# of two statements as of sixteen, unless its linear programs take many pivots. Each of these is a step that goes
# through a whole matrix, a little more than a nanosecond an entry: of thirty statements, as many as other questions may
# take are an hour.
_TIMES_DUAL = 16
_MOST_ENTRIES = 1_000_000_000
_SHARE = 2
"""The part of a loop's work budget that one search for schedules may use: several are made for each form of a nest."""

Schedules = Mapping[Stmt, Schedule]


def hyperplane(facts: Facts, function: Function, run: tuple[Stmt, ...], statement: Stmt) -> tuple[int, ...] | None:
    """Return the factors of the counters around `statement`, the only one of `run`, whose sum grows along every
    dependence; None where there are none."""
    try:
        with budget(facts.options.max_operations):
            model = order_run(facts, function, run, (statement,), guards=facts.options.guards)
            return None if model.obstacles else _hyperplane(model)
    except OutOfBudgetError:
        return None


def _hyperplane(model: Ordered) -> tuple[int, ...] | None:
    (statement,) = model.statements
    depth = len(statement.loops)
    distances = _distances(model)
    signs = [1 if loop.step > 0 else -1 for loop in statement.loops]
    # differences that refused a candidate refuse most others: isl is only asked about those that climb all of them
    known: list[tuple[int, ...]] = []
    for factors in _candidates(depth):
        own = tuple(f * s for f, s in zip(factors, signs, strict=True))
        if any(sum(map(mul, own, difference)) < 1 for difference in known):
            continue
        refusing = next((d for distance in distances if (d := _find_refusing(distance, own)) is not None), None)
        if refusing is None:
            return own
        known.append(refusing)
    return None


def _candidates(depth: int) -> Iterator[tuple[int, ...]]:
    """Yield factors, those with the smallest sum first; among them the ones with small factors inside. In a deep nest
    only the first are tried: there are five times as many with every loop."""
    levels = (sorted(_factors(depth, total), key=lambda f: (max(f), f[::-1])) for total in count(1))
    yield from islice(chain.from_iterable(levels), min(_MOST_TRIED, (_MOST_FACTOR + 1) ** depth - 1))


def _factors(depth: int, total: int) -> Iterator[tuple[int, ...]]:
    """Yield every choice of so many factors with this sum."""
    if depth == 0:
        yield from ((),) if total == 0 else ()
        return
    for first in range(min(_MOST_FACTOR, total) + 1):
        if total - first <= _MOST_FACTOR * (depth - 1):
            yield from ((first, *others) for others in _factors(depth - 1, total - first))


def _distances(model: Ordered) -> list[Set]:
    """Return the differences of counters of every dependence, in the way of the text."""
    found: list[Set] = []
    for link in model.links():
        difference = link.relation.deltas()
        found.append(difference.project_out(_PARAM, 0, difference.dim(_PARAM)).coalesce())
    return found


def _find_refusing(distance: Set, factors: Sequence[int]) -> tuple[int, ...] | None:
    """Return a difference d with factors · d < 1; None where there is none."""
    aff = isl.Aff.zero_on_domain(isl.LocalSpace.from_space(distance.get_space()))
    for k, factor in enumerate(factors):
        aff = aff.add_coefficient_val(_IN, k, isl.Val(factor))
    still = aff.le_basic_set(isl.Aff.zero_on_domain(aff.get_domain_local_space()))
    found = point(distance.intersect(isl.Set.from_basic_set(still)))
    return None if found is None else found[1]


def proposals(
    facts: Facts, function: Function, run: tuple[Stmt, ...], statements: tuple[Stmt, ...]
) -> Iterator[Schedules]:
    """Yield schedules for the statements of a run that may show more parallelism, the likeliest first; each only
    once."""
    seen: list[dict[Stmt, Schedule]] = []
    for found in _proposals(facts, function, run, statements):
        if found not in seen:
            seen.append(found)
            yield found


def _proposals(
    facts: Facts, function: Function, run: tuple[Stmt, ...], statements: tuple[Stmt, ...]
) -> Iterator[dict[Stmt, Schedule]]:
    most = facts.options.max_operations // _SHARE
    try:
        with budget(most):
            model = order_run(facts, function, run, statements, guards=facts.options.guards)
            if model.obstacles:
                return
            links = list(model.links())
            problem = _Problem.of(model, links) if _is_small(model, links) else None
        steps = 0 if problem is None else _allowed(model, problem, most)
    except OutOfBudgetError:
        return
    makers = [(partial(_schedule_by_isl, model, problem, whole=whole), steps) for whole in (False, True) if problem]
    for make, allowed in [(partial(_wave, model), most), *makers] if len(model.statements) == 1 else makers:
        # the next one is looked for where this one does not do
        try:
            with budget(allowed):
                schedules = make()
        except OutOfBudgetError:
            return
        if schedules is not None:
            yield from _pack_statements(schedules, model)
            yield schedules


def _is_small(model: Ordered, links: Sequence[OrderLink]) -> bool:
    """Whether isl's scheduler is done soon."""
    deepest = max(len(statement.loops) for statement in model.statements)
    parameters = max((link.relation.dim(_PARAM) for link in links), default=0)
    if deepest > _DEEPEST or deepest + parameters > _MOST_VARIABLES:
        return False
    coefficients = 0
    for link in links:
        constraints = sum(len(part.get_constraints()) for part in link.relation.get_basic_maps())
        coefficients += constraints * (parameters + 2 * deepest)
        if coefficients > _MOST_COEFFICIENTS:
            return False
    return True


class _Problem(Struct, frozen=True):
    """What isl's scheduler is asked: the instances of all statements, by name, what must keep its order, and what of
    that is a value that is handed on. All without what bounds parameters alone, `n <= 14`: no order depends on it, but
    such numbers stand in the linear programs, where entries then grow to hundreds of digits."""

    domain: isl.UnionSet
    order: isl.UnionMap
    flow: isl.UnionMap

    @classmethod
    def of(cls, model: Ordered, links: Sequence[OrderLink]) -> _Problem:
        """Return the question about a model with its dependences."""
        domain = isl.UnionSet.empty(isl.Space.params_alloc(isl.DEFAULT_CONTEXT, 0))
        for statement in model.statements:
            own = _forget_parameters(model.domain(statement)).set_tuple_name(statement.name)
            domain = domain.union(isl.UnionSet.from_set(own))
        order = isl.UnionMap.empty(domain.get_space())
        flow = order
        for link in links:
            relation = _forget_parameters(link.relation.wrap()).unwrap()
            relation = relation.set_tuple_name(_IN, link.source.statement.name)
            relation = relation.set_tuple_name(isl.dim_type.out, link.sink.statement.name)
            order = order.union(isl.UnionMap.from_map(relation))
            if link.kind == "flow":
                flow = flow.union(isl.UnionMap.from_map(relation))
        return cls(domain, order.coalesce(), flow.coalesce())

    def dependences(self) -> list[Map]:
        """Return the order by pairs of statements."""
        found: list[Map] = []
        self.order.foreach_map(lambda one: found.append(one))
        return found


def _forget_parameters(values: Set) -> Set:
    """Return a set without the constraints that name parameters alone."""
    return values.drop_constraints_not_involving_dims(_SET, 0, values.dim(_SET))


def _allowed(model: Ordered, problem: _Problem, most: int) -> int:
    """Return how many steps isl's scheduler may take, at most so many. Raises OutOfBudgetError."""
    dependences = problem.dependences()

    def dual() -> None:
        # a set with quotients has no dual: the scheduler forgets them too
        for part in (part for one in dependences for part in one.remove_divs().get_basic_maps()):
            part.wrap().coefficients()

    return min(most, _TIMES_DUAL * count_steps(dual, most) + _MOST_ENTRIES // _pivoted(model, dependences))


def _pivoted(model: Ordered, dependences: Sequence[Map]) -> int:
    """Return about how many entries the largest matrix has that a step of isl's scheduler pivots: a row for each bound
    of a dependence, and a column for each unknown of the statements that dependences connect."""
    parameters = max((one.dim(_PARAM) for one in dependences), default=0)
    groups = {statement.name: {statement.name} for statement in model.statements}
    rows = dict.fromkeys(groups, 0)
    for one in dependences:
        source, sink = (str(one.get_tuple_name(kind)) for kind in (_IN, isl.dim_type.out))
        rows[source] += sum(len(part.get_constraints()) for part in one.get_basic_maps())
        if groups[source] is not groups[sink]:
            groups[source] |= groups[sink]
            groups.update(dict.fromkeys(groups[sink], groups[source]))
    columns = {statement.name: len(statement.loops) + parameters + 1 for statement in model.statements}
    sizes = (sum(rows[name] for name in group) * sum(columns[name] for name in group) for group in groups.values())
    return max(1, *sizes)


def _wave(model: Ordered) -> dict[Stmt, Schedule] | None:
    factors = _hyperplane(model)
    if factors is None:
        return None
    (statement,) = model.statements
    return {statement.stmt: wavefront_schedule(tuple(loop.variable for loop in statement.loops), factors)}


def wavefront_schedule(counters: Sequence[Symbol], factors: Sequence[int]) -> Schedule:
    """Return the schedule (factors · counters, then the counters but one that the first dimension tells)."""
    dimension = ScheduleDimension(tuple((s, f) for s, f in zip(counters, factors, strict=True) if f))
    dependent = next((k for k in reversed(range(len(factors))) if abs(factors[k]) == 1), None)
    return dimension, *(ScheduleDimension(((s, 1),)) for k, s in enumerate(counters) if k != dependent)


def _pack_statements(schedules: Mapping[Stmt, Schedule], model: Ordered) -> Iterator[dict[Stmt, Schedule]]:
    """Yield the schedules with statements that are another one at other points put into that one's loops:
    `A[i][i] -= A[i][k] * A[i][k]` is `A[i][j] -= A[i][k] * A[j][k]` at j = i."""
    packed = dict(schedules)
    for statement in model.statements:
        for other in model.statements:
            counters = (
                None
                if other is statement or len(other.loops) < len(statement.loops)
                else _match_counters(other, statement)
            )
            if counters is not None and (packed[other.stmt] is schedules[other.stmt]):
                moved = tuple(_move_dimension(dimension, counters) for dimension in schedules[other.stmt])
                packed[statement.stmt] = schedules[statement.stmt] if moved == schedules[statement.stmt] else moved
                break
    if packed != dict(schedules):
        yield packed


def _move_dimension(dimension: ScheduleDimension, counters: Mapping[Symbol, Symbol]) -> ScheduleDimension:
    terms: dict[Symbol, int] = {}
    for symbol, factor in dimension.terms:
        own = counters.get(symbol, symbol)
        terms[own] = terms.get(own, 0) + factor
    return replace(dimension, terms=tuple((s, f) for s, f in terms.items() if f))


def _match_counters(one: ScheduledStatement, other: ScheduledStatement) -> dict[Symbol, Symbol] | None:
    """Return the counter of `other` for each counter of `one` with which their statements are the same; None: none."""
    theirs = {loop.variable for loop in other.loops}
    found = {loop.variable: loop.variable for loop in one.loops if loop.variable in theirs}
    free = {loop.variable for loop in one.loops} - found.keys()
    for a, b in zip(walk(one.stmt), walk(other.stmt), strict=False):
        if type(a) is not type(b):
            return None
        if isinstance(a, Name) and isinstance(b, Name) and a.symbol != b.symbol:
            if a.symbol not in free | found.keys() or b.symbol not in theirs:
                return None
            if found.setdefault(a.symbol, b.symbol) != b.symbol:
                return None
        elif isinstance(a, Name) and a.symbol in free:
            return None
    if len(found) < len({loop.variable for loop in one.loops}):
        return None

    def change(node: Node) -> Node:
        own = found.get(node.symbol) if isinstance(node, Name) else None
        return node if own is None or not isinstance(node, Name) else changed(node, symbol=own, type=own.type)

    return found if same(rebuild(one.stmt, change), other.stmt) else None


# --- isl's scheduler


@contextmanager
def _options(*, whole: bool) -> Iterator[None]:
    """Set isl's scheduling options for a while; `whole`: statements that depend on each other share their loops."""
    context = isl.DEFAULT_CONTEXT
    wanted = {"outer_coincidence": 1, "maximize_band_depth": 1, "maximize_coincidence": 1, "treat_coalescing": 1,
              "serialize_sccs": 0 if whole else 1, "whole_component": int(whole)}  # fmt: skip
    before = {name: getattr(context, f"get_schedule_{name}")() for name in wanted}
    for name, value in wanted.items():
        getattr(context, f"set_schedule_{name}")(value)
    try:
        yield
    finally:
        for name, value in before.items():
            getattr(context, f"set_schedule_{name}")(value)


def _schedule_by_isl(model: Ordered, problem: _Problem, *, whole: bool) -> dict[Stmt, Schedule] | None:
    """Return the schedules that isl finds."""
    order = problem.order
    with _options(whole=whole):
        wanted = isl.ScheduleConstraints.on_domain(problem.domain).set_validity(order).set_coincidence(order)
        schedule = wanted.set_proximity(problem.flow).compute_schedule()
    dimensions: dict[str, list[ScheduleDimension]] = {statement.name: [] for statement in model.statements}
    if not _flatten(model, schedule.get_root(), dimensions):
        return None
    return {statement.stmt: _trim(dimensions[statement.name]) for statement in model.statements}


def _trim(dimensions: Sequence[ScheduleDimension]) -> Schedule:
    kept = list(dimensions)
    while len(kept) > 1 and kept[-1] == ScheduleDimension():
        kept.pop()
    return tuple(kept)


def _flatten(model: Ordered, node: isl.ScheduleNode, dimensions: dict[str, list[ScheduleDimension]]) -> bool:
    """Append the dimensions of a schedule tree to those of each statement; False where they are not plain sums of
    counters."""
    kind = isl.schedule_node_type(node.get_type())
    if kind == isl.schedule_node_type.leaf:
        return True
    if kind == isl.schedule_node_type.band and not _flatten_band(model, node, dimensions):
        return False
    several = kind in (isl.schedule_node_type.sequence, isl.schedule_node_type.set)
    for k in range(node.n_children()):
        child = node.get_child(k)
        if several:
            for name in _find_scheduled(child.get_child(0)):
                dimensions[name].append(ScheduleDimension(constant=k))
        if not _flatten(model, child, dimensions):
            return False
    return True


def _flatten_band(model: Ordered, node: isl.ScheduleNode, dimensions: dict[str, list[ScheduleDimension]]) -> bool:
    names = _find_scheduled(node)
    partial = node.band_get_partial_schedule()
    for k in range(node.band_n_member()):
        for statement in model.statements:
            if statement.name not in names:
                continue
            dimension = _band_row(model, statement, partial.get_union_pw_aff(k))
            if dimension is None or len(dimensions[statement.name]) >= _MOST_ROWS:
                return False
            dimensions[statement.name].append(dimension)
    return True


def _find_scheduled(node: isl.ScheduleNode) -> list[str]:
    """Return the statements that a node of the tree schedules."""
    found: list[str] = []
    node.get_domain().foreach_set(lambda one: found.append(str(one.get_tuple_name())))
    return sorted(found)


def _band_row(model: Ordered, statement: ScheduledStatement, value: isl.UnionPwAff) -> ScheduleDimension | None:
    own: list[isl.PwAff] = []
    value.foreach_pw_aff(lambda one: own.append(one))
    pieces: list[isl.Aff] = []
    for one in (one for one in own if one.domain().get_tuple_name() == statement.name):
        one.foreach_piece(lambda _where, aff: pieces.append(aff))
    return _dimension(model, statement, pieces[0]) if len(pieces) == 1 else None


def _dimension(model: Ordered, statement: ScheduledStatement, aff: isl.Aff) -> ScheduleDimension | None:
    """Return an affine form of a statement's counters as a dimension; None where it is not whole, or absurd."""
    if aff.dim(isl.dim_type.div) or not aff.get_denominator_val().is_one():
        return None
    terms: list[tuple[Symbol, int]] = []
    for k, loop in enumerate(statement.loops):
        factor = whole_number(aff.get_coefficient_val(_IN, k))
        if factor:
            terms.append((loop.variable, factor))
    for k in range(aff.dim(_PARAM)):
        factor = whole_number(aff.get_coefficient_val(_PARAM, k))
        if factor:
            symbol = model.state.vocabulary[str(aff.get_dim_name(_PARAM, k))].symbol
            if symbol is None:
                return None
            terms.append((symbol, factor))
    constant = whole_number(aff.get_constant_val())
    if any(abs(factor) > _MOST_COEFFICIENT for _, factor in terms) or abs(constant) > 2 * _MOST_COEFFICIENT:
        return None
    return ScheduleDimension(tuple(terms), constant)
