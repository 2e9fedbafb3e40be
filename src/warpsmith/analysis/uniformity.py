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

__all__ = ["Cause", "Uniformity", "uniformity"]


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
    threads leave in different iterations; `torn`: phis at which threads meet that came different ways."""

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

    def is_uniform(self, operand: Operand, block: str) -> bool:
        """Whether `operand`, used in `block`, is the same in all threads that are there together."""
        return self.cause(operand, block) is None

    def cause(self, operand: Operand, block: str) -> Cause | None:
        """Return why `operand` may differ where `block` uses it; None where it does not."""
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
        changed = False
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
            cause = self._cause(instruction, name, seed, affine)
            changed = (cause is not None and self._divergent(value, cause)) or changed
        return changed

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
        if seed.always == "uniform" or (affine is not None and self.answer.threads.is_same(affine)):
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
        for before, operand in phi.incoming:
            cause = self.answer.cause(operand, before)
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
                if len({operand for before, operand in phi.incoming if before in ways}) > 1:
                    self.torn.add(phi.result)
                    self._divergent(phi.result, Cause("sync", branch=name))
        for cycle in follows.left:
            self.answer.left.setdefault(cycle.header, Cause("temporal", branch=name))
        for cycle in follows.mixed:
            self._mixed(cycle, name)
        return True

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
