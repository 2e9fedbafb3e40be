"""What variables and arrays hold, under the names of the user's text.

    int t = blockIdx.x * 64 + threadIdx.x;        the instruction that computes the right side gives `t` its value
    for (int i = 0; i < n; i++)                   phis of the kernel IR have the names of their variables

A variable holds what was computed for it last. Where some statement gives it a value without an instruction of its own
(a constant, a copy), that is not seen when it happens; who asks is told the lines.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping

import numpy as np
from msgspec import Struct, field

from warpsmith.base.source import Span
from warpsmith.flows.stepping.conditions import Number, UnknownNameError
from warpsmith.kernels.arguments import ELEMENTS
from warpsmith.kernels.units import KernelUnit
from warpsmith.simt.layout import local_layout, shared_layout
from warpsmith.simt.memory import Buffer
from warpsmith.simt.observer import Lane, Silent
from warpsmith.simt.thread import Thread
from warpsmith.ssa.nodes import Function, Instruction, Phi, Symbol, Value
from warpsmith.ssa.semantics.patterns import number_of, to_signed
from warpsmith.ssa.types import F16, F32, F64, Type
from warpsmith.tree.expressions import Assign, Name, Unary
from warpsmith.tree.nodes import Function as TreeFunction
from warpsmith.tree.nodes import VarDecl
from warpsmith.tree.types import Scalar
from warpsmith.tree.types import Type as TreeType
from warpsmith.tree.walk import walk

__all__ = ["LaneScope", "Recorded", "VariableNames"]

_Extent = tuple[str, int, int]
"""A file, and where in it something starts and ends."""
_OWN = ("lane", "warp", "block", "thread")
_BUILTIN = {"threadIdx": "index", "blockIdx": "block_index"}


class VariableNames(Struct, frozen=True):
    """The variables of a kernel. `bound`: the instructions that compute what a variable is given; `unsigned`: those
    whose type is; `unseen`: lines that give it a value without an instruction."""

    bound: Mapping[Instruction, str]
    known: frozenset[str]
    unsigned: frozenset[str]
    unseen: Mapping[str, tuple[int, ...]]

    @property
    def listed(self) -> list[str]:
        """Return those that the user has named."""
        return sorted(name for name in self.known if "." not in name and not name.startswith("v."))

    @classmethod
    def of(cls, unit: KernelUnit, kernel: Function) -> VariableNames:
        """Return the variables of a kernel."""
        given: dict[_Extent, tuple[str, int]] = {}
        unsigned: set[str] = set()
        for function in unit.functions:
            for name, type, span in _given_in(function):
                given[span.file.path, span.start, span.end] = name, span.line
                if isinstance(type, Scalar) and type.kind == "unsigned":
                    unsigned.add(name)
        # of the instructions of an expression the last one computes it; a function may have been inlined several times
        last: dict[tuple[_Extent, tuple[Span, ...]], Instruction] = {}
        for block, one in kernel.instructions():
            if one.span is not None and len(one.results) == 1:
                last[(one.span.file.path, one.span.start, one.span.end), block.calls] = one
        bound = {one: given[extent][0] for (extent, _), one in last.items() if extent in given}
        named = {i: i.results[0].name for _, i in kernel.instructions() if len(i.results) == 1 and i.results[0].name}
        phis = {phi.result.name for block in kernel.blocks for phi in block.phis} - {""}
        whole, seen = {**named, **bound}, {extent for extent, _ in last}
        unseen: dict[str, set[int]] = defaultdict(set)
        for extent, (name, line) in given.items():
            if extent not in seen:
                unseen[name].add(line)
        lines = {name: tuple(sorted(found)) for name, found in unseen.items()}
        return cls(whole, frozenset(whole.values()) | phis, frozenset(unsigned), lines)


def _given_in(function: TreeFunction) -> Iterator[tuple[str, TreeType, Span]]:
    """Yield each variable that is given a value: its name, its type, where the value is computed."""
    for node in walk(function):
        match node:
            case VarDecl(symbol=symbol, init=init) if init is not None:
                yield symbol.name, symbol.type, init.span
            case Assign(op="=", target=Name(symbol=symbol), value=value):
                yield symbol.name, symbol.type, value.span
            case Assign(target=Name(symbol=symbol)):
                yield symbol.name, symbol.type, node.span
            case Unary(op=op, operand=Name(symbol=symbol)) if "++" in op or "--" in op:
                yield symbol.name, symbol.type, node.span


class Recorded(Struct, Silent):
    """An observer that keeps what each variable of each thread was given last: (bits, type)."""

    names: VariableNames
    held: dict[tuple[int, int], dict[str, tuple[int, Type]]] = field(default_factory=lambda: defaultdict(dict))

    def value(self, lane: Lane, place: Instruction, moment: object, numbers: tuple[int, ...]) -> None:
        """Keep a result that is a variable's."""
        name = self.names.bound.get(place)
        if name is not None:
            self.held[lane.block, lane.thread][name] = (numbers[0], place.results[0].type)

    def phi(self, thread: Thread, phi: Phi) -> None:
        """Keep what a phi has become."""
        result: Value = phi.result
        if result.name:
            bits = thread.frames[-1].values[result]
            self.held[thread.lane.block, thread.lane.thread][result.name] = (bits, result.type)


