"""One machine on the small kernel: what is changed in its text shows, and what cannot be is a reason."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from msgspec.structs import replace

from tests.flows.journey.begun import begun_step, reference_of_step, work_of
from warpsmith.flows.journey.compared import Compared, compare
from warpsmith.flows.journey.machines.work import MachineWork
from warpsmith.kernels.arguments import Array
from warpsmith.targets.llvm.listing import Listed

__all__ = ["Run", "changed_text", "step_by", "step_with_text"]

Run = Callable[[MachineWork], Mapping[str, Array]]


def step_by(run: Run) -> Compared:
    """Return what a machine makes of the small kernel, against the interpreter that looks for mistakes."""
    return compare(run(work_of(begun_step())), reference_of_step().arrays)


def changed_text(work: MachineWork, target: str, old: str, new: str) -> MachineWork:
    """Return the launches with one line of the text of a target changed."""
    name = work.version.kernels[0].name
    column = work.texts[name, target]
    assert column.listing is not None
    lines = [one.text for one in column.listing.lines]
    (at,) = (number for number, line in enumerate(lines) if old in line)
    listed = list(column.listing.lines)
    listed[at] = Listed(lines[at].replace(old, new), listed[at].file, listed[at].line)
    listing = replace(column.listing, lines=tuple(listed))
    return MachineWork(work.version, work.arrays, {**work.texts, (name, target): replace(column, listing=listing)})


def step_with_text(run: Run, target: str, old: str, new: str) -> Compared:
    """Return what a machine makes of the small kernel whose text was changed."""
    work = changed_text(work_of(begun_step()), target, old, new)
    return compare(run(work), reference_of_step().arrays)
