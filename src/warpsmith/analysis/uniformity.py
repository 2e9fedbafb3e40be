"""Which values and branches are the same for all threads of a warp, or of a block.

Optimistic: everything is uniform until a reason appears that it is not, and reasons spread until nothing changes:
    data       an operand is divergent                      (not for votes, broadcasts, loads at a uniform address …)
    sync       a phi where threads meet that came different ways (joins.py)
    temporal   a value of a loop that threads leave in different iterations, used behind it: per use, not per value
What is left is uniform. Coutinho et al. (PACT 2011), LLVM's UniformityAnalysis, and the affine domain of affine.py, by
which tid - tid is uniform, and tid / 32 is for a warp.

"Together" means: at the same instruction, in the same iteration of every loop around it and through the same calls.
Where threads race for memory, what they read may differ whatever we say.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from warpsmith.analysis.affine import SHARED, Affine, of_constant, transfer
from warpsmith.analysis.joins import parting
from warpsmith.analysis.seeds import Seed, Threads, level_of
from warpsmith.analysis.tables import UNIFORM, Table, Tables
from warpsmith.ssa.graph import Cycle, Graph
from warpsmith.ssa.nodes import (
    Branch,
    Constant,
    Function,
    Instruction,
    Operand,
    Phi,
    Switch,
    Undefined,
    Value,
    terminator_operands,
)
from warpsmith.ssa.ops import OPS

__all__ = ["Cause", "Uniformity", "uniformity"]

_MOVES = 80


@dataclass(frozen=True, slots=True)
class Cause:
    """Why something is divergent. `source`: the value that it comes from, None where it begins here (`text` says what);
    `branch`: the block whose branch parts the threads."""

    kind: Literal["seed", "data", "sync", "temporal", "cycle"]
    text: str = ""
    source: Value | None = None
    branch: str | None = None


@dataclass(slots=True)
class Uniformity:
    """The answer for one function. `divergent` values with their causes; `affine`: what is known of the others and of
    them; `branches`: blocks whose threads may part, with the cause; `left`: for each block, the cycles around it that
    threads leave in different iterations; `torn`: phis at which threads meet that came different ways; `tables`:
    numbers that the threads of the block know by their index; `alone`: blocks in which one thread is at a time."""

    function: Function
    graph: Graph
    threads: Threads
    divergent: dict[Value, Cause] = field(default_factory=dict)
    affine: dict[Value, Affine] = field(default_factory=dict)
    branches: dict[str, Cause] = field(default_factory=dict)
    left: dict[str, Cause] = field(default_factory=dict)
    homes: dict[Value, str] = field(default_factory=dict)
    definitions: dict[Value, Instruction | Phi] = field(default_factory=dict)
    torn: set[Value] = field(default_factory=set)
    tables: dict[Value, Table] = field(default_factory=dict)
    alone: set[str] = field(default_factory=set)

    def is_uniform(self, operand: Operand, block: str) -> bool:
        """Whether `operand`, used in `block`, is the same in all threads that are there together."""
        return self.cause(operand, block) is None

    def cause(self, operand: Operand, block: str) -> Cause | None:
        """Return why `operand` may differ where `block` uses it; None where it does not."""
        return None if block in self.alone else self.carried(operand, block)

    def carried(self, operand: Operand, block: str) -> Cause | None:
        """Return why `operand` may differ between threads that come from `block`."""
        if isinstance(operand, Undefined):
            return Cause("seed", "a register that was never written")
        if not isinstance(operand, Value):
            return None
        if operand in self.divergent:
            return self.divergent[operand]
        header = self._left(operand, block)
        return None if header is None else Cause("temporal", source=operand, branch=self.left[header].branch)

    def known(self, operand: Operand, block: str) -> Affine | None:
        """Return what is known of an operand as a function of the thread's index where `block` uses it."""
        if isinstance(operand, Constant):
            return of_constant(operand)
        if not isinstance(operand, Value) or self._left(operand, block) is not None:
            return None
        return self.affine.get(operand, None if operand in self.divergent else SHARED)

    def _left(self, value: Value, block: str) -> str | None:
        """Return the header of a cycle that holds the definition but not the use, and that threads leave apart."""
        for cycle in self.graph.cycles_around(self.homes[value]):
            if cycle.header in self.left and block not in cycle.blocks:
                return cycle.header
        return None


def uniformity(function: Function, threads: Threads, parameters: Mapping[str, bool] | None = None) -> Uniformity:
    """Return what is uniform among `threads` (a warp's or a block's) of a function with blocks.

    `parameters`: for a device function, which of its parameters are uniform where it is called; a kernel's always are.
    """
    return _Analysis(function, threads, parameters or {}).run()


