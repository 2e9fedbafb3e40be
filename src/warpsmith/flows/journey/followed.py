"""All launches of a version in order on the SIMT machine: what arrays hold before each, and what it does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from msgspec import Struct

from warpsmith.flows.journey.machines.kernel_ir import run_module
from warpsmith.flows.journey.reasons import UnableError, reason_of
from warpsmith.flows.journey.versions import KernelCall, Version
from warpsmith.kernels.arguments import Array
from warpsmith.report.journey.model import CallCounts
from warpsmith.simt.choose import Done

__all__ = ["FollowedCall", "FollowedVersions", "count_calls", "follow", "follow_all", "longest_calls"]


class FollowedCall(Struct, frozen=True, eq=False):
    """A launch, the arrays before and after it, and its counters."""

    number: int
    call: KernelCall
    before: Mapping[str, Array]
    after: Mapping[str, Array]
    done: Done


class FollowedVersions(Struct, frozen=True, eq=False):
    """The launches of each version by its name, and why those of others do not come to their end."""

    calls: Mapping[str, tuple[FollowedCall, ...]]
    why: tuple[str, ...] = ()

    def of(self, version: Version) -> tuple[FollowedCall, ...]:
        """Return the launches of a version, none where they do not come to their end."""
        return self.calls.get(version.name, ())


def follow_all(versions: Sequence[Version], arrays: Mapping[str, Array]) -> FollowedVersions:
    """Return the launches of all versions."""
    calls: dict[str, tuple[FollowedCall, ...]] = {}
    why: list[str] = []
    for version in versions:
        try:
            calls[version.name] = follow(version, arrays)
        except UnableError as error:
            why.append(f"{version.name}: {reason_of(error)}")
    return FollowedVersions(calls, tuple(why))


def follow(version: Version, arrays: Mapping[str, Array]) -> tuple[FollowedCall, ...]:
    """Return the launches in order; raises UnableError where one does not end."""
    followed: list[FollowedCall] = []
    now = dict(arrays)
    for number, call in enumerate(version.calls, 1):
        held = {parameter: now[name].tobytes() for parameter, name in call.arrays.items()}
        left, done = run_module(version.unit.module, call, held, "compiled")
        after = dict(now)
        for parameter, name in call.arrays.items():
            after[name] = np.frombuffer(left[parameter], now[name].dtype).reshape(now[name].shape)
        followed.append(FollowedCall(number, call, now, after, done))
        now = after
    return tuple(followed)


def count_calls(followed: Sequence[FollowedCall]) -> CallCounts:
    """Return the counters of all launches together."""
    sums = [one.done.totals for one in followed]
    issued = sum(one.issued_slots for one in sums)
    requests = [request for one in followed for request in one.done.requests]
    return CallCounts(
        len(followed),
        sum(one.warp_instructions for one in sums),
        sum(one.lane_instructions for one in sums) / issued if issued else 1.0,
        sum(one.sectors for one in requests),
        sum(one.conflicts for one in requests),
    )


def longest_calls(followed: Sequence[FollowedCall]) -> tuple[FollowedCall, ...]:
    """Return the longest launch of each kernel, by instructions of its lanes; of several the first one."""
    found: dict[str, FollowedCall] = {}
    for one in followed:
        other = found.get(one.call.kernel)
        if other is None or one.done.totals.lane_instructions > other.done.totals.lane_instructions:
            found[one.call.kernel] = one
    return tuple(found.values())
