"""Which instances of two statements run on one thread: what OpenMP says of schedules.

    #pragma omp for schedule(static, 2)          iteration number:  0 1 2 3 4 5 6 …
                                                 chunk number:      0 0 1 1 2 2 3 …     thread = chunk mod threads

An iteration has the number that the loop comes to it with, whatever values its counter has. With a chunk size chunks go
round by their number. Without one they are about equal, so that the first iteration is the first thread's, and loops
with one number of iterations have the same number on one thread (OpenMP 5.2, 11.5.3). No schedule clause is read as
`static`: OpenMP leaves that to the compiler, and all that are known do so. With other schedules, and in `loop`, any
thread may get any iteration; `simd` may round chunks, and nothing is known of them then, nor with `order`.

With as many threads as chunks every two chunks are on two threads. Invariant of `on_other_threads`: the first relation
holds only pairs that run on two threads for some number of threads and some schedule that OpenMP allows; the second one
all pairs that may.
"""

from __future__ import annotations

import re
from typing import Literal

from msgspec import Struct

from warpsmith.poly.isl.formula import TRUE
from warpsmith.poly.isl.polynomial import Polynomial, atom
from warpsmith.poly.isl.space import Map, all_pairs, at_zero, floors, make_map, remove_points
from warpsmith.poly.regions.region import Statement
from warpsmith.poly.regions.state import State
from warpsmith.tree.nodes import For
from warpsmith.tree.text.directives import Directive

__all__ = ["Runner", "on_other_threads"]

_Split = tuple[Map, Map]


class Runner(Struct, frozen=True):
    """Which threads run a statement: each iteration of `loops` one of them (`shared`), the first thread alone
    (`first`), one that is not known, or all (`any`). `sure`: when it is run is known too."""

    kind: Literal["shared", "first", "any"]
    directive: Directive | None = None
    loops: tuple[For, ...] = ()
    sure: bool = True


class _Schedule(Struct, frozen=True):
    """`chunk`: 0 is no size, None one that is not a number, whose text is in `size`."""

    kind: Literal["static", "free", "unclear"]
    chunk: int | None = 0
    size: str = ""

    @property
    def size_at_most(self) -> int:
        """The size of the chunks where there are as many threads as iterations."""
        return self.chunk or 1


def _read(directive: Directive | None) -> _Schedule:
    """Return the schedule that a directive asks for."""
    if directive is None or "loop" in directive.words:
        return _Schedule("free")
    argument = directive.argument("schedule" if directive.words[:1] == ("for",) else "dist_schedule").strip()
    modifiers, colon, rest = argument.rpartition(":")
    kind, _, size = (part.strip() for part in (rest if colon else argument).partition(","))
    if kind not in ("", "static"):
        return _Schedule("free")
    if "simd" in directive.words or "simd" in modifiers or directive.has("order"):
        return _Schedule("unclear")
    if not size:
        return _Schedule("static")
    known = size.isdecimal() and int(size) > 0
    return _Schedule("static", int(size) if known else None, size)


class _Numbers(Struct, frozen=True):
    """The iteration number of a statement in each of its shared loops, times the loop's step, and how many iterations
    these have (None: not known)."""

    distances: tuple[Polynomial, ...]
    steps: tuple[int, ...]
    counts: tuple[Polynomial | None, ...]
    even: bool

    def inner(self) -> tuple[Polynomial, ...] | None:
        """Return the number of iterations of all loops but the outermost, where it is the same in all rounds."""
        known = tuple(count for count in self.counts[1:] if count is not None)
        return known if self.even and len(known) == len(self.counts) - 1 else None


def _number(state: State, statement: Statement, loops: tuple[For, ...]) -> _Numbers | None:
    kinds = state.vocabulary
    distances: list[Polynomial] = []
    counts: list[Polynomial | None] = []
    counters: list[str] = []
    even = True
    for loop in loops:
        if loop not in statement.loops:
            return None
        counter = statement.counters[statement.loops.index(loop)]
        low, high = state.limits.get(counter, (None, None))
        first, last = (low, high) if loop.step > 0 else (high, low)
        if first is None or kinds.images(first.atoms()):
            return None
        distance = kinds.linear(atom(counter) - first if loop.step > 0 else first - atom(counter))
        if distance is None:
            return None
        extent = None if last is None else last - first if loop.step > 0 else first - last
        even = even and extent is not None and not extent.atoms().intersection(counters)
        distances.append(distance)
        counts.append(None if extent is None else _count(state, extent, abs(loop.step)))
        counters.append(counter)
    return _Numbers(tuple(distances), tuple(abs(loop.step) for loop in loops), tuple(counts), even)


def _count(state: State, extent: Polynomial, step: int) -> Polynomial | None:
    """Return one less than how many iterations there are, where there are any."""
    if state.vocabulary.images(extent.atoms()):
        return None
    count = state.affine.quotient(extent, step, floor=True)
    return None if count is None else state.vocabulary.linear(count)


def on_other_threads(
    state: State, relation: Map, sides: tuple[Statement, Statement], runners: tuple[Runner, Runner]
) -> _Split:
    """Return the pairs of a relation between instances of two statements that certainly run on two threads for some
    number of threads, and those that may."""
    nothing = remove_points(relation, relation)
    one, other = runners
    if one.kind != "shared" or other.kind == "any":
        return relation, relation
    first = _read(one.directive)
    if other.kind == "first":
        return _beside_first_thread(state, relation, (sides[0], one.loops), first)
    second = _read(other.directive)
    if "free" in (first.kind, second.kind):
        return relation, relation
    numbers = [_number(state, side, runner.loops) for side, runner in zip(sides, runners, strict=True)]
    if numbers[0] is None or numbers[1] is None or "unclear" in (first.kind, second.kind):
        return nothing, relation
    pairs = _Pairs(state, relation, sides, (numbers[0], numbers[1]), (first, second))
    return pairs.single() if len(one.loops) == len(other.loops) == 1 else pairs.collapsed()


