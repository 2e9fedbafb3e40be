"""Which threads of a group are there when one of them is: at a block of the function, in one iteration.

    all     whenever one thread of the group is there, all are
    known   exactly those for which every dominating condition holds, and these are numbers: `if (tid.x < 16)`
    some    some of them; which ones depends on what is not known

A branch that parts threads matters for the blocks up to where they are together again (joins.meeting). It is decided
for a block if only one of its ways leads there, always, and its condition is a known number for each thread.

    B ─ x == 0 ──► L     where several ways lead to a block, as compilers make them of `x == 0 || x == 9`, those may be
    └► C ─ x == 9 ─┘     there that may come by one of them
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from warpsmith.analysis.affine.guards import Guard, Guards, bits
from warpsmith.analysis.affine.symbols import Form
from warpsmith.analysis.memory.forms import Forms
from warpsmith.ssa.nodes import Branch, Constant, Instruction, Operand, Switch, Value

__all__ = ["Guard", "Presences", "ThreadPresence", "conditions"]

_DEEPEST = 6


class ThreadPresence(Struct, frozen=True):
    """`threads` of the block of threads that may be there: just those where `kind` is `known`."""

    kind: Literal["all", "known", "some"]
    threads: frozenset[int]


class Presences:
    """The answer for every block of a function. Sets of branches and of threads are bits of numbers (guards.py)."""

    def __init__(self, forms: Forms) -> None:
        self.forms = forms
        self.everyone = frozenset(range(forms.lanes.count))
        self._guards = Guards(forms.graph, forms.blocks, forms.answer.branches)
        self._found: dict[str, ThreadPresence] = {}
        self._let: dict[Guard, frozenset[int]] = {}
        self._lanes: dict[frozenset[int], int] = {}
        self._through: dict[Guard, int] = {}
        self._known, self._narrow = 0, 0
        for name in forms.answer.branches:
            self._look_at(name)
        self._may_come: dict[str, int] = {}
        for name in forms.graph.order:
            self._may_come[name] = self._find_coming(name)

    def at(self, block: str) -> ThreadPresence:
        """Return who is there."""
        if block not in self._found:
            self._found[block] = self._at(block)
        return self._found[block]

    def most_lanes(self, presence: ThreadPresence) -> int:
        """Return how many lanes of a warp may be there together, at most."""
        if presence.threads not in self._lanes:
            counts = (sum(thread in presence.threads for thread in warp) for warp in self.forms.lanes.warps())
            self._lanes[presence.threads] = max(counts)
        return self._lanes[presence.threads]

    def find_diverging(self, block: str) -> tuple[str, ...]:
        """Return the blocks whose branches may keep threads away from this one, in the order of the graph."""
        return tuple(self.forms.graph.order[rank] for rank in bits(self._guards.diverged[block]))

    def guard(self, branch: str, block: str) -> Guard | None:
        """Return which way of a branch is the only one that leads to `block`."""
        rank = self.forms.graph.rank[branch]
        return self._guards.guard(rank, block) if self._guards.before(block) >> rank & 1 else None

    def _at(self, block: str) -> ThreadPresence:
        diverged = self._guards.diverged[block]
        if not diverged:
            return ThreadPresence("all", self.everyone)
        guards = diverged & self._guards.before(block)
        kind: Literal["known", "some"] = "known" if guards & self._known == diverged else "some"
        return ThreadPresence(kind, frozenset(bits(self._may_come[block])))

    def _find_coming(self, block: str) -> int:
        """Return the threads that may come to a block, once it is known for all that stand before it."""
        everyone = (1 << self.forms.lanes.count) - 1
        diverged = self._guards.diverged[block]
        if not diverged:
            return everyone
        left, come = everyone, 0 if self.forms.graph.predecessors[block] else everyone
        for rank in bits(diverged & self._guards.before(block) & self._narrow):
            left &= self._through[self._guards.guard(rank, block)]
        for before in self.forms.graph.predecessors[block]:
            come |= self._find_passing(before, block)
        return left & come

    def _find_passing(self, before: str, block: str) -> int:
        """Return the threads that may go from one block straight to the next; all where that begins or ends an
        iteration of a loop."""
        graph = self.forms.graph
        inside = {cycle.header for cycle in graph.cycles_around(block)}
        if before not in self._may_come or any(c.header not in inside for c in graph.cycles_around(before)):
            return (1 << self.forms.lanes.count) - 1
        terminator = self.forms.blocks[before].terminator
        two = isinstance(terminator, Branch) and terminator.then != terminator.other
        guard = Guard(before, isinstance(terminator, Branch) and block == terminator.then)
        through = self._through.get(guard) if two else None
        return self._may_come[before] if through is None else self._may_come[before] & through

    def _look_at(self, branch: str) -> None:
        """Find out which threads each way of a branch may let through, and whether it is just those."""
        terminator, bit = self.forms.blocks[branch].terminator, 1 << self.forms.graph.rank[branch]
        form = self.forms.of(terminator.condition, branch) if isinstance(terminator, Branch) else None
        if form is not None and self.forms.lanes.numbers(form) is not None:
            self._known |= bit
        for guard in (Guard(branch, True), Guard(branch, False)):
            may = self.may_hold(guard)
            self._through[guard] = sum(1 << thread for thread in may)
            self._narrow |= bit if len(may) < len(self.everyone) else 0

    def may_hold(self, guard: Guard) -> frozenset[int]:
        """Return the threads that a guard may let through.

        tid.y == 0 && n > 3            those of row 0, whatever n is
        ctaid.x * 256 + tid.x == 0     the low 8 bits of the sum are those of tid.x: thread 0 alone
        """
        terminator = self.forms.blocks[guard.block].terminator
        if not isinstance(terminator, Branch):
            return self.everyone
        return self._may(terminator.condition, guard.block, _DEEPEST, holds=guard.holds)

    def _may(self, condition: Operand, block: str, depth: int, *, holds: bool) -> frozenset[int]:
        """Return the threads for which a condition may hold, or not hold."""
        form = self.forms.of(condition, block)
        numbers = None if form is None else self.forms.lanes.numbers(form)
        if numbers is not None:
            return frozenset(t for t, n in enumerate(numbers) if bool(n & 1) == holds)
        made = self.forms.answer.definitions.get(condition) if isinstance(condition, Value) else None
        if not isinstance(made, Instruction) or not depth:
            return self.everyone
        if made.op in ("eq", "ne") and made.operands[0].type.bits > 1:
            return self._may_be_equal(made, block) if holds == (made.op == "eq") else self.everyone
        if made.op not in ("and", "or", "not", "select"):
            return self.everyone
        parts = [self._may(o, block, depth - 1, holds=holds) for o in made.operands]
        against = self._may(made.operands[0], block, depth - 1, holds=not holds)
        match made.op:
            case "not":
                return against
            case "select":
                yes, no = (parts[0], against) if holds else (against, parts[0])
                return (yes & parts[1]) | (no & parts[2])
            case _:
                return parts[0] & parts[1] if holds == (made.op == "and") else parts[0] | parts[1]

    def _may_be_equal(self, made: Instruction, block: str) -> frozenset[int]:
        test, wrapping = self._difference(made, block), self.forms.transfer.wrapping
        low = None if test is None else wrapping.low(test, wrapping.shared_bits(test))
        return self.everyone if low is None else frozenset(t for t, n in enumerate(low) if n == 0)

    def zeros(self, guard: Guard) -> list[Form]:
        """Return sums that are 0 wherever a guard lets through: differences of numbers that it finds equal."""
        differences = (self._difference(made, guard.block) for made in self.equalities(guard))
        return [difference for difference in differences if difference is not None]

    def equalities(self, guard: Guard) -> list[Instruction]:
        """Return the comparisons whose two numbers are equal wherever a guard lets through."""
        terminator = self.forms.blocks[guard.block].terminator
        found: list[Instruction] = []
        pending = [(terminator.condition, guard.holds)] if isinstance(terminator, Branch) else []
        while pending:
            condition, holds = pending.pop()
            made = self.forms.answer.definitions.get(condition) if isinstance(condition, Value) else None
            if not isinstance(made, Instruction) or holds is None:
                continue
            if made.op == ("eq" if holds else "ne"):
                found.append(made)
            elif made.op == ("and" if holds else "or"):
                pending += [(operand, holds) for operand in made.operands]
            elif made.op == "not":
                pending.append((made.operands[0], not holds))
            elif made.op == "select" and holds and made.operands[2] == Constant(made.operands[2].type, 0):
                pending += [(operand, holds) for operand in made.operands[:2]]
        return found

    def _difference(self, made: Instruction, block: str) -> Form | None:
        left, right = (self.forms.of(operand, block) for operand in made.operands)
        return None if left is None or right is None or left.bits < 8 else left.plus(right, -1)


def conditions(forms: Forms) -> list[Value]:
    """Return the conditions of the branches."""
    found = []
    for name in forms.graph.order:
        terminator = forms.blocks[name].terminator
        operand = terminator.condition if isinstance(terminator, Branch) else None
        operand = terminator.value if isinstance(terminator, Switch) else operand
        if isinstance(operand, Value):
            found.append(operand)
    return found
