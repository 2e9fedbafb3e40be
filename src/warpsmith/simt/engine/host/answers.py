"""Answers what machine code asks (ops/asked.py): functions that Python computes, fetches from textures.

Where there is no answer the launch stops (Stop.ASKED), and what the interpreter says of it stands."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence

from warpsmith.simt.engine.words import Array, LaunchWords, Stop
from warpsmith.simt.launch import Launch
from warpsmith.simt.library import answer
from warpsmith.ssa.nodes import Instruction

__all__ = ["Answers"]

_WHOLE = (1 << 64) - 1


class Answers:
    """Answers for one thread of a launch, whose record is `state`; `address`: the function that is asked."""

    def __init__(self, asked: Sequence[Instruction], lanes: int, launch: Launch, state: Array) -> None:
        self.asked, self.lanes, self.launch, self.state = asked, lanes, launch, state
        self.function = ctypes.CFUNCTYPE(None, *[ctypes.c_int64] * 4)(self.ask)
        address = ctypes.cast(self.function, ctypes.c_void_p).value
        assert address is not None
        self.address = address

    def ask(self, number: int, mask: int, given: int, made: int) -> None:
        """Write the results of the active lanes."""
        instruction = self.asked[number]
        operands = self.words(given, len(instruction.operands))
        results = self.words(made, len(instruction.results))
        widths = [(1 << operand.type.bits) - 1 for operand in instruction.operands]
        for lane in range(self.lanes):
            if mask >> lane & 1:
                own = tuple(operands[at * self.lanes + lane] & width for at, width in enumerate(widths))
                found = self.find(instruction, own)
                if found is None:
                    self.stop()
                    return
                for at, bits in enumerate(found):
                    results[at * self.lanes + lane] = bits

    def find(self, instruction: Instruction, operands: tuple[int, ...]) -> tuple[int, ...] | None:
        """Return the answer, None where there is none."""
        try:
            return answer(instruction, operands, self.launch.textures)
        except Exception:
            # nothing can be raised through machine code: the interpreter comes to the same place, and raises it
            return None

    def words(self, address: int, count: int) -> ctypes.Array[ctypes.c_uint64]:
        """Return the words of all lanes that machine code has at an address."""
        return (ctypes.c_uint64 * (count * self.lanes)).from_address(address & _WHOLE)

    def stop(self) -> None:
        """Note that there is no answer: the launch is over."""
        state = self.state
        if not state[LaunchWords.STOP]:
            state[LaunchWords.STOP], state[LaunchWords.STOP_SITE] = Stop.ASKED, 0
            state[LaunchWords.STOP_BLOCK] = state[LaunchWords.BLOCK]
            state[LaunchWords.STOP_THREAD] = state[LaunchWords.STOP_ADDRESS] = -1
        state[LaunchWords.LEAVE] = 1