def _beside_first_thread(
    state: State, relation: Map, shared: tuple[Statement, tuple[For, ...]], schedule: _Schedule
) -> _Split:
    """The other statement is the first thread's, which has the first chunk too."""
    if schedule.kind == "free":
        return relation, relation
    nothing = remove_points(relation, relation)
    statement, loops = shared
    numbers = _number(state, statement, loops)
    if numbers is None or schedule.kind == "unclear":
        return nothing, relation
    chunk = schedule.size_at_most if len(loops) == 1 else 1
    divisors = [step * chunk for step in numbers.steps]
    others = relation.subtract_domain(at_zero(_grid(state, statement, numbers, divisors)))
    clear = schedule.chunk is not None and (len(loops) == 1 or schedule.chunk < 2)
    return (others if clear else nothing), others


def _grid(state: State, statement: Statement, numbers: _Numbers, divisors: list[int]) -> Map:
    """Return { instance -> its number in each shared loop, divided by the size of chunks }."""
    return make_map(state.vocabulary, statement.counters, numbers.distances, TRUE).apply_range(floors(divisors))


class _Pairs(Struct, frozen=True):
    """The pairs of instances of two loops with static schedules."""

    state: State
    relation: Map
    sides: tuple[Statement, Statement]
    numbers: tuple[_Numbers, _Numbers]
    schedules: tuple[_Schedule, _Schedule]

    def single(self) -> _Split:
        """Neither loop is collapsed with others."""
        one, other = self.schedules
        apart = remove_points(self.relation, self._same_number(chunks=True))
        beyond = remove_points(self.relation, self._first_chunks())
        nothing = remove_points(self.relation, self.relation)
        if one.chunk is None or other.chunk is None:
            alike = self._is_same_size()
            return nothing, remove_points(self.relation, self._same_number()) if alike else beyond
        if one.chunk and other.chunk:
            return apart, apart
        if one.chunk or other.chunk:
            return apart, beyond
        together = self._alike(self.numbers[0].counts, self.numbers[1].counts)
        if together is None:
            return apart, beyond
        agreed = self._same_number().intersect(together)
        possible = remove_points(beyond, agreed)
        never = self.relation.intersect(agreed).is_empty()
        return (possible if never else apart), possible

    def collapsed(self) -> _Split:
        """The iterations of several loops are numbered through."""
        nothing = remove_points(self.relation, self.relation)
        beyond = remove_points(self.relation, self._first_chunks(one_each=True))
        left, right = self.numbers
        inner = [left.inner(), right.inner()]
        if len(left.steps) != len(right.steps) or inner[0] is None or inner[1] is None:
            return nothing, beyond
        alike = self._alike(inner[0], inner[1])
        same = self._same_number()
        whole = self._alike(left.counts[:1], right.counts[:1])
        sizes = [schedule.chunk for schedule in self.schedules]
        if alike is None or not self._is_same_size():
            return nothing, beyond
        apart = remove_points(self.relation.intersect(alike), same) if sizes[0] in (0, 1) else nothing
        if sizes[0] == 0 and whole is None:
            return apart, beyond
        agreed = same.intersect(alike)
        agreed = agreed.intersect(whole) if sizes[0] == 0 and whole is not None else agreed
        return apart, remove_points(beyond, agreed)

    def _is_same_size(self) -> bool:
        """Whether both have chunks of one size: of one number, or of one expression that nothing changes."""
        one, other = self.schedules
        if one.chunk is not None or other.chunk is not None:
            return one.chunk == other.chunk
        written = {symbol.name for symbol in self.state.written | self.state.hidden}
        return one.size == other.size and not written.intersection(re.findall(r"[A-Za-z_]\w*", one.size))

    def _grids(self, *, chunks: bool) -> tuple[Map, Map]:
        left, right = (
            _grid(
                self.state, side, numbers, [step * (schedule.size_at_most if chunks else 1) for step in numbers.steps]
            )
            for side, numbers, schedule in zip(self.sides, self.numbers, self.schedules, strict=True)
        )
        return left, right

    def _same_number(self, *, chunks: bool = False) -> Map:
        """Return the pairs with equal iteration numbers, or `chunks` of equal numbers."""
        left, right = self._grids(chunks=chunks)
        return left.apply_range(right.reverse())

    def _first_chunks(self, *, one_each: bool = False) -> Map:
        """Return the pairs of the first chunks of both loops (of the first iterations: `one_each`)."""
        left, right = self._grids(chunks=not one_each)
        return all_pairs(at_zero(left), at_zero(right))

    def _alike(self, left: tuple[Polynomial | None, ...], right: tuple[Polynomial | None, ...]) -> Map | None:
        """Return the pairs for which numbers of iterations are equal; None where they are not known."""
        known = [value for value in (*left, *right) if value is not None]
        if len(known) < len(left) + len(right):
            return None
        one, other = (
            make_map(self.state.vocabulary, side.counters, values, TRUE)
            for side, values in zip(self.sides, (known[: len(left)], known[len(left) :]), strict=True)
        )
        return one.apply_range(other.reverse())
