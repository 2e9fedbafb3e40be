"""JOURNEY, a straight line: one kernel through everything that there is, each stage worked out in each run."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from msgspec.structs import replace

from warpsmith.base.errors import WarpsmithError
from warpsmith.base.progress import Activity, Progress, ignore_progress
from warpsmith.flows.journey.followed import follow_all
from warpsmith.flows.journey.found import find
from warpsmith.flows.journey.origin import begin
from warpsmith.flows.journey.ran import find_reference, run_machines
from warpsmith.flows.journey.reasons import UnableError, reason_of
from warpsmith.flows.journey.rewritten import rewrite
from warpsmith.flows.journey.simulated import simulate_widths
from warpsmith.flows.journey.streams import run_streams
from warpsmith.flows.journey.subjects import Subject
from warpsmith.flows.journey.written import Texts, write_targets
from warpsmith.report.journey.model import (
    FoundStage,
    Journey,
    MachineStage,
    RewriteStage,
    Stage,
    StreamStage,
    TargetStage,
    WidthStage,
)
from warpsmith.settings.model import Settings

__all__ = ["travel"]

S = TypeVar("S", bound=Stage)


def travel(subject: Subject, settings: Settings, progress: Progress = ignore_progress) -> Journey:
    """Send a subject through everything.

    Raises UsageError and InputError where a kernel of the user's cannot be read, or is launched in no way that makes
    sense; what goes wrong behind that is a result.
    """
    # Where it comes from: loops become kernels, a kernel is there as it is.
    start = time.perf_counter()
    origin, begun = begin(subject)
    subject = begun.subject
    origin = replace(origin, seconds=time.perf_counter() - start)

    def stage(name: str, empty: S, work: Callable[[], S]) -> S:
        progress(Activity(name, subject.name))
        return _timed(empty, work)

    # What is to be said of it.
    found = stage("analyzing", FoundStage(), lambda: find(begun, settings))
    # What it computes, by the original; and every launch, so that what is rewritten can be compared.
    start = time.perf_counter()
    reference, followed = find_reference(begun), follow_all(begun.versions, begun.inputs.arrays)
    spent = time.perf_counter() - start
    # What it is rewritten to.
    rewritten = stage("rewriting", RewriteStage(), lambda: rewrite(begun, followed, reference, settings))
    # Text for every target.
    texts: dict[str, Texts] = {}
    written = stage("lowering", TargetStage(), lambda: write_targets(begun, texts))
    # Every machine that runs: each on the same input, each compared.
    ran = stage("running", MachineStage(), lambda: run_machines(begun, texts, reference))
    ran = replace(ran, seconds=ran.seconds + spent)
    # Under other widths and policies.
    simulated = stage("simulating", WidthStage(), lambda: simulate_widths(begun, followed))
    # The same in Brook+.
    empty = StreamStage()
    streams = stage("streaming", empty, lambda: run_streams(begun, followed, reference)) if subject.streams else None
    return Journey(subject.name, origin, found, rewritten, written, ran, simulated, streams)


def _timed(empty: S, work: Callable[[], S]) -> S:
    """Return a stage with the time that it took; one that cannot be has the reason."""
    start = time.perf_counter()
    try:
        made = work()
    except (UnableError, WarpsmithError) as error:
        made = replace(empty, problem=reason_of(error))
    return replace(made, seconds=time.perf_counter() - start)
