"""The trace of a run: what its warps executed together, in order, and where their lanes diverged.

The interpreter lets every lane go its own way; here its lanes are put together again, by the policy of *maximal
reconvergence*: lanes of a warp that execute one instruction in one moment (the same iteration of every loop around it,
reached through the same calls) execute it together. No hardware joins lanes earlier; hardware may join them later.

    Piece   a run of instructions of one block that a set of lanes executes together: to the block's end, or to a call
    order   a piece comes when all its lanes have done what they do before it; of two arms one is finished first

Counted, per warp and then summed:
    issued slots   instructions × width of the warp                lane instructions   instructions × lanes there
    lost slots     a lane that is in the warp and not in a piece: as many slots as the piece has instructions, charged
                   to the branch that ended the last piece before it in which that lane was together with a lane of this
                   one: there they diverged. Exact: issued = lane instructions + lost + slots that no thread fills.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct, field

from warpsmith.simt.counters import BlockCount, Counters
from warpsmith.simt.memory import LOCAL_WINDOW, SHARED_WINDOW
from warpsmith.simt.observer import Lane
from warpsmith.ssa.nodes import BasicBlock, Branch, Instruction, Space, Switch, Terminator

__all__ = ["Tally", "Totals", "WarpPiece", "add_pieces", "block_counts", "count_pieces", "totals"]


class WarpPiece(Struct, frozen=True, eq=False):
    """Instructions of `block` from number `start` to `stop` (its terminator is number len(instructions)), executed by
    the lanes of `mask` together."""

    block: BasicBlock
    start: int
    stop: int
    mask: int

    @property
    def count(self) -> int:
        """How many instructions it has."""
        return self.stop - self.start

    @property
    def ends(self) -> Terminator | None:
        """What ends the block; None where a call ends the piece."""
        return self.block.terminator if self.stop > len(self.block.instructions) else None

    def instructions_executed(self) -> Iterator[Instruction | Terminator]:
        """Yield what it executes."""
        yield from self.block.instructions[self.start : self.stop]
        if self.ends is not None:
            yield self.ends


class _Warp(Struct):
    """The lanes of a warp as they come: for each its pieces by number, in its own order."""

    pieces: list[tuple[BasicBlock, int]] = field(default_factory=list)
    masks: list[int] = field(default_factory=list)
    numbers: dict[tuple[BasicBlock, int, object, int], int] = field(default_factory=dict)
    ways: dict[int, list[int]] = field(default_factory=lambda: defaultdict(list))


class Tally(Counters):
    """An observer that keeps which lanes of a warp were where together, besides what Counters keeps. `order`: where a
    block stands in the text; of two arms the one that stands first is executed first."""

    order: Mapping[BasicBlock, int] = field(default_factory=dict)
    _warps: dict[tuple[int, int], _Warp] = field(default_factory=lambda: defaultdict(_Warp))

    def enter(self, lane: Lane, block: BasicBlock, moment: object, start: int) -> None:
        """Put the lane to those of its warp that are there in the same moment."""
        warp = self._warps[lane.block, lane.warp]
        bit, again = 1 << lane.lane, 0
        # A lane that comes for a second time in one moment (a loop with several entries) makes another piece.
        while True:
            key = (block, start, moment, again)
            number = warp.numbers.get(key)
            if number is None:
                number = warp.numbers[key] = len(warp.pieces)
                warp.pieces.append((block, start))
                warp.masks.append(0)
            if not warp.masks[number] & bit:
                break
            again += 1
        warp.masks[number] |= bit
        warp.ways[lane.lane].append(number)

    def access(self, lane: Lane, place: Instruction, moment: object, where: tuple[Space, int, int]) -> None:
        """Keep an address, in the space that it leads into."""
        space, address, size = where
        if space == "generic":
            space, address = _own_space(address)
        Counters.access(self, lane, place, moment, (space, address, size))

    def warps(self) -> Iterator[tuple[tuple[int, int], list[WarpPiece]]]:
        """Yield (block, warp) with its pieces in order, for each warp."""
        for key in sorted(self._warps):
            yield key, _order_pieces(self._warps[key], self.order)


def _own_space(address: int) -> tuple[Space, int]:
    if address >= LOCAL_WINDOW:
        return "local", address - LOCAL_WINDOW
    return ("shared", address - SHARED_WINDOW) if address >= SHARED_WINDOW else ("global", address)


# --- the order


def _order_pieces(warp: _Warp, order: Mapping[BasicBlock, int]) -> list[WarpPiece]:
    """Return the pieces of a warp in an order in which each comes after all that its lanes do before.

    Kept: the head of each lane; a piece is ready when all its lanes have it as their head. Of those that are ready the
    one that follows on what was done last comes first. (Ways through a reducible graph, unrolled by moment, never
    cross; where they do, the piece that most lanes wait for is taken apart.)
    """
    heads = dict.fromkeys(warp.ways, 0)
    waiting: Counter[int] = Counter(way[0] for way in warp.ways.values())
    left = list(warp.masks)
    made: list[WarpPiece] = []
    last = 0
    while waiting:
        ready = [n for n, lanes in waiting.items() if left[n].bit_count() == lanes]
        number = _next(ready, warp, last, order) if ready else waiting.most_common(1)[0][0]
        lanes = [lane for lane, head in heads.items() if warp.ways[lane][head] == number]
        mask = sum(1 << lane for lane in lanes)
        left[number] &= ~mask
        made.append(_piece(*warp.pieces[number], mask))
        last = mask
        del waiting[number]
        for lane in lanes:
            heads[lane] += 1
            if heads[lane] == len(warp.ways[lane]):
                del heads[lane]
            else:
                waiting[warp.ways[lane][heads[lane]]] += 1
    return made


def _next(ready: Sequence[int], warp: _Warp, last: int, order: Mapping[BasicBlock, int]) -> int:
    """Return which of the pieces that are ready comes next: one of the lanes that were just active, so that an arm is
    finished before another starts; of several the one that stands first in the text."""
    mine = [n for n in ready if warp.masks[n] & last]
    return min(mine or ready, key=lambda n: (order.get(warp.pieces[n][0], 0), warp.pieces[n][1], n))


def _piece(block: BasicBlock, start: int, mask: int) -> WarpPiece:
    for number in range(start, len(block.instructions)):
        if block.instructions[number].op == "call":
            return WarpPiece(block, start, number + 1, mask)
    return WarpPiece(block, start, len(block.instructions) + 1, mask)


# --- the sums


class Totals(Struct):
    """Sums over warps, in instructions of the kernel IR. `lost`: lane slots by the branch that took them away;
    `unfilled`: slots of warps that are wider than the threads left for them; `other`: lanes that stopped without a
    branch, in a run that did not end."""

    warp_instructions: int = 0
    lane_instructions: int = 0
    issued_slots: int = 0
    unfilled: int = 0
    other: int = 0
    lost: dict[Terminator, int] = field(default_factory=lambda: defaultdict(int))

    @property
    def efficiency(self) -> float:
        """Lanes that were active, of those that were issued."""
        return self.lane_instructions / self.issued_slots if self.issued_slots else 1.0


def totals(tally: Tally, width: int) -> Totals:
    """Return what the warps of a run, `width` lanes each, did."""
    found = Totals()
    for _, pieces in tally.warps():
        add_pieces(pieces, width, found)
    return found


def block_counts(tally: Tally) -> dict[BasicBlock, BlockCount]:
    """Return the counts of each block that was executed."""
    apart = {block: count.divergences for block, count in tally.branches().items()}
    return count_pieces((pieces for _, pieces in tally.warps()), apart)


def count_pieces(warps: Iterable[Sequence[WarpPiece]], apart: Mapping[BasicBlock, int]) -> dict[BasicBlock, BlockCount]:
    """Return the counts of each block that warps executed pieces of; `apart`: divergences behind it."""
    sums: defaultdict[BasicBlock, list[int]] = defaultdict(lambda: [0, 0, 0])
    for pieces in warps:
        everyone = 0
        for piece in pieces:
            everyone |= piece.mask
        for piece in pieces:
            lanes, begins = piece.mask.bit_count(), piece.start == 0
            row = sums[piece.block]
            row[0] += begins
            row[1] += lanes * begins
            row[2] += (everyone.bit_count() - lanes) * piece.count
    return {
        block: BlockCount(visits, lanes, apart.get(block, 0), lost) for block, (visits, lanes, lost) in sums.items()
    }


def add_pieces(pieces: Sequence[WarpPiece], width: int, found: Totals) -> None:
    """Add what one warp of `width` lanes executed to `found`. `met[a][b]`: the last piece in which lanes a and b were
    together; `all_met`: in which all were."""
    everyone = 0
    for piece in pieces:
        everyone |= piece.mask
    lanes_of: dict[int, tuple[int, ...]] = {}
    met = [[0] * width for _ in range(width)]
    all_met = 0
    for number, piece in enumerate(pieces):
        lanes = _list_lanes(lanes_of, piece.mask)
        found.warp_instructions += piece.count
        found.lane_instructions += piece.count * len(lanes)
        found.issued_slots += piece.count * width
        found.unfilled += piece.count * (width - everyone.bit_count())
        if piece.mask == everyone:
            all_met = number
            continue
        for lane in _list_lanes(lanes_of, everyone & ~piece.mask):
            row = met[lane]
            diverged = pieces[max(all_met, *(row[other] for other in lanes))].ends
            if isinstance(diverged, Branch | Switch):
                found.lost[diverged] += piece.count
            else:
                found.other += piece.count
        for lane in lanes:
            row = met[lane]
            for other in lanes:
                row[other] = number


def _list_lanes(lanes_of: dict[int, tuple[int, ...]], mask: int) -> tuple[int, ...]:
    """Return the lanes of a mask."""
    found = lanes_of.get(mask)
    if found is None:
        found = lanes_of[mask] = tuple(n for n in range(mask.bit_length()) if mask >> n & 1)
    return found
