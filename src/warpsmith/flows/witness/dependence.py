"""What two accesses, and what may stand between them, depend on: numbers that were made up, or the text alone.

    s[t] = …          addresses: the index of the thread alone         hangs on nothing that was made up
    s[in[t]] = …      an address: what `in` holds                      does
    if (t < n) …      whether it is reached: what n is                 does

Followed backwards: operands; for a value that is joined, whether each of the ways is taken; for an access or a barrier,
the conditions that decide whether it is reached (Ferrante, Ottenstein, Warren: The Program
Dependence Graph and Its Use in Optimization, 1987). What is read from memory depends on what was put there.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from warpsmith.ssa.graph import Cycle, Graph
from warpsmith.ssa.nodes import BasicBlock, Branch, Function, Instruction, Operand, Param, Phi, Query, Switch, Value

__all__ = ["Ground", "Origins", "decides_loops", "origins", "origins_of_figure"]


class Origins(Struct, frozen=True):
    """Names of scalar parameters, "memory" where something is read there, "grid" where the size of the grid is,
    "blocks" where the index of the block is: what `places` are made of, and what decides whether they are `reached`."""

    places: frozenset[str]
    reached: frozenset[str]

    @property
    def all(self) -> frozenset[str]:
        """Return both."""
        return self.places | self.reached


class Ground(Struct, frozen=True):
    """A function: what makes each value, and for each block the blocks whose end decides whether it is reached."""

    graph: Graph
    made: Mapping[Value, Instruction]
    joined: Mapping[Value, Phi]
    blocks: Mapping[str, BasicBlock]
    deciders: Mapping[str, frozenset[str]]

    @classmethod
    def of(cls, function: Function) -> Ground:
        """Prepare for a function."""
        graph = Graph.of(function)
        return cls(
            graph,
            {value: i for _, i in function.instructions() for value in i.results},
            {phi.result: phi for block in function.blocks for phi in block.phis},
            {block.name: block for block in function.blocks},
            _find_deciders(graph),
        )


def _find_deciders(graph: Graph) -> dict[str, frozenset[str]]:
    """Return the blocks whose end decides whether a block is reached: from one of their ways control has to come there,
    from themselves it has not; those between the way and what all ways lead to."""
    found: dict[str, set[str]] = defaultdict(set)
    for above, ways in graph.successors.items():
        for way in ways:
            below = way
            while below != graph.post_dominator.get(above) and below in graph.successors:
                found[below].add(above)
                below = graph.post_dominator.get(below, "")
    return {name: frozenset(names) for name, names in found.items()}


def origins(function: Function, accesses: Sequence[Instruction], pointers: frozenset[str]) -> Origins:
    """Return what decides whether some accesses meet; `pointers`: parameters that are arrays, whose place does not."""
    blocks = {id(i): block for block in function.blocks for i in block.instructions}
    ground = Ground.of(function)
    places, reached = _Search(ground), _Search(ground)
    places.follow(access.operands[0] for access in accesses)
    places.run(ways=False)
    reached.follow(access.operands[0] for access in accesses)
    for access in accesses:
        reached.reach(blocks[id(access)])
    for block in function.blocks:
        if any(map(_is_barrier, block.instructions)):
            reached.reach(block)
    reached.run()
    return Origins(frozenset(places.found - pointers), frozenset(reached.found - pointers))


def origins_of_figure(ground: Ground, operand: Operand, block: str, pointers: frozenset[str]) -> Origins:
    """Return what decides the numbers that the lanes of a warp have for an address or a condition in a block, and which
    lanes come there; `pointers`: parameters that are arrays, which begin at a sector."""
    places, reached = _Search(ground), _Search(ground)
    places.follow([operand])
    places.run()
    reached.reach(ground.blocks[block])
    reached.run()
    return Origins(frozenset(places.found - pointers), frozenset(reached.found - pointers))


def decides_loops(function: Function, cycles: Iterable[Cycle]) -> frozenset[str]:
    """Return what decides when loops are left: names of scalar parameters, "memory", "grid"."""
    search = _Search(ground := Ground.of(function))
    for cycle in cycles:
        for name in cycle.blocks:
            if any(way not in cycle.blocks for way in ground.graph.successors.get(name, ())):
                search.follow(_conditions(ground.blocks[name]))
    search.run(ways=False)
    return frozenset(search.found)


def _is_barrier(i: Instruction) -> bool:
    return i.op in ("barrier", "warp_barrier")


class _Search:
    """What is left to follow, and what was found."""

    def __init__(self, ground: Ground) -> None:
        self.ground = ground
        self.left: list[Operand] = []
        self.seen: set[Value] = set()
        self.reached: set[str] = set()
        self.found: set[str] = set()

    def follow(self, operands: Iterable[Operand]) -> None:
        """Take note of what something depends on."""
        self.left += operands

    def reach(self, block: BasicBlock) -> None:
        """Take note that it matters whether a block is reached, and how often."""
        left = [block]
        while left:
            below = left.pop()
            if below.name in self.reached or below.name not in self.ground.graph.successors:
                continue
            self.reached.add(below.name)
            for name in self.ground.deciders.get(below.name, ()):
                self.follow(_conditions(self.ground.blocks[name]))
                left.append(self.ground.blocks[name])

    def run(self, *, ways: bool = True) -> None:
        """Follow all that is left; `ways`: which way control came as well."""
        while self.left:
            operand = self.left.pop()
            if not isinstance(operand, Value) or operand in self.seen:
                continue
            self.seen.add(operand)
            if operand in self.ground.joined:
                self._join(self.ground.joined[operand], ways=ways)
            elif operand in self.ground.made:
                self._compute(self.ground.made[operand])

    def _join(self, phi: Phi, *, ways: bool) -> None:
        """A value that is joined depends on the values, and on which way control came."""
        for before, value in phi.incoming:
            self.follow([value])
            if ways:
                self.reach(self.ground.blocks[before])

    def _compute(self, i: Instruction) -> None:
        self.follow(i.operands)
        match i.detail:
            case Param() as detail:
                self.found.add(detail.parameter)
            case Query(register=register) if register.startswith("nctaid"):
                self.found.add("grid")
            case Query(register=register) if register.startswith("ctaid"):
                self.found.add("blocks")
        if i.op == "load" or i.op.startswith("atomic_") or i.op in ("lanewise", "call", "unmodeled", "shuffle", "vote"):
            self.found.add("memory")


def _conditions(block: BasicBlock) -> tuple[Operand, ...]:
    match block.terminator:
        case Branch() as branch if branch.then != branch.other:
            return (branch.condition,)
        case Switch() as switch:
            return (switch.value,)
        case _:
            return ()
