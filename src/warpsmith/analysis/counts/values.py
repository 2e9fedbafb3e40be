"""Where numbers come from that no op computes: arguments, special registers, addresses of variables, memory.

    an argument that is given      its number               one of 64 bits that is not    where an array begins
    anything else                  lacking, and why

Arrays are taken to begin at multiples of 256 bytes, as allocations do (CUDA C++ Programming Guide, device memory
accesses), far from each other.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from msgspec import Struct, field

from warpsmith.analysis.counts.columns import Column, dtype_of
from warpsmith.analysis.counts.footprint import REGION
from warpsmith.analysis.counts.slopes import Known, Lacking, Number
from warpsmith.analysis.counts.threads import AXES, LaunchedThreads
from warpsmith.ssa.nodes import Address, Function, Instruction, Memory, Module, Param, Query, Symbol, Text, Value

__all__ = ["LaunchSources", "array_of"]

_ROW = 128
"""All banks of shared memory once: each variable begins at the first."""


class LaunchSources(Struct):
    """The numbers that a launch begins with. `arguments`: those that are known; `arrays`: names of what has an address
    that is not known, in the order of their regions; `alike`: what is loaded is guessed to be the same everywhere."""

    threads: LaunchedThreads
    arguments: Mapping[str, int]
    symbols: Mapping[str, Symbol]
    offsets: Mapping[str, int]
    arrays: list[str] = field(default_factory=list)
    alike: bool = False

    @classmethod
    def of(
        cls,
        module: Module,
        function: Function,
        threads: LaunchedThreads,
        arguments: Mapping[str, int],
        *,
        alike: bool = False,
    ) -> LaunchSources:
        """Return those of a launch of a kernel."""
        symbols = {symbol.name: symbol for symbol in (*module.symbols, *function.symbols)}
        offsets: dict[str, int] = {}
        ends = {"shared": 0, "local": 0}
        for symbol in sorted(symbols.values(), key=lambda symbol: not symbol.count):
            if symbol.space in ends:
                offsets[symbol.name] = ends[symbol.space]
                ends[symbol.space] += -(-symbol.bytes // _ROW) * _ROW + _ROW if symbol.count else 0
        return cls(threads, arguments, symbols, offsets, alike=alike)

    def of_instruction(self, i: Instruction, value: Value) -> Number:
        """Return what an instruction gives that computes nothing."""
        if value.type.bits > 64:
            return Lacking("a number of 128 bits")
        match i.detail:
            case Param():
                return self._argument(i.detail, value)
            case Query(register):
                return self._register(register, value)
            case Address(symbol):
                return self._address(symbol)
            case Memory():
                guess = Known(np.zeros(1, dtype_of(value.type))) if self.alike else None
                return Lacking(f"what is loaded{_line(i)}", guess)
            case _:
                function = i.detail.text if isinstance(i.detail, Text) else i.op
                return Lacking(f"what {function} gives{_line(i)}")

    def _argument(self, read: Param, value: Value) -> Number:
        name = read.parameter
        if name in self.arguments and not read.offset:
            if value.type.kind == "float":
                return Known(np.array([self.arguments[name]], f"f{value.type.bytes}").view(dtype_of(value.type)))
            bits = self.arguments[name] % (1 << value.type.bits)
            column = np.array([bits], np.uint64)
            if value.type.bits == 1:
                return Known(column != 0)
            return Known(column.astype(f"u{value.type.bytes}").view(dtype_of(value.type)))
        if value.type.bits < 64 or value.type.kind == "float":
            return Lacking(f"the argument {name}{read.member}")
        return self._region(f"{name}+{read.offset}" if read.offset else name, f"{name}{read.member}")

    def _region(self, key: str, name: str) -> Known:
        if key not in self.arrays:
            self.arrays.append(key)
        start = (self.arrays.index(key) + 1) * REGION + REGION // 2
        return Known(np.array([start], np.int64), {}, name)

    def _register(self, name: str, value: Value) -> Number:
        column = self.threads.register(name)
        if column is None:
            return Lacking(f"the register %{name}")
        slopes = {name: _ONE} if name in AXES and not self.threads.whole else {}
        return Known(column.astype(dtype_of(value.type)), slopes)

    def _address(self, name: str) -> Number:
        symbol = self.symbols.get(name)
        if symbol is None:
            return Lacking(f"where {name} lies")
        if name in self.offsets:
            return Known(np.array([self.offsets[name]], np.int64))
        return self._region(name, name)


_ONE = np.ones(1, np.int64)


def array_of(address: Column) -> Column:
    """Return the region that addresses lead into."""
    return address // REGION


def _line(i: Instruction) -> str:
    return "" if i.span is None else f" in line {i.span.line}"
