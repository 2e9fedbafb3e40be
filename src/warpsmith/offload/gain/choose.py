"""What of a port is worth its launches and copies: which fragments might better stay, and what that is worth.

    groups    fragments that share data: together they gain, or lose       one offload region, or all of a data region
    trials    the port without the losing groups, without the losing fragments of others, without both
    choice    the fastest of the port, the trials and the program as it is: each is planned and estimated whole

Only what is certain to lose stays. Where a run was counted, or sizes were given, the estimate decides. Where counts are
constants of the text alone, they may be those of an example that is to grow: there a loop stays that never has more
threads than a warp, and what loses more than LEAST_LOSS in one run, by more than the estimate may be wrong. What runs
as often as nobody knows is moved.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct

from warpsmith.base.source import Span
from warpsmith.base.verdict import Reason
from warpsmith.machine.devices import device, load_host
from warpsmith.machine.time.coarse import ERROR
from warpsmith.offload.decisions import Decided
from warpsmith.offload.gain.model import GainEstimate, RunKnowledge
from warpsmith.offload.gain.sizes import Measured, Sizes, infer_values
from warpsmith.offload.gain.work import references_of
from warpsmith.offload.plan import Fragment, GainOptions, LoopCount, OffloadOptions, Port
from warpsmith.poly.analyze import Facts
from warpsmith.poly.facts import FunctionFacts, LoopFacts
from warpsmith.tree.nodes import For, While
from warpsmith.tree.types import Symbol
from warpsmith.tree.walk import loops, walk

__all__ = [
    "Bar",
    "Loss",
    "find_losses",
    "gather_knowledge",
    "is_all_certain",
    "list_trials",
    "loss_reason",
    "seconds_text",
]


LEAST_LOSS: Final = 1e-3
"""Seconds of one run that a loop must lose to stay, where no more is known of its counts than its text."""
_WARP: Final = 32
_NOBODY: Final = frozenset({""})


class Bar(Struct, frozen=True):
    """How much slower the device must be for a loop to stay: by which factor, and by how many seconds. `start`: so
    does the device's start count."""

    factor: float = 1.0
    seconds: float = 0.0
    start: bool = True

    @classmethod
    def of(cls, options: OffloadOptions) -> Bar:
        """Return the bar for what is known of a program's counts."""
        shown = options.sizes or (options.gain is not None and options.gain.counts)
        return cls() if shown else cls(ERROR, LEAST_LOSS, start=False)

    def is_loss(self, host: float, device: float) -> bool:
        """Whether so many seconds on the device, in place of so many on the host, are a loss."""
        return device > host * self.factor and device - host > self.seconds

    def time(self, estimate: GainEstimate) -> float:
        """Return the seconds of a run that count."""
        return estimate.seconds if self.start else estimate.host + estimate.device


class Loss(Struct, frozen=True):
    """Fragments that are slower on the device: the seconds of one run on the host, on so many `threads`, and those with
    `--all`. `group`: they are all that share their data; `whole`: the seconds are those of the whole program."""

    fragments: tuple[Fragment, ...]
    host: float
    device: float
    group: bool
    threads: int = 1
    whole: bool = False


def gather_knowledge(facts: Facts, options: OffloadOptions, fragments: Iterable[Fragment] = ()) -> RunKnowledge:
    """Return what an estimate of a program rests on, of which `facts` tell."""
    gain = options.gain if options.gain is not None else GainOptions()
    functions = facts.functions
    known = {of.loop: of for function in functions for of in function.loops}
    references = references_of(access for function in functions for of in function.loops for access in of.accesses)
    mapped = {fragment.kernel.name: (fragment, _nest_of(fragment, functions)) for fragment in fragments}
    sizes = Sizes(given=options.sizes or {}, measured=_measured(gain.counts) if gain.counts else None)
    inferred = infer_values((function for _, function in facts.program.functions()), sizes)
    return RunKnowledge(device(gain.device), load_host(), sizes, known, references, mapped, inferred)


def _measured(counts: Mapping[tuple[str, int, int], LoopCount]) -> Measured:
    def look_up(place: Span) -> LoopCount | None:
        return counts.get((os.path.realpath(place.file.path), place.line, place.column))

    return look_up


def _nest_of(fragment: Fragment, functions: Iterable[FunctionFacts]) -> LoopFacts | None:
    """Return the facts of the outermost loop that becomes threads, or that one thread runs as a step says."""
    if not isinstance(fragment.statements[-1], For | While):
        return None
    inside = {part for statement in fragment.statements for part in walk(statement)}
    found: Iterator[LoopFacts] = (f for function in functions for f in function.loops if f.loop in inside)
    return next(found, None)


def find_losses(
    port: Port, known: RunKnowledge, facts: Facts, estimates: tuple[GainEstimate, GainEstimate], bar: Bar
) -> Sequence[Loss]:
    """Return what certainly loses: whole groups first, then single fragments of the others. `estimates`: of the program
    without the port and with it."""
    before, after = estimates
    users = _find_users(port)
    found: list[Loss] = []
    for group in port.groups:
        nests = [fragment for fragment in group if fragment.kind == "nest"]
        certain = [f for f in nests if _is_certain(f, known, facts, before, after)]
        asked = any(f.kind == "single" and _is_asked(f, known, facts) for f in group)
        on_host = sum(_host(f, known, before) for f in nests)
        loss = Loss(group, on_host, _device(group, users, after), True, _threads(nests, known, before))
        small = all(after.kernels[f.kernel.name].threads <= _WARP for f in certain)
        if nests and not asked and len(certain) == len(nests) and _loses(loss, bar, small=small):
            found.append(loss)
            continue
        for fragment in certain:
            on_device, threads = _device((fragment,), users, after), _threads([fragment], known, before)
            alone = Loss((fragment,), _host(fragment, known, before), on_device, False, threads)
            small = after.kernels[fragment.kernel.name].threads <= _WARP
            found += [alone] if _loses(alone, bar, small=small) else []
    return sorted(found, key=lambda loss: not loss.group)


