"""Bugs to seed where threads share loops: each is a slip that the planner or the writer might make."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import pytest
from msgspec.structs import replace

from warpsmith.emit.device import sharing
from warpsmith.offload.mapping.sharing import judged_loops, shared_loops, shared_text
from warpsmith.tree.nodes import Empty
from warpsmith.tree.nodes import replace as replace_node

__all__ = ["BUGS"]

Patch = pytest.MonkeyPatch


def _all_lanes_begin(patch: Patch) -> None:
    """Let every lane begin with the value before the loop."""
    patch.setattr(shared_text, "_starts_neutral", lambda one, before: True)


def _all_lanes_store(patch: Patch) -> None:
    """Let every lane store what one should."""
    patch.setattr(shared_text._Writer, "_by_one_lane", lambda self, group: [one.stmt for one in group])


def _nobody_waits(patch: Patch) -> None:
    """Leave out the waits around what others read."""
    patch.setattr(shared_text._Writer, "_wait", lambda self, span: Empty(span=span))


def _steps_are_ones(patch: Patch) -> None:
    """Take every loop for one that counts by one."""
    patch.setattr(shared_text, "_times", lambda expr, step: expr)


def _nothing_is_combined(patch: Patch) -> None:
    """Leave each lane what it has summed up."""
    real: Any = shared_text._Writer._end
    patch.setattr(shared_text._Writer, "_end", lambda self, one: Empty(span=real(self, one).span))


def _one_lane_knows(patch: Patch) -> None:
    """Give the combined value to lane 0 alone."""
    real: Any = sharing._text

    def text(*given: Any) -> str:
        return str(real(*given)).replace("__shfl_sync(0xffffffff, value, 0)", "value")

    patch.setattr(sharing, "_text", text)


def _columns_do_not_wait(patch: Patch) -> None:
    """Combine what threads of a column have summed up before all of them have put it down."""
    real: Any = sharing._text

    def text(*given: Any) -> str:
        return str(real(*given)).replace("    __syncthreads();\n    value = ", "    value = ")

    patch.setattr(sharing, "_text", text)


def _columns_forget_rows(patch: Patch) -> None:
    """Leave out the last thread of a column."""
    real: Any = sharing._text

    def text(*given: Any) -> str:
        return str(real(*given)).replace("at < height", "at < height - 1")

    patch.setattr(sharing, "_text", text)


def _blocks_part(patch: Patch) -> None:
    """Let threads of a block wait where not all of them come."""
    patch.setattr(shared_loops, "find_parting", lambda body, same: None)


def _others_store(patch: Patch) -> None:
    """Let threads past the last iteration store as well."""
    real: Any = shared_text._Writer._by_one_lane

    def stores(self: Any, group: Any) -> Any:
        given = self._variables
        self._variables = given if given.inside is None else replace(given, inside=given.rank)
        made = real(self, group)
        self._variables = given
        return [
            replace_node(one, condition=one.condition.left)
            if getattr(one, "condition", None) is not None and given.inside is not None
            else one
            for one in made
        ]

    patch.setattr(shared_text._Writer, "_by_one_lane", stores)


def _carried_is_private(patch: Patch) -> None:
    """Take what an iteration hands on to the next one for its own."""
    patch.setattr(judged_loops, "_is_set_anew", lambda symbol, loop, body: True)


def _all_is_independent(patch: Patch) -> None:
    """Share loops whose iterations store to the same elements."""
    patch.setattr(shared_loops.SharingRequest, "is_independent", lambda self, loop: True)


def _early_ends_are_missed(patch: Patch) -> None:
    """Share loops that a break ends."""
    patch.setattr(judged_loops, "ends_early", lambda stmt: False)


BUGS: Final[dict[str, Callable[[Patch], None]]] = {
    "all lanes begin with the value before": _all_lanes_begin,
    "all lanes store": _all_lanes_store,
    "nobody waits for what others store": _nobody_waits,
    "loops count by one": _steps_are_ones,
    "nothing is combined": _nothing_is_combined,
    "one lane knows the result": _one_lane_knows,
    "columns do not wait": _columns_do_not_wait,
    "columns forget a row": _columns_forget_rows,
    "blocks part before they wait": _blocks_part,
    "threads past the end store": _others_store,
    "what is carried is private": _carried_is_private,
    "all stores are independent": _all_is_independent,
    "breaks are missed": _early_ends_are_missed,
}
