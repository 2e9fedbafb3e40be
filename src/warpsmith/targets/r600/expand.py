"""A program of IL becomes a graph of operations on single numbers: registers are gone, and copies with them.

Refused, with the line: control flow, constants and global buffers whose index is computed. What a register holds that
was never written is 0.
"""

from __future__ import annotations

from warpsmith.base.errors import RefusedError
from warpsmith.base.findings import Finding
from warpsmith.front.il.nodes import WHOLE, IlInstruction, IlProgram, IlRegister, IlSource
from warpsmith.targets.r600.arithmetic import R600, operate
from warpsmith.targets.r600.operations import (
    ConstantWord,
    Export,
    NumberWord,
    Operand,
    PlaceWord,
    SlotGraph,
    Value,
    operations_below,
)

__all__ = ["expand"]


def expand(program: IlProgram, r600: R600) -> SlotGraph:
    """Return the graph of what a pixel shader writes; raises RefusedError."""
    walk = _Walk(program, r600)
    for one in program.instructions:
        walk.step(one)
    exports = [Export(number, walk.output(number)) for number in sorted(program.outputs)]
    return operations_below(exports)


class _Walk:
    """The components of registers, as values, on the way through a program."""

    def __init__(self, program: IlProgram, r600: R600) -> None:
        self.program = program
        self.r600 = r600
        self.components: dict[tuple[str, int, str], Value] = {}
        self.written: set[tuple[int, str]] = set()

    def output(self, number: int) -> tuple[Value | None, Value | None, Value | None, Value | None]:
        """Return what an output's components are."""
        x, y, z, w = (
            self.components[("o", number, letter)] if (number, letter) in self.written else None for letter in WHOLE
        )
        return x, y, z, w

    def step(self, one: IlInstruction) -> None:
        """Go past one instruction."""
        if one.destination is None:
            raise _refused(one, f"{one.op.name} is not counted: bundles are of programs without control flow")
        register = one.destination.register
        if register.kind == "g":
            raise _refused(one, "a write to g is not counted: bundles are of programs that write outputs")
        values: dict[str, Value] = {}
        if one.op.form in ("sample", "load"):
            values = self._fetch(one)
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
                return self.components.get((register.kind, register.number, letter), NumberWord(0))
            case "cb" if register.index is not None and register.index.register is None:
                return ConstantWord(register.number, register.index.offset, letter)
            case _:
                raise _refused(one, "an index that is computed is not counted")


def _refused(one: IlInstruction, message: str) -> RefusedError:
    return RefusedError(Finding("ILT003", "error", message, one.span, ("`simulate` runs it",)))
