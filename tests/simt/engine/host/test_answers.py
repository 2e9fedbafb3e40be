"""Answers to what machine code asks: of active lanes alone; where there is none, the launch stops."""

from __future__ import annotations

import numpy as np

from warpsmith.simt.engine.host.answers import Answers
from warpsmith.simt.engine.words import LaunchWords, Stop, new_state
from warpsmith.simt.launch import Launch
from warpsmith.ssa.nodes import Constant, Instruction, Text, Value
from warpsmith.ssa.types import F32, I32

ROUND = Instruction("lanewise", (Constant(F32, 0),), (Value(I32),), Text("lroundf"))
NUMBERS = (1.0, 2.6, float("inf"), -3.4, 0.0, 9.0, 9.0, 9.0)


def test_active_lanes_are_answered() -> None:
    given = np.array(NUMBERS, "<f4").view("<u4").astype("<u8")
    made = np.zeros(8, "<u8")
    state = new_state()
    answers = Answers((ROUND,), 5, Launch(), state)
    answers.ask(0, 0b11011, given.ctypes.data, made.ctypes.data)
    assert made.tolist() == [1, 3, 0, 2**32 - 3, 0, 0, 0, 0]
    assert not state[LaunchWords.LEAVE]


def test_a_launch_stops_where_there_is_no_answer() -> None:
    given = np.array(NUMBERS, "<f4").view("<u4").astype("<u8")
    state = new_state()
    answers = Answers((ROUND,), 5, Launch(), state)
    state[LaunchWords.BLOCK] = 7
    answers.ask(0, 0b100, given.ctypes.data, np.zeros(8, "<u8").ctypes.data)
    assert [int(state[word]) for word in (LaunchWords.STOP, LaunchWords.LEAVE, LaunchWords.STOP_BLOCK)] == [
        Stop.ASKED,
        1,
        7,
    ]
