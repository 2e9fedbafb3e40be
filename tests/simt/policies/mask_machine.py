"""A slow mask machine: it replays the ways that lanes went, as each policy is defined, and knows nothing of the IR.

It is recursive where the machine has a stack, and asks reachability where that asks dominators.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct, field

from warpsmith.simt.observer import Lane, Silent
from warpsmith.ssa.nodes import BasicBlock, Branch, Instruction, Module, Switch, successors

__all__ = ["Graph", "Visit", "Ways", "graphs_of", "maximal", "meeting", "per_lane", "stack"]

Graph = Mapping[str, tuple[str, ...]]
"""The blocks behind each block of one function."""
Piece = tuple[str, int, int]
"""A block, the instruction at which it was entered, and the lanes."""


class Visit(Struct, frozen=True):
    """A lane comes to an instruction of a block, in a moment (Observer), through `calls`; `function` has the block."""

    function: str
    block: BasicBlock
    start: int
    moment: tuple[tuple[Instruction | None, tuple[int, ...]], ...]

    @property
    def calls(self) -> tuple[Instruction | None, ...]:
        return tuple(call for call, _ in self.moment)

    @property
    def place(self) -> tuple[object, ...]:
        return (*map(id, self.calls), self.block.name, self.start)


class Ways(Silent):
    """Watches the ways of all lanes: by block of threads and warp, then by lane."""

    def __init__(self, module: Module) -> None:
        self.of = {block: function.name for function in module.functions for block in function.blocks}
        self.warps: dict[tuple[int, int], dict[int, list[Visit]]] = defaultdict(lambda: defaultdict(list))

    def enter(self, lane: Lane, block: BasicBlock, moment: object, start: int) -> None:
        assert isinstance(moment, tuple)
        self.warps[lane.block, lane.warp][lane.lane].append(Visit(self.of[block], block, start, moment))


def graphs_of(module: Module) -> dict[str, Graph]:
    """Return the graph of each function."""
    return {f.name: {b.name: successors(b.terminator) for b in f.blocks} for f in module.functions if f.blocks}


def meeting(graph: Graph, block: str) -> str:
    """Return the block behind `block` that all ways to an end go through and that comes first; "": there is none."""

    def ends(start: str, without: str) -> bool:
        seen, pending = set[str](), [start]
        while pending:
            name = pending.pop()
            if name == without or name in seen:
                continue
            seen.add(name)
            if not graph[name]:
                return True
            pending += graph[name]
        return False

    behind = [name for name in graph if name != block and ends(block, "") and not ends(block, name)]
    return next((one for one in behind if all(one == other or not ends(one, other) for other in behind)), "")


def maximal(ways: Mapping[int, Sequence[Visit]]) -> Counter[Piece]:
    """Return how often lanes are in a block together, where all meet that come there in one moment."""
    masks: Counter[tuple[object, ...]] = Counter()
    for lane, way in ways.items():
        again: Counter[tuple[object, ...]] = Counter()
        for visit in way:
            key = visit.block.name, visit.start, visit.moment
            masks[(*key, again[key])] |= 1 << lane
            again[key] += 1
    return Counter((str(key[0]), int(str(key[1])), mask) for key, mask in masks.items())


class Replay(Struct):
    """Lanes on their ways: how far each is, and the pieces so far."""

    ways: Mapping[int, Sequence[Visit]]
    at: dict[int, int] = field(default_factory=dict)
    pieces: list[Piece] = field(default_factory=list)

    def head(self, lane: int) -> Visit | None:
        number = self.at.get(lane, 0)
        return self.ways[lane][number] if number < len(self.ways[lane]) else None

    def there(self, lanes: Sequence[int]) -> list[int]:
        return [lane for lane in lanes if self.head(lane) is not None]

    def go(self, lanes: Sequence[int]) -> Visit:
        """Let lanes execute what they stand at."""
        first = self.head(lanes[0])
        assert first is not None and all(_place(self.head(lane)) == first.place for lane in lanes)
        self.pieces.append((first.block.name, first.start, sum(1 << lane for lane in lanes)))
        for lane in lanes:
            self.at[lane] = self.at.get(lane, 0) + 1
        return first

    def sets(self, lanes: Sequence[int]) -> list[list[int]]:
        found: dict[object, list[int]] = {}
        for lane in self.there(lanes):
            found.setdefault(_place(self.head(lane)), []).append(lane)
        return list(found.values())


def _place(visit: Visit | None) -> tuple[object, ...]:
    assert visit is not None
    return visit.place


def stack(ways: Mapping[int, Sequence[Visit]], graphs: Mapping[str, Graph], order: str) -> list[Piece]:
    """Return the pieces in order, where arms run one after the other to where all lanes meet."""
    replay = Replay(ways)

    def run(lanes: Sequence[int], met: Callable[[Visit], bool]) -> None:
        while (lanes := replay.there(lanes)) and not met(_head(replay, lanes[0])):
            visit = replay.go(lanes)
            sets = replay.sets(lanes)
            if len(sets) < 2:
                continue
            behind = meeting(graphs[visit.function], visit.block.name)
            depth = len(visit.calls)

            def joined(one: Visit, behind: str = behind, depth: int = depth) -> bool:
                if len(one.calls) < depth:
                    return True
                return bool(behind) and (len(one.calls), one.block.name, one.start) == (depth, behind, 0)

            for some in sorted(sets, key=lambda lanes: _turn(replay, lanes, visit, graphs, order)):
                run(some, joined)

    run(list(ways), lambda _: False)
    return replay.pieces


def _head(replay: Replay, lane: int) -> Visit:
    visit = replay.head(lane)
    assert visit is not None
    return visit


def _turn(replay: Replay, lanes: Sequence[int], visit: Visit, graphs: Mapping[str, Graph], order: str) -> int:
    target = _head(replay, lanes[0]).block.name
    if order == "smaller":
        return len(lanes)
    if order == "true":
        match visit.block.terminator:
            case Branch(then=then):
                return int(target != then)
            case Switch(cases=cases, other=other):
                return [*(name for _, name in cases), other].index(target)
    return _text_order(graphs[visit.function]).index(target)


def _text_order(graph: Graph) -> list[str]:
    """Return the blocks in reverse post-order, which is how they are written."""
    seen: set[str] = set()
    done: list[str] = []

    def visit(name: str) -> None:
        seen.add(name)
        for after in graph[name]:
            if after not in seen:
                visit(after)
        done.append(name)

    visit(next(iter(graph)))
    return done[::-1]


def per_lane(ways: Mapping[int, Sequence[Visit]], graphs: Mapping[str, Graph], patience: int) -> list[Piece]:
    """Return the pieces in order, where the set of lanes goes on that is first in the text, or has waited too long."""
    replay, last, now = Replay(ways), dict.fromkeys(ways, 0), 0
    ranks = {name: {block: n for n, block in enumerate(_text_order(graph))} for name, graph in graphs.items()}
    while sets := replay.sets(list(ways)):
        now += 1

        def rank(lanes: Sequence[int]) -> int:
            head = _head(replay, lanes[0])
            return ranks[head.function][head.block.name]

        hungry = min(sets, key=lambda lanes: (min(last[lane] for lane in lanes), rank(lanes)))
        late = now - min(last[lane] for lane in hungry) > patience
        lanes = hungry if late else min(sets, key=rank)
        for lane in lanes:
            last[lane] = now
        replay.go(lanes)
    return replay.pieces
