"""Whether statements may run in another order: exact where the run is affine.

Every pair of statement instances that touch the same element, at least one of them writing, and that run in one order
as written must run in that order at the new schedules. The pairs that do not are a relation; it is empty exactly when
the order is legal (for over-approximated accesses: if it is empty the order is legal).

    for (i = 1; i < n; i++)
        for (j = 0; j < m; j++)
            a[i][j] = a[i - 1][j + 1];      (i, j) -> (i + 1, j - 1)

    schedule (j, i)        turned around: (1, 1) writes what (2, 0) reads, and j = 0 would run first
    schedule (i + j, i)    kept: both run at one i + j, and the smaller i first

Dependences are memory-based: a value that is overwritten before it is read counts too. That is what reordering must
keep as long as no storage is renamed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec import Struct, field

from warpsmith.base.verdict import Proved, Reason, Refuted, Unknown, Verdict
from warpsmith.poly.aliasing.overlap import overlaps
from warpsmith.poly.analyze import Facts
from warpsmith.poly.dependences.dependences import Conflict, describe
from warpsmith.poly.dependences.judge import reaches_further, unknown_element
from warpsmith.poly.isl.space import Map, OutOfBudgetError, budget, lexicographic
from warpsmith.poly.legality.order import Ordered, OrderLink, ScheduledStatement, remembered_order
from warpsmith.poly.legality.schedules import Schedule
from warpsmith.poly.regions.region import Access, Region
from warpsmith.tree.nodes import Call, For, Function, Stmt
from warpsmith.tree.printing.printer import quote_expression
from warpsmith.tree.types import Symbol
from warpsmith.tree.walk import loop_names

__all__ = ["keeps_order"]

# how many turned dependences are looked at for one with a witness, and how many are reported
_TRIED = 8
_MOST_REPORTED = 2


def keeps_order(
    facts: Facts,
    function: Function,
    run: tuple[Stmt, ...],
    schedules: Mapping[Stmt, Schedule],
    owned: frozenset[Symbol] = frozenset(),
) -> Verdict:
    """May the statements of `run` (consecutive ones of one block of `function`) run at `schedules`?

    The keys of `schedules` are statements inside `run`, none inside another, which together hold every statement of
    `run` that does anything. A statement's counters are those of the loops between it and `run`; loops around `run` are
    held fixed; what is inside a statement (loops included) keeps its order. `owned` are variables of which every
    statement instance has its own copy; a scalar whose value crosses no two statement instances and is not read after
    `run` counts as such. Instances with equal schedules keep the order in which they run as written. Proved, Refuted
    with the dependence that would be turned around, or Unknown with the blocker.

    The counter of a loop between a statement and `run` that is read after the run is in the way, unless it is `owned`:
    then whoever asks sees to its last value.
    """
    question = _Question(facts, function, run, schedules, owned)
    try:
        with budget(facts.options.max_operations):
            return question.answer()
    except OutOfBudgetError:
        return Unknown((Reason("POR005", "the order test ran out of its work budget", run[0].span),))


class _Question(Struct, frozen=True):
    facts: Facts
    function: Function
    run: tuple[Stmt, ...]
    schedules: Mapping[Stmt, Schedule]
    owned: frozenset[Symbol]

    def answer(self) -> Verdict:
        """Try without any condition, then with what the user granted, then with guards."""
        options = self.facts.options
        best = self._attempt(granted=False, guards=False)
        if options.granted and not isinstance(best.verdict, Proved):
            best = _better(best, self._attempt(granted=True, guards=False))
        if options.guards and best.open:
            best = _better(best, self._attempt(granted=bool(options.granted), guards=True))
        return best.verdict

    def _attempt(self, *, granted: bool, guards: bool) -> _Answer:
        options = self.facts.options
        given = options.granted if granted else ()
        model = remembered_order(
            self.facts, self.function, self.run, tuple(self.schedules), owned=self.owned, guards=guards, granted=given
        )
        if model.obstacles:
            return _Answer(Unknown(tuple(dict.fromkeys(model.obstacles))), model.region)
        turned = _Turned.of(model, self.schedules)
        if isinstance(turned, Reason):
            return _Answer(Unknown((turned,)), model.region)
        certain, possible = turned.links()
        if certain or possible:
            settled = bool(certain) and model.region.reached and self.facts.brief
            return _Answer(self._refuse(model, certain, possible), model.region, settled)
        if not turned.anything():
            return _Answer(Proved(model.region.assumptions), model.region)
        origin = self.facts.origin(self.function)
        assumptions, doubts = overlaps(origin, self.run, model.region, options, guards=guards)
        if doubts:
            return _Answer(Unknown(doubts), model.region)
        return _Answer(Proved(assumptions), model.region)

    def _refuse(self, model: Ordered, certain: list[OrderLink], possible: list[OrderLink]) -> Verdict:
        """Something is turned around: with a witness Refuted, else Unknown."""
        proofs: list[Reason] = []
        if self.facts.brief:
            return Unknown(tuple(_doubt(link) for link in (*certain, *possible)[:1]))
        names = {loop: name for loop, name in loop_names(self.function).items() if isinstance(loop, For)}
        for link in sorted(certain, key=lambda one: ("flow", "anti", "output").index(one.kind)):
            conflict = Conflict(link.source.reference, link.sink.reference, model.statement_link(link))
            dependence = describe(model.state, model.region, conflict, names)
            if dependence is not None:
                text = f"the {dependence.kind} dependence on {dependence.variable} would be turned around"
                proofs.append(Reason("STP001", text, conflict.second.access.expr.span, dependence))
            if len(proofs) == _MOST_REPORTED:
                break
        if proofs:
            return Refuted(tuple(proofs)) if model.region.reached else Unknown(tuple(proofs))
        doubts = [_doubt(link) for link in (*possible, *certain)]
        doubts += [Reason("POR005", text, self.run[0].span) for text in model.region.unproved[:3]]
        return Unknown(tuple(dict.fromkeys(doubts)))


class _Answer(Struct, frozen=True):
    """`certain`: a refusal without a witness that could have one."""

    verdict: Verdict
    region: Region
    certain: bool = False

    @property
    def open(self) -> bool:
        """Whether guards could still settle it."""
        if isinstance(self.verdict, Proved):
            return False
        return not ((self.certain or isinstance(self.verdict, Refuted)) and not self.region.unproved)


def _better(old: _Answer, new: _Answer) -> _Answer:
    """Return the later answer, unless only the earlier one is certain."""
    return old if isinstance(old.verdict, Refuted) and isinstance(new.verdict, Unknown) else new


class _Turned(Struct):
    """The pairs of statement instances that would change places."""

    model: Ordered
    schedules: Mapping[Stmt, Schedule]
    maps: Mapping[str, Map]
    pairs: dict[tuple[str, str], Map | None] = field(default_factory=dict)

    @classmethod
    def of(cls, model: Ordered, schedules: Mapping[Stmt, Schedule]) -> _Turned | Reason:
        """Read the new schedules; a Reason where one names what may change in the run."""
        length = max(len(schedule) for schedule in schedules.values())
        maps: dict[str, Map] = {}
        for statement in model.statements:
            found = model.schedule_map(statement, schedules[statement.stmt], length)
            if found is None:
                return Reason("STP001", "the new order depends on what the statements change", statement.stmt.span)
            maps[statement.name] = found
        return cls(model, schedules, maps)

    def links(self) -> tuple[list[OrderLink], list[OrderLink]]:
        """Return dependences that would be turned around: a few certain ones, all that are only possible."""
        certain: list[OrderLink] = []
        possible: list[OrderLink] = []
        for first, second in self.model.pairs():
            within = self.between(first.statement, second.statement)
            link = None if within is None else self.model.link(first, second, within)
            if link is not None:
                (certain if link.certain else possible).append(link)
            if len(certain) == _TRIED:
                break
        return certain, possible

    def between(self, first: ScheduledStatement, second: ScheduledStatement) -> Map | None:
        """Return {x -> y : `first` at x runs before `second` at y as written, and after it at the new schedules}."""
        key = first.name, second.name
        if key not in self.pairs and self._is_plainly_kept(first, second):
            self.pairs[key] = None
        if key not in self.pairs:
            later = lexicographic(self.maps[second.name], self.maps[first.name]).reverse()
            pairs = self.model.before(first, second).intersect(later)
            self.pairs[key] = None if pairs.is_empty() else pairs
        return self.pairs[key]

    def _is_plainly_kept(self, first: ScheduledStatement, second: ScheduledStatement) -> bool:
        """Whether `first` runs before `second` at the new schedules too (or never did), as the leading positions
        tell."""
        old = _apart(first.schedule, second.schedule)
        return old == 1 or old == -1 == _apart(self.schedules[first.stmt], self.schedules[second.stmt])

    def anything(self) -> bool:
        """Whether any two instances change places at all."""
        return any(True for _ in self._find_moved())

    def _find_moved(self) -> Iterator[tuple[ScheduledStatement, ScheduledStatement]]:
        domains = {statement.name: self.model.domain(statement) for statement in self.model.statements}
        for first in self.model.statements:
            for second in self.model.statements:
                pairs = self.between(first, second)
                if pairs is not None:
                    inside = pairs.intersect_domain(domains[first.name]).intersect_range(domains[second.name])
                    if not inside.is_empty():
                        yield first, second


def _apart(first: Schedule, second: Schedule) -> int:
    """Return -1 where the leading rows, as far as they are numbers, put `first` first, 1 for `second`, else 0."""
    for one, other in zip(first, second, strict=False):
        if one.terms or other.terms:
            return 0
        values = one.constant // one.divisor, other.constant // other.divisor
        if values[0] != values[1]:
            return -1 if values[0] < values[1] else 1
    return 0


def _doubt(link: OrderLink) -> Reason:
    """Return why a dependence that may be turned around cannot be excluded."""
    for placed in (link.source, link.sink):
        if placed.reference.element is None:
            return _vague(placed.reference.access)
    name = link.source.reference.access.base.name
    span = link.sink.reference.access.expr.span
    return Reason("STP001", f"the {link.kind} dependence on {name} may be turned around, depending on data", span)


def _vague(access: Access) -> Reason:
    """Return why it is not known which element an access touches."""
    shown = quote_expression(access.expr)
    name = access.base.name
    if isinstance(access.expr, Call):
        remedy = ("write the call's body here",)
        return Reason("POR005", f"{shown} may touch any part of {name}", access.expr.span, legal_if=remedy)
    if reaches_further(access):
        return Reason("POR005", unknown_element(access), access.expr.span)
    return Reason("POR005", f"the subscript of {shown} is not affine", access.expr.span)
