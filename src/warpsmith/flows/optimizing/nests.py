"""The best placement of one nest, whatever the others do: the model adds up kernels, and what a nest copies does not
depend on where its loops lie.

    numbers    one text for each assignment of loops to axes; a block is a launch of it
    texts      one plan of the function, and one text, for each width of tiles in each block

Invariant: a nest keeps the placement that it has unless the model takes less than its seconds over `least` for another:
what is nearer than that it cannot tell apart. One with more sectors or instructions is faster by as much besides.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from warpsmith.analysis.counts.prediction import TIE
from warpsmith.base.errors import RefusedError
from warpsmith.flows.optimizing.budget import BudgetEndedError
from warpsmith.flows.optimizing.kept import CandidateOutcome, more_of
from warpsmith.flows.optimizing.placements import (
    TileChoice,
    blocks_of,
    can_move,
    filled_otherwise,
    halo_choices,
    inner_loops,
    list_axes,
    mapped,
    padded,
    pass_choices,
    probe,
    tile_choices,
    with_elements,
    with_tables,
)
from warpsmith.flows.optimizing.record import candidate_of
from warpsmith.flows.optimizing.shared import Shared
from warpsmith.loops.prepared import Prepared
from warpsmith.loops.step import Step, step_text
from warpsmith.offload.gain.model import KernelTime
from warpsmith.offload.mapping.mapping import ThreadMapping, large_axes
from warpsmith.offload.plan import CostEstimate, Fragment
from warpsmith.offload.port import plan_function
from warpsmith.report.model import KernelPrediction
from warpsmith.report.port.predicted import bound_text, lacking_text
from warpsmith.tree.program import Kernel, Program

__all__ = ["NestSearch", "PlacedNest", "outcome_of"]

_NO_MODEL: Final = CostEstimate(0.0, 0.0, ())
_Tried = tuple[tuple[Step, ...], CandidateOutcome]


class PlacedNest(Struct, frozen=True):
    """A nest of a port: `placing`, the steps that place it as it is, and what it is predicted to take. `key`: its text
    and its launches, with which all of its placements are the same."""

    key: str
    fragment: Fragment
    placing: tuple[Step, ...]
    launched: KernelTime
    prediction: KernelPrediction


class NestSearch(Struct, frozen=True):
    """Tries the placements of nests of one program, which `after` steps of loops is `prepared`."""

    shared: Shared
    after: tuple[Step, ...]
    prepared: Prepared
    ported: Program

    def best(self, nest: PlacedNest) -> tuple[tuple[Step, ...], CandidateOutcome]:
        """Return the steps that place a nest best, and what comes of them: its own where no other is clearly better."""
        own = nest.prediction.seconds
        if own is None or self._at_least(nest) or not can_move(nest.fragment):
            return nest.placing, outcome_of(nest.prediction)
        start = outcome_of(nest.prediction)
        best, steps = start, nest.placing
        try:
            for other, outcome in chain.from_iterable(way(nest) for way in self._ways(nest)):
                if outcome.seconds is not None and outcome.weighed(start) < best.weighed(start):
                    best, steps = outcome, other
            for other in with_tables(nest.fragment, steps) if self._takes_tables(nest) else ():
                outcome = self._try(nest, other)
                if outcome.seconds is not None and outcome.weighed(start) < best.weighed(start):
                    best, steps = outcome, other
        except BudgetEndedError:
            self.shared.record.ended = True
        return (steps, best) if best.weighed(start) * self.shared.effort.least < own else (nest.placing, start)

    def _ways(self, nest: PlacedNest) -> tuple[Callable[[PlacedNest], Iterator[_Tried]], ...]:
        """Return what is tried, in order: tiles first where a nest has some."""
        if nest.fragment.iterations:
            return (self._passes,)
        if self.shared.effort.mappings_only:
            # in other blocks these tiles would be others
            return () if nest.fragment.tiles else (self._mappings,)
        ways = (self._tiles, self._mappings) if nest.fragment.tiles else (self._mappings, self._tiles)
        return (*ways, self._halos)

    def _takes_tables(self, nest: PlacedNest) -> bool:
        return not self.shared.effort.mappings_only and not nest.fragment.iterations

    def _at_least(self, nest: PlacedNest) -> bool:
        """Whether a nest takes no longer than its launches do by themselves, or has none."""
        floor = nest.launched.launches * self.shared.times.launch_seconds
        return (nest.prediction.seconds or 0.0) <= floor * TIE

    # --- numbers

    def _mappings(self, nest: PlacedNest) -> Iterator[tuple[tuple[Step, ...], CandidateOutcome]]:
        for axes in list_axes(nest.fragment):
            base: Kernel | str | None = None
            texts: dict[tuple[str, ...], str] = {}
            for block in blocks_of(nest.fragment):
                steps = mapped(nest.fragment, axes, block)
                known = self._known(nest, steps)
                if known is None:
                    self.shared.budget.check()
                    base = self._kernel(nest, steps) if base is None else base
                    known = self._in_block(base, block, nest, texts)
                yield steps, self._keep(nest, steps, known)

    def _in_block(
        self, base: Kernel | str, block: tuple[int, int, int], nest: PlacedNest, texts: dict[tuple[str, ...], str]
    ) -> CandidateOutcome:
        """Return the time of a kernel in another block: nothing but numbers changes, and which axes are sliced."""
        if isinstance(base, str):
            return CandidateOutcome(None, why=base, refused=True)
        heads = [one.loop for one in base.mapped]
        axes = tuple(one.axis for one in base.mapped)
        kernel = replace(base, block=block, sliced=large_axes(heads, ThreadMapping(axes, block, _NO_MODEL)))
        if kernel.sliced not in texts:
            texts[kernel.sliced] = self.shared.times.texts(self.ported, [kernel])[kernel.name]
        return outcome_of(self.shared.times.predict(kernel, texts[kernel.sliced], nest.launched))

    # --- texts

    def _tiles(self, nest: PlacedNest) -> Iterator[tuple[tuple[Step, ...], CandidateOutcome]]:
        ranked: list[tuple[float, TileChoice]] = []
        tried: list[_Tried] = []
        for choice in tile_choices(nest.fragment, self._tileable(nest)):
            tried.append(self._tried(nest, choice.steps(nest.fragment)))
            yield tried[-1]
            if (seconds := tried[-1][1].seconds) is not None and choice.may_have_several:
                ranked.append((seconds, choice))
        for _, choice in sorted(ranked, key=lambda one: one[0])[: self.shared.effort.tiles]:
            for steps in with_elements(nest.fragment, choice):
                tried.append(self._tried(nest, steps))
                yield tried[-1]
        # rows of other lengths first: neighbors are loaded at once where rows are not longer than what they hold
        for others in (padded, filled_otherwise):
            for steps in self._fastest(tried):
                for other in others(steps):
                    tried.append(self._tried(nest, other))
                    yield tried[-1]

    def _fastest(self, tried: Sequence[_Tried]) -> list[tuple[Step, ...]]:
        """Return the steps of the fastest few of what was tried; of those that are alike, the first."""
        found: dict[CandidateOutcome, tuple[Step, ...]] = {}
        for steps, outcome in sorted(tried, key=lambda one: one[1].seconds or 0.0):
            if outcome.seconds is not None:
                found.setdefault(outcome, steps)
        return list(found.values())[: self.shared.effort.tiles]

    def _tried(self, nest: PlacedNest, steps: tuple[Step, ...]) -> _Tried:
        return steps, self._try(nest, steps)

    def _halos(self, nest: PlacedNest) -> Iterator[tuple[tuple[Step, ...], CandidateOutcome]]:
        for steps in halo_choices(nest.fragment):
            outcome = self._try(nest, steps, told=False)
            # most nests have no neighbors, and what has none in one block has none in another
            if outcome.refused:
                return
            yield steps, self._keep(nest, steps, outcome)

    def _passes(self, nest: PlacedNest) -> Iterator[tuple[tuple[Step, ...], CandidateOutcome]]:
        for steps in pass_choices(nest.fragment):
            yield steps, self._try(nest, steps)

    def _tileable(self, nest: PlacedNest) -> Sequence[str]:
        """Return the loops of a nest that can have tiles, none inside another."""
        found: list[str] = []
        for loop in inner_loops(nest.fragment) if len(nest.fragment.kernel.mapped) > 1 else ():
            steps = probe(nest.fragment, loop)
            outcome = self._known(nest, steps)
            if outcome is None:
                self.shared.budget.check()
                made = self._kernel(nest, steps)
                outcome = (
                    CandidateOutcome(None, why=made, refused=True) if isinstance(made, str) else CandidateOutcome(None)
                )
            self._keep(nest, steps, outcome, told=outcome.refused)
            if not outcome.refused and not any(loop.startswith(f"{outer}/") for outer in found):
                found.append(loop)
        return found

    def _try(self, nest: PlacedNest, steps: tuple[Step, ...], *, told: bool = True) -> CandidateOutcome:
        """Return what comes of a placement with a text of its own."""
        known = self._known(nest, steps)
        if known is None:
            self.shared.budget.check()
            kernel = self._kernel(nest, steps)
            if isinstance(kernel, str):
                known = CandidateOutcome(None, why=kernel, refused=True)
            else:
                text = self.shared.times.texts(self.ported, [kernel])[kernel.name]
                known = outcome_of(self.shared.times.predict(kernel, text, nest.launched))
        return self._keep(nest, steps, known, told=told)

    def _kernel(self, nest: PlacedNest, steps: Sequence[Step]) -> Kernel | str:
        """Return the kernel of a nest that steps place, planned for itself; or why there is none."""
        program = self.prepared.program
        try:
            for step in steps:
                program = step.apply(program)
            facts = self.prepared.facts.after(program)
            options = replace(self.shared.setting.options, decided_only=True, selected=None)
            planned = plan_function(program, facts, nest.fragment.function, options)
        except RefusedError as error:
            return error.findings[0].message
        for fragment in planned.fragments:
            if fragment.region == nest.fragment.region and fragment.kind == "nest":
                return fragment.kernel
        reasons = [r.reason for r in planned.refusals if r.loop == nest.fragment.region]
        return reasons[0].text if reasons else "it stays on the host"

    # --- answers

    def _question(self, nest: PlacedNest, steps: Sequence[Step]) -> str:
        return f"{nest.key} {nest.fragment.region} {' '.join(step_text(step) for step in steps)}"

    def _known(self, nest: PlacedNest, steps: Sequence[Step]) -> CandidateOutcome | None:
        return self.shared.answers.get(self._question(nest, steps))

    def _keep(
        self, nest: PlacedNest, steps: Sequence[Step], outcome: CandidateOutcome, *, told: bool = True
    ) -> CandidateOutcome:
        question = self._question(nest, steps)
        if told:
            more = more_of(outcome, outcome_of(nest.prediction)) if outcome.seconds is not None else 1.0
            candidate = candidate_of(nest.fragment.region, self.after, steps, outcome, more)
            self.shared.record.note(question, candidate)
        return outcome if self.shared.answers.knows(question) else self.shared.answers.put(question, outcome)


def outcome_of(found: KernelPrediction) -> CandidateOutcome:
    """Return a prediction as the outcome of a candidate."""
    if found.seconds is None or found.time is None:
        return CandidateOutcome(None, why=lacking_text(found))
    work = found.time.work
    if work is None:
        return CandidateOutcome(found.seconds, bound_text(found.time))
    sectors = found.launches * (work.load_sectors + work.store_sectors)
    return CandidateOutcome(found.seconds, bound_text(found.time), sectors=sectors,
                   instructions=found.launches * work.instructions.issued)  # fmt: skip