class LaneScope(Struct, frozen=True):
    """What names mean in one lane. `buffers` by the names of arguments, `elements` the types of their elements."""

    unit: KernelUnit
    kernel: Function
    recorded: Recorded
    buffers: Mapping[str, Buffer]
    elements: Mapping[str, str]
    thread: Thread

    def variable(self, name: str) -> Number:
        """Return what a variable holds; raises UnknownNameError."""
        lane, launch = self.thread.lane, self.thread.kernel.launch
        base, _, axis = name.partition(".")
        if base in _BUILTIN and axis in ("x", "y", "z"):
            found: tuple[int, int, int] = getattr(lane, _BUILTIN[base])
            return found["xyz".index(axis)]
        if base in ("blockDim", "gridDim") and axis in ("x", "y", "z"):
            return (launch.block if base == "blockDim" else launch.grid)["xyz".index(axis)]
        held = self.recorded.held[lane.block, lane.thread]
        if name in held:
            bits, type = held[name]
            return _number(bits, type, unsigned=name in self.recorded.names.unsigned)
        if name in _OWN:
            number: int = getattr(lane, name)
            return number
        if name in self.buffers:
            return self.buffers[name].address
        raise UnknownNameError(f"{name} holds nothing yet")

    def element(self, array: str, at: int) -> Number:
        """Return an element of an argument, of a shared or of a local array; raises UnknownNameError."""
        if array in self.buffers:
            data = np.frombuffer(bytes(self.buffers[array].data), ELEMENTS[self.elements[array]])
            return self._pick(array, data, at)
        symbol = next((s for s in self._symbols() if s.name.partition(".")[0] == array), None)
        if symbol is None:
            raise UnknownNameError(f"there is no array {array}")
        module, launch = self.unit.module, self.thread.kernel.launch
        shared = symbol.space == "shared"
        layout = (
            shared_layout(module, self.kernel.name, launch.shared, launch.parts)
            if shared
            else local_layout(module, self.kernel.name)
        )
        part = next((part for part in layout.parts if part.name == symbol.name), None)
        if part is None:
            raise UnknownNameError(f"{array} has no place of its own")
        size, held = symbol.type.bytes, (self.thread.shared if shared else self.thread.local).data
        if not 0 <= at < (part.end - part.start) // size:
            raise UnknownNameError(f"{array} has {(part.end - part.start) // size} elements")
        start = part.start + at * size
        return _number(int.from_bytes(held[start : start + size], "little"), symbol.type, unsigned=False)

    def arrays(self) -> Iterator[str]:
        """Yield the names of the arrays that there are."""
        yield from self.buffers
        yield from dict.fromkeys(symbol.name.partition(".")[0] for symbol in self._symbols())

    def _symbols(self) -> Iterator[Symbol]:
        for symbol in (*self.kernel.symbols, *self.unit.module.symbols):
            if symbol.space in ("shared", "local"):
                yield symbol

    def _pick(self, array: str, data: np.ndarray, at: int) -> Number:
        if not 0 <= at < len(data):
            raise UnknownNameError(f"{array} has {len(data)} elements")
        found: Number = data[at].item()
        return found


def _number(bits: int, type: Type, *, unsigned: bool) -> Number:
    if type in (F16, F32, F64) or type.kind == "float":
        return number_of(bits, type)
    return bits if unsigned or type.bits == 1 else to_signed(bits, type)
