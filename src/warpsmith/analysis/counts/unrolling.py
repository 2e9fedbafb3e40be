"""What unrolling leaves of a loop: which instructions are gone, and which loads another copy has done already.

    for (i = 0; i < 15; i++)                 ┐  225 copies of one multiply-add: the counters are numbers
        for (j = 0; j < 15; j++)             ├  f[15·i + j] of constant memory is an operand of it, no instruction
            s += f[15·i + j] · t[y + i][x + j]  t's address is (y·width + x) + a number: an offset of the load

    t[y + 2·k + i]     k < 4, i < 15    60 loads of 21 different rows: the others are in registers already

A loop that runs a known number of times is taken to be unrolled whole, with the loops in it, up to MOST_COPIES copies.
One that counts but runs longer, and has no loop in it that is left, is unrolled by FACTOR: its counting is done once
for so many iterations, and for each that is left over. A value is FIXED (no counter has a part in it), a NUMBER (it is
made of counters alone), a SUM of both, or OTHER.

Source: the parts are textbook (Muchnick, "Advanced Compiler Design and Implementation", 1997: unrolling, strength
reduction, redundant loads). Held against the machine code of nvcc: benchmarks/results/tuning_spaces.txt. Limits:
`#pragma unroll 1` is not known, nor what a compiler leaves in a loop for its size; loads of two places of the
text are not compared with each other; loads that are reused are taken to stay in registers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import prod
from typing import Final, Literal

import numpy as np
from msgspec import Struct

from warpsmith.analysis.counts.columns import Column, apply, column_of, dtype_of, has_columns
from warpsmith.analysis.resources.unrolled import LoopCounter, find_counters
from warpsmith.ssa.graph import Cycle, Graph
from warpsmith.ssa.nodes import (
    Address,
    Barrier,
    BasicBlock,
    Branch,
    Constant,
    Function,
    Instruction,
    Memory,
    Operand,
    Value,
    terminator_operands,
)
from warpsmith.ssa.ops import OPS
from warpsmith.ssa.types import Type

__all__ = ["FACTOR", "Unrolling", "find_unrolling", "iterations_together"]

MOST_COPIES: Final = 6000
"""Of a body in loops that are unrolled whole: nvcc 13 writes down 5,400 copies of a multiply-add, and not 6,300."""
FACTOR: Final = 4
"""How often a compiler writes down the body of a loop that runs long (what nvcc does where nobody asks for more)."""
MOST_TOGETHER: Final = 16
"""Loads of an unrolled loop that are on the way together: for more, registers are seldom left."""
_LONGEST: Final = 60
"""Instructions of a loop that is unrolled by FACTOR (as for registers: analysis/resources/registers.py)."""

_Kind = Literal["fixed", "number", "sum", "other"]
_SUMS: Final = frozenset({"add", "sub"})
_SCALES: Final = frozenset({"mul", "shl", "smulwide"})
_KEEPS: Final = frozenset({"sext", "bitcast", "neg", "to_generic", "from_generic"})


class Unrolling(Struct, frozen=True):
    """`free`: instructions that are gone; `numbers`: values that are numbers in each copy; `once`: sums that are worked
    out once, before the loops of these headers; `rare`: instructions that are done once in FACTOR iterations; `ends`:
    blocks whose branch is gone, `rare_ends`: is there once in FACTOR; `share`: of the copies of a load, those that are
    left (0: it is an operand of another); `together`: how many visits of a block are one stretch of code."""

    free: frozenset[Instruction] = frozenset()
    numbers: frozenset[Value] = frozenset()
    once: Mapping[Instruction, str] = {}
    ends: frozenset[str] = frozenset()
    share: Mapping[Instruction, float] = {}
    together: Mapping[str, int] = {}
    rare: Mapping[Instruction, str] = {}
    rare_ends: Mapping[str, str] = {}
    stretches: Mapping[str, str] = {}


def iterations_together(trips: float) -> float:
    """Return how many iterations of a loop of so many are one of the unrolled loop, on average: FACTOR, but for those
    that are left over, which go one by one."""
    if trips < 1:
        return 1.0
    whole = trips // FACTOR
    return trips / (whole + trips - whole * FACTOR)


def find_unrolling(function: Function, graph: Graph) -> Unrolling:
    """Return what is left of the loops of a kernel; of one that a compiler has written, all is."""
    if function.listing is not None:
        return Unrolling()
    code = _Code(function, graph)
    long = tuple(code.long_loops())
    sums = code.offsets()
    return Unrolling(
        frozenset(i for i in code.kinds if code.kinds[i] == "number" and i.results) | code.folded(sums),
        frozenset(value for value, kind in code.of_value.items() if kind == "number"),
        {i: code.outermost(i) for i in sums},
        frozenset(one.end for one in code.counters.values()),
        {i: code.share(i, block) for block, i in code.instructions if i.op == "load" and isinstance(i.detail, Memory)},
        code.together(),
        {i: cycle.header for cycle in long for i in code.counting(cycle)},
        {code.leaving(cycle): cycle.header for cycle in long},
        {name: c.header for c in long if not code.writes(c) for name in c.blocks if graph.cycles_around(name)[-1] is c},
    )


class _Code:
    """A function, with the loops that are unrolled whole (`counters`, by header) and the kind of each instruction."""

    def __init__(self, function: Function, graph: Graph) -> None:
        self.graph = graph
        by_name = {block.name: block for block in function.blocks}
        self.blocks: Mapping[str, BasicBlock] = {name: by_name[name] for name in graph.order}
        self.instructions = [(name, i) for name, block in self.blocks.items() for i in block.instructions]
        self.made = {v: i for _, i in self.instructions for v in i.results}
        known = {one.cycle.header: one for one in find_counters(function, graph)}
        self.counters: dict[str, LoopCounter] = {}
        for cycle in graph.cycles:
            self._choose(cycle, known)
        self.by_phi = {one.phi: one for one in self.counters.values()}
        self.of_value: dict[Value, _Kind] = {}
        self.parts: dict[Value, frozenset[Value]] = {}
        self.kinds: dict[Instruction, _Kind] = {}
        self._sort()
        self.uses: dict[Value, list[Instruction | None]] = {}
        self._find_uses()

    def _choose(self, cycle: Cycle, known: Mapping[str, LoopCounter]) -> int:
        """Choose the loops that are unrolled whole, the innermost first; return how many copies there are of the body
        of a loop then; 0: it is left."""
        inside = [self._choose(child, known) for child in cycle.children]
        counter = known.get(cycle.header)
        if counter is None or not all(inside):
            return 0
        copies = max(1, self.trips(counter)) * max(inside, default=1)
        if copies > MOST_COPIES:
            return 0
        self.counters[cycle.header] = counter
        return copies

    def trips(self, counter: LoopCounter) -> int:
        """Return how often the body of a loop is gone through: of one that is tested first, once less than its test."""
        return len(counter.values) - (counter.cycle.header not in self.graph.successors[counter.end])

    def _unrolled_around(self, block: str) -> list[Cycle]:
        return [cycle for cycle in self.graph.cycles_around(block) if cycle.header in self.counters]

    # --- kinds

    def _sort(self) -> None:
        for name, block in self.blocks.items():
            for phi in block.phis:
                if phi.result in self.by_phi:
                    self._keep(phi.result, "number", frozenset({phi.result}))
                else:
                    self._keep(phi.result, "other" if self._unrolled_around(name) else "fixed", frozenset())
            for i in block.instructions:
                kind, parts = self._kind(i, name)
                self.kinds[i] = kind
                for value in i.results:
                    self._keep(value, kind, parts)

    def _keep(self, value: Value, kind: _Kind, parts: frozenset[Value]) -> None:
        self.of_value[value], self.parts[value] = kind, parts

    def kind(self, operand: Operand) -> _Kind:
        """Return the kind of an operand; what is not known yet comes from behind."""
        return self.of_value.get(operand, "other") if isinstance(operand, Value) else "number"

    def _kind(self, i: Instruction, block: str) -> tuple[_Kind, frozenset[Value]]:
        if isinstance(i.detail, Address):
            return "number", frozenset()
        kinds = [self.kind(o) for o in i.operands]
        parts = frozenset(p for o in i.operands if isinstance(o, Value) for p in self.parts.get(o, ()))
        if not OPS[i.op].pure:
            return "other" if self._unrolled_around(block) else "fixed", frozenset()
        if "other" in kinds:
            return "other", frozenset()
        if not i.operands or set(kinds) <= {"fixed"}:
            return "fixed", frozenset()
        if set(kinds) == {"number"}:
            return "number", parts
        if not parts:
            # numbers that no counter has a part in are a part of what is fixed
            return "fixed", frozenset()
        return ("sum", parts) if self._is_sum(i, kinds) else ("other", frozenset())

    def _is_sum(self, i: Instruction, kinds: list[_Kind]) -> bool:
        if i.op in _SCALES:
            return "sum" in kinds and any(isinstance(o, Constant) for o in i.operands[1:])
        return i.op in _SUMS or (i.op in _KEEPS and "sum" in kinds)

    # --- addresses

    def _find_uses(self) -> None:
        for _, i in self.instructions:
            for at, operand in enumerate(i.operands):
                if isinstance(operand, Value):
                    address = isinstance(i.detail, Memory) and at == 0
                    self.uses.setdefault(operand, []).append(None if address else i)
        ends = [o for block in self.blocks.values() for o in terminator_operands(block.terminator)]
        phis = [o for block in self.blocks.values() for phi in block.phis for _, o in phi.incoming]
        for operand in (*ends, *phis):
            if isinstance(operand, Value):
                # a use that is neither an address nor part of one
                self.uses.setdefault(operand, []).extend(self.instructions[0][1:])

    def offsets(self) -> frozenset[Instruction]:
        """Return the sums of what is fixed and a number that nothing but addresses are made of."""
        found: set[Instruction] = set()
        for _, i in reversed(self.instructions):
            used = self.uses.get(i.results[0], []) if len(i.results) == 1 else []
            if self.kinds[i] == "sum" and all(by is None or by in found for by in used):
                found.add(i)
        return frozenset(found)

    def folded(self, sums: frozenset[Instruction]) -> frozenset[Instruction]:
        """Return those that only add a number: it is part of the offset."""
        return frozenset(i for i in sums if i.op in _SUMS and any(self.kind(o) == "number" for o in i.operands))

    def outermost(self, i: Instruction) -> str:
        """Return the header of the outermost loop whose counter has a part in an instruction."""
        cycles = [self.by_phi[phi].cycle for phi in self.parts[i.results[0]]]
        return min(cycles, key=lambda cycle: cycle.depth).header

    # --- loads that are there already

    def share(self, load: Instruction, block: str) -> float:
        """Return which share of the copies of a load is left: those of different addresses."""
        address, detail = load.operands[0], load.detail
        assert isinstance(detail, Memory)
        if detail.order:
            return 1.0
        if (detail.space == "constant" and self.kind(address) == "number") or self._is_stored_just_before(load, block):
            return 0.0
        around = self._quiet_around(block, detail.space)
        if not around or self.kind(address) == "other":
            return 1.0
        counters = [self.counters[cycle.header] for cycle in around]
        copies = prod(self.trips(one) for one in counters)
        if not copies:
            return 1.0
        return len(np.unique(self._numbers(address, self._columns(counters)))) / copies

    def _is_stored_just_before(self, load: Instruction, block: str) -> bool:
        """Whether a thread loads what it has stored in the same block, at an address that is one value, with nothing
        between that changes memory: it has the number still."""
        assert isinstance(load.detail, Memory)
        stored: Instruction | None = None
        for i in self.blocks[block].instructions:
            if i is load:
                break
            if _changes(i, load.detail.space):
                stored = i
        return (
            stored is not None
            and stored.op == "store"
            and stored.detail == load.detail
            and stored.operands[0] == load.operands[0]
            and [value.type for value in load.results] == [operand.type for operand in stored.operands[1:]]
        )

    def _quiet_around(self, block: str, space: str) -> list[Cycle]:
        """Return the loops around a block, unrolled whole, whose iterations all come to it and none of which changes
        what memory holds; the outermost first."""
        found: list[Cycle] = []
        comes = block
        for cycle in reversed(self._unrolled_around(block)):
            latches = [b for b in self.graph.predecessors[cycle.header] if b in cycle.blocks]
            inside = (i for name in cycle.blocks for i in self.blocks[name].instructions)
            if not all(self.graph.dominates(comes, latch) for latch in latches) or any(
                _changes(i, space) for i in inside
            ):
                break
            found.insert(0, cycle)
            # a loop that runs a known number of times is gone through at least once
            comes = cycle.header
        return found

    def _columns(self, counters: list[LoopCounter]) -> dict[Value, Column]:
        """Return the counters in all copies."""
        values = [_column_of_bits(one.values[: self.trips(one)], one.phi.type) for one in counters]
        grid = np.meshgrid(*values, indexing="ij")
        return {one.phi: column.reshape(-1) for one, column in zip(counters, grid, strict=True)}

    def _numbers(self, operand: Operand, columns: Mapping[Value, Column]) -> Column:
        """Return the part of an operand that is a number in each copy; what is fixed counts as nothing."""
        if isinstance(operand, Constant):
            return column_of(operand)
        assert isinstance(operand, Value)
        if operand in columns:
            return columns[operand]
        i = self.made.get(operand)
        if i is None or not self.parts[operand] or not has_columns(i):
            return np.zeros(1, dtype_of(operand.type))
        if i.op in ("to_generic", "from_generic"):
            return self._numbers(i.operands[0], columns)
        with np.errstate(all="ignore"):
            return apply(i, [self._numbers(o, columns) for o in i.operands])

    # --- loops that run long

    def long_loops(self) -> Iterator[Cycle]:
        """Yield the loops that are unrolled by FACTOR."""
        pending = list(self.graph.cycles)
        while pending:
            cycle = pending.pop()
            pending += cycle.children
            if cycle.header in self.counters or any(child.header not in self.counters for child in cycle.children):
                continue
            inside = [i for name in cycle.blocks for i in self.blocks[name].instructions]
            waits = any(isinstance(i.detail, Barrier) for i in inside)
            if not waits and len(inside) <= _LONGEST and self._test(cycle) is not None:
                yield cycle

    def leaving(self, cycle: Cycle) -> str:
        """Return the block of code that a loop is left from; "" where there are several."""
        found = [n for n in cycle.blocks if any(after not in cycle.blocks for after in self.graph.successors[n])]
        return found[0] if len(found) == 1 else ""

    def _test(self, cycle: Cycle) -> Instruction | None:
        """Return the comparison of a counter that ends a loop."""
        leaving = self.leaving(cycle)
        end = self.blocks[leaving].terminator if leaving else None
        test = self.made.get(end.condition) if isinstance(end, Branch) and isinstance(end.condition, Value) else None
        steps = self._steps(cycle)
        if test is None or OPS[test.op].shape != "compare":
            return None
        return test if any(o in steps for o in test.operands) else None

    def _steps(self, cycle: Cycle) -> dict[Value, Instruction]:
        """Return the counters of a loop, before the step and behind it, with the instruction that steps."""
        found: dict[Value, Instruction] = {}
        for phi in self.blocks[cycle.header].phis:
            back = {o for before, o in phi.incoming if before in cycle.blocks}
            only = next(iter(back)) if len(back) == 1 else None
            step = self.made.get(only) if isinstance(only, Value) else None
            if step is None or step.op not in _SUMS or phi.result not in step.operands:
                continue
            if all(o is phi.result or not self._changes_in(o, cycle) for o in step.operands):
                found[phi.result] = found[step.results[0]] = step
        return found

    def _changes_in(self, operand: Operand, cycle: Cycle) -> bool:
        """Whether an operand is made in a loop."""
        if not isinstance(operand, Value):
            return False
        inside = {v for name in cycle.blocks for i in self.blocks[name].instructions for v in i.results}
        return operand in inside or any(p.result is operand for name in cycle.blocks for p in self.blocks[name].phis)

    def counting(self, cycle: Cycle) -> set[Instruction]:
        """Return what counts and tests in a loop, and the addresses that change evenly with it."""
        steps = self._steps(cycle)
        test = self._test(cycle)
        found = set(steps.values()) | ({test} if test is not None else set())
        even = set(steps)
        for name in self.graph.order:
            for i in self.blocks[name].instructions if name in cycle.blocks else ():
                if len(i.results) == 1 and i not in found and self._is_even(i, even, cycle):
                    even.add(i.results[0])
                    found.add(i)
        return self._for_addresses(found, set(steps.values()) | ({test} if test is not None else set()))

    def _is_even(self, i: Instruction, even: set[Value], cycle: Cycle) -> bool:
        moves = [o in even for o in i.operands]
        others = [o for m, o in zip(moves, i.operands, strict=True) if not m]
        if not any(moves) or any(self._changes_in(o, cycle) for o in others):
            return False
        return i.op in _SUMS or i.op in _KEEPS or (i.op in _SCALES and moves.count(True) == 1 and moves[0] >= moves[-1])

    def _for_addresses(self, found: set[Instruction], always: set[Instruction]) -> set[Instruction]:
        """Return those of what changes evenly that nothing but addresses are made of."""
        kept = set(always)
        for _, i in reversed(self.instructions):
            used = self.uses.get(i.results[0], ()) if i in found else ()
            if i in found - always and all(by is None or by in kept for by in used):
                kept.add(i)
        return kept

    # --- stretches of code

    def together(self) -> dict[str, int]:
        """Return how many visits of each block in loops that are unrolled whole are one stretch of code."""
        found: dict[str, int] = {}
        for name in self.blocks:
            quiet = self._quiet_around(name, "global")
            if quiet:
                found[name] = max(1, min(MOST_TOGETHER, prod(self.trips(self.counters[c.header]) for c in quiet)))
        return found

    def writes(self, cycle: Cycle) -> bool:
        """Whether a loop stores to global memory or waits."""
        return any(_changes(i, "global") for name in cycle.blocks for i in self.blocks[name].instructions)


def _column_of_bits(bits: tuple[int, ...], type: Type) -> Column:
    """Return bit patterns as a column of numbers of their own width."""
    return np.concatenate([column_of(Constant(type, one)) for one in bits])


def _changes(i: Instruction, space: str) -> bool:
    """Whether an instruction may change what loads of a space find."""
    if isinstance(i.detail, Barrier) or i.op == "call":
        return True
    if not isinstance(i.detail, Memory) or i.op == "load":
        return False
    return space != "constant" and i.detail.space in (space, "generic")
