"""One instruction of a kernel over streams in AMD IL: accesses are fetches and outputs, places of threads come from v0.

    load of element (y, x)    sample_resource(k)_sampler(0) r, v        v the place as floats; its own: v0.xy itself
    store to its own place    mov oK, …                                 elsewhere: refused
    a - b · trunc(a / b)      mod, which is the same by its definition

A place is rounded down as subscripts are, so that a float subscript goes on as it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from warpsmith.front.il.nodes import WHOLE, IlDestination, IlRegister, IlSource
from warpsmith.ssa.nodes import BasicBlock, Convert, Float, Function, Instruction, Memory, Operand, Value
from warpsmith.targets.il.pixels.subscripts import PixelSubscripts, StreamPlace, axis_of
from warpsmith.targets.il.writing.code import IlCode, Word, component
from warpsmith.targets.il.writing.instructions import IlInstructions
from warpsmith.targets.il.writing.memory import GroupMemory
from warpsmith.targets.il.writing.places import LaunchPlaces
from warpsmith.targets.il.writing.refused import refuse
from warpsmith.targets.mask.code import LaunchWord

__all__ = ["PixelInstructions", "StreamNumbers"]

_PLACE: Final = IlRegister("v")
StreamNumbers = Mapping[str, tuple[int, int]]
"""For each stream the number of its resource or output, and how many axes it has."""


class PixelInstructions(IlInstructions):
    """Writes the instructions of a function. `resources` are read, `outputs` written; `how`: subscripts, and
    where addresses are translated, the parameter with the width of rows in memory."""

    def __init__(
        self, function: Function, code: IlCode, places: LaunchPlaces, streams: tuple[StreamNumbers, StreamNumbers],
        how: tuple[PixelSubscripts, str],
    ) -> None:  # fmt: skip
        super().__init__(function, code, {}, GroupMemory({}, 0), places)
        self.absolute = {}
        self.resources, self.outputs = streams
        self.subscripts, self.row = how
        self.fetched: dict[tuple[int, tuple[Word, ...]], IlRegister] = {}
        made = self.subscripts.made
        self.axes = {value: axis for value in made if (axis := axis_of(made, value))}

    def block(self, block: BasicBlock) -> None:
        """Write the instructions of a block."""
        self.fetched.clear()
        super().block(block)

    # --- values

    def _value(self, i: Instruction) -> Word:
        if i.result in self.axes:
            return self._thread(i, self.axes[i.result])
        remainder = self._remainder(i)
        return self.code.compute("mod", *map(self.word, remainder)) if remainder else super()._value(i)

    def _thread(self, i: Instruction, axis: str) -> Word:
        """Return where the thread is."""
        layers = self.subscripts.domain[1:]
        if axis == "z" and not layers:
            raise refuse("a pixel shader has no third axis", i.span, "streams have one or two")
        along = {name: self.code.compute("ftoi", component(_PLACE, name)) for name in "xy"}
        if layers and axis != "x":
            height = self.places.word(LaunchWord(layers[0]))
            return self.code.compute("udiv" if axis == "z" else "umod", along["y"], height)
        if not self.row:
            return along[axis]
        if axis == "y":
            return 0
        row = self.code.compute("imul", along["y"], self._row_width())
        return self.code.compute("iadd", row, along["x"])

    def _row_width(self) -> Word:
        return self.places.word(LaunchWord(self.row))

    def _remainder(self, i: Instruction) -> tuple[Operand, ...]:
        """Return a and b where an instruction is a - b · trunc(a / b)."""
        if i.op != "fsub":
            return ()
        a, product = i.operands
        for b, whole in self._factors(product):
            rounded = self._made(whole, "fround")
            if rounded is None or not isinstance(rounded.detail, Float) or rounded.detail.rounding != "zero":
                continue
            quotient = self._made(rounded.operands[0], "fdiv")
            if quotient is not None and quotient.operands == (a, b):
                return a, b
        return ()

    def _factors(self, operand: Operand) -> Sequence[tuple[Operand, ...]]:
        product = self._made(operand, "fmul")
        return (product.operands, product.operands[::-1]) if product is not None else ()

    def _made(self, operand: Operand, op: str) -> Instruction | None:
        i = self.subscripts.made.get(operand) if isinstance(operand, Value) else None
        return i if i is not None and i.op == op else None

    # --- streams

    def _load(self, i: Instruction, detail: Memory) -> None:
        place = self.subscripts.place(i, detail)
        if place.stream not in self.resources:
            raise refuse(f"{place.stream} is written, and pixel shaders do not read that", i.span, "use a variable")
        number, axes = self.resources[place.stream]
        register = self._fetch(number, self._coordinates(place, axes))
        for at, value in enumerate(i.results):
            self.words[value] = component(register, WHOLE[place.component + at])

    def _fetch(self, number: int, coordinates: tuple[Word, ...]) -> IlRegister:
        """Return the register with an element."""
        key = number, coordinates
        if key not in self.fetched:
            source = self._gather(coordinates)
            register = self.code.register()
            self.code.put("sample_resource", IlDestination(register), source, resource=number)
            self.fetched[key] = register
        return self.fetched[key]

    def _gather(self, coordinates: tuple[Word, ...]) -> IlSource:
        """Return coordinates as components of one register."""
        own = tuple(component(_PLACE, letter) for letter in "xy")
        if coordinates == own:
            return IlSource(_PLACE, "xyyy")
        if len(coordinates) == 1 and isinstance(coordinates[0], IlSource):
            return coordinates[0]
        register = self.code.register()
        for letter, word in zip("xy", coordinates, strict=False):
            mask = {"x": "x___", "y": "_y__"}[letter]
            self.code.put("mov", IlDestination(register, mask), word)
        return IlSource(register, "xyyy" if len(coordinates) > 1 else "xxxx")

    def _coordinates(self, place: StreamPlace, axes: int) -> tuple[Word, ...]:
        own = tuple(component(_PLACE, letter) for letter in "xy")[:axes]
        if place.own:
            return own
        if place.split or self.row:
            return self._translated(place)
        terms = (place.columns, place.rows)[:axes]
        return tuple(self._coordinate(few, letter) for few, letter in zip(terms, "xy", strict=False))

    def _translated(self, place: StreamPlace) -> tuple[Word, ...]:
        """Return the place in rows of an element that is counted."""
        code = self.code
        index, is_own = self._whole(place.columns), self._is_along(place.columns, "x")
        if self.row and is_own:
            return tuple(component(_PLACE, letter) for letter in "xy")
        width = self._row_width() if self.row else self.places.word(LaunchWord(self.subscripts.widths[place.stream]))
        row = code.compute("udiv", index, width)
        before = code.compute("inegate", code.compute("imul", row, width))
        return code.compute("itof", code.compute("iadd", index, before)), code.compute("itof", row)

    def _coordinate(self, terms: tuple[Operand, ...], axis: str) -> Word:
        """Return a sum as a float that is rounded down to it."""
        if self._is_along(terms, axis):
            return component(_PLACE, axis)
        subscript = self._made(terms[0], "ftosi") if len(terms) == 1 else None
        if subscript is not None and isinstance(subscript.detail, Convert) and subscript.detail.rounding == "down":
            return self.word(subscript.operands[0])
        return self.code.compute("itof", self._whole(terms))

    def _is_along(self, terms: tuple[Operand, ...], axis: str) -> bool:
        """Whether a place is the thread's own along an axis, whatever it went through; in layers no y is."""
        if len(terms) != 1 or (axis == "y" and self.subscripts.domain[1:]):
            return False
        operand = terms[0]
        while (made := self._made(operand, "ftosi") or self._made(operand, "sitof")) is not None:
            operand = made.operands[0]
        return isinstance(operand, Value) and self.axes.get(operand) == axis

    def _whole(self, terms: tuple[Operand, ...]) -> Word:
        found: Word = 0
        for number, term in enumerate(terms):
            found = self.code.compute("iadd", found, self.word(term)) if number else self.word(term)
        return found

    def _store(self, i: Instruction, detail: Memory) -> None:
        place = self.subscripts.place(i, detail)
        if not place.own or place.stream not in self.outputs:
            helps = "a compute shader has such writes: lower a CUDA or OpenCL kernel"
            raise refuse(f"a pixel shader writes to its own place only, and {place.stream} is scattered", i.span, helps)
        target = IlRegister("o", self.outputs[place.stream][0])
        for at, operand in enumerate(i.operands[1:]):
            letter = place.component + at
            mask = "_" * letter + WHOLE[letter] + "_" * (3 - letter)
            self.code.put("mov", IlDestination(target, mask), self.word(operand))
