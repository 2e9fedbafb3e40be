"""A kernel of the kernel IR becomes a program of AMD IL, `il_cs_2_0`.

    pointer argument k     an unordered access view of bytes, uav k
    what the launch says   words of cb0, four to a register, in the order of `words`
    shared memory          lds 1                                        local arrays    x0
    threads                a block is a group; where the kernel does not say how many threads it has, the launch does

A compute shader, as a pixel shader writes to the place of its own thread only, and has neither groups nor their memory.
The text reads back as a program, or it is refused; nothing is left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from msgspec import Struct

from warpsmith.base.source import Span
from warpsmith.front.il.nodes import (
    WHOLE,
    IlConstants,
    IlDeclaration,
    IlLds,
    IlMostThreads,
    IlProgram,
    IlTemporaries,
    IlThreads,
    IlUav,
)
from warpsmith.front.il.printing import il_lines
from warpsmith.ssa.nodes import Exit, Function, Module
from warpsmith.targets.il.writing.code import IlCode
from warpsmith.targets.il.writing.control import IlBlockWriters, write_control
from warpsmith.targets.il.writing.empty import without_empty
from warpsmith.targets.il.writing.instructions import IlInstructions
from warpsmith.targets.il.writing.memory import LDS, GroupMemory, lay_out, number_views
from warpsmith.targets.il.writing.places import LaunchPlaces
from warpsmith.targets.il.writing.refused import refuse
from warpsmith.targets.mask.branches import without_switches
from warpsmith.targets.mask.code import LaunchWord

__all__ = ["WrittenIl", "write_il"]

_MOST_THREADS: Final = 1024
_MOST_REGISTERS: Final = 4096


class WrittenIl(Struct, frozen=True):
    """A kernel as a program. `head`: what its names are, as comments; `views`: the number of each pointer argument;
    `words` of the launch, from cb0[0].x on."""

    program: IlProgram
    head: tuple[str, ...]
    views: Mapping[str, int]
    words: tuple[LaunchWord, ...]

    @property
    def text(self) -> str:
        """The program."""
        return "".join(f"{line}\n" for line, _ in self.lines())

    def lines(self) -> Iterator[tuple[str, Span | None]]:
        """Yield the lines, each with the user's line that it is of."""
        yield from ((f"; {one}", None) for one in self.head)
        for line, instruction in il_lines(self.program):
            yield line, instruction.span if instruction is not None else None


def write_il(module: Module, function: Function) -> WrittenIl:
    """Return a kernel as a program of AMD IL; raises InputError with the line that cannot be one."""
    _check(function)
    memory = lay_out(module, function)
    function = without_empty(without_switches(function))
    views = number_views(function)
    code = IlCode()
    places = LaunchPlaces(code, function.limits.exact_block)
    instructions = IlInstructions(function, code, views, memory, places)
    write_control(function, code, IlBlockWriters(instructions.block, instructions.word, instructions.phi))
    made = code.finish()
    if sum(line.destination is not None for line in made.lines) > _MOST_REGISTERS:
        raise refuse(f"{function.name} needs more than {_MOST_REGISTERS} registers", function.span, "make it shorter")
    asked = tuple(places.words)
    words = tuple(asked[number] for number in made.words)
    declarations = (*_declarations(function, views, memory, len(words)), *made.literals)
    program = IlProgram("cs", declarations, made.lines)
    return WrittenIl(program, tuple(_head(function.name, views, words)), views, words)


def _check(function: Function) -> None:
    if not function.blocks:
        raise refuse(f"{function.name} has no body", function.span)
    for block in function.blocks:
        if isinstance(block.terminator, Exit) and block.terminator.fails:
            raise refuse("AMD IL has no trap", block.terminator.span, "leave assert out")


def _declarations(
    function: Function, views: Mapping[str, int], memory: GroupMemory, words: int
) -> Iterator[IlDeclaration]:
    exact = function.limits.exact_block
    yield IlThreads(exact) if exact is not None else IlMostThreads(function.limits.most_threads or _MOST_THREADS)
    yield from (IlUav(number) for number in views.values())
    if memory.bytes:
        yield IlLds(LDS, memory.bytes)
    if memory.registers:
        yield IlTemporaries(0, memory.registers)
    if words:
        yield IlConstants(0, -(-words // 4))


def _head(name: str, views: Mapping[str, int], words: tuple[LaunchWord, ...]) -> Iterator[str]:
    yield name
    if views:
        yield ", ".join(f"uav{number}: {argument}" for argument, number in views.items())
    if words:
        names = [f"{one.name}+{one.offset}" if one.offset else one.name for one in words]
        yield ", ".join(f"cb0[{at // 4}].{WHOLE[at % 4]}: {one}" for at, one in enumerate(names))
