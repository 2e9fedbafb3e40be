"""Which values and branches are the same for all threads of a warp, or of a block.

Optimistic: everything is uniform until a reason appears that it is not, and reasons spread until nothing changes:
    data       an operand is divergent                      (not for votes, broadcasts, loads at a uniform address …)
    sync       a phi where threads meet that came different ways (joins.py)
    temporal   a value of a loop that threads leave in different iterations, used behind it: per use, not per value
What is left is uniform. Coutinho et al. (PACT 2011), LLVM's UniformityAnalysis, and the affine domain of affine.py, by
which tid - tid is uniform, and tid / 32 is for a warp. What a thread loads where it has stored is what it has stored
(forwarding.py). More is known where the block has a shape: the numbers of its threads (tables.py), and which of them
may be in a block of the function (active_threads.py); only those need to agree there.

"Together" means: at the same instruction, in the same iteration of every loop around it and through the same calls.
Where threads race for memory, what they read may differ whatever we say.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Literal

from msgspec import Struct, field

from warpsmith.analysis.affine.affine import SHARED, Affine, of_constant, transfer
from warpsmith.analysis.affine.forwarding import find_forwarded
from warpsmith.analysis.affine.joins import follow_divergence
from warpsmith.analysis.affine.privates import privates
from warpsmith.analysis.uniformity.active_threads import ActiveThreadSets
from warpsmith.analysis.uniformity.seeds import Seed, Threads, level_of
from warpsmith.analysis.uniformity.tables import UNIFORM, ThreadTable, ThreadTables
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


class Cause(Struct, frozen=True):
    """Why something is divergent. `source`: the value that it comes from, None where it begins here (`text` says what);
    `branch`: the block whose branch parts the threads."""

    kind: Literal["seed", "data", "sync", "temporal", "cycle"]
    text: str = ""
    source: Value | None = None
    branch: str | None = None


class Uniformity(Struct):
    """The answer for one function. `divergent` values with their causes; `affine`: what is known of the others and of
    them; `branches`: blocks whose threads may part, with the cause; `left`: for each block, the cycles around it that
    threads leave in different iterations; `diverged_joins`: phis at which threads meet that came different ways;
    `tables`: numbers that the threads of the block know by their index; `active_sets`: who may be in which block;
    `simpler`: see bounds.py."""

    function: Function
    graph: Graph
    threads: Threads
    divergent: dict[Value, Cause] = field(default_factory=dict)
    affine: dict[Value, Affine] = field(default_factory=dict)
    branches: dict[str, Cause] = field(default_factory=dict)
    left: dict[str, Cause] = field(default_factory=dict)
    homes: dict[Value, str] = field(default_factory=dict)
    definitions: dict[Value, Instruction | Phi] = field(default_factory=dict)
    diverged_joins: set[Value] = field(default_factory=set)
    tables: dict[Value, ThreadTable] = field(default_factory=dict)
    active_sets: ActiveThreadSets | None = None
    simpler: Mapping[Instruction, Instruction] = field(default_factory=dict)

    def in_launch(self, i: Instruction) -> Instruction:
        """Return what does the same as `i` in this launch, as simple as it is known."""
        return self.simpler.get(i, i)

    def is_uniform(self, operand: Operand, block: str) -> bool:
        """Whether `operand`, used in `block`, is the same in all threads that are there together."""
        return self.cause(operand, block) is None

    def cause(self, operand: Operand, block: str) -> Cause | None:
        """Return why `operand` may differ where `block` uses it; None where it does not."""
        cause = self.why_carried(operand, block)
        if cause is None or self.active_sets is None or not self.active_sets.narrow(block):
            return cause
        same = self.active_sets.alone(block) or self.active_sets.agree(self.numbers(operand, block), block)
        return None if same else cause

    def is_alone(self, block: str) -> bool:
        """Whether one thread is in `block` at a time."""
        return self.active_sets is not None and self.active_sets.alone(block)

    def numbers(self, operand: Operand, *blocks: str) -> ThreadTable | None:
        """Return the numbers of an operand as a block, or an edge, uses it, None where they are not known."""
        if isinstance(operand, Constant):
            return ThreadTable((operand.bits,))
        if not isinstance(operand, Value) or self.find_left_apart(operand, *blocks) is not None:
            return None
        return self.tables.get(operand) or (None if operand in self.divergent else UNIFORM)

    def why_carried(self, operand: Operand, *blocks: str) -> Cause | None:
        """Return why `operand` may differ between threads that come along an edge, from one of `blocks` to the next."""
        if isinstance(operand, Undefined):
            return Cause("seed", "a register that was never written")
        if not isinstance(operand, Value):
            return None
        if operand in self.divergent:
            return self.divergent[operand]
        header = self.find_left_apart(operand, *blocks)
        return None if header is None else Cause("temporal", source=operand, branch=self.left[header].branch)

    def affine_of(self, operand: Operand, *blocks: str) -> Affine | None:
        """Return what is known of an operand as a function of the thread's index where a block, or an edge, uses it."""
        if isinstance(operand, Constant):
            return of_constant(operand)
        if not isinstance(operand, Value) or self.find_left_apart(operand, *blocks) is not None:
            return None
        return self.affine.get(operand, None if operand in self.divergent else SHARED)

    def find_left_apart(self, value: Value, *blocks: str) -> str | None:
        """Return the header of a cycle that holds the definition of a value but not the use, and that threads leave in
        different iterations. A phi uses what comes along an edge at both of its ends: the edge may leave cycles, and
        enter others."""
        for cycle in self.graph.cycles_around(self.homes[value]):
            if cycle.header in self.left and not cycle.blocks.issuperset(blocks):
                return cycle.header
        return None


