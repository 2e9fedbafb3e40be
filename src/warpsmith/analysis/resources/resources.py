"""The resources that a thread holds while it runs, and how many blocks of such threads a multiprocessor holds.

    registers   as ptxas says; else estimated: the most that is live at once, in 32-bit registers
    shared      of the kernel and of the functions that it may call, static; what the launch adds
    local       arrays of a thread's own

Liveness is the usual backward fixed point over blocks; a phi reads its operands at the end of the blocks
that they come from.
Limits: the estimate knows nothing of how ptxas orders, spills or merges; predicates have registers of their own.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from warpsmith.analysis.uniformity.facts import Dim, ResourceFact
from warpsmith.machine.devices import Device
from warpsmith.machine.occupancy import Occupancy, occupancy
from warpsmith.ssa.graph import Graph
from warpsmith.ssa.nodes import (
    Address,
    BasicBlock,
    Callee,
    Function,
    Module,
    Operand,
    Symbol,
    Value,
    terminator_operands,
)
from warpsmith.ssa.types import Type

__all__ = ["CompilerFigures", "live_registers", "resources"]

_LEAST_REGISTERS = 8
"""No kernel has fewer: the calling convention and the stack take them."""


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
    registers = max(_LEAST_REGISTERS, live_registers(kernel, graph)) if compiled is None else compiled.registers
    threads = block[0] * block[1] * block[2]
    return ResourceFact(
        registers,
        "estimate" if compiled is None else "ptxas",
        static,
        shared,
        _total(symbol for symbol in symbols if symbol.space == "local"),
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


# --- what is live


def live_registers(function: Function, known: Graph | None = None) -> int:
    """Return the most 32-bit registers that hold something at once, somewhere in the function."""
    graph = known or Graph.of(function)
    blocks = [block for block in function.blocks if block.name in graph.successors]
    comes = _phi_uses(blocks)
    live_in = _live(graph, blocks, comes)
    return max((_most(block, _at_end(graph, block, live_in, comes)) for block in blocks), default=0)


_LiveIn = dict[str, set[Value]]


def _live(graph: Graph, blocks: Sequence[BasicBlock], comes: _LiveIn) -> _LiveIn:
    """Return the values that are live at the start of each block; phis of the block itself are not among them."""
    by_name = {block.name: block for block in blocks}
    used = {name: _find_used(by_name[name]) for name in by_name}
    made = {name: _find_made(by_name[name]) for name in by_name}
    live_in: _LiveIn = {name: set(used[name]) for name in by_name}
    pending = list(graph.order)
    queued = set(pending)
    while pending:
        name = pending.pop()
        queued.discard(name)
        found = used[name] | (_at_end(graph, by_name[name], live_in, comes) - made[name])
        if len(found) > len(live_in[name]):
            live_in[name] = found
            new = [before for before in graph.predecessors[name] if before not in queued]
            queued.update(new)
            pending += new
    return live_in


def _at_end(graph: Graph, block: BasicBlock, live_in: _LiveIn, comes: _LiveIn) -> set[Value]:
    """Return what is live where a block ends."""
    out = set().union(*(live_in[after] for after in graph.successors[block.name])) | comes.get(block.name, set())
    return out | {o for o in terminator_operands(block.terminator) if isinstance(o, Value)}


def _phi_uses(blocks: Sequence[BasicBlock]) -> dict[str, set[Value]]:
    """Return, for each block, the values that phis behind it take from it."""
    comes: dict[str, set[Value]] = {}
    for block in blocks:
        for phi in block.phis:
            for before, operand in phi.incoming:
                if isinstance(operand, Value):
                    comes.setdefault(before, set()).add(operand)
    return comes


def _find_used(block: BasicBlock) -> set[Value]:
    """Return what a block reads before it makes it, phis aside."""
    made = {phi.result for phi in block.phis}
    used: set[Value] = set()
    for instruction in block.instructions:
        used.update(_values(instruction.operands, made))
        made.update(instruction.results)
    used.update(_values(terminator_operands(block.terminator), made))
    return used


def _find_made(block: BasicBlock) -> set[Value]:
    return {phi.result for phi in block.phis} | {v for i in block.instructions for v in i.results}


def _values(operands: Iterable[Operand], without: set[Value]) -> Iterable[Value]:
    return (o for o in operands if isinstance(o, Value) and o not in without)


def _most(block: BasicBlock, live: set[Value]) -> int:
    """Return the most registers in use inside a block, walking it backward."""
    now = sum(_size(value.type) for value in live)
    most = now
    held = set(live)
    for instruction in reversed(block.instructions):
        for value in instruction.results:
            if value in held:
                held.discard(value)
                now -= _size(value.type)
        for operand in instruction.operands:
            if isinstance(operand, Value) and operand not in held:
                held.add(operand)
                now += _size(operand.type)
        most = max(most, now)
    return most


def _size(type: Type) -> int:
    return 0 if type.kind == "predicate" else -(-type.bits // 32)
