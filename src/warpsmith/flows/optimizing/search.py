"""The search: ports whose loops stand otherwise by beam, and in each the best placement of every nest.

    the port ── one step of loops, or a nest kept ──► ports, scored ──► the cheapest few ──► one step more ──► …
                                                          each: nest by nest the best placement

Invariant: the winner is planned as a whole from its steps, all of them proved, and is better than the port that the
search began with by the score of that plan. Where the budget ends the search, the best until then is the answer.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from msgspec import Struct

from warpsmith.base.errors import RefusedError, UsageError
from warpsmith.base.source import Span
from warpsmith.flows.optimizing.beam import beam_search
from warpsmith.flows.optimizing.budget import BudgetEndedError
from warpsmith.flows.optimizing.kept import CandidateOutcome, more_of
from warpsmith.flows.optimizing.nests import NestSearch, PlacedNest, outcome_of
from warpsmith.flows.optimizing.record import candidate_of
from warpsmith.flows.optimizing.scored import is_better, predict_kernels, score
from warpsmith.flows.optimizing.setting import nests_of
from warpsmith.flows.optimizing.shared import Shared
from warpsmith.flows.optimizing.structures import (
    Structure,
    after_loop_step,
    headers_of,
    keep_nest,
    list_steps,
    run_alone,
)
from warpsmith.loops.step import Step, step_text
from warpsmith.offload.steps.keep import Keep
from warpsmith.offload.steps.one_thread import OneThread
from warpsmith.offload.steps.split_structs import SplitStructs

__all__ = ["FoundPort", "Search"]

_NOTHING: Final[tuple[Step, ...]] = ()
_ROOT_SHARE: Final = 0.5
"""Of the budget, for the nests of the port that a search begins with."""


class FoundPort(Struct, frozen=True):
    """A port that a search has found: `structure` with its nests placed by `placing`, and its score."""

    structure: Structure
    placing: tuple[Step, ...]
    outcome: CandidateOutcome


class Search:
    """A search from one port."""

    def __init__(self, shared: Shared) -> None:
        self._shared = shared
        self._open: dict[tuple[Step, ...], Structure] = {}
        self._outcomes: dict[tuple[Step, ...], CandidateOutcome] = {}
        self._keys: set[str] = set()
        self._host = 0.0
        self._keeps = False
        self._fixed: frozenset[str] = frozenset()
        self._there: frozenset[Span] = frozenset()

    def run(self, root: Structure, fixed: frozenset[str], *, keeps: bool) -> tuple[FoundPort, FoundPort]:
        """Return the port that the search began with, and the best one. `fixed`: loops whose placement is the user's;
        `keeps`: nests may stay on the host."""
        effort = self._shared.effort
        self._host, self._keeps, self._fixed = root.planned.estimate.host, keeps, fixed
        self._there = frozenset(span for nest in nests_of(root.planned.port) for span in headers_of(nest))
        self._open[()] = root
        self._outcomes[()] = score(root.planned, self._shared.times, self._host)
        self._keys.add(self._outcomes[()].key)
        first = FoundPort(root, root.placing, self._outcomes[()])
        best = [first]
        try:
            for steps in beam_search(_NOTHING, self._neighbors, self._cost, effort.width, effort.depth):
                if steps and self._outcomes[steps].least >= (best[-1].outcome.seconds or 0.0):
                    continue  # launches, copies and the host alone take as long
                # loops that stand otherwise may gain more than all that becomes of the nests as they are
                with self._shared.budget.part(1.0 if steps or not effort.depth else _ROOT_SHARE):
                    settled = self._settle(self._structure(steps))
                if is_better(settled.outcome, best[-1].outcome, effort.least):
                    best.append(settled)
        except BudgetEndedError:
            self._shared.record.ended = True
            self._add_unsettled(best)
        return first, self._whole(first, best)

    def _add_unsettled(self, best: list[FoundPort]) -> None:
        """Take the ports that were planned and that nobody came to look at, as they are."""
        for steps, structure in self._open.items():
            outcome = self._outcomes.get(steps)
            if outcome is None or outcome.seconds is None:
                continue
            if is_better(outcome, best[-1].outcome, self._shared.effort.least):
                best.append(FoundPort(structure, structure.placing, outcome))

    def _whole(self, first: FoundPort, best: list[FoundPort]) -> FoundPort:
        """Return the best port that is as good when it is planned as a whole."""
        for found in reversed(best[1:]):
            try:
                planned = self._shared.setting.place(found.structure.prepared, found.placing)
            except (RefusedError, UsageError):
                continue
            outcome = score(planned, self._shared.times, self._host)
            if is_better(outcome, first.outcome, self._shared.effort.least):
                return FoundPort(found.structure, found.placing, outcome)
        return first

    # --- ports whose loops stand otherwise

    def _neighbors(self, steps: tuple[Step, ...]) -> Iterator[tuple[Step, ...]]:
        parent = self._structure(steps)
        for step in list_steps(parent, keeps=self._keeps):
            if self._is_fixed(getattr(step, "loop", "")):
                continue
            after = (*steps, step)
            outcome = self._outcome(parent, step, after)
            more = more_of(outcome, self._outcomes[()]) if outcome.seconds is not None else 1.0
            self._shared.record.note(_question(after), candidate_of("", steps, (step,), outcome, more))
            self._outcomes[after] = outcome
            # an order of loops turned back and forth is no other port
            if outcome.seconds is not None and outcome.key not in self._keys:
                self._keys.add(outcome.key)
                yield after

    def _outcome(self, parent: Structure, step: Step, after: tuple[Step, ...]) -> CandidateOutcome:
        question = _question(after)
        known = self._shared.answers.get(question)
        if known is not None:
            return known
        self._shared.budget.check()
        try:
            made = self._open[after] = self._after(parent, step)
        except (RefusedError, UsageError) as error:
            why = error.findings[0].message.removeprefix(f"step 1 of 1, {step_text(step)}, ")
            return self._shared.answers.put(question, CandidateOutcome(None, why=why, refused=True))
        return self._shared.answers.put(question, score(made.planned, self._shared.times, self._host))

    def _after(self, parent: Structure, step: Step) -> Structure:
        if isinstance(step, Keep):
            return keep_nest(self._shared.setting, parent, step)
        if isinstance(step, OneThread):
            return run_alone(self._shared.setting, parent, step)
        made = after_loop_step(self._shared.setting, parent, step, self._there)
        if isinstance(step, SplitStructs):
            # the host gathers members, and sends them alone; or kernels do, of structs that are there
            return min((made, self._with_new(parent, step)), key=self._seconds)
        return made

    def _with_new(self, parent: Structure, step: Step) -> Structure:
        return after_loop_step(self._shared.setting, parent, step, self._there, new=True)

    def _seconds(self, structure: Structure) -> float:
        return score(structure.planned, self._shared.times, self._host).seconds or 0.0

    def _structure(self, steps: tuple[Step, ...]) -> Structure:
        """Return a port, planned where only its score was known."""
        if steps not in self._open:
            self._open[steps] = self._after(self._structure(steps[:-1]), steps[-1])
        return self._open[steps]

    def _is_fixed(self, address: str) -> bool:
        """Whether a loop, one inside it or one around it has its placement from the user."""
        return any(_is_inside(loop, address) or _is_inside(address, loop) for loop in self._fixed)

    def _cost(self, steps: tuple[Step, ...]) -> float:
        seconds = self._outcomes[steps].seconds
        assert seconds is not None, "what has no time is no neighbor"
        return seconds

    # --- the nests of one

    def _settle(self, structure: Structure) -> FoundPort:
        """Return a port with every nest placed best."""
        planned, outcome = structure.planned, self._outcomes[structure.steps]
        predicted = predict_kernels(planned, self._shared.times)
        nests = NestSearch(self._shared, structure.steps, structure.prepared, planned.port.program)
        placing = [*structure.placing]
        changed: dict[str, float] = {}
        sectors, instructions = outcome.sectors, outcome.instructions
        for fragment, own in structure.nests():
            launched = planned.estimate.kernels.get(fragment.kernel.name)
            if launched is None or self._is_fixed(fragment.region):
                continue
            prediction, text = predicted[fragment.region]
            key = self._shared.times.key(fragment.kernel, text, launched)
            steps, found = nests.best(PlacedNest(key, fragment, own, launched, prediction))
            if steps != own and found.seconds is not None:
                changed[fragment.region] = found.seconds
                before = outcome_of(prediction)
                sectors += found.sectors - before.sectors
                instructions += found.instructions - before.instructions
                at = placing.index(own[0])
                placing = [step for step in placing if step not in own]
                placing[at:at] = steps
        parts = tuple((name, changed.get(name, seconds)) for name, seconds in outcome.parts)
        total = sum(seconds for _, seconds in parts)
        settled = CandidateOutcome(total, sectors=sectors, instructions=instructions, parts=parts)
        return FoundPort(structure, tuple(placing), settled)


def _question(steps: tuple[Step, ...]) -> str:
    return f"port {' '.join(step_text(step) for step in steps)}"


def _is_inside(address: str, region: str) -> bool:
    return address == region or address.startswith(f"{region}/")