def uniformity(
    function: Function,
    threads: Threads,
    parameters: Mapping[str, bool] | None = None,
    *,
    graph: Graph | None = None,
    simpler: Mapping[Instruction, Instruction] | None = None,
    agreed: frozenset[Instruction] = frozenset(),
    arguments: Mapping[str, int] | None = None,
) -> Uniformity:
    """Return what is uniform among `threads` (a warp's or a block's) of a function with blocks.

    `parameters`: for a device function, which of its parameters are uniform where it is called; a kernel's always are.
    `graph`: that of the function, where it is known. `simpler`: what the launch makes simpler (bounds.py). `agreed`:
    what is known to give all of them the same (orders.py). `arguments`: numbers that a kernel's parameters have.
    """
    answer = Uniformity(function, graph or Graph.of(function), threads, simpler=simpler or {})
    tables = None if threads.block is None else ThreadTables(threads, arguments)
    return _Analysis(answer, parameters or {}, agreed, tables).run()


class _Analysis:
    """The fixed point."""

    def __init__(
        self,
        answer: Uniformity,
        parameters: Mapping[str, bool],
        agreed: frozenset[Instruction],
        tables: ThreadTables | None,
    ) -> None:
        self.answer, self.parameters, self.agreed, self.rules = answer, parameters, agreed, tables
        function, graph = answer.function, answer.graph
        self.blocks = {block.name: block for block in function.blocks}
        self.diverged: set[str] = set()
        self.diverged_joins = self.answer.diverged_joins
        self.seen: set[Value] = set()
        self.made: dict[Instruction, tuple[tuple[ThreadTable | None, ...], ThreadTable | None]] = {}
        self.moves: dict[Value, int] = {}
        self.looked: dict[Instruction, tuple[int, ...]] = {}
        self.changes: Counter[Value] = Counter()
        self.views: Counter[str] = Counter()
        self.alike: dict[Value, str] = {}
        self.numbers: dict[tuple[Value, int], int] = {}
        self.expressions: dict[object, int] = {}
        self.privates = privates(function, graph)
        self.forwarded = find_forwarded(function, graph)
        self.phis = {name: block.phis + self.privates.phis.get(name, ()) for name, block in self.blocks.items()}
        stores = self.privates.stores
        self.bodies = {name: [stores.get(i, i) for i in block.instructions] for name, block in self.blocks.items()}

    def run(self) -> Uniformity:
        """Sweep until nothing changes."""
        answer = self.answer
        for name in answer.graph.order:
            for phi in self.phis[name]:
                answer.homes[phi.result], answer.definitions[phi.result] = name, phi
            for instruction in self.bodies[name]:
                for value in instruction.results:
                    answer.homes[value], answer.definitions[value] = name, instruction
        if self.rules is not None:
            answer.active_sets = ActiveThreadSets(answer.graph, self.blocks, self.rules, answer)
        changed = True
        while changed:
            changed = False
            for name in answer.graph.order:
                changed = self._block(name) or changed
        return answer

    def _block(self, name: str) -> bool:
        block = self.blocks[name]
        changed = self.answer.active_sets is not None and self.answer.active_sets.look(name)
        self.views[name] += changed
        for phi in self.phis[name]:
            changed = self._phi(phi, name) or changed
        for instruction in self.bodies[name]:
            if self._is_news(instruction, name):
                changed = self._instruction(instruction, name) or changed
        for operand in terminator_operands(block.terminator):
            cause = self.answer.cause(operand, name)
            if isinstance(block.terminator, Branch | Switch) and cause is not None:
                changed = self._branch(name, operand, cause) or changed
        return changed

    def _is_news(self, instruction: Instruction, name: str) -> bool:
        """Whether anything that an instruction depends on is not as it was when it was looked at last."""
        operands = (*instruction.operands, self._find_loaded(instruction))
        now = (self.views[name], *(self.changes[o] for o in operands if isinstance(o, Value)))
        last, self.looked[instruction] = self.looked.get(instruction), now
        return now != last

    def _instruction(self, instruction: Instruction, name: str) -> bool:
        """Look at one instruction; return whether less is known of its results than before."""
        instruction = self.answer.in_launch(instruction)
        seed = self._level(instruction, name)
        affine: Affine | None = None
        if len(instruction.results) == 1 and instruction.result not in self.diverged_joins:
            affine = transfer(instruction, lambda operand: self.answer.affine_of(operand, name))
        changed = False
        for value in instruction.results:
            changed = self._form(value, affine) or changed
            if len(instruction.results) == 1:
                changed = self._keep(value, self._row(instruction, name)) or changed
            cause = self._cause(instruction, name, seed, affine)
            changed = (cause is not None and self._divergent(value, cause)) or changed
        return changed

    def _level(self, instruction: Instruction, name: str) -> Seed:
        """Return where the results of an instruction stand; an array of the thread's own is an operand of its loads."""
        if instruction in self.agreed:
            return Seed("uniform")
        if instruction in self.forwarded:
            return Seed("as operands", (self.forwarded[instruction],))
        array = self.privates.loads.get(instruction)
        if array is not None:
            return Seed("as operands", (*instruction.operands, array))
        threads, exposed = self.answer.threads, self.privates.exposed or not self.answer.function.kernel
        return level_of(
            instruction, threads, lambda o: self.answer.affine_of(o, name), self.parameters, exposed=exposed
        )

    def _find_loaded(self, instruction: Instruction) -> Operand | None:
        """Return what a load finds: the number that the thread has stored, or the array that it looks into; what an
        extraction of bits finds."""
        return self.forwarded.get(instruction) or self.privates.loads.get(instruction)

    def _has_row_of_one(self, instruction: Instruction) -> bool:
        """Whether the numbers of the threads show that all of a group have the same."""
        row = self.answer.tables.get(instruction.result) if len(instruction.results) == 1 else None
        return row is not None and self.rules is not None and self.rules.is_same(row)

    def _row(self, instruction: Instruction, name: str) -> ThreadTable | None:
        """Return the numbers of an instruction's result, None where they are not known."""
        active_sets = self.answer.active_sets
        if active_sets is None or self.rules is None or instruction.result in self.diverged_joins:
            return None
        operands = tuple(
            active_sets.within(self.answer.numbers(operand, name), name) for operand in instruction.operands
        )
        last = self.made.get(instruction)
        if last is None or last[0] != operands:
            last = self.made[instruction] = operands, self.rules.transfer(instruction, operands)
        return active_sets.within(last[1], name)

    def _keep(self, value: Value, row: ThreadTable | None) -> bool:
        """Keep the numbers of a value; return whether they have changed. What changes too often is given up."""
        old = self.answer.tables.get(value)
        if row == old:
            return False
        self.moves[value] = self.moves.get(value, 0) + 1
        self.changes[value] += 1
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
        self.changes[value] += new or old != affine
        return new or old != affine

    def _cause(self, instruction: Instruction, name: str, seed: Seed, affine: Affine | None) -> Cause | None:
        if self.answer.is_alone(name) or seed.always == "uniform" or self._has_row_of_one(instruction):
            return None
        if affine is not None and self.answer.threads.is_same(affine):
            return None
        for operand in seed.operands:
            cause = self.answer.cause(operand, name)
            if cause is not None:
                source = operand if isinstance(operand, Value) else None
                return cause if cause.kind == "temporal" else Cause("data", source=source)
        return Cause("seed", seed.text) if seed.always == "divergent" else None

    def _phi(self, phi: Phi, name: str) -> bool:
        branch = self.alike.get(phi.result)
        changed = branch is not None and any(self._narrow(o) for _, o in phi.incoming) and self._tear(phi, branch)
        changed = self._form(phi.result, self._phi_form(phi, name)) or changed
        if self.rules is not None:
            operands = [(b, o) for b, o in phi.incoming if not isinstance(o, Value) or o in self.seen]
            rows = [self.answer.numbers(operand, before, name) for before, operand in operands]
            changed = (
                self._keep(phi.result, self.rules.join(rows, diverged=phi.result in self.diverged_joins)) or changed
            )
        for before, operand in phi.incoming:
            # what no one has written no one reads: such an edge has no say, as in LLVM's analysis
            unread = isinstance(operand, Undefined) or self.answer.is_alone(name)
            cause = None if unread else self.answer.why_carried(operand, before, name)
            if cause is not None:
                source = operand if isinstance(operand, Value) else None
                data = cause if cause.kind == "temporal" else Cause("data", source=source)
                return self._divergent(phi.result, data) or changed
        return changed

    def _phi_form(self, phi: Phi, name: str) -> Affine | None:
        """Return the common form of what comes in, as far as it has been looked at; where threads meet that came
        different ways, it must be one number."""
        forms = [
            self.answer.affine_of(operand, before, name)
            for before, operand in phi.incoming
            if not isinstance(operand, Value) or operand in self.seen
        ]
        first = forms[0] if forms else None
        if first is None:
            return None
        if all(form == first for form in forms) and (
            first.constant is not None or phi.result not in self.diverged_joins
        ):
            return first
        same = all(form is not None and form.coefficients == first.coefficients for form in forms)
        return Affine(first.coefficients) if same and phi.result not in self.diverged_joins else None

    def _divergent(self, value: Value, cause: Cause) -> bool:
        if value in self.answer.divergent:
            return False
        self.answer.divergent[value] = cause
        self.changes[value] += 1
        return True

    # --- branches

    def _branch(self, name: str, operand: Operand, cause: Cause) -> bool:
        """Take note that threads may part at the end of block `name`, and of all that follows."""
        if name in self.diverged:
            return False
        self.diverged.add(name)
        source = operand if isinstance(operand, Value) else None
        self.answer.branches[name] = Cause(cause.kind if source is None else "data", cause.text, source, name)
        follows = follow_divergence(self.answer.graph, name)
        for join, ways in follows.joins.items():
            for phi in self.phis[join]:
                here = {operand for before, operand in phi.incoming if before in ways}
                if len({self._number(operand) for operand in here}) > 1:
                    self._tear(phi, name)
                elif len(here) > 1:
                    self.alike.setdefault(phi.result, name)
        for cycle in follows.left:
            if cycle.header not in self.answer.left:
                self.answer.left[cycle.header] = Cause("temporal", branch=name)
                self.changes.update(value for inside in cycle.blocks for value in self._find_made(inside))
        for cycle in follows.mixed:
            self._give_up_mixed(cycle, name)
        return True

    def _tear(self, phi: Phi, branch: str) -> bool:
        """Take note that threads meet at a phi that a branch has sent different ways."""
        self.diverged_joins.add(phi.result)
        return self._divergent(phi.result, Cause("sync", branch=branch))

    def _narrow(self, operand: Operand, depth: int = 4) -> bool:
        """Whether what `_number` looks at is the same for the threads of one way only: on another, others computed it
        alike from other numbers."""
        made = self.answer.definitions.get(operand) if isinstance(operand, Value) else None
        active_sets = self.answer.active_sets
        if active_sets is None or depth == 0 or not isinstance(made, Instruction) or not isinstance(operand, Value):
            return False
        home = self.answer.homes[operand]
        if active_sets.narrow(home) and any(self.answer.why_carried(o, home) is not None for o in made.operands):
            return True
        return any(self._narrow(o, depth - 1) for o in made.operands)

    def _number(self, operand: Operand, depth: int = 4) -> object:
        """Return what two operands have in common that are computed alike from the same values."""
        if depth == 0 or not isinstance(operand, Value):
            return operand
        if (operand, depth) not in self.numbers:
            found = self._expression(operand, depth)
            self.numbers[operand, depth] = self.expressions.setdefault(found, len(self.expressions))
        return self.numbers[operand, depth]

    def _expression(self, value: Value, depth: int) -> object:
        made = self.answer.definitions.get(value)
        if not isinstance(made, Instruction) or len(made.results) != 1 or not OPS[made.op].pure:
            return value
        if made.op == "lanewise" or not made.operands:
            return value
        return made.op, made.detail, made.result.type, *(self._number(o, depth - 1) for o in made.operands)

    def _find_made(self, block: str) -> list[Value]:
        return [phi.result for phi in self.phis[block]] + [v for i in self.bodies[block] for v in i.results]

    def _give_up_mixed(self, cycle: Cycle, branch: str) -> None:
        """Give up a cycle that threads enter at different places: nothing in it is the same for all."""
        for name in cycle.blocks:
            block = self.blocks[name]
            values = self._find_made(name)
            self.diverged_joins.update(values)
            self.views[name] += 1
            for value in values:
                self._divergent(value, Cause("cycle", branch=branch))
            if isinstance(block.terminator, Branch | Switch):
                condition = terminator_operands(block.terminator)[0]
                self._branch(name, Undefined(condition.type), Cause("cycle", branch=branch))
