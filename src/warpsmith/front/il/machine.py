"""Memory of IL as memory of the kernel IR: what is fetched, constants, outputs, the global buffer, where a thread is.

    o0   a pointer: element (x, y) is number x + y·width, of as many floats as are written
    t0   a pointer, t0_width (and t0_height): a resource, of as many floats an element as are needed
    cb0  a pointer: four numbers a register            g   a pointer: four numbers an element
    uav0 a pointer: bytes                              lds1  a variable in shared memory: bytes
    x0   a variable of the thread: four numbers a register
    width, height   how many threads a pixel shader has; thread (x, y) has v0 = (x + 0.5, y + 0.5)

A fetch is of the nearest element: floor of the coordinate, at the edge where that lies outside (`load_resource`: 0
there). What an element does not have is 0, and 1 for w.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

from msgspec.structs import replace

from warpsmith.front.il.arithmetic import ONE, ZERO, to_float
from warpsmith.front.il.nodes import IlInstruction, IlProgram, IlRegister
from warpsmith.ssa.builder import Builder, constant
from warpsmith.ssa.nodes import (
    Address,
    Barrier,
    Convert,
    Fence,
    Float,
    Memory,
    Operand,
    Param,
    Parameter,
    Query,
    Symbol,
)
from warpsmith.ssa.types import F32, I1, I32, I64

__all__ = ["IlMemory", "list_parameters", "list_variables"]

_AXES: Final = "xy"
_ATOMIC: Final = {"min": "smin", "max": "smax", "xchg": "exchange"}


def list_parameters(program: IlProgram) -> tuple[Parameter, ...]:
    """Return the parameters of the kernel that a program becomes."""
    pointers = [f"o{number}" for number in program.outputs] + (["g"] if _uses_global(program) else [])
    pointers += [f"uav{number}" for number in program.uavs]
    found = [Parameter(name, 8, 8, I64) for name in pointers]
    for number, resource in program.resources.items():
        sizes = ("_width", "_height")[: resource.axes]
        found += [Parameter(f"t{number}", 8, 8, I64), *(Parameter(f"t{number}{size}", 4, 4, I32) for size in sizes)]
    found += [Parameter(f"cb{number}", 8, 8, I64) for number in program.constants]
    return (*found, *(Parameter(name, 4, 4, I32) for name in ("width", "height") if program.kind == "ps"))


def list_variables(program: IlProgram) -> tuple[Symbol, ...]:
    """Return the variables of the kernel that a program becomes: the memory of a group, arrays of registers."""
    shared = [Symbol(_lds(n), "shared", I32, one.bytes // 4, 16, span=one.span) for n, one in program.lds.items()]
    own = [Symbol(f"x{n}", "local", I32, 4 * one.size, 16, span=one.span) for n, one in program.temporaries.items()]
    return (*shared, *own)


def _lds(number: int) -> str:
    return f"lds{number}"


def _uses_global(program: IlProgram) -> bool:
    destinations = [one.destination.register.kind for one in program.instructions if one.destination is not None]
    return "g" in (*destinations, *(source.register.kind for one in program.instructions for source in one.sources))


class IlMemory:
    """Writes accesses with a builder. Parameters are read once, in the entry."""

    def __init__(self, builder: Builder, program: IlProgram, channels: Mapping[str, int]) -> None:
        self.builder = builder
        self.program = program
        self.channels = channels
        self.parameters: dict[str, Operand] = {}
        for parameter in list_parameters(program):
            assert parameter.type is not None
            value = builder.emit("param", (), parameter.type, Param(parameter.name), parameter.name)
            self.parameters[parameter.name] = value
        self.place = tuple(self._along(axis) for axis in _AXES)

    def _query(self, register: str) -> Operand:
        return self.builder.emit("query", (), I32, Query(register))

    def _along(self, axis: str) -> Operand:
        b = self.builder
        first = b.emit("mul", (self._query(f"ctaid.{axis}"), self._query(f"ntid.{axis}")), I32)
        return b.emit("add", (first, self._query(f"tid.{axis}")), I32)

    def is_thread(self) -> Operand:
        """Return whether a pixel shader has this thread: a grid may have more."""
        b = self.builder
        inside = [
            b.emit("ult", (place, self.parameters[size]), I1)
            for place, size in zip(self.place, ("width", "height"), strict=True)
        ]
        return b.emit("and", tuple(inside), I1)

    def position(self, letter: str) -> Operand:
        """Return a component of v0."""
        place = self.place[_AXES.index(letter)]
        half = constant(F32, 0x3F000000)
        whole = self.builder.emit("uitof", (place,), F32, Convert("nearest"))
        return self.builder.emit("bitcast", (self.builder.emit("fadd", (whole, half), F32),), I32)

    def builtin(self, kind: str, letter: str) -> Operand:
        """Return a component of one of a compute shader's inputs; a counted one is the same in all."""
        if kind.endswith("Flat"):
            return self._counted(kind)
        axis = letter if letter in "xyz" else ""
        if not axis:
            return ZERO
        match kind:
            case "vTidInGrp":
                return self._query(f"tid.{axis}")
            case "vThreadGrpId":
                return self._query(f"ctaid.{axis}")
            case _:
                return self._along(axis)

    def _counted(self, kind: str) -> Operand:
        """Return a number that counts along x first: within the group, of groups, or of all threads."""
        b = self.builder
        inside, group = self._count("tid", "ntid"), self._count("ctaid", "nctaid")
        if kind == "vTidInGrpFlat":
            return inside
        if kind == "vThreadGrpIdFlat":
            return group
        sizes = [self._query(f"ntid.{axis}") for axis in "xyz"]
        threads = b.emit("mul", (b.emit("mul", (sizes[0], sizes[1]), I32), sizes[2]), I32)
        return b.emit("add", (b.emit("mul", (group, threads), I32), inside), I32)

    def _count(self, which: str, sizes: str) -> Operand:
        b = self.builder
        x, y, z = (self._query(f"{which}.{axis}") for axis in "xyz")
        width, height = self._query(f"{sizes}.x"), self._query(f"{sizes}.y")
        rows = b.emit("add", (b.emit("mul", (z, height), I32), y), I32)
        return b.emit("add", (b.emit("mul", (rows, width), I32), x), I32)

    # --- accesses

    def _element(self, name: str, number: Operand, numbers: int) -> Operand:
        """Return the address of element `number` of `numbers` floats, behind parameter `name`."""
        b = self.builder
        wide = b.emit("zext", (number,), I64)
        offset = b.emit("mul", (wide, constant(I64, 4 * numbers)), I64)
        return b.emit("add", (self.parameters[name], offset), I64)

    def _load(self, address: Operand, at: int, *, constant_memory: bool) -> Operand:
        how = Memory("global", 4 * at, 4, cached="read only" if constant_memory else "")
        return self.builder.emit("load", (address,), I32, how)

    def constant_component(self, register: IlRegister, letter: str, index: Operand) -> Operand:
        """Return a component of a constant."""
        address = self._element(f"cb{register.number}", index, 4)
        return self._load(address, "xyzw".index(letter), constant_memory=True)

    def global_component(self, letter: str, index: Operand) -> Operand:
        """Return a component of an element of the global buffer."""
        return self._load(self._element("g", index, 4), "xyzw".index(letter), constant_memory=False)

    def store_global(self, index: Operand, values: Mapping[str, Operand]) -> None:
        """Write components of an element of the global buffer."""
        address = self._element("g", index, 4)
        for letter, value in values.items():
            how = Memory("global", 4 * "xyzw".index(letter), 4)
            self.builder.emit_many("store", (address, value), (), how)

    # --- memory that is addressed by bytes

    def load_words(self, one: IlInstruction, address: Operand, letters: str) -> dict[str, Operand]:
        """Return the words of a view from a byte on: for each letter its word; of a group's memory the first one."""
        place, how = self._bytes(one, address)
        found: dict[str, Operand] = {}
        for letter in letters:
            at = 4 * "xyzw".index(letter) if one.op.form == "uav_load" else 0
            found[letter] = self.builder.emit("load", (place,), I32, replace(how, offset=at))
        return found

    def store_words(self, one: IlInstruction, address: Operand, values: Mapping[str, Operand]) -> None:
        """Write words from a byte on."""
        place, how = self._bytes(one, address)
        for letter, value in values.items():
            how = replace(how, offset=4 * "xyzw".index(letter))
            self.builder.emit_many("store", (place, value), (), how)

    def change_word(self, one: IlInstruction, address: Operand, value: Operand, *was: Operand) -> Operand:
        """Apply a value to a word at once, and return what was there; `was`: only where the word is that."""
        place, how = self._bytes(one, address)
        if was:
            return self.builder.emit("atomic_compare", (place, *was, value), I32, how)
        name = one.op.name.removeprefix("uav_read_").removeprefix("lds_read_").removesuffix("_id")
        return self.builder.emit(f"atomic_{_ATOMIC.get(name, name)}", (place, value), I32, how)

    def _bytes(self, one: IlInstruction, address: Operand) -> tuple[Operand, Memory]:
        b = self.builder
        if one.op.name.startswith("uav"):
            base, how = self.parameters[f"uav{one.resource}"], Memory("global", 0, 4)
        else:
            base, how = b.emit("address", (), I64, Address(_lds(one.resource))), Memory("shared", 0, 4)
        return b.emit("add", (base, b.emit("zext", (address,), I64)), I64), how

    def fence(self, name: str) -> None:
        """Write a fence, and wait for the group where its name says so."""
        if "threads" not in name:
            self.builder.emit_many("fence", (), (), Fence("device" if "memory" in name else "block"))
            return
        orders: Literal["all", "shared", "global", "none"] = "none"
        if "lds" in name:
            orders = "all" if "memory" in name else "shared"
        elif "memory" in name:
            orders = "global"
        self.builder.emit_many("barrier", (constant(I32, 0),), (), Barrier(orders=orders))

    def temporary(self, register: IlRegister, letter: str, index: Operand) -> Operand:
        """Return a component of an element of an array of registers."""
        how = Memory("local", 4 * "xyzw".index(letter), 4)
        return self.builder.emit("load", (self._temporary(register, index),), I32, how)

    def store_temporary(self, register: IlRegister, index: Operand, values: Mapping[str, Operand]) -> None:
        """Write components of an element of an array of registers."""
        address = self._temporary(register, index)
        for letter, value in values.items():
            how = Memory("local", 4 * "xyzw".index(letter), 4)
            self.builder.emit_many("store", (address, value), (), how)

    def _temporary(self, register: IlRegister, index: Operand) -> Operand:
        b = self.builder
        base = b.emit("address", (), I64, Address(f"x{register.number}"))
        offset = b.emit("mul", (b.emit("zext", (index,), I64), constant(I64, 16)), I64)
        return b.emit("add", (base, offset), I64)

    def store_output(self, number: int, values: Mapping[str, Operand]) -> None:
        """Write the components of an output of this thread."""
        name, b = f"o{number}", self.builder
        row = b.emit("mul", (self.place[1], self.parameters["width"]), I32)
        address = self._element(name, b.emit("add", (row, self.place[0]), I32), self.channels[name])
        for letter, value in values.items():
            b.emit_many("store", (address, value), (), Memory("global", 4 * "xyzw".index(letter), 4))

    def sample(self, number: int, coordinates: tuple[Operand, ...], letters: str) -> dict[str, Operand]:
        """Return components of the element at coordinates that are floats."""
        b = self.builder
        places: list[Operand] = []
        for axis, value in enumerate(coordinates[: self.program.resources[number].axes]):
            floor = b.emit("fround", (to_float(b, value),), F32, Float("down"))
            whole = b.emit("ftosi", (floor,), I32, Convert("zero"))
            last = b.emit("sub", (self._size(number, axis), constant(I32, 1)), I32)
            places.append(b.emit("smin", (b.emit("smax", (whole, ZERO), I32), last), I32))
        return self._fetch(number, places, letters)

    def load(self, number: int, coordinates: tuple[Operand, ...], letters: str) -> dict[str, Operand]:
        """Return components of the element at whole coordinates, 0 outside."""
        b = self.builder
        inside: Operand | None = None
        places: list[Operand] = []
        for axis, value in enumerate(coordinates[: self.program.resources[number].axes]):
            size = self._size(number, axis)
            here = b.emit("ult", (value, size), I1)
            inside = here if inside is None else b.emit("and", (inside, here), I1)
            places.append(b.emit("umin", (value, b.emit("sub", (size, constant(I32, 1)), I32)), I32))
        assert inside is not None
        found = self._fetch(number, places, letters)
        return {letter: b.emit("select", (inside, value, ZERO), I32) for letter, value in found.items()}

    def _size(self, number: int, axis: int) -> Operand:
        return self.parameters[f"t{number}{('_width', '_height')[axis]}"]

    def _fetch(self, number: int, places: list[Operand], letters: str) -> dict[str, Operand]:
        b, name = self.builder, f"t{number}"
        element = places[0]
        for place in places[1:]:
            row = b.emit("mul", (place, self._size(number, 0)), I32)
            element = b.emit("add", (row, places[0]), I32)
        address = self._element(name, element, self.channels[name])
        found: dict[str, Operand] = {}
        for letter in letters:
            at = "xyzw".index(letter)
            lacking = ONE if letter == "w" else ZERO
            there = at < self.channels[name]
            found[letter] = self._load(address, at, constant_memory=True) if there else lacking
        return found