class _Analysis:
    """The fixed point."""

    def __init__(self, function: Function, threads: Threads, parameters: Mapping[str, bool]) -> None:
        self.parameters = parameters
        self.answer = Uniformity(function, Graph.of(function), threads)
        self.blocks = {block.name: block for block in function.blocks}
        self.parted: set[str] = set()
        self.torn = self.answer.torn
        self.seen: set[Value] = set()
        self.tables = None if threads.block is None else Tables(threads)
        self.made: dict[Instruction, tuple[tuple[Table | None, ...], Table | None]] = {}
        self.moves: dict[Value, int] = {}
        self.crowded: set[str] = set()

    def run(self) -> Uniformity:
        """Sweep until nothing changes."""
        answer = self.answer
        for name in answer.graph.order:
            block = self.blocks[name]
            for phi in block.phis:
                answer.homes[phi.result], answer.definitions[phi.result] = name, phi
            for instruction in block.instructions:
                for value in instruction.results:
                    answer.homes[value], answer.definitions[value] = name, instruction
        changed = True
        while changed:
            changed = False
            for name in answer.graph.order:
                changed = self._block(name) or changed
        return answer

    def _block(self, name: str) -> bool:
        block = self.blocks[name]
        changed = self._together(name)
        for phi in block.phis:
            changed = self._phi(phi, name) or changed
        for instruction in block.instructions:
            changed = self._instruction(instruction, name) or changed
        for operand in terminator_operands(block.terminator):
            cause = self.answer.cause(operand, name)
            if isinstance(block.terminator, Branch | Switch) and cause is not None:
                changed = self._branch(name, operand, cause) or changed
        return changed

    def _instruction(self, instruction: Instruction, name: str) -> bool:
        """Look at one instruction; return whether less is known of its results than before."""
        seed = level_of(instruction, self.answer.threads, lambda o: self.answer.known(o, name), self.parameters)
        affine: Affine | None = None
        if len(instruction.results) == 1 and instruction.result not in self.torn:
            affine = transfer(instruction, lambda operand: self.answer.known(operand, name))
        changed = False
        for value in instruction.results:
            changed = self._form(value, affine) or changed
            if self.tables is not None and len(instruction.results) == 1:
                changed = self._keep(value, self._row(instruction, name, seed)) or changed
            cause = self._cause(instruction, name, seed, affine)
            changed = (cause is not None and self._divergent(value, cause)) or changed
        return changed

    def _has_row_of_one(self, instruction: Instruction) -> bool:
        """Whether the numbers of the threads show that all of a group have the same."""
        if self.tables is None or len(instruction.results) != 1:
            return False
        row = self.answer.tables.get(instruction.result)
        return row is not None and self.tables.is_same(row)

    def _row(self, instruction: Instruction, name: str, seed: Seed) -> Table | None:
        """Return the numbers of an instruction's result, None where they are not known."""
        assert self.tables is not None
        if instruction.result in self.torn:
            return None
        operands = tuple(self._numbers(operand, name) for operand in instruction.operands)
        last = self.made.get(instruction)
        if last is None or last[0] != operands:
            last = self.made[instruction] = operands, self.tables.transfer(instruction, operands)
        return last[1]

    def _numbers(self, operand: Operand, block: str) -> Table | None:
        """Return the numbers of an operand as `block` uses it."""
        assert self.tables is not None
        if isinstance(operand, Constant):
            return self.tables.constant(operand)
        if not isinstance(operand, Value) or self.answer.cause(operand, block) is None:
            known = self.answer.tables.get(operand) if isinstance(operand, Value) else None
            return known or (UNIFORM if isinstance(operand, Value) else None)
        left = self.answer._left(operand, block) is not None
        return None if left else self.answer.tables.get(operand)

    def _keep(self, value: Value, row: Table | None) -> bool:
        """Keep the numbers of a value; return whether they have changed. What changes too often is given up."""
        old = self.answer.tables.get(value)
        if row == old:
            return False
        self.moves[value] = self.moves.get(value, 0) + 1
        if row is None or self.moves[value] > _MOVES:
            return self.answer.tables.pop(value, None) is not None
        self.answer.tables[value] = row
        return True

    def _form(self, value: Value, affine: Affine | None) -> bool:
        """Keep what is known of a value; return whether that has changed."""
        old = self.answer.affine.get(value)
        new = value not in self.seen
        self.seen.add(value)
        if affine is None:
            self.answer.affine.pop(value, None)
        else:
            self.answer.affine[value] = affine
        return new or old != affine

    def _cause(self, instruction: Instruction, name: str, seed: Seed, affine: Affine | None) -> Cause | None:
        if (
            name in self.answer.alone
            or seed.always == "uniform"
            or (affine is not None and self.answer.threads.is_same(affine))
        ):
            return None
        if self._has_row_of_one(instruction):
            return None
        if seed.always == "divergent":
            return Cause("seed", seed.text)
        for operand in seed.operands:
            cause = self.answer.cause(operand, name)
            if cause is not None:
                source = operand if isinstance(operand, Value) else None
                return cause if cause.kind == "temporal" else Cause("data", source=source)
        return None

    def _phi(self, phi: Phi, name: str) -> bool:
        changed = self._form(phi.result, self._phi_form(phi))
        if self.tables is not None:
            operands = [(b, o) for b, o in phi.incoming if not isinstance(o, Value) or o in self.seen]
            rows = [self._numbers(operand, before) for before, operand in operands]
            changed = self._keep(phi.result, self.tables.join(rows, torn=phi.result in self.torn)) or changed
        for before, operand in phi.incoming:
            cause = None if name in self.answer.alone else self.answer.carried(operand, before)
            if cause is not None:
                source = operand if isinstance(operand, Value) else None
                data = cause if cause.kind == "temporal" else Cause("data", source=source)
                return self._divergent(phi.result, data) or changed
        return changed

    def _phi_form(self, phi: Phi) -> Affine | None:
        """Return the common form of what comes in, as far as it has been looked at; where threads meet that came
        different ways, it must be one number."""
        forms = [
            self.answer.known(operand, before)
            for before, operand in phi.incoming
            if not isinstance(operand, Value) or operand in self.seen
        ]
        first = forms[0] if forms else None
        if first is None:
            return None
        if all(form == first for form in forms) and (first.constant is not None or phi.result not in self.torn):
            return first
        same = all(form is not None and form.coefficients == first.coefficients for form in forms)
        return Affine(first.coefficients) if same and phi.result not in self.torn else None

    def _divergent(self, value: Value, cause: Cause) -> bool:
        if value in self.answer.divergent:
            return False
        self.answer.divergent[value] = cause
        return True

    # --- one thread at a time

    def _together(self, name: str) -> bool:
        """Look whether one thread is in a block at a time; return whether that holds no longer."""
        if self.tables is None or name in self.crowded:
            return False
        if self._is_alone(name):
            self.answer.alone.add(name)
            return False
        self.crowded.add(name)
        was = name in self.answer.alone
        self.answer.alone.discard(name)
        return was

    def _is_alone(self, name: str) -> bool:
        """Whether every way to a block leads through the side of a branch that one thread of a group takes, in the same
        iteration of every cycle around that branch."""
        graph = self.answer.graph
        cycles = graph.cycles_around(name)
        around = {cycle.header for cycle in cycles}
        side = name
        while side != graph.entry and side not in self.crowded and all(len(c.entries) == 1 for c in cycles):
            before = graph.predecessors[side]
            inside = len(before) == 1 and all(cycle.header in around for cycle in graph.cycles_around(before[0]))
            if inside and (before[0] in self.answer.alone or self._takes_one(before[0], side)):
                return True
            side = graph.dominator[side]
        return False

    def _takes_one(self, branch: str, side: str) -> bool:
        """Whether at most one thread of a group goes from a branch to one of its sides."""
        end = self.blocks[branch].terminator
        if not isinstance(end, Branch) or end.then == end.other or not isinstance(end.condition, Value):
            return False
        condition, value = end.condition, side == end.then
        if self.answer._left(condition, branch) is not None:
            return False
        assert self.tables is not None
        row = self.answer.tables.get(condition)
        if row is not None and self.tables.holds_once(row, value=value):
            return True
        made = self.answer.definitions[condition]
        if not isinstance(made, Instruction) or made.op != ("eq" if value else "ne"):
            return False
        home = self.answer.homes[condition]
        return self.tables.picks_one(made, [self._numbers(operand, home) for operand in made.operands])

    # --- branches

    def _branch(self, name: str, operand: Operand, cause: Cause) -> bool:
        """Take note that threads may part at the end of block `name`, and of all that follows."""
        if name in self.parted:
            return False
        self.parted.add(name)
        source = operand if isinstance(operand, Value) else None
        self.answer.branches[name] = Cause(cause.kind if source is None else "data", cause.text, source, name)
        follows = parting(self.answer.graph, name)
        for join, ways in follows.joins.items():
            for phi in self.blocks[join].phis:
                if len({self._number(operand) for before, operand in phi.incoming if before in ways}) > 1:
                    self.torn.add(phi.result)
                    self._divergent(phi.result, Cause("sync", branch=name))
        for cycle in follows.left:
            self.answer.left.setdefault(cycle.header, Cause("temporal", branch=name))
        for cycle in follows.mixed:
            self._mixed(cycle, name)
        return True

    def _number(self, operand: Operand, depth: int = 4) -> object:
        """Return what two operands have in common that are computed alike from the same values."""
        made = self.answer.definitions.get(operand) if isinstance(operand, Value) else None
        if depth == 0 or not isinstance(made, Instruction) or len(made.results) != 1 or not OPS[made.op].pure:
            return operand
        if made.op == "lanewise" or not made.operands:
            return operand
        return made.op, made.detail, made.result.type, *(self._number(o, depth - 1) for o in made.operands)

    def _mixed(self, cycle: Cycle, branch: str) -> None:
        """Give up a cycle that threads enter at different places: nothing in it is the same for all."""
        for name in cycle.blocks:
            block = self.blocks[name]
            values = [phi.result for phi in block.phis] + [v for i in block.instructions for v in i.results]
            self.torn.update(values)
            for value in values:
                self._divergent(value, Cause("cycle", branch=branch))
            if isinstance(block.terminator, Branch | Switch):
                condition = terminator_operands(block.terminator)[0]
                self._branch(name, Undefined(condition.type), Cause("cycle", branch=branch))
