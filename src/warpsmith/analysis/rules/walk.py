"""Single threads on their way through a kernel, as far as their own index says: where they reach outside of an array.

    for (i = 0; i < 4; i++) s[next] = …, next += ntid          thread 255 of 320: byte 4·(255 + 3·320) of 4,800
    if (gid < n) { … }                                         n is not known: assumed to let the thread through
    if (in[gid] > 0) { … }                                     skipped: nothing of it is known behind it

A value is a number, a place in an array, or not known (memory, arguments without numbers, the block's index). A test
that is not known is passed over up to where its ways meet; but where it is one for the whole block, or a bounds check
of the grid, both ways are tried, and what is found is conditional on it. One such test of each kind at most is on a
path, so that no two of them contradict each other.

Limits: threads at the corners of a block and beside the borders of tests; so many steps a kernel. Nothing is proved
where nothing is found.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Final

from msgspec import Struct

from warpsmith.analysis.affine.failures import find_failing, is_test_of_failure
from warpsmith.analysis.affine.joins import between
from warpsmith.analysis.rules.lanes import LaneValues
from warpsmith.analysis.rules.origins import origin
from warpsmith.analysis.uniformity.facts import Dim, KernelFacts
from warpsmith.ssa.graph import EXIT
from warpsmith.ssa.nodes import (
    Address,
    Barrier,
    BasicBlock,
    Branch,
    Callee,
    Constant,
    Convert,
    Exchange,
    Exit,
    Fence,
    Float,
    Instruction,
    Jump,
    Memory,
    NoWrap,
    Operand,
    Param,
    Query,
    Return,
    Switch,
    Text,
    Unreachable,
    Value,
)
from warpsmith.ssa.ops import OPS
from warpsmith.ssa.semantics.lane import lane

__all__ = ["Escape", "count_visits", "describe_tests", "find_escapes"]

_MOST_STEPS: Final = 40_000
_MOST_THREADS: Final = 24
_LESS: Final = {"slt": ("smin",), "sle": ("smin",), "ult": ("umin",), "ule": ("umin",)}
"""Comparisons, and the ops that make the least of two numbers that they compare with."""
_PASSES: Final = ("to_generic", "from_generic")


class _Place(Struct, frozen=True):
    """A place in an array of a name, so many bytes behind its start."""

    symbol: str
    offset: int


_Known = int | _Place


class Escape(Struct, frozen=True):
    """An access of a thread outside of its array; `tests`: the blocks whose tests are assumed to let it through."""

    instruction: Instruction
    thread: Dim
    offset: int
    tests: tuple[str, ...]


def find_escapes(facts: KernelFacts, sizes: dict[str, int]) -> list[Escape]:
    """Return the first access outside of an array that each instruction makes; `sizes`: the bytes of the arrays."""
    walk = _Walk(facts, sizes)
    for thread in _choose_threads(facts):
        walk.follow(thread)
    return list(walk.found.values())


def count_visits(facts: KernelFacts) -> dict[str, int]:
    """Return how often the first thread certainly comes to each block, as far as it is followed."""
    walk = _Walk(facts, {})
    walk.follow((0, 0, 0))
    return walk.visits


def _choose_threads(facts: KernelFacts) -> list[Dim]:
    """Return the threads at the corners of the block, and the first and the last that each test lets through."""
    x, y, z = (size - 1 for size in facts.block)
    chosen = {(i, j, k): None for k in (0, z) for j in (0, y) for i in (0, x)}
    lanes = LaneValues(facts)
    for block in facts.function.blocks:
        if isinstance(block.terminator, Branch) and len(chosen) < _MOST_THREADS:
            column = lanes.of(block.terminator.condition)
            for wanted in (0, 1) if column is not None else ():
                passing = [t for t, bit in zip(lanes.threads, column or (), strict=True) if bool(bit) == bool(wanted)]
                chosen |= dict.fromkeys((passing[0], passing[-1]) if passing else ())
    return list(chosen)[:_MOST_THREADS]


class _Path(Struct):
    """A thread at the start of a block, with what it knows."""

    known: dict[Value, _Known]
    block: str
    before: str = ""
    tests: tuple[str, ...] = ()
    kinds: frozenset[str] = frozenset()


class _Walk:
    """What threads do, one behind the other, until no steps are left."""

    def __init__(self, facts: KernelFacts, sizes: dict[str, int]) -> None:
        self.facts, self.sizes = facts, sizes
        self.graph = facts.warp_level.graph
        self.blocks = {block.name: block for block in facts.function.blocks}
        self.failing = find_failing(self.graph, self.blocks)
        self.steps = _MOST_STEPS
        self.found: dict[Instruction, Escape] = {}
        self.visits: dict[str, int] = defaultdict(int)
        self.thread: Dim = (0, 0, 0)

    def follow(self, thread: Dim) -> None:
        """Follow a thread on all ways that it may take."""
        self.thread = thread
        pending = [_Path({}, self.graph.entry)]
        while pending and self.steps > 0:
            path = pending.pop()
            while path.block and self.steps > 0:
                block = self.blocks[path.block]
                self.visits[block.name] += not path.tests
                self._enter(path, block)
                for i in block.instructions:
                    self.steps -= 1
                    self._step(path, i)
                pending += self._leave(path, block)

    def _enter(self, path: _Path, block: BasicBlock) -> None:
        come = [(phi.result, dict(phi.incoming).get(path.before)) for phi in block.phis]
        values = [(result, None if operand is None else self._value(path, operand)) for result, operand in come]
        for result, value in values:
            self._keep(path, result, value)

    def _keep(self, path: _Path, result: Value, value: _Known | None) -> None:
        if value is None:
            path.known.pop(result, None)
        else:
            path.known[result] = value

    def _value(self, path: _Path, operand: Operand) -> _Known | None:
        if isinstance(operand, Constant):
            return operand.bits
        return path.known.get(operand) if isinstance(operand, Value) else None

    # --- instructions

    def _step(self, path: _Path, i: Instruction) -> None:
        detail = i.detail
        if isinstance(detail, Memory):
            self._look(path, i, detail)
        if len(i.results) == 1:
            self._keep(path, i.results[0], self._compute(path, i))
            return
        for result in i.results:
            path.known.pop(result, None)

    def _look(self, path: _Path, i: Instruction, detail: Memory) -> None:
        """Keep an access that is outside of its array; what a test assumed to pass leads to gives way to what none
        does."""
        place = self._value(path, i.operands[0])
        if not isinstance(place, _Place) or place.symbol not in self.sizes:
            return
        first = place.offset + detail.offset
        size = sum(value.type.bytes for value in (i.results or i.operands[1:2]))
        old = self.found.get(i)
        if (first < 0 or first + size > self.sizes[place.symbol]) and (old is None or len(path.tests) < len(old.tests)):
            self.found[i] = Escape(i, self.thread, first, path.tests)

    def _compute(self, path: _Path, i: Instruction) -> _Known | None:
        match i.detail:
            case Address(symbol):
                return _Place(symbol, 0)
            case Query(register):
                return self._query(register)
            case Param(parameter, offset):
                number = self.facts.shape.arguments.get(parameter)
                whole = number is not None and offset == 0 and i.results[0].type.kind == "integer"
                return int(number or 0) % (1 << i.results[0].type.bits) if whole else None
            case (
                Barrier() | Callee() | Convert() | Exchange() | Fence() | Float() | Memory() | NoWrap() | Text() | None
            ):
                return self._apply(path, i)

    def _query(self, register: str) -> int | None:
        name, _, axis = register.partition(".")
        number = "xyz".find(axis) if axis else -1
        if name == "tid" and number >= 0:
            return self.thread[number]
        if name == "ntid" and number >= 0:
            return self.facts.block[number]
        if name == "nctaid" and number >= 0 and self.facts.shape.grid is not None:
            return self.facts.shape.grid[number]
        return None

    def _apply(self, path: _Path, i: Instruction) -> _Known | None:
        """Return what a pure op gives; places are moved, and chosen."""
        if not OPS[i.op].pure or not i.operands:
            return None
        given = [self._value(path, operand) for operand in i.operands]
        if i.op in _PASSES:
            return given[0]
        if i.op == "select" and isinstance(given[0], int):
            return given[1] if given[0] else given[2]
        if (i.op == "and" and 0 in given) or self._is_beyond_least(path, i, given):
            return 0
        numbers = tuple(value for value in given if isinstance(value, int))
        if len(numbers) < len(given):
            return _move(i, given)
        if i.results[0].type.kind == "float" or any(o.type.kind == "float" for o in i.operands):
            return None
        try:
            return lane(i, numbers)[0]
        except (KeyError, ValueError, OverflowError, ZeroDivisionError):
            return None

    def _is_beyond_least(self, path: _Path, i: Instruction, given: list[_Known | None]) -> bool:
        """Whether a number is compared with the least of several, as in `t < min(n, 6)`, and is no less than one."""
        bound = i.operands[1] if i.op in _LESS else None
        made = self.facts.warp_level.definitions.get(bound) if isinstance(bound, Value) else None
        first = given[0]
        if not isinstance(made, Instruction) or made.op not in _LESS[i.op] or not isinstance(first, int):
            return False
        known = [value for operand in made.operands if isinstance(value := self._value(path, operand), int)]
        return any(not lane(i, (first, one))[0] for one in known)

    # --- ways

    def _leave(self, path: _Path, block: BasicBlock) -> list[_Path]:
        """Go on to the next block; return the other ways that are tried later."""
        self.steps -= 1
        path.before = block.name
        match block.terminator:
            case Jump(target):
                path.block = target
                return []
            case Branch() as end:
                bit = self._value(path, end.condition)
                if isinstance(bit, int):
                    path.block = end.then if bit else end.other
                    return []
                return self._part(path, block, end)
            case Switch():
                self._pass_over(path, block.name)
                return []
            case Return() | Exit() | Unreachable():
                path.block = EXIT
                return []

    def _part(self, path: _Path, block: BasicBlock, end: Branch) -> list[_Path]:
        if is_test_of_failure(self.graph, self.failing, block.name):
            path.block = end.other if end.then in self.failing else end.then
            return []
        kind = self._kind(block, end)
        inside = {cycle.header for cycle in self.graph.cycles_around(block.name)}
        if not kind or kind in path.kinds or inside:
            self._pass_over(path, block.name)
            return []
        tests, kinds = (*path.tests, block.name), path.kinds | {kind}
        path.block, path.tests, path.kinds = end.then, tests, kinds
        return [_Path(dict(path.known), end.other, block.name, tests, kinds)]

    def _kind(self, block: BasicBlock, end: Branch) -> str:
        """Return what an unknown test is of that may be assumed to let a thread through; "" for any other."""
        made_of = origin(self.facts, end.condition)
        if made_of.plain and made_of.of_thread and made_of.of_block and made_of.parameters:
            return "bounds"
        is_for_all = made_of.plain and self.facts.block_level.is_uniform(end.condition, block.name)
        return "block" if is_for_all else ""

    def _pass_over(self, path: _Path, name: str) -> None:
        """Go on where the ways of a test meet, without what they may have set; nowhere, if a thread may end there."""
        join = self.graph.post_dominator[name]
        if join == EXIT:
            path.block = EXIT
            return
        skipped = between(self.graph, name, join) | {join}
        if any(isinstance(self.blocks[one].terminator, Return | Exit) for one in skipped - {join}):
            path.block = EXIT
            return
        for one in skipped:
            for phi in self.blocks[one].phis:
                path.known.pop(phi.result, None)
            for i in self.blocks[one].instructions:
                for result in i.results:
                    path.known.pop(result, None)
        path.before, path.block = "", join


def _move(i: Instruction, given: list[_Known | None]) -> _Place | None:
    """Return a place that is so many bytes from another one."""
    moved = _MOVES.get(i.op)
    if moved is None or len(given) != 2:
        return None
    base, by = given
    if isinstance(by, _Place) and i.op == "add":
        base, by = by, base
    if not isinstance(base, _Place) or not isinstance(by, int):
        return None
    half = 1 << (i.results[0].type.bits - 1)
    return _Place(base.symbol, moved(base.offset, by - 2 * half if by >= half else by))


_MOVES: Final[dict[str, Callable[[int, int], int]]] = {"add": lambda a, b: a + b, "sub": lambda a, b: a - b}


def describe_tests(facts: KernelFacts, escape: Escape) -> Iterator[str]:
    """Yield what is assumed of the tests before an escape."""
    for name in escape.tests:
        end = next(block.terminator for block in facts.function.blocks if block.name == name)
        span = end.span if isinstance(end, Branch) else None
        yield "a thread gets there" if span is None else f"the test of line {span.line} lets the thread get there"
