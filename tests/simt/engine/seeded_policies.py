"""Bugs that are put into the code that keeps lanes together as policies say, one at a time, and a launch that shows
each: then the compiled machine and the interpreter differ under a policy."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from msgspec.structs import replace

from tests.simt.engine.agree import Case
from tests.simt.engine.agree_policy import agree_under
from tests.simt.engine.kernels import random_case
from tests.simt.engine.policy_kernels import graph_case, timed_case
from tests.simt.engine.seeded import Bug
from warpsmith.simt.engine.kernel import KernelWriter
from warpsmith.simt.engine.lanes import I64
from warpsmith.simt.engine.values import Homes
from warpsmith.simt.engine.writing import per_lane, stack
from warpsmith.simt.engine.writing.blocks import BlockWriter
from warpsmith.simt.engine.writing.per_lane import LaneScheduler
from warpsmith.simt.engine.writing.segments import Segment
from warpsmith.simt.engine.writing.stack import StackScheduler
from warpsmith.simt.policies.machine import PolicyName

__all__ = ["BUGS"]


def _under(
    policy: PolicyName, what: str, place: tuple[Any, str], make: Callable[[Any], Any], case: Callable[[], Case]
) -> Bug:
    owner, name = place
    return Bug(what, owner, name, make, case, partial(agree_under, policy))


def _graph(seed: int) -> Callable[[], Case]:
    return lambda: graph_case(seed)


def _timed(seed: int) -> Callable[[], Case]:
    return lambda: timed_case(seed)


def _random(seed: int) -> Callable[[], Case]:
    return lambda: random_case(seed)


def _no_blend(right: Any) -> Any:
    """Values are overwritten in lanes that are elsewhere."""
    return lambda cls, *given, **how: replace(right(cls, *given, **how), blended=frozenset())


def _all_phis(right: Any) -> Any:
    """Phis are written in all lanes, not only in those that come."""

    def write(self: BlockWriter, target: str, mask: Any) -> None:
        right(self, target, self.everyone)

    return write


def _past_meeting(right: Any) -> Any:
    """Lanes of an arm go on behind the place where they meet others."""

    def onward(self: StackScheduler, target: str) -> None:
        self.e.b.store(self.w.mask, self.w.current)
        self.e.b.branch(self.w.heads[target])

    return onward


def _other_order(right: Any) -> Any:
    return lambda self, ways: right(self, ways)[::-1]


def _first_arm(right: Any) -> Any:
    """Of the arms the one that stands first is taken for the largest."""
    return lambda e, arms, count: I64(0)


def _old_times(right: Any) -> Any:
    """Lanes that went alone, and part, have the times at which they were picked."""

    def go(self: LaneScheduler, ways: Any) -> None:
        held = LaneScheduler.hold
        LaneScheduler.hold = lambda self, key, value: None if key == "went" else held(self, key, value)  # type: ignore[method-assign]
        right(self, ways)
        LaneScheduler.hold = held  # type: ignore[method-assign]

    return go


def _from_start(right: Any) -> Any:
    """What is behind a barrier is counted from the start of its block."""
    return property(lambda self: self.stop)


def _quiet(right: Any) -> Any:
    return lambda self: None


BUGS = (
    _under("per-lane", "phis are written in all lanes", (BlockWriter, "write_phis"), _all_phis, _random(0)),
    _under("ipdom", "arms go past where they meet", (StackScheduler, "onward"), _past_meeting, _graph(1)),
    _under("ipdom", "values are not blended", (Homes, "of"), _no_blend, _random(3)),
    _under("ipdom", "the arm that stands last goes first", (StackScheduler, "ordered"), _other_order, _timed(0)),
    _under("true-first", "the arm of the false goes first", (StackScheduler, "ordered"), _other_order, _timed(0)),
    _under("smaller-first", "any arm is the largest", (stack, "_largest"), _first_arm, _timed(0)),
    _under("per-lane", "sets wait too short", (per_lane, "PATIENCE"), lambda right: 3, _timed(0)),
    _under("per-lane", "sets wait too long", (per_lane, "PATIENCE"), lambda right: 9, _timed(0)),
    _under("per-lane", "lanes that part keep their times", (LaneScheduler, "go"), _old_times, _timed(0)),
    _under("per-lane", "segments start with their block", (Segment, "count"), _from_start, _random(0)),
    _under("maximal", "nobody counts who waits", (KernelWriter, "note_sets"), _quiet, _graph(1)),
)
"""One a line: the policy, what is wrong, what is replaced and by what, where it shows."""
