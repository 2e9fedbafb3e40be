"""The automatic search for steps that let loops run on the device.

    for (i) for (j) { …y[j] += A[i][j]*x[i]… }      not good as written
        try: interchange, distribute, expand, split, substitute, wavefront, reschedule
             each one checked, the pieces it makes improved in turn
        keep: the form with the lowest cost (cost.py); as written where nothing is better
        join: kernels that it needs no more than one of (rejoining.py)

Invariant: every step of the answer was Proved on the program that it is applied to. The search is deterministic: its
effort is bounded by a number of checks. Where a share of time is up before that, it ends with what it has.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import cast

from msgspec import Struct
from msgspec.structs import replace

from warpsmith.base.errors import RefusedError
from warpsmith.base.identity import Identity
from warpsmith.base.source import Span
from warpsmith.base.time_limit import time_left
from warpsmith.base.verdict import Proved
from warpsmith.loops.changed.changes import Run
from warpsmith.loops.fresh import declared_symbols
from warpsmith.loops.place import LoopContext
from warpsmith.loops.prepared import Applied, Prepared
from warpsmith.loops.search.candidates import candidates, countings, expansions, reorderings
from warpsmith.loops.search.cost import Cost, cost_of
from warpsmith.loops.search.localization import localize_nests
from warpsmith.loops.search.nests import outermost, references
from warpsmith.loops.search.rejoining import rejoin_pieces
from warpsmith.loops.step import Step, check_step, rewrite_program
from warpsmith.loops.steps.order.interchange import Interchange
from warpsmith.poly.analyze import Facts
from warpsmith.tree.nodes import Block, For, Function, Loop, Node, Stmt, While
from warpsmith.tree.printing.printer import print_stmt
from warpsmith.tree.program import Assumption, Program
from warpsmith.tree.types import Symbol
from warpsmith.tree.walk import children, loops, names, statements_of

__all__ = ["search_nests"]

# checks of one nest: fewer for a nest with many references, whose checks cost more; and steps inside one another
_MOST_CHECKS = 64
_FEWEST_CHECKS = 12
_MOST_REFERENCES_CHECKED = 1500
_DEEPEST = 5
_LONG = 2
"""Loops around one in a nest in which another order is looked for though its threads have nothing to wait for."""


class _Spot(Struct, frozen=True):
    """Where a run stands, whatever takes its place: the way down to its statement list (child numbers), and how many
    statements of the list stand before and behind it."""

    way: tuple[int, ...]
    before: int
    behind: int


class _Form(Struct, frozen=True):
    """One form of the program, the steps that led there, and the cost of the run at hand."""

    facts: Facts
    applied: tuple[Applied, ...]
    cost: Cost


def search_nests(prepared: Prepared, function: Symbol, spans: tuple[Span, ...]) -> Prepared:
    """Return `prepared` with every step that helps the nests of `function` whose text stands at `spans`."""
    search = _Search(function, _find_written(prepared, function))
    # what comes from memory becomes a variable: the other steps, and the device, know variables only
    prepared = localize_nests(prepared, function, spans)
    holder = search.node(prepared.facts)
    # of two with one text the second is what runs where the first may not
    firsts = {loop.span: loop for loop in reversed([*outermost(holder.body)]) if loop.span in spans}
    spots = [_spot(holder, loop) for loop in reversed(firsts.values())]
    # from the last to the first, so that addresses in front of a step stay what they are
    for spot in reversed(spots):
        if not time_left():
            break
        search.start(prepared.facts, spot)
        form = search.best(prepared.facts, prepared.applied, spot, 0)
        if len(form.applied) > len(prepared.applied):
            form = search.rejoined(form, spot)
        prepared = replace(prepared, facts=form.facts, applied=form.applied)
    return prepared


class _Search:
    """The search in one function."""

    def __init__(self, function: Symbol, written: frozenset[Symbol]) -> None:
        self.function = function
        # the variables of the user's function, of which guards before a nest may speak
        self.written = written
        self.left = 0
        # what was tried: texts by the place where they stood, nests that no step has helped, steps that were refused
        self.seen: set[tuple[_Spot, str]] = set()
        self.hopeless: set[str] = set()
        self.refused: set[tuple[Identity[Program], Step]] = set()

    def start(self, facts: Facts, spot: _Spot) -> None:
        """Begin with another nest: what may be spent on it depends on its size."""
        size = sum(map(references, self.run(facts, spot)))
        self.left = max(_FEWEST_CHECKS, min(_MOST_CHECKS, _MOST_REFERENCES_CHECKED // max(1, size)))

    def best(self, facts: Facts, applied: tuple[Applied, ...], spot: _Spot, depth: int) -> _Form:
        """Return the best form of the run at `spot`: its nests improved one after the other."""
        form = self.form(facts, applied, spot)
        number = 0
        while number < len(inner := tuple(_outermost_of(self.run(form.facts, spot)))):
            function = self.node(form.facts)
            whole = len(inner)
            found = self.best_nest(form.facts, form.applied, _spot(function, inner[number]), depth)
            form = self.form(found.facts, found.applied, spot)
            number += 1 + len(tuple(_outermost_of(self.run(form.facts, spot)))) - whole
        return form

    def best_nest(self, facts: Facts, applied: tuple[Applied, ...], spot: _Spot, depth: int) -> _Form:
        """Return the best form of the one nest at `spot`."""
        first = self.form(facts, applied, spot)
        loop = self.loop(facts, spot)
        text = self.text(facts, spot)
        if first.cost.perfect or depth >= _DEEPEST or text in self.hopeless or not time_left():
            return first
        self.seen.add((spot, text))
        found = self.best_with_steps(first, spot, loop, depth)
        # a narrow kernel in a host loop may be made wider where it stands
        if found.cost.runs_well and (found is not first or not found.cost.narrow):
            return found
        inside = self.best(facts, applied, _body_spot(self.node(facts), loop), depth)
        whole = self.form(inside.facts, inside.applied, spot)
        found = whole if _is_better(whole, found) else found
        if found is first:
            self.hopeless.add(text)
        return found

    def best_with_steps(self, first: _Form, spot: _Spot, loop: Loop, depth: int) -> _Form:
        """Return the best form that starts with a step on the nest as a whole: with one of the cheap ones, in a new
        order, at last with an interchange that betters nothing by itself: only what follows it can."""
        steps = self.cheap_steps(first, loop) if not self.is_spent() else ()
        late: list[_Form] = []
        found = self.best_direct(first, spot, (steps, depth), late)
        if depth == 0 and isinstance(loop, For) and not _is_well_ordered(found.cost, loop):
            found = self.best_order(first, found, spot)
        for form in late if not found.cost.runs_well else ():
            followed = self.best(form.facts, form.applied, spot, depth + 1)
            if _is_better(followed, found):
                found = followed
        return found

    def best_direct(self, first: _Form, spot: _Spot, moves: tuple[Iterable[Step], int], late: list[_Form]) -> _Form:
        """Return the best form that starts with one of the steps. What an interchange of an outermost nest leads to is
        put into `late` where it is no better: another order may need no second step."""
        steps, depth = moves
        found = first
        for step in steps:
            if not time_left():
                break
            tried = self.try_step(first, spot, step)
            if tried is None:
                continue
            if depth == 0 and isinstance(step, Interchange) and not _is_better(tried, first):
                late.append(tried)
                continue
            best = self.best(tried.facts, tried.applied, spot, depth + 1)
            if _is_better(best, found):
                found = best
            if found.cost.perfect or (found is not first and found.cost.ideal and not found.cost.atomics):
                return found
        return found

    def cheap_steps(self, form: _Form, loop: Loop) -> Iterator[Step]:
        function = self.node(form.facts)
        if isinstance(loop, For):
            return candidates(form.facts, function, loop, form.cost)
        return countings(form.facts, function, loop)

    def best_order(self, first: _Form, found: _Form, spot: _Spot) -> _Form:
        """Return the best form in a new order, or `found`; temporaries are expanded where that makes one possible."""
        # the cheap steps leave something for these
        self.left = max(self.left, _FEWEST_CHECKS)
        written = first.facts, first.applied
        expanded = self.expand_temporaries(*written, spot)
        # what runs already is not held up by temporaries: more memory is the last resort
        both = (written, expanded) if found.cost.ideal else (expanded, written)
        for facts, applied in both if expanded[0] is not first.facts else (written,):
            loop = self.loop(facts, spot)
            for step in reorderings(facts, self.node(facts), loop) if isinstance(loop, For) else ():
                if not time_left():
                    return found
                after = self.check_step(facts, step)
                if after is None:
                    continue
                tried = self.form(after[0], (*applied, self.record_step(facts, step, after[1])), spot)
                if _is_better(tried, found):
                    found = tried
                if _is_well_ordered(found.cost, loop):
                    return found
        return found

    def expand_temporaries(
        self, facts: Facts, applied: tuple[Applied, ...], spot: _Spot
    ) -> tuple[Facts, tuple[Applied, ...]]:
        """Return a program and its steps with every temporary expanded that the iterations of the nest share."""
        done: set[str] = set()
        while True:
            loop = self.loop(facts, spot)
            if not isinstance(loop, For):
                return facts, applied
            found = expansions(facts, self.node(facts), loop, scalars=True)
            for step in (s for s in found if s.variable not in done):
                after = self.check_step(facts, step)
                if after is not None:
                    done.add(step.variable)
                    applied = (*applied, self.record_step(facts, step, after[1]))
                    facts = after[0]
                    break
            else:
                return facts, applied

    def rejoined(self, form: _Form, spot: _Spot) -> _Form:
        """Return a form with kernels joined that steps have made of one nest."""
        self.left = max(self.left, _FEWEST_CHECKS)

        def try_step(facts: Facts, step: Step) -> tuple[Facts, Applied] | None:
            after = self.check_step(facts, step)
            return None if after is None else (after[0], self.record_step(facts, step, after[1]))

        def place(facts: Facts) -> tuple[Function, Run]:
            return self.node(facts), self.run(facts, spot)

        return self.form(*rejoin_pieces(form.facts, form.applied, place, try_step), spot)

    def loop(self, facts: Facts, spot: _Spot) -> Loop:
        """Return the first nest at `spot`."""
        return next(iter(_outermost_of(self.run(facts, spot))))

    def try_step(self, first: _Form, spot: _Spot, step: Step) -> _Form | None:
        """Return the form after one step; None where it is refused, or leads to a text that stood here before."""
        applied = first.applied
        if applied and isinstance(step, Interchange) and isinstance(applied[-1].step, Interchange):
            return None
        after = self.check_step(first.facts, step)
        if after is None:
            return None
        text = self.text(after[0], spot)
        if (spot, text) in self.seen:
            return None
        self.seen.add((spot, text))
        return self.form(after[0], (*applied, self.record_step(first.facts, step, after[1])), spot)

    def text(self, facts: Facts, spot: _Spot) -> str:
        return "\n".join(print_stmt(stmt) for stmt in self.run(facts, spot))

    def record_step(self, facts: Facts, step: Step, verdict: Proved) -> Applied:
        """Return the record of a step that is applied to the program of `facts`."""
        address = getattr(step, "loop", "")
        return Applied(step, verdict, self.function, LoopContext.of(facts.program, str(address)).loop.span)

    def check_step(self, facts: Facts, step: Step) -> tuple[Facts, Proved] | None:
        """Return the program after `step`, where that is Proved."""
        question = (Identity(facts.program), step)
        if self.is_spent() or question in self.refused:
            return None
        self.left -= 1
        try:
            verdict = check_step(step, facts.program, facts)
        except RefusedError:
            verdict = None
        if not isinstance(verdict, Proved) or not self._is_testable(verdict):
            self.refused.add(question)
            return None
        return facts.after(rewrite_program(step, facts.program)), verdict

    def is_spent(self) -> bool:
        """Whether nothing more may be tried in this nest."""
        return self.left <= 0 or not time_left()

    def _is_testable(self, verdict: Proved) -> bool:
        """Whether guards speak of the user's variables only: where the nest is entered, a step's are not set yet."""
        guards = (a for a in verdict.assumptions if isinstance(a, Assumption) and a.kind == "guarded")
        conditions = (a.condition for a in guards if a.condition is not None)
        return all(n.symbol in self.written or n.symbol.storage != "local" for c in conditions for n in names(c))

    def form(self, facts: Facts, applied: tuple[Applied, ...], spot: _Spot) -> _Form:
        return _Form(facts, applied, cost_of(facts, self.node(facts), self.run(facts, spot)))

    def run(self, facts: Facts, spot: _Spot) -> Run:
        """Return what stands at `spot` now."""
        node: Node = self.node(facts).body
        for number in spot.way:
            node = tuple(children(node))[number]
        statements = statements_of(cast(Stmt, node))
        return statements[spot.before : len(statements) - spot.behind]

    def node(self, facts: Facts) -> Function:
        """Return the function as it is now."""
        return next(function for _, function in facts.program.functions() if function.symbol == self.function)


def _find_written(prepared: Prepared, function: Symbol) -> frozenset[Symbol]:
    """Return the variables of a function as the user wrote it: none of one that a step has made."""
    own = next((f for _, f in prepared.original.program.functions() if f.symbol == function), None)
    return frozenset() if own is None else frozenset((*own.parameters, *declared_symbols(own)))


def _is_well_ordered(cost: Cost, nest: Loop) -> bool:
    """Whether no other order of a nest is worth its search: it runs well, and no thread goes through loops in loops,
    where others may be threads in their place."""
    return cost.runs_well and not (
        cost.ideal and cost.narrow and any(len(around) >= _LONG for _, around in loops(nest))
    )


def _is_better(new: _Form, old: _Form) -> bool:
    """Whether a form is better than another, or as good after fewer steps."""
    return _better(new.cost, old.cost) or (new.cost == old.cost and len(new.applied) < len(old.applied))


def _better(new: Cost, old: Cost) -> bool:
    """Whether a form is worth its steps: less on the host, or wider kernels of about as many, or no scan in place of as
    many launches, or far fewer launches."""
    first, second = ((c.stranded, c.depth, c.atomics) for c in (new, old))
    if first != second:
        return first < second
    if new.narrow != old.narrow:
        return new.narrow < old.narrow and new.depth <= 1 and new.launches <= 2 * old.launches + 2
    if new.buried != old.buried:
        return new.buried < old.buried and new.depth == 0 and new.launches <= 2 * old.launches + 2
    if new.handed != old.handed:
        return new.handed < old.handed and new.launches <= old.launches
    return 0 < 2 * new.launches <= old.launches


def _outermost_of(run: Run) -> Iterator[For | While]:
    for stmt in run:
        yield from outermost(stmt)


def _spot(function: Function, loop: Loop) -> _Spot:
    """Return where a loop stands alone."""
    way = _way(function.body, loop)
    parents: list[Node] = [function.body]
    for number in way:
        parents.append(tuple(children(parents[-1]))[number])
    if isinstance(parents[-2], Block):
        return _Spot(way[:-1], way[-1], len(parents[-2].statements) - 1 - way[-1])
    return _Spot(way, 0, 0)


def _body_spot(function: Function, loop: Loop) -> _Spot:
    """Return where the statements of a loop's body stand."""
    return _Spot(_way(function.body, loop.body), 0, 0)


def _way(top: Node, wanted: Node) -> tuple[int, ...]:
    """Return the child numbers that lead from `top` to `wanted`."""
    pending: list[tuple[Node, tuple[int, ...]]] = [(top, ())]
    while pending:
        node, way = pending.pop()
        if node is wanted:
            return way
        pending += [(child, (*way, number)) for number, child in enumerate(children(node))]
    raise ValueError("the statement does not stand in the function")
