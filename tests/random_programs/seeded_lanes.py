"""Bugs to seed where the lanes of a warp share loops: each is a slip that the planner or the writer might make."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import pytest

from warpsmith.emit.device import warps
from warpsmith.offload.mapping.lanes import lane_loops, lane_text, shared_loops
from warpsmith.tree.nodes import Empty

__all__ = ["BUGS"]

Patch = pytest.MonkeyPatch


def _all_lanes_begin(patch: Patch) -> None:
    """Let every lane begin with the value before the loop."""
    patch.setattr(lane_text, "_starts_neutral", lambda one, before: True)


def _all_lanes_store(patch: Patch) -> None:
    """Let every lane store what one should."""
    patch.setattr(lane_text._Writer, "_by_one_lane", lambda self, group: [one.stmt for one in group])


def _nobody_waits(patch: Patch) -> None:
    """Leave out the waits around what others read."""
    patch.setattr(lane_text._Writer, "_wait", lambda self, span: Empty(span=span))


def _steps_are_ones(patch: Patch) -> None:
    """Take every loop for one that counts by one."""
    patch.setattr(lane_text, "_times", lambda expr, step: expr)


def _nothing_is_combined(patch: Patch) -> None:
    """Leave each lane what it has summed up."""
    real: Any = lane_text._Writer._end
    patch.setattr(lane_text._Writer, "_end", lambda self, one: Empty(span=real(self, one).span))


def _one_lane_knows(patch: Patch) -> None:
    """Give the combined value to lane 0 alone."""
    real: Any = warps._text

    def text(*given: Any) -> str:
        return str(real(*given)).replace("__shfl_sync(0xffffffff, value, 0)", "value")

    patch.setattr(warps, "_text", text)


def _carried_is_private(patch: Patch) -> None:
    """Take what an iteration hands on to the next one for its own."""
    patch.setattr(lane_loops, "_is_set_anew", lambda symbol, loop, body: True)


def _all_is_independent(patch: Patch) -> None:
    """Share loops whose iterations store to the same elements."""
    patch.setattr(shared_loops.LanesRequest, "is_independent", lambda self, loop: True)


def _early_ends_are_missed(patch: Patch) -> None:
    """Share loops that a break ends."""
    patch.setattr(lane_loops, "ends_early", lambda stmt: False)


BUGS: Final[dict[str, Callable[[Patch], None]]] = {
    "all lanes begin with the value before": _all_lanes_begin,
    "all lanes store": _all_lanes_store,
    "nobody waits for what others store": _nobody_waits,
    "loops count by one": _steps_are_ones,
    "nothing is combined": _nothing_is_combined,
    "one lane knows the result": _one_lane_knows,
    "what is carried is private": _carried_is_private,
    "all stores are independent": _all_is_independent,
    "breaks are missed": _early_ends_are_missed,
}
