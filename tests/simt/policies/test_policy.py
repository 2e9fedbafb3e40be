"""Where a lane stands: its calls, its block and the instruction there."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from warpsmith.simt.policies.policy import bits, by_place, place_of


def thread(lane: int, *frames: tuple[object, object, int]) -> Any:
    held = [SimpleNamespace(call=call, block=block, place=place) for call, block, place in frames]
    return SimpleNamespace(lane=SimpleNamespace(lane=lane), frames=held)


def test_lanes_are_at_one_place_where_block_instruction_and_calls_are_the_same() -> None:
    call, other = object(), object()
    lanes = [
        thread(0, (None, "a", 4), (call, "b", 0)),
        thread(1, (None, "a", 4), (other, "b", 0)),
        thread(2, (None, "a", 4), (call, "b", 0)),
        thread(3, (None, "b", 0)),
        thread(4, (None, "b", 1)),
    ]
    assert [bits(some) for some in by_place(lanes).values()] == [0b101, 0b10, 0b1000, 0b10000]
    assert place_of(lanes[0]).calls == (call,)
