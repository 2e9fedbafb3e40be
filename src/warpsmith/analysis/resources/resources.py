"""The resources that a thread holds while it runs, and how many blocks of such threads a multiprocessor holds.

registers   as ptxas says; else estimated (registers.py), and no more than there are for the block, or it could not run
shared      of the kernel and of the functions that it may call, static; what the launch adds
local       arrays of a thread's own, but those that a compiler keeps in registers (unrolled.py)
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from warpsmith.analysis.resources.registers import estimate_registers
from warpsmith.analysis.resources.unrolled import find_unrolled
from warpsmith.analysis.uniformity.facts import Dim, ResourceFact
from warpsmith.machine.devices import Device
from warpsmith.machine.occupancy import Occupancy, most_registers, occupancy
from warpsmith.ssa.graph import Graph
from warpsmith.ssa.nodes import Address, Callee, Function, Module, Symbol

__all__ = ["CompilerFigures", "resources"]


class CompilerFigures(Struct, frozen=True):
    """What a compiler says of a kernel; see `resources`."""

    registers: int
    spill_bytes: int
    shared_bytes: int | None = None


def resources(
    owner: tuple[Module, Function, Graph],
    device: Device,
    block: Dim,
    shared: int,
    compiled: CompilerFigures | None = None,
) -> ResourceFact:
    """Return what a kernel of a module holds, in blocks of shape `block`, with `shared` bytes of dynamic memory."""
    module, kernel, graph = owner
    symbols = _symbols(module, kernel)
    static = _total(symbol for symbol in symbols if symbol.space == "shared")
    if compiled is not None and compiled.shared_bytes is not None:
        static = compiled.shared_bytes
    kept = find_unrolled(kernel, graph).arrays
    threads = block[0] * block[1] * block[2]
    if compiled is None:
        registers = min(estimate_registers(kernel, graph), most_registers(device, threads))
    else:
        registers = compiled.registers
    return ResourceFact(
        registers,
        "estimate" if compiled is None else "ptxas",
        static,
        shared,
        _total(symbol for symbol in symbols if symbol.space == "local" and symbol not in kept),
        0 if compiled is None else compiled.spill_bytes,
        threads,
        _occupancy(device, threads, registers, static + shared),
    )


def _occupancy(device: Device, threads: int, registers: int, shared: int) -> Occupancy | None:
    return occupancy(device, threads, registers, shared) if device.vendor == "nvidia" else None


def _total(symbols: Iterable[Symbol]) -> int:
    end = 0
    for symbol in symbols:
        end = -(-end // max(1, symbol.align)) * max(1, symbol.align) + symbol.bytes
    return end


def _symbols(module: Module, kernel: Function) -> list[Symbol]:
    """Return the symbols of a kernel and of all that it may call, each once, in the order of the file."""
    functions = {function.name: function for function in module.functions}
    reached, pending, named = {kernel.name}, [kernel], set[str]()
    while pending:
        for _, instruction in pending.pop().instructions():
            match instruction.detail:
                case Address(symbol):
                    named.add(symbol)
                case Callee(name) if name in functions and name not in reached:
                    reached.add(name)
                    pending.append(functions[name])
    own = [symbol for name in functions if name in reached for symbol in functions[name].symbols]
    return [symbol for symbol in (*module.symbols, *own) if symbol.name in named]
