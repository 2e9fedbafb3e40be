"""How many registers a thread is estimated to hold, where no compiler says it.

    live        the most that holds something at once, in 32-bit registers; arguments are read where they lie; the small
                arrays that loops index which are unrolled (unrolled.py)
    estimate    2 + 1.12 · live, and 12 more where a division or a root of 64 bits is a function that is called
                30 at least, where a loop that counts and loads enough is unrolled: its loads are on the way together
                one more for each load on the way, up to 16, where a loop is unrolled whole

Liveness is the usual backward fixed point over blocks; a phi reads its operands at the end of the blocks that they come
from. The numbers were fitted to ptxas 13 on half of the kernels of benchmarks/results/registers.txt, which has what is
off by how much on the other half.
Limits: nothing is known of how ptxas orders, merges or keeps values; predicates have registers of their own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set
from math import prod
from typing import Final

from warpsmith.analysis.resources.unrolled import find_counters, find_unrolled
from warpsmith.ssa.graph import Cycle, Graph
from warpsmith.ssa.nodes import (
    Barrier,
    BasicBlock,
    Branch,
    Constant,
    Function,
    Instruction,
    Memory,
    Operand,
    Param,
    Value,
    terminator_operands,
)
from warpsmith.ssa.types import Type

__all__ = ["estimate_registers", "live_registers"]

_LEAST: Final = 8
"""No kernel has fewer: the calling convention and the stack take them."""
_MOST: Final = 255
_OWN, _SHARE, _CALLED, _UNROLLED = 2.0, 1.12, 12.0, 30.0
_TOGETHER: Final = 16
"""Words that are on the way together, as for the time model (analysis/counts/unrolling.py)."""
_LOADS: Final = 4
"""Words of 32 bits that an iteration loads at least for its loads to be spread over the registers."""
_LONGEST: Final = 60
"""Instructions of a loop that is unrolled."""
_WIDE_CALLS: Final = frozenset({"fdiv", "sqrt", "rsqrt", "rcp"})


def estimate_registers(function: Function, graph: Graph) -> int:
    """Return about how many registers ptxas gives a thread."""
    arguments = frozenset(v for _, i in function.instructions() if isinstance(i.detail, Param) for v in i.results)
    kept = find_unrolled(function, graph)
    numbers = frozenset(v for i in kept.free for v in i.results)
    live = live_registers(function, graph, arguments | numbers) + -(-kept.bytes // 4)
    found = _OWN + _SHARE * live
    if any(i.op in _WIDE_CALLS and i.result.type.bits == 64 for _, i in function.instructions()):
        found += _CALLED
    found += _on_the_way(function, graph, kept.accesses)
    if any(True for _ in _unrolled(function, graph)):
        found = max(found, _UNROLLED)
    return min(_MOST, max(_LEAST, round(found)))


# --- which loops are unrolled


def _on_the_way(function: Function, graph: Graph, kept: Set[Instruction]) -> int:
    """Return how many words are on the way together in loops that run a known number of times: copies of their loads,
    of those that are no accesses to registers, in loops that neither store nor wait."""
    trips = {one.cycle.header: max(1, one.trips - 1) for one in find_counters(function, graph)}
    blocks = {block.name: block for block in function.blocks}
    quiet = {
        cycle.header: all(_lets_pass(i, kept) for name in cycle.blocks for i in blocks[name].instructions)
        for cycle in _cycles(graph.cycles)
    }
    most = 0
    for block in function.blocks if trips else ():
        copies = prod(trips.get(c.header, 1) for c in graph.cycles_around(block.name) if quiet[c.header])
        loads = [i for i in block.instructions if i.op == "load" and i not in kept and _comes_late(i)]
        if loads and copies > 1:
            most = max(most, min(_TOGETHER, copies * sum(_size(v.type) for i in loads for v in i.results)))
    return most


def _lets_pass(i: Instruction, kept: Set[Instruction]) -> bool:
    """Whether loads behind an instruction may go before it."""
    return i in kept or not (isinstance(i.detail, Barrier) or i.op in ("store", "call") or i.op.startswith("atomic"))


def _comes_late(i: Instruction) -> bool:
    return isinstance(i.detail, Memory) and i.detail.space not in ("constant", "param")


def _unrolled(function: Function, graph: Graph) -> Iterator[Cycle]:
    """Yield the innermost loops that count to a number known before them, and load much in each iteration."""
    blocks = {block.name: block for block in function.blocks}
    made = {v: i for _, i in function.instructions() for v in i.results}
    for cycle in (one for one in _cycles(graph.cycles) if not one.children):
        inside = [i for name in cycle.blocks for i in blocks[name].instructions]
        waits = any(isinstance(i.detail, Barrier) for i in inside)
        words = sum(_size(v.type) for i in inside if isinstance(i.detail, Memory) for v in i.results)
        if len(inside) <= _LONGEST and words >= _LOADS and not waits and _counts(cycle, graph, blocks, made):
            yield cycle


def _cycles(found: Iterable[Cycle]) -> Iterator[Cycle]:
    for cycle in found:
        yield cycle
        yield from _cycles(cycle.children)


def _counts(cycle: Cycle, graph: Graph, blocks: dict[str, BasicBlock], made: dict[Value, Instruction]) -> bool:
    """Whether a loop has one exit, where something that it steps by a fixed number meets what it does not change."""
    leaving = [name for name in cycle.blocks if any(after not in cycle.blocks for after in graph.successors[name])]
    end = blocks[leaving[0]].terminator if len(leaving) == 1 else None
    if not isinstance(end, Branch) or not isinstance(end.condition, Value) or end.condition not in made:
        return False
    own = {v for name in cycle.blocks for i in blocks[name].instructions for v in i.results}
    own |= {phi.result for name in cycle.blocks for phi in blocks[name].phis}
    stepped = _stepped(blocks[cycle.header], cycle, own, made)

    def counter(operand: Operand) -> bool:
        i = made.get(operand) if isinstance(operand, Value) else None
        widened = i is not None and i.op in ("sext", "zext", "trunc") and i.operands[0] in stepped
        return operand in stepped or widened

    sides = made[end.condition].operands
    return len(sides) == 2 and any(
        counter(one) and (isinstance(other, Constant) or other not in own) for one, other in (sides, sides[::-1])
    )


def _stepped(header: BasicBlock, cycle: Cycle, own: Set[Operand], made: dict[Value, Instruction]) -> set[Operand]:
    """Return the values that grow by the same number in each iteration, before the step and behind it."""
    found: set[Operand] = set()
    for phi in header.phis:
        for before, operand in phi.incoming:
            i = made.get(operand) if before in cycle.blocks and isinstance(operand, Value) else None
            if i is None or i.op not in ("add", "sub") or phi.result not in i.operands:
                continue
            if any(isinstance(o, Constant) or o not in own for o in i.operands):
                found |= {phi.result, operand}
    return found


# --- what is live


def live_registers(function: Function, known: Graph | None = None, free: Set[Value] = frozenset()) -> int:
    """Return the most 32-bit registers that hold something at once, somewhere in the function; `free`: values that
    take none."""
    graph = known or Graph.of(function)
    blocks = [block for block in function.blocks if block.name in graph.successors]
    comes = _phi_uses(blocks)
    live_in = _live(graph, blocks, comes)
    return max((_most(block, _at_end(graph, block, live_in, comes) - free, free) for block in blocks), default=0)


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


def _most(block: BasicBlock, live: set[Value], free: Set[Value]) -> int:
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
            if isinstance(operand, Value) and operand not in held and operand not in free:
                held.add(operand)
                now += _size(operand.type)
        most = max(most, now)
    return most


def _size(type: Type) -> int:
    return 0 if type.kind == "predicate" else -(-type.bits // 32)
