"""Samples of a run, for whoever wants to change its inputs: numbers, where they were, who came by."""

from __future__ import annotations

from collections import defaultdict

from msgspec import Struct, field

from tests.corpus.inputs import Inputs
from tests.corpus.margins import Near, Ruler
from tests.corpus.watching import Together
from warpsmith.simt.observer import Lane
from warpsmith.ssa.nodes import BasicBlock, Instruction

__all__ = ["Known", "Samples", "Who"]

Who = tuple[int, int]
"""A thread: its block and its number there."""

_SAMPLES = 48
_VISITORS = 64
_READS = 300
_MOMENTS = 40


class Samples(Together):
    """`numbers` that `watched` instructions gave; of a load, the `words` of memory and what they held; `reads`: the
    loads of each thread, by instruction and moment, with address and numbers; `visitors` of each branch; `ways`: those
    taken from block to block; `went`: who took which way from a branch that is `open`, by moment; `ruler`: measures how
    far branches were from their other sides."""

    watched: frozenset[Instruction] = frozenset()
    open: frozenset[str] = frozenset()
    numbers: dict[Instruction, list[int]] = field(default_factory=lambda: defaultdict(list))
    words: dict[Instruction, dict[int, int]] = field(default_factory=lambda: defaultdict(dict))
    reads: dict[Who, dict[tuple[Instruction, object], tuple[int, tuple[int, ...]]]] = field(
        default_factory=lambda: defaultdict(dict)
    )
    visitors: dict[str, dict[Who, None]] = field(default_factory=lambda: defaultdict(dict))
    ways: set[tuple[str, str]] = field(default_factory=set)
    went: dict[str, dict[object, dict[str, Who]]] = field(default_factory=lambda: defaultdict(dict))
    ruler: Ruler | None = None
    _at: int | None = None

    @property
    def near(self) -> dict[str, Near]:
        """The threads that came nearest to the other side of a branch."""
        return {} if self.ruler is None else self.ruler.near

    def again(self) -> None:
        """Forget the moments of the run, and the numbers that were measured by."""
        Together.again(self)
        if self.ruler is not None:
            self.ruler.known.clear()

    def value(self, lane: Lane, place: Instruction, moment: object, numbers: tuple[int, ...]) -> None:
        """Keep a sample of the results."""
        Together.value(self, lane, place, moment, numbers)
        if self.ruler is not None:
            self.ruler.value(lane, place, numbers)
        if place in self.watched:
            kept = self.numbers[place]
            if len(kept) < _SAMPLES and numbers[0] not in kept:
                kept.append(numbers[0])
            if self._at is not None and len(self.words[place]) < _SAMPLES:
                self.words[place].setdefault(self._at, numbers[0])
        if self._at is not None:
            mine = self.reads[lane.block, lane.thread]
            if len(mine) < _READS:
                mine[place, moment] = self._at, numbers
            self._at = None

    def branch(self, lane: Lane, block: BasicBlock, moment: object, taken: str) -> None:
        """Take note of the way taken, and of who has."""
        if block not in self.blocks:
            return
        Together.branch(self, lane, block, moment, taken)
        if self.ruler is not None:
            self.ruler.branch(lane, block, taken)
        self.ways.add((block.name, taken))
        visitors = self.visitors[block.name]
        if len(visitors) < _VISITORS:
            visitors[lane.block, lane.thread] = None
        if block.name in self.open:
            moments = self.went[block.name]
            if moment in moments or len(moments) < _MOMENTS:
                moments.setdefault(moment, {}).setdefault(taken, (lane.block, lane.thread))

    def access(self, lane: Lane, place: Instruction, moment: object, where: tuple[str, int, int]) -> None:
        """Remember the place, if inputs may be there, until the value comes."""
        space, address, _ = where
        self._at = address if place.results and space in ("global", "constant", "generic") else None

    def copied(self, model: Who, other: Who, place: Samples | None = None) -> dict[int, tuple[Instruction, bytes]]:
        """Return words of memory, with who reads them, with which one thread finds what another one has found, as far
        as it went the same way; where it did not, it is taken to read as far from the other as elsewhere, or as in
        another run."""
        words: dict[int, tuple[Instruction, bytes]] = {}
        apart = {**({} if place is None else place.apart(model, other)), **self.apart(model, other)}
        theirs = self.reads[other]
        for (load, moment), (address, numbers) in self.reads[model].items():
            there = theirs[load, moment][0] if (load, moment) in theirs else address + apart.get(load, 0)
            size = load.results[0].type.bytes
            if there != address or model == other:
                found = (number.to_bytes(size, "little") for number in numbers)
                words |= {there + n * size: (load, word) for n, word in enumerate(found)}
        return words

    def apart(self, model: Who, other: Who) -> dict[Instruction, int]:
        """Return how far apart two threads read, by instruction."""
        mine, theirs = self.reads.get(model, {}), self.reads.get(other, {})
        return {key[0]: theirs[key][0] - mine[key][0] for key in mine if key in theirs}


class Known(Struct, frozen=True, eq=False):
    """A run that was made: its inputs, what it showed, and whether it took too long."""

    inputs: Inputs
    watch: Samples
    late: bool