def _loses(loss: Loss, bar: Bar, *, small: bool) -> bool:
    return bar.is_loss(loss.host, loss.device) or (small and loss.host * bar.factor < loss.device)


def list_trials(losses: Sequence[Loss]) -> Sequence[Sequence[Loss]]:
    """Return the sets of losses worth trying to leave: those of groups, those of fragments, all."""
    groups = [loss for loss in losses if loss.group]
    alone = [loss for loss in losses if not loss.group]
    return [trial for trial in (groups, alone, [*groups, *alone] if groups and alone else []) if trial]


def is_all_certain(port: Port, known: RunKnowledge, facts: Facts, before: GainEstimate, after: GainEstimate) -> bool:
    """Whether nothing of a port rests on counts that nobody knows."""
    loops = [f for f in port.plan.fragments if f.kind == "nest" or _is_asked(f, known, facts)]
    return all(_is_certain(f, known, facts, before, after) for f in loops)


def _is_certain(
    fragment: Fragment, known: RunKnowledge, facts: Facts, before: GainEstimate, after: GainEstimate
) -> bool:
    """Whether all counts in a fragment are certain, and no step has asked for it."""
    nest = known.fragments[fragment.kernel.name][1]
    launched = after.kernels.get(fragment.kernel.name)
    if nest is None or launched is None or nest.loop not in before.loops:
        return False
    return before.loops[nest.loop].certain and launched.certain and not _is_asked(fragment, known, facts)


def _is_asked(fragment: Fragment, known: RunKnowledge, facts: Facts) -> bool:
    """Whether a step has asked for a fragment's loop."""
    nest = known.fragments[fragment.kernel.name][1]
    return nest is not None and Decided.of(facts.program, fragment.function).of_loop(nest.loop) is not None


def _host(fragment: Fragment, known: RunKnowledge, before: GainEstimate) -> float:
    nest = known.fragments[fragment.kernel.name][1]
    return before.loops[nest.loop].seconds if nest is not None and nest.loop in before.loops else 0.0


def _threads(fragments: Sequence[Fragment], known: RunKnowledge, before: GainEstimate) -> int:
    """Return how many threads of the host run the loops of fragments."""
    nests = [nest for f in fragments if (nest := known.fragments[f.kernel.name][1]) is not None]
    return max((int(before.loops[nest.loop].threads) for nest in nests if nest.loop in before.loops), default=1)


def _device(fragments: Sequence[Fragment], users: Mapping[Symbol, frozenset[str]], after: GainEstimate) -> float:
    """Return the seconds of kernels and their launches, and of the copies of what no other kernel uses."""
    kernels = {fragment.kernel.name for fragment in fragments}
    running = sum(after.kernels[name].seconds for name in kernels if name in after.kernels)
    return running + sum(seconds for buffer, seconds in after.moving.items() if users.get(buffer, _NOBODY) <= kernels)


def _find_users(port: Port) -> Mapping[Symbol, frozenset[str]]:
    """Return the kernels that use each buffer."""
    inside: dict[int, frozenset[int]] = {}
    found: dict[Symbol, frozenset[str]] = {}
    for buffer in port.plan.buffers:
        if id(buffer.scope) not in inside:
            inside[id(buffer.scope)] = frozenset(id(part) for stmt in buffer.scope for part in walk(stmt))
        found[buffer.symbol] = frozenset(
            fragment.kernel.name
            for fragment in port.plan.fragments
            if id(fragment.statements[0]) in inside[id(buffer.scope)]
            and any(parameter.host == buffer.host for parameter in fragment.kernel.parameters)
        )
    return found


def loss_reason(loss: Loss, options: GainOptions) -> Reason:
    """Return why a loop stays that would lose."""
    first = next(f for f in loss.fragments if f.kind == "nest")
    loop = next(loop for statement in first.statements for loop, _ in loops(statement))
    what = "copies, launches and kernels" if len(loss.fragments) > 1 else "copies, launches and its kernel"
    where = f"here on {loss.threads} threads" if loss.threads > 1 else "here"
    lost = f"it would lose: about {seconds_text(loss.device)} of {what} on {options.device}, for about "
    if loss.whole:
        lost = f"all together would lose: about {seconds_text(loss.device)} with {options.device}, for about "
    text = f"{lost}{seconds_text(loss.host)} {where} (estimates, within a factor of {ERROR:g})"
    return Reason("POR009", text, loop.header, legal_if=("--all ports it all the same", "so does --loop, for one loop"))


def seconds_text(seconds: float) -> str:
    """Return seconds for people, two digits of them.

    >>> seconds_text(0.0000456), seconds_text(0.012), seconds_text(3.25)
    ('46 us', '12 ms', '3.2 s')
    """
    for unit, factor in (("s", 1.0), ("ms", 1e3), ("us", 1e6)):
        value = seconds * factor
        if value >= 1:
            return f"{value:.0f} {unit}" if value >= 10 else f"{value:.1f} {unit}"
    return f"{max(1.0, seconds * 1e9):.0f} ns"
