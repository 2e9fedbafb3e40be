"""Which small arrays of a thread a compiler keeps in registers, and the loops that it unrolls for that.

    float sum[4][4];
    for (int i = 0; i < 4; i++)         ┐ each index is a number once the loops are unrolled: sum is in registers,
        for (int j = 0; j < 4; j++)     ├ and of the loops nothing is left but the sums
            sum[i][j] += a[i] * b[j];   ┘

An array is kept so where its address goes nowhere but into loads and stores, and every index is made of numbers and of
counters of loops that run a known number of times, few enough. Limits: nothing is known of what a compiler does with
larger ones, nor of `#pragma unroll 1`, which the IR does not keep; arrays that only a part of a loop's iterations
indexes with numbers are in memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Set
from math import prod
from typing import Final

from msgspec import Struct

from warpsmith.ssa.graph import Cycle, Graph
from warpsmith.ssa.nodes import (
    Address,
    Branch,
    Constant,
    Function,
    Instruction,
    Memory,
    Operand,
    Phi,
    Symbol,
    Value,
    terminator_operands,
)
from warpsmith.ssa.ops import OPS
from warpsmith.ssa.semantics.lane import lane

__all__ = ["LoopCounter", "Unrolled", "find_counters", "find_numbers", "find_unrolled"]

_NO_NUMBERS: Final = ("address", "from_generic", "lanewise", "param", "query", "to_generic")
_MOST_TRIPS: Final = 64
_MOST_COPIES: Final = 1024
_MOST_PARTS: Final = 8
_DEEPEST: Final = 16
_MOST_BYTES: Final = 1024
"""A thread has 255 registers of four bytes."""


class Unrolled(Struct, frozen=True):
    """`arrays`: those in registers; `accesses`: the loads and stores of them; `free`: the instructions that are numbers
    once the loops are unrolled; `ends`: the blocks of code whose branch ends such a loop; `numbers`: the arrays that
    hold numbers alone, which are parts of the instructions that use them."""

    arrays: tuple[Symbol, ...] = ()
    accesses: frozenset[Instruction] = frozenset()
    free: frozenset[Instruction] = frozenset()
    ends: frozenset[str] = frozenset()
    numbers: frozenset[Symbol] = frozenset()

    @property
    def bytes(self) -> int:
        """Return how many bytes of registers the arrays take."""
        return sum(symbol.bytes for symbol in self.arrays if symbol not in self.numbers)


class LoopCounter(Struct, frozen=True):
    """A loop that runs a known number of times. `phi`: its counter, with the bits that it is in each iteration
    (`values`); `end`: the block of code whose branch ends it."""

    phi: Value
    values: tuple[int, ...]
    cycle: Cycle
    end: str

    @property
    def trips(self) -> int:
        """How often the loop is gone through."""
        return len(self.values)


def find_unrolled(function: Function, graph: Graph) -> Unrolled:
    """Return what a compiler keeps in registers of the arrays of a thread that are in memory as written."""
    small = {s.name: s for s in function.symbols if s.space == "local" and s.bytes <= _MOST_BYTES}
    if not small or function.listing is not None:
        # a compiler that has written PTX has unrolled what it would: arrays that are left are in memory
        return Unrolled()
    code = _Code(function, graph)
    counters = {one.phi: one for one in code.counters()}
    kept: dict[Symbol, Mapping[Instruction, frozenset[Value]]] = {}
    for name, symbol in small.items():
        found = code.indexed(name, counters.keys())
        if found is not None and all(prod(counters[p].trips for p in phis) <= _MOST_COPIES for phis in found.values()):
            kept[symbol] = found
    used = {phi for own in kept.values() for phis in own.values() for phi in phis}
    accesses = frozenset(i for own in kept.values() for i in own)
    free = {i for i in code.instructions if code.is_number(i, used)} | code.made_of(accesses)
    ends = frozenset(counters[phi].end for phi in used)
    numbers = frozenset(s for s, own in kept.items() if all(code.brings_number(i, used) for i in own))
    return Unrolled(tuple(kept), accesses, frozenset(free), ends, numbers)


def find_counters(function: Function, graph: Graph) -> tuple[LoopCounter, ...]:
    """Return the loops that run a known number of times, few enough, one counter of each; none of a listing."""
    if function.listing is not None:
        return ()
    found: dict[str, LoopCounter] = {}
    for one in _Code(function, graph).counters():
        found.setdefault(one.cycle.header, one)
    return tuple(found.values())


def find_numbers(function: Function, graph: Graph) -> frozenset[Instruction]:
    """Return the instructions that a compiler works out itself where it unrolls the loops that it can."""
    if function.listing is not None:
        return frozenset()
    code = _Code(function, graph)
    counters = {one.phi: one.trips for one in code.counters()}
    return frozenset(
        i
        for i in code.instructions
        if code.is_number(i, counters.keys()) and prod(counters[p] for p in code.parts[i.results[0]]) <= _MOST_COPIES
    )


class _Code:
    """A function, with where each value comes from. `parts`: the phis that a value is made of, besides numbers, by pure
    ops alone; values that others have a part in, or many, are not in it."""

    def __init__(self, function: Function, graph: Graph) -> None:
        self.graph = graph
        by_name = {block.name: block for block in function.blocks}
        # in this order values are made before they are used
        self.blocks = {name: by_name[name] for name in graph.order}
        self.instructions = [i for block in self.blocks.values() for i in block.instructions]
        self.made: Mapping[Value, Instruction] = {v: i for i in self.instructions for v in i.results}
        self.parts = {phi.result: frozenset({phi.result}) for block in self.blocks.values() for phi in block.phis}
        for i in self.instructions:
            found = self.join(i.operands) if OPS[i.op].pure and i.op not in _NO_NUMBERS else None
            if found is not None and len(i.results) == 1:
                self.parts[i.result] = found

    def join(self, operands: Iterable[Operand]) -> frozenset[Value] | None:
        """Return the phis that operands are made of; None where others have a part in one, or many."""
        found: frozenset[Value] = frozenset()
        for operand in operands:
            parts = self.parts.get(operand) if isinstance(operand, Value) else frozenset[Value]()
            if parts is None or not isinstance(operand, Value | Constant):
                return None
            found |= parts
        return found if len(found) <= _MOST_PARTS else None

    def is_number(self, i: Instruction, counters: Set[Value]) -> bool:
        """Whether an instruction gives a number once the loops of some counters are unrolled."""
        parts = self.parts.get(i.results[0]) if len(i.results) == 1 else None
        return bool(parts) and parts is not None and parts <= counters

    def brings_number(self, access: Instruction, counters: Set[Value]) -> bool:
        """Whether an access to an array leaves numbers in it alone."""
        if access.op == "load":
            return True
        made = (self.made.get(o) if isinstance(o, Value) else None for o in access.operands[1:])
        return all(
            isinstance(o, Constant) or (i is not None and self.is_number(i, counters))
            for o, i in zip(access.operands[1:], made, strict=True)
        )

    # --- loops that run a known number of times

    def counters(self) -> Iterator[LoopCounter]:
        """Yield the loops whose number of iterations is known, and is small."""
        for cycle in _all_cycles(self.graph.cycles):
            leaving = [n for n in cycle.blocks if any(s not in cycle.blocks for s in self.graph.successors[n])]
            end = self.blocks[leaving[0]].terminator if len(leaving) == 1 else None
            if isinstance(end, Branch) and len(cycle.entries) == 1:
                for phi in self.blocks[cycle.header].phis:
                    values = self.values(cycle, phi, end, leaving[0])
                    if values is not None:
                        yield LoopCounter(phi.result, values, cycle, leaving[0])

    def values(self, cycle: Cycle, phi: Phi, end: Branch, leaving: str) -> tuple[int, ...] | None:
        """Return the values of a counter in a loop; None: they are not known, or many."""
        starts = {o for before, o in phi.incoming if before not in cycle.blocks}
        steps = {o for before, o in phi.incoming if before in cycle.blocks}
        if len(starts) != 1 or len(steps) != 1:
            return None
        (start,), (step,) = starts, steps
        stays = self.graph.successors[leaving][0] in cycle.blocks
        if not isinstance(start, Constant) or not isinstance(step, Value):
            return None
        bits, values = start.bits, list[int]()
        while len(values) < _MOST_TRIPS:
            values.append(bits)
            known = {phi.result: bits}
            goes_on, bits_next = self.evaluate(end.condition, known), self.evaluate(step, known)
            if goes_on is None or bits_next is None:
                return None
            if bool(goes_on) != stays:
                return tuple(values)
            bits = bits_next
        return None

    def evaluate(self, operand: Operand, known: dict[Value, int], depth: int = _DEEPEST) -> int | None:
        """Return an operand's bits where all that it is made of is known; adds what it finds to `known`."""
        if isinstance(operand, Constant):
            return operand.bits
        if not isinstance(operand, Value) or operand in known:
            return known.get(operand) if isinstance(operand, Value) else None
        i = self.made.get(operand)
        if i is None or not depth or not self.parts.get(operand):
            return None
        parts = [self.evaluate(o, known, depth - 1) for o in i.operands]
        given = tuple(part for part in parts if part is not None)
        if len(given) < len(parts):
            return None
        (known[operand],) = lane(i, given)
        return known[operand]

    # --- arrays

    def indexed(self, name: str, counters: Set[Value]) -> Mapping[Instruction, frozenset[Value]] | None:
        """Return the loads and stores of an array with the counters of their indices; None where it is in memory."""
        places: dict[Value, frozenset[Value]] = {}
        for i in self.instructions:
            if isinstance(i.detail, Address) and i.detail.symbol == name:
                places[i.result] = frozenset()
        accesses: dict[Instruction, frozenset[Value]] = {}
        for i in self.instructions:
            into = [o for o in i.operands if isinstance(o, Value) and o in places]
            if not into:
                continue
            if isinstance(i.detail, Memory) and i.op in ("load", "store") and i.operands.index(into[0]) == 0:
                if len(into) > 1:
                    return None
                accesses[i] = places[into[0]]
                continue
            more = self.join(o for o in i.operands if o not in places)
            if i.op != "add" or len(into) != 1 or more is None or not more <= counters:
                return None
            places[i.result] = places[into[0]] | more
        if any(o in places for o in self.elsewhere()):
            return None
        return accesses or None

    def elsewhere(self) -> Iterator[Operand]:
        """Yield the operands of phis and of ends of blocks of code."""
        for block in self.blocks.values():
            for phi in block.phis:
                yield from (operand for _, operand in phi.incoming)
            yield from terminator_operands(block.terminator)

    def made_of(self, accesses: Iterable[Instruction]) -> set[Instruction]:
        """Return the instructions that the addresses of an array are made of."""
        found: set[Instruction] = set()
        pending = [i.operands[0] for i in accesses]
        while pending:
            operand = pending.pop()
            i = self.made.get(operand) if isinstance(operand, Value) else None
            if i is not None and i not in found:
                found.add(i)
                pending += i.operands
        return found


def _all_cycles(found: Iterable[Cycle]) -> Iterator[Cycle]:
    for cycle in found:
        yield cycle
        yield from _all_cycles(cycle.children)
