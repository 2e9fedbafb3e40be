"""Which memory a kernel is likely to write: what is only read cannot race, so nothing need be kept of who reads it.

    out[i] = table[in[i]]      the address of the store comes from `out`: the buffers of `in` and `table` are read only

It is a guess from the text, by the parameters and variables that addresses of stores and atomics are made of. The
machine stops where a store hits a buffer that is guessed to be read only (Stop.WRITTEN), and the launch is run again
without guesses; so a wrong one costs time and never a race.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from msgspec import Struct

from warpsmith.simt.launch import Launch
from warpsmith.simt.memory import Buffer
from warpsmith.ssa.nodes import Address, Function, Instruction, Operand, Param, Value
from warpsmith.ssa.types import I64

__all__ = ["WrittenMemory", "may_read_written", "written_memory"]

_POINTER: Final = 8
"""Bytes of a pointer among the parameters."""


class WrittenMemory(Struct, frozen=True):
    """Where addresses of writes (or of other accesses) come from: parts of parameters (name, offset), and variables.
    `anywhere`: also from pointers that are read from memory."""

    parameters: frozenset[tuple[str, int]]
    variables: frozenset[str]
    anywhere: bool

    def addresses(self, launch: Launch, places: Mapping[str, int]) -> frozenset[int]:
        """Return the addresses that writes start from; `places`: of variables."""
        given = [(launch.arguments.get(name, b""), offset) for name, offset in self.parameters]
        found = {int.from_bytes(data[offset : offset + _POINTER], "little") for data, offset in given}
        return frozenset(found | {places[name] for name in self.variables if name in places})


def written_memory(function: Function) -> WrittenMemory:
    """Return where the addresses of stores and atomics come from."""
    return _memory_of(function, [i for _, i in function.instructions() if _writes(i)])


def may_read_written(function: Function, load: Instruction, launch: Launch, buffers: Sequence[Buffer]) -> bool:
    """Whether a load may read memory that the kernel is likely to write; `buffers`: those of the launch, and the
    variables of the module. Where that cannot be told, it may."""
    written, read = written_memory(function), _memory_of(function, [load])
    if written.anywhere or read.anywhere or written.variables & read.variables:
        return True
    places = {buffer.name: buffer.address for buffer in buffers}
    found = [buffer for buffer in buffers if _is_hit(buffer, read.addresses(launch, places))]
    known = bool(found or read.variables)
    return not known or any(_is_hit(buffer, written.addresses(launch, places)) for buffer in found)


def _is_hit(buffer: Buffer, addresses: frozenset[int]) -> bool:
    """Whether one of some addresses is in a buffer, or right behind it."""
    return any(buffer.address <= address <= buffer.end for address in addresses)


def _writes(i: Instruction) -> bool:
    return i.op == "store" or i.op.startswith("atomic_")


def _memory_of(function: Function, accesses: Sequence[Instruction]) -> WrittenMemory:
    """Return where the addresses of accesses come from."""
    made = {value: i for _, i in function.instructions() for value in i.results}
    joined = {phi.result: [operand for _, operand in phi.incoming] for block in function.blocks for phi in block.phis}
    left: list[Operand] = [i.operands[0] for i in accesses]
    seen: set[Operand] = set()
    sources: list[Instruction] = []
    while left:
        operand = left.pop()
        if operand in seen or not isinstance(operand, Value):
            continue
        seen.add(operand)
        if operand in joined:
            left += joined[operand]
        elif (source := made.get(operand)) is not None:
            sources.append(source)
            if not _reads(source):
                left += source.operands
    parameters = frozenset((i.detail.parameter, i.detail.offset) for i in sources if isinstance(i.detail, Param))
    variables = frozenset(i.detail.symbol for i in sources if isinstance(i.detail, Address))
    anywhere = any(_reads(i) and any(value.type == I64 for value in i.results) for i in sources)
    return WrittenMemory(parameters, variables, anywhere)


def _reads(i: Instruction) -> bool:
    """Whether the results of an instruction come from memory."""
    return i.op == "load" or i.op.startswith("atomic_")
