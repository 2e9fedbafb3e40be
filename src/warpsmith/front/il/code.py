"""A program of IL becomes a module of the kernel IR: one kernel, `main`, whose parameters machine.py lists.

    r5.x                 a variable of the builder, 32 bits of no type
    if_logicalnz r0.x    Branch; whileloop: a block that control comes back to; break: a Jump behind it
    o0.x                 a variable as well: outputs are stored where the thread ends, those that were written

Invariant: all sources of an instruction are read before its destination is written.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from warpsmith.front.il.arithmetic import ONE, ZERO, compute, modify
from warpsmith.front.il.live import channels_of, needed_of, relevant_components
from warpsmith.front.il.machine import IlMemory, list_parameters, list_variables
from warpsmith.front.il.nodes import (
    BUILTIN_INPUTS,
    WHOLE,
    IlDestination,
    IlInstruction,
    IlProgram,
    IlRegister,
    IlSource,
)
from warpsmith.front.il.ops import FLOW
from warpsmith.ssa.builder import Builder, constant
from warpsmith.ssa.nodes import Branch, Construct, Function, Jump, Limits, Module, Operand, Return
from warpsmith.ssa.passes.tidy import tidy
from warpsmith.ssa.types import I1, I32

__all__ = ["KERNEL", "translate_il"]

KERNEL: Final = "main"


def translate_il(program: IlProgram, channels: Mapping[str, int] | None = None) -> Module:
    """Return the module of a program that was checked. `channels`: how many floats an element of an output (o0) or a
    resource (t0) has, where it is not as many as the program needs."""
    code = _IlCode(program, {**channels_of(program), **(channels or {})})
    code.run()
    span = program.instructions[0].span if program.instructions else None
    limits = Limits(program.most_threads, program.threads)
    variables = list_variables(program)
    made = Function(KERNEL, True, list_parameters(program), (), code.builder.finish(), variables, limits, span)
    return Module((tidy(made),))


class _Opened(Struct):
    """An if or a loop that is open, by its blocks: `other` is the else arm, or the start of the loop."""

    loop: bool
    other: str
    after: str


class _IlCode:
    """Translates the instructions of one program in order."""

    def __init__(self, program: IlProgram, channels: Mapping[str, int]) -> None:
        self.program = program
        self.channels = channels
        self.builder = Builder()
        self.memory = IlMemory(self.builder, program, channels)
        self.relevant = relevant_components(program)
        self.opened: list[_Opened] = []
        self.written = self._written_outputs()

    def _written_outputs(self) -> dict[int, str]:
        """Return which components of each output any instruction writes."""
        found: dict[int, set[str]] = {}
        for one in self.program.instructions:
            if one.destination is not None and one.destination.register.kind == "o":
                letters = {WHOLE[at] for at, letter in enumerate(one.destination.mask) if letter != "_"}
                found.setdefault(one.destination.register.number, set()).update(letters)
        return {number: "".join(sorted(letters, key=WHOLE.index)) for number, letters in sorted(found.items())}

    def run(self) -> None:
        """Translate it all."""
        end = self.builder.fresh("end")
        if self.program.kind == "ps":
            start = self.builder.fresh("start")
            self.builder.end(Branch(self.memory.is_thread(), start, end))
            self._enter(start)
            for number, letters in self.written.items():
                for letter in letters:
                    self.builder.write(f"o{number}.{letter}", ZERO)
        for one in self.program.instructions:
            self.builder.span = one.span
            self._instruction(one)
        self._store_outputs()
        self.builder.end(Jump(end))
        self._enter(end)
        self.builder.end(Return())

    def _enter(self, block: str) -> None:
        self.builder.start(block)
        self.builder.seal(block)

    def _store_outputs(self) -> None:
        for number, letters in self.written.items():
            named = f"o{number}"
            kept = letters[: self.channels[named]]
            values = {letter: self.builder.read(f"{named}.{letter}", I32) for letter in kept}
            self.memory.store_output(number, values)

    # --- control flow

    def _instruction(self, one: IlInstruction) -> None:
        if one.op.form not in FLOW:
            self._act(one)
            return
        match one.op.form:
            case "if":
                self._if(one)
            case "else":
                self._else()
            case "endif":
                self._endif()
            case "loop":
                self._loop()
            case "endloop":
                self._endloop()
            case "break" | "continue":
                self.builder.end(Jump(self._target(one), one.span))
                self._enter(self.builder.fresh("dead"))
            case _:
                self._leave_if(one)

    def _act(self, one: IlInstruction) -> None:
        if one.op.form in ("uav_store", "lds_store"):
            self._store(one)
        elif one.op.form == "fence":
            self.memory.fence(one.op.name)
        else:
            self._compute(one)

    def _branch(self, one: IlInstruction, holds: str, other: str, construct: Construct = "") -> None:
        value = self._sources(one, "x")[0]
        op = "ne" if one.op.name.endswith("nz") else "eq"
        condition = self.builder.emit(op, (value, ZERO), I1)
        self.builder.end(Branch(condition, holds, other, span=one.span, construct=construct))

    def _if(self, one: IlInstruction) -> None:
        then, other, after = (self.builder.fresh(stem) for stem in ("then", "else", "endif"))
        self._branch(one, then, other, "if")
        self.opened.append(_Opened(False, other, after))
        self._enter(then)

    def _else(self) -> None:
        level = self.opened[-1]
        self.builder.end(Jump(level.after))
        self._enter(level.other)
        level.other = ""

    def _endif(self) -> None:
        level = self.opened.pop()
        self.builder.end(Jump(level.after))
        if level.other:
            self._enter(level.other)
            self.builder.end(Jump(level.after))
        self._enter(level.after)

    def _loop(self) -> None:
        head, after = (self.builder.fresh(stem) for stem in ("loop", "endloop"))
        self.builder.end(Jump(head))
        self.builder.start(head)
        self.opened.append(_Opened(True, head, after))

    def _endloop(self) -> None:
        level = self.opened.pop()
        self.builder.end(Jump(level.other))
        self.builder.seal(level.other)
        self._enter(level.after)

    def _target(self, one: IlInstruction) -> str:
        loop = next(level for level in reversed(self.opened) if level.loop)
        return loop.after if one.op.form in ("break", "break_if") else loop.other

    def _leave_if(self, one: IlInstruction) -> None:
        stay = self.builder.fresh("next")
        self._branch(one, self._target(one), stay)
        self._enter(stay)

    # --- instructions

    def _compute(self, one: IlInstruction) -> None:
        destination = one.destination
        assert destination is not None
        needed = needed_of(one, self.relevant)
        values: dict[str, Operand] = {}
        if one.op.form in ("sample", "load"):
            values = self._fetch(one, needed) if needed else {}
        elif one.op.form in ("uav_load", "lds_load"):
            values = self.memory.load_words(one, self._component(one, one.sources[0], 0), needed)
        elif one.op.form == "atomic":
            values = dict.fromkeys(needed, self.memory.change_word(one, *self._sources(one, "x")))
        elif one.op.form == "scalar":
            result = compute(self.builder, one, self._sources(one, "x")) if needed else ZERO
            values = dict.fromkeys(needed, result)
        else:
            values = {letter: compute(self.builder, one, self._sources(one, letter)) for letter in needed}
        for letter, mark in zip(WHOLE, destination.mask, strict=True):
            if mark in "01":
                values[letter] = ONE if mark == "1" else ZERO
        self._write(destination, values)

    def _store(self, one: IlInstruction) -> None:
        address, value = self._sources(one, "x")
        values = {"x": value}
        if one.destination is not None:
            values = {letter: self._sources(one, letter)[1] for letter in one.destination.computed}
        self.memory.store_words(one, address, values)

    def _fetch(self, one: IlInstruction, needed: str) -> dict[str, Operand]:
        source = one.sources[0]
        coordinates = tuple(self._component(one, source, at) for at in range(2))
        access = self.memory.sample if one.op.form == "sample" else self.memory.load
        return access(one.resource, coordinates, needed)

    def _write(self, destination: IlDestination, values: Mapping[str, Operand]) -> None:
        register = destination.register
        if register.kind == "g":
            self.memory.store_global(self._index(register), values)
            return
        if register.kind == "x":
            self.memory.store_temporary(register, self._index(register), values)
            return
        for letter, value in values.items():
            self.builder.write(f"{register.kind}{register.number}.{letter}", value)

    def _sources(self, one: IlInstruction, letter: str) -> tuple[Operand, ...]:
        """Return the sources for the component `letter` of the result."""
        return tuple(self._component(one, source, WHOLE.index(letter)) for source in one.sources)

    def _component(self, one: IlInstruction, source: IlSource, at: int) -> Operand:
        value = self._read(source.register, source.swizzle[at])
        negated = WHOLE[at] in source.negated
        return modify(self.builder, one.op, value, absolute=source.absolute, negated=negated)

    def _read(self, register: IlRegister, letter: str) -> Operand:
        if letter in "01":
            return ONE if letter == "1" else ZERO
        match register.kind:
            case "l":
                return constant(I32, self.program.literals[register.number].words[WHOLE.index(letter)])
            case "cb":
                return self.memory.constant_component(register, letter, self._index(register))
            case "x":
                return self.memory.temporary(register, letter, self._index(register))
            case "g":
                return self.memory.global_component(letter, self._index(register))
            case "v":
                return self.memory.position(letter)
            case "r" | "o":
                return self.builder.read(f"{register.kind}{register.number}.{letter}", I32)
            case _:
                assert register.kind in BUILTIN_INPUTS
                return self.memory.builtin(register.kind, letter)

    def _index(self, register: IlRegister) -> Operand:
        index = register.index
        assert index is not None
        if index.register is None:
            return constant(I32, index.offset)
        value = self.builder.read(f"r{index.register}.{index.component}", I32)
        return self.builder.emit("add", (value, constant(I32, index.offset)), I32) if index.offset else value
