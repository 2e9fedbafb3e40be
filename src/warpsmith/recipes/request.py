"""The steps that the user asked for, before the search adds any.

--recipe R        replayed exactly: nothing is added, and if R places loops, nothing else becomes a kernel
--transform T…    applied in order, after the recipe's; without a recipe the automatic port goes on from there
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec.structs
from msgspec import Struct

from warpsmith.base.errors import RefusedError
from warpsmith.base.findings import Finding
from warpsmith.loops.prepared import Prepared, RunChange
from warpsmith.loops.step import Step
from warpsmith.offload.plan import OffloadOptions
from warpsmith.poly.facts import PolyOptions, statement_spans
from warpsmith.recipes.listed import ListedStep
from warpsmith.tree.program import Assumption

__all__ = ["StepRequest"]


class StepRequest(Struct, frozen=True):
    """`steps` in order; `granted` is what the recipe's author asserted; `exact`: nothing may be added."""

    steps: tuple[ListedStep, ...]
    granted: tuple[Assumption, ...] = ()
    exact: bool = False

    @classmethod
    def of(cls, recipe: str | None, options: tuple[str, ...], chosen: tuple[Step, ...] = ()) -> StepRequest:
        """Return the steps of a recipe's file and of `--transform` options, or those that were `chosen`, as a recipe
        has them; raises UsageError where they make no sense."""
        if chosen:
            return cls(tuple(map(ListedStep, chosen)), exact=True)
        if recipe is None and not options:
            return cls(())
        # loaded where steps are asked for: it knows all of them
        from warpsmith.recipes.reading import read_recipe
        from warpsmith.recipes.transforms import transforms

        wanted = transforms(options)
        if recipe is None:
            return cls(wanted)
        read = read_recipe(recipe)
        granted = tuple(Assumption(text, "granted") for text in read.assumptions)
        return cls((*read.steps, *wanted), granted, exact=True)

    def poly(self, options: PolyOptions) -> PolyOptions:
        """Return `options` with what the recipe grants."""
        return msgspec.structs.replace(options, granted=tuple(dict.fromkeys((*options.granted, *self.granted))))

    def offload(self, options: OffloadOptions) -> OffloadOptions:
        """Return `options` such that a recipe that places loops is followed to the letter."""
        placed = any(listed.step.name in ("offload", "map") for listed in self.steps)
        return msgspec.structs.replace(options, decided_only=self.exact and placed)

    def check_tested(self, uncovered: Iterable[RunChange]) -> None:
        """Raise RefusedError where the steps need a test at run time that no part of the plan makes."""
        found = next((change for change in uncovered if change.old), None)
        if found is None or not self.steps:
            return
        guards = [a.text for a in found.assumptions if a.kind == "guarded"]
        message = f"the steps are right only if {' and '.join(guards)}, and nothing tests that where it must be known"
        helps = tuple(f"--assume '{guard}' asserts it" for guard in guards)
        raise RefusedError(Finding("STP001", "error", message, statement_spans(found.old), helps))

    def apply_to(self, prepared: Prepared, *, explain: bool = False) -> Prepared:
        """Return the program after the steps; raises RefusedError or UsageError at the first that cannot be applied,
        with `explain` together with what would make it legal."""
        if not self.steps:
            return prepared
        from warpsmith.recipes.replay import apply_steps

        return apply_steps(prepared, self.steps, explain=explain)
