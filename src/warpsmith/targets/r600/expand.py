"""A program of IL becomes a graph of operations on single numbers: registers are gone, and copies with them.

Refused, with the line: control flow, constants and global buffers whose index is computed, memory of a group, atomic
operations, a read of a view behind a write to one, as fetches go ahead here. What a register holds that was never
written is 0.
"""

from __future__ import annotations

from typing import Final

from warpsmith.base.errors import RefusedError
from warpsmith.base.findings import Finding
from warpsmith.front.il.nodes import BUILTIN_INPUTS, WHOLE, IlInstruction, IlProgram, IlRegister, IlSource
from warpsmith.front.il.ops import FLOW
from warpsmith.targets.r600.arithmetic import R600, is_counted, operate
from warpsmith.targets.r600.operations import (
    ConstantWord,
    Export,
    NumberWord,
    Operand,
    PlaceWord,
    SlotGraph,
    Value,
    ViewStore,
    operations_below,
)
from warpsmith.targets.r600.views import place_of, word_of

__all__ = ["VIEWS", "IlWalk", "expand"]

VIEWS: Final = ("evergreen", "cayman")
"""Generations that have unordered access views."""


def expand(program: IlProgram, r600: R600) -> SlotGraph:
    """Return the graph of what a program writes; raises RefusedError."""
    walk = IlWalk(program, r600)
    for one in program.instructions:
        walk.step(one)
    exports = [Export(number, walk.output(number)) for number in sorted(program.outputs)]
    return operations_below(exports, walk.stores)


class IlWalk:
    """The components of registers, as values, on the way through a program. `entered`: in the middle, where registers
    have what was written before, rN in register FIRST + N."""

    FIRST = 2

    def __init__(self, program: IlProgram, r600: R600, *, entered: bool = False) -> None:
        self.program = program
        self.entered = entered
        self.r600 = r600
        self.components: dict[tuple[str, int, str], Value] = {}
        self.written: set[tuple[int, str]] = set()
        self.stores: list[ViewStore] = []

    def output(self, number: int) -> tuple[Value | None, Value | None, Value | None, Value | None]:
        """Return what an output's components are."""
        x, y, z, w = (
            self.components[("o", number, letter)] if (number, letter) in self.written else None for letter in WHOLE
        )
        return x, y, z, w

    def step(self, one: IlInstruction) -> None:
        """Go past one instruction."""
        self._check(one)
        assert one.destination is not None
        if one.op.form == "uav_store":
            self._store(one)
            return
        register = one.destination.register
        values: dict[str, Value] = {}
        if one.op.form in ("sample", "load"):
            values = self._fetch(one)
        elif one.op.form == "uav_load":
            values = self._fetch_words(one)
        else:
            for letter in one.destination.computed:
                operands = tuple(self._operand(one, source, letter) for source in one.sources)
                values[letter] = operate(self.r600, one, operands)
        for letter, mark in zip(WHOLE, one.destination.mask, strict=True):
            if mark in "01":
                values[letter] = NumberWord(0x3F800000 if mark == "1" else 0)
        for letter, value in values.items():
            self.components[(register.kind, register.number, letter)] = value
            if register.kind == "o":
                self.written.add((register.number, letter))

    def _check(self, one: IlInstruction) -> None:
        """Refuse what is not counted."""
        if one.op.form in FLOW:
            raise _refused(one, f"{one.op.name} is not counted: bundles are of programs without control flow")
        if one.op.form in ("lds_load", "lds_store", "atomic", "fence"):
            raise _refused(one, f"{one.op.name} is not counted: a thread waits for others there")
        if one.op.form in ("map", "scalar") and not is_counted(one.op.name):
            raise _refused(one, f"{one.op.name} is not counted: how hardware does it is not known here")
        if one.destination is not None and one.destination.register.kind == "g":
            raise _refused(one, "a write to g is not counted: bundles are of programs that write outputs or views")
        if one.op.form in ("uav_load", "uav_store") and self.r600.generation not in VIEWS:
            raise _refused(one, f"{self.r600.generation} has no unordered access views: evergreen and cayman have")

    def condition(self, one: IlInstruction) -> Value:
        """Return what an instruction tests."""
        return self._plain(one, 0, "x")

    def _store(self, one: IlInstruction) -> None:
        assert one.destination is not None
        values = [self._plain(one, 1, letter) if letter in one.destination.computed else None for letter in WHOLE]
        x, y, z, w = values
        self.stores.append(ViewStore(one.resource, word_of(self.r600, self._plain(one, 0, "x")), (x, y, z, w)))

    def _fetch_words(self, one: IlInstruction) -> dict[str, Value]:
        assert one.destination is not None
        if self.stores:
            raise _refused(one, "a read of a view behind a write is not counted: it may not go ahead of that")
        fetch = self.r600.values.fetch(one.resource, 0, (self._plain(one, 0, "x"),), whole=True, view=True)
        return {letter: self.r600.values.fetched(fetch, letter) for letter in one.destination.computed}

    def _plain(self, one: IlInstruction, number: int, letter: str) -> Value:
        """Return a component of a source without modifiers."""
        source = one.sources[number]
        value = self._read(one, source.register, source.swizzle[WHOLE.index(letter)])
        if letter in source.negated:
            return self.r600.values.operation("SUB_INT", (NumberWord(0), value))
        return value

    def _fetch(self, one: IlInstruction) -> dict[str, Value]:
        assert one.destination is not None
        axes = self.program.resources[one.resource].axes
        source = one.sources[0]
        places: list[Value] = []
        for letter in WHOLE[:axes]:
            operand = self._operand(one, source, letter)
            name = "MOV" if one.op.reads == "float" else "SUB_INT"
            given = (operand,) if name == "MOV" else (Operand(NumberWord(0)), Operand(operand.value))
            changed = operand.negate or operand.absolute
            places.append(self.r600.values.operation(name, given) if changed else operand.value)
        whole = one.op.form == "load"
        fetch = self.r600.values.fetch(one.resource, one.sampler, tuple(places), whole=whole)
        return {letter: self.r600.values.fetched(fetch, letter) for letter in one.destination.computed}

    def _operand(self, one: IlInstruction, source: IlSource, letter: str) -> Operand:
        at = WHOLE.index(letter)
        value = self._read(one, source.register, source.swizzle[at])
        return Operand(value, letter in source.negated, source.absolute)

    def _read(self, one: IlInstruction, register: IlRegister, letter: str) -> Value:
        if letter in "01":
            return NumberWord(0x3F800000 if letter == "1" else 0)
        match register.kind:
            case "l":
                return NumberWord(self.program.literals[register.number].words[WHOLE.index(letter)])
            case "v":
                return PlaceWord(letter)
            case "r" | "o":
                before = PlaceWord(letter, self.FIRST + register.number) if self.entered else NumberWord(0)
                return self.components.get((register.kind, register.number, letter), before)
            case "cb" if register.index is not None and register.index.register is None:
                return ConstantWord(register.number, register.index.offset, letter)
            case kind if kind in BUILTIN_INPUTS:
                place = place_of(self.r600, self.program, kind, letter)
                if place is None:
                    raise _refused(one, f"{kind} is not counted: threads count along x, y and z")
                return place
            case _:
                raise _refused(one, "an index that is computed is not counted")


def _refused(one: IlInstruction, message: str) -> RefusedError:
    return RefusedError(Finding("ILT003", "error", message, one.span, ("`simulate` runs it",)))
