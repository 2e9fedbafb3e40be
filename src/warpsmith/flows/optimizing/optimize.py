"""A faster port by the time model: what `port` makes is the start, and steps are tried on it.

    the default port ── its steps as a recipe ──► search ──► the best recipe, or none that is clearly better
                        sizes that nothing tells: assumed

Invariant: what comes back is predicted, never measured; the steps of the winner were Proved, and the port that they
make was planned as a whole. Equal input gives an equal answer unless the budget ends the search.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from warpsmith.base.errors import RefusedError
from warpsmith.flows.optimizing.budget import Budget
from warpsmith.flows.optimizing.kept import KeptOutcomes, search_key
from warpsmith.flows.optimizing.record import SearchRecord
from warpsmith.flows.optimizing.scored import COPIES, HOST, predict_kernels, seconds_of
from warpsmith.flows.optimizing.search import FoundPort, Search
from warpsmith.flows.optimizing.setting import PlannedPort, Setting
from warpsmith.flows.optimizing.shared import SearchEffort, Shared
from warpsmith.flows.optimizing.sizes import ASSUMED, find_missing
from warpsmith.flows.optimizing.structures import Structure, start
from warpsmith.flows.optimizing.times import KernelTimes
from warpsmith.flows.porting.predicted import gpu_of
from warpsmith.loops.prepared import Prepared
from warpsmith.loops.step import Step, step_text
from warpsmith.machine.devices import Device
from warpsmith.offload.plan import OffloadOptions, Plan, Port
from warpsmith.recipes.placement import placing_steps, recorded_steps
from warpsmith.report.port.predicted import lacking_text
from warpsmith.report.searched import PortSearch, SearchGain
from warpsmith.tree.nodes import Loop

__all__ = ["OptimizeOptions", "OptimizedPort", "optimize"]

_WHOLE: Final = "the port"
_ROUNDS: Final = 4
"""How often missing sizes are looked for: with some of them others are found to be missing."""


class OptimizeOptions(Struct, frozen=True):
    """`budget`: seconds for the search; `keep`: outcomes are kept for the next one; `effort`: how far it goes."""

    budget: float = 10.0
    keep: bool = True
    effort: SearchEffort = SearchEffort()


class OptimizedPort(Struct, frozen=True):
    """The steps of the best port, as a recipe has them (none: the default port is the best), and what was tried."""

    steps: tuple[Step, ...]
    search: PortSearch


def optimize(
    prepared: Prepared,
    port: Port,
    selected: tuple[Loop, ...] | None,
    options: OffloadOptions,
    wanted: OptimizeOptions,
) -> OptimizedPort:
    """Return the best port that is found in time, from the default `port` of a program after its steps."""
    gpu = gpu_of(options)
    times = KernelTimes(prepared.original.program, gpu)
    plain = Setting(selected, options, options)
    try:
        root, assumed = _assume(start(plain, prepared, placing_steps(port.plan)), times, plain)
    except RefusedError as error:
        return _nothing(gpu, wanted, error.findings[0].message)
    setting = Setting(selected, options, _sized(options, assumed))
    shown = "\n".join(step_text(step) for step in root.placing)
    key = search_key(prepared, (setting.options, setting.sized), f"{wanted.effort} {shown}")
    answers = KeptOutcomes(key if wanted.keep else None)
    record = SearchRecord()
    search = Search(Shared(setting, times, answers, record, Budget(wanted.budget), wanted.effort))
    fixed = frozenset(decision.loop for decision in prepared.program.decisions)
    try:
        first, best = search.run(root, fixed, keeps=_knows_counts(options))
    finally:
        answers.write()
    told = PortSearch(
        device=gpu,
        default=first.outcome.seconds or 0.0,
        best=best.outcome.seconds or 0.0,
        steps=() if best is first else tuple(map(step_text, _recipe(prepared, port.plan, best))),
        gains=() if best is first else _gains(first, best),
        candidates=record.candidates,
        budget=wanted.budget,
        ended=record.ended,
        earlier=sum(map(answers.is_earlier, record.questions())),
        assumed=tuple(sorted(assumed.items())),
        lacking=_lacking(root.planned, times),
    )
    return OptimizedPort(() if best is first else _recipe(prepared, port.plan, best), told)


def _nothing(gpu: Device, wanted: OptimizeOptions, why: str) -> OptimizedPort:
    """Return that nothing was tried, since a port is not what its own steps make."""
    lacking = ((_WHOLE, why),)
    return OptimizedPort((), PortSearch(gpu, 0.0, 0.0, (), (), (), wanted.budget, False, 0, lacking=lacking))


def _knows_counts(options: OffloadOptions) -> bool:
    """Whether how often loops run was given or counted: else they may be those of an example that is to grow, and what
    `port` moves is not kept on the host for them."""
    return bool(options.sizes or (options.gain is not None and options.gain.counts))


def _sized(options: OffloadOptions, assumed: dict[str, int]) -> OffloadOptions:
    return replace(options, sizes={**(options.sizes or {}), **assumed}) if assumed else options


def _assume(root: Structure, times: KernelTimes, setting: Setting) -> tuple[Structure, dict[str, int]]:
    """Return the start, with its launches for sizes that are assumed where nothing tells them."""
    assumed: dict[str, int] = {}
    for _ in range(_ROUNDS):
        predicted = predict_kernels(root.planned, times)
        missing = {
            name
            for fragment in root.planned.port.plan.fragments
            for name in find_missing(
                fragment.kernel, predicted[fragment.region][0], root.planned.estimate.kernels.get(fragment.kernel.name)
            )
        }
        if not missing - assumed.keys():
            break
        assumed |= dict.fromkeys(sorted(missing), ASSUMED)
        sized = replace(setting, sized=_sized(setting.options, assumed))
        root = replace(root, planned=sized.estimate(root.planned))
    return root, assumed


def _recipe(prepared: Prepared, plan: Plan, found: FoundPort) -> tuple[Step, ...]:
    """Return all steps of a port, in the order of a recipe."""
    before = recorded_steps([applied.step for applied in prepared.applied], replace(plan, fragments=()))
    loops = tuple(step for step in found.structure.steps if step not in found.placing)
    return (*before, *loops, *found.placing)


def _lacking(planned: PlannedPort, times: KernelTimes) -> tuple[tuple[str, str], ...]:
    """Return the regions for whose kernels there is no time, and why."""
    found = predict_kernels(planned, times)
    return tuple((region, lacking_text(one)) for region, (one, _) in found.items() if one.seconds is None)


def _gains(first: FoundPort, best: FoundPort) -> tuple[SearchGain, ...]:
    """Return what is otherwise in the best port."""
    loops = tuple(map(step_text, best.structure.steps))
    found: list[SearchGain] = []
    if loops:
        found.append(SearchGain("loops", first.outcome.seconds, best.outcome.seconds, loops))
    for name, after in best.outcome.parts:
        before = None if loops and name not in (COPIES, HOST) else seconds_of(first.outcome, name)
        steps = tuple(step_text(s) for s in _about(best.placing, name) if s not in first.placing)
        if steps or (name in (COPIES, HOST) and _differs(before, after)):
            found.append(SearchGain(name, before, after, steps))
    return tuple(found)


def _about(placing: Sequence[Step], region: str) -> list[Step]:
    addresses = ((step, getattr(step, "loop", "")) for step in placing)
    return [step for step, address in addresses if address == region or address.startswith(f"{region}/")]


def _differs(before: float | None, after: float) -> bool:
    return before is not None and abs(before - after) > 1e-9 * max(before, after)
