"""One launch under a policy: warps in turn, the lanes that the policy picks in lock step, a piece of a block at a time.

    pick lanes ─► all of them execute instruction after instruction, to the end of the block ─► where did they go?

The lanes are those of the interpreter, so a kernel computes what it does there, in the order of the policy. Where lanes
wait for others that the policy does not let go on, the run ends, and it is told who waits.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Final, Literal, get_args

from msgspec import Struct

from warpsmith.base.progress import Progress, ignore_progress
from warpsmith.simt.counters import BlockCount
from warpsmith.simt.interpreter import Step, ThreadBlock, interpret, list_few
from warpsmith.simt.launch import Launch, Outcome
from warpsmith.simt.meeting.exchange import meet_in_lock_step
from warpsmith.simt.meeting.waiting import waits_for_others
from warpsmith.simt.memory import LaunchMemory
from warpsmith.simt.policies.linear import LinearPolicy
from warpsmith.simt.policies.per_lane import PerLanePolicy
from warpsmith.simt.policies.policy import Graphs, Policy, bits
from warpsmith.simt.policies.stack import StackPolicy
from warpsmith.simt.tally import Totals, WarpPiece, add_pieces, count_pieces
from warpsmith.simt.thread import Thread
from warpsmith.ssa.graph import Graph
from warpsmith.ssa.nodes import BasicBlock, Module

__all__ = ["POLICIES", "PolicyName", "PolicyRun", "run_policy", "why_not"]

PolicyName = Literal["maximal", "structurized", "ipdom", "true-first", "smaller-first", "per-lane"]
POLICIES: Final[tuple[PolicyName, ...]] = get_args(PolicyName)
_PIECES = 64
"""How many pieces a warp executes before the next one goes on."""

_MAKE: Mapping[PolicyName, Callable[[Graphs], Policy]] = {
    "maximal": LinearPolicy,
    "structurized": LinearPolicy,
    "ipdom": lambda graphs: StackPolicy(graphs, "text"),
    "true-first": lambda graphs: StackPolicy(graphs, "true"),
    "smaller-first": lambda graphs: StackPolicy(graphs, "smaller"),
    "per-lane": PerLanePolicy,
}


class PolicyRun(Struct, frozen=True):
    """A run under a policy: how it ended, what it cost, and the pieces of each warp (block, warp) in order, which only
    the interpreter keeps. `most_waiting`: sets of lanes of a warp that waited at most to go on at a place of their own;
    `note`: why the interpreter ran it where the compiled machine was asked for; `waiting`: where it did not end, which
    lanes of the warp that went on waited for their turn, and at which lines."""

    policy: PolicyName
    outcome: Outcome
    totals: Totals
    blocks: Mapping[BasicBlock, BlockCount]
    pieces: Mapping[tuple[int, int], Sequence[WarpPiece]]
    most_waiting: int
    note: str = ""
    waiting: str = ""


def why_not(policy: PolicyName, module: Module) -> str:
    """Return why a policy cannot take the control flow of a module; "" where it can."""
    if policy != "structurized":
        return ""
    for function in module.functions:
        if function.blocks and (found := Graph.of(function).irreducible):
            return f"the loop at {found[0].header} of {function.name} has {len(found[0].entries)} entries"
    return ""


def run_policy(
    policy: PolicyName,
    module: Module,
    kernel: str,
    launch: Launch,
    memory: LaunchMemory,
    *,
    progress: Progress = ignore_progress,
) -> PolicyRun:
    """Run a kernel on `memory`, whose buffers it changes, as `policy` says.

    Raises KeyError where there is no such kernel with code. `why_not` says whether the policy can take it.
    """
    graphs = {function.name: Graph.of(function) for function in module.functions if function.blocks}
    turns = _PolicyTurns(lambda: _MAKE[policy](graphs), launch.warp)
    outcome = interpret(module, kernel, launch, memory, turns=turns, progress=progress)
    found, parted = Totals(), Counter[BasicBlock]()
    for warp in turns.warps.values():
        add_pieces(warp.pieces, launch.warp, found)
        parted += warp.parted
    blocks = count_pieces((warp.pieces for warp in turns.warps.values()), parted)
    pieces = {number: tuple(warp.pieces) for number, warp in sorted(turns.warps.items())}
    most = max((warp.policy.most_waiting for warp in turns.warps.values()), default=0)
    return PolicyRun(policy, outcome, found, blocks, pieces, most, waiting=turns.waiting)


class _Warp(Struct):
    """A warp on its way, and what it has executed; `parted`: how often its lanes went different ways behind a block."""

    policy: Policy
    pieces: list[WarpPiece]
    parted: Counter[BasicBlock]


class _PolicyTurns:
    """Lets each warp of a block execute some pieces."""

    def __init__(self, make: Callable[[], Policy], width: int) -> None:
        self._make = make
        self._width = width
        self.warps: dict[tuple[int, int], _Warp] = {}
        self.waiting = ""

    def turn(self, block: ThreadBlock, step: Step) -> bool:
        """Let the warps of a block go on, one after the other; return whether any could."""
        moved = False
        for threads in block.warps:
            number = block.number, threads[0].lane.warp
            if number not in self.warps:
                self.warps[number] = _Warp(self._make(), [], Counter())
            for _ in range(_PIECES):
                lanes = self.warps[number].policy.pick([thread for thread in threads if not thread.ended])
                if not lanes:
                    break
                moved = True
                if not self._execute(self.warps[number], lanes, step):
                    self.waiting = _who_waits(threads, lanes)
                    return True
        return moved

    def _execute(self, warp: _Warp, lanes: Sequence[Thread], step: Step) -> bool:
        """Execute one piece; return whether the run goes on."""
        frame, depth = lanes[0].frames[-1], len(lanes[0].frames)
        block, start = frame.block, frame.place
        place, mask, ends = start, bits(lanes), False
        while not ends:
            one = block.instructions[place] if place < len(block.instructions) else None
            if not all(step(thread) for thread in lanes):
                return False
            place += 1
            waits = one is not None and waits_for_others(one)
            ends = one is None or one.op == "call" or (waits and not meet_in_lock_step(lanes, self._width))
        _note(warp.pieces, block, (start, place), mask)
        if place > len(block.instructions):
            left = [thread for thread in lanes if not thread.ended]
            if left:
                warp.policy.parted(block, depth, left)
                warp.parted[block] += len({thread.frames[-1].block for thread in left}) > 1
        return True


def _who_waits(threads: Sequence[Thread], active: Sequence[Thread]) -> str:
    """Return which lanes of a warp wait while others are active, and at which lines; "" where none does."""
    places: dict[int, list[int]] = {}
    for thread in threads:
        if not thread.ended and thread not in active:
            places.setdefault(thread.span.line if thread.span is not None else 0, []).append(thread.lane.lane)
    return "; ".join(
        f"{'lanes' if len(lanes) > 1 else 'lane'} {list_few(lanes)} wait{'s' * (len(lanes) == 1)}"
        + (f" at line {line}" if line else "")
        for line, lanes in sorted(places.items())
    )


def _note(pieces: list[WarpPiece], block: BasicBlock, extent: tuple[int, int], mask: int) -> None:
    """Add a piece; what the same lanes go on with behind a place where they waited belongs to it."""
    start, stop = extent
    last = pieces[-1] if pieces else None
    if last is not None and start > 0 and (last.block, last.stop, last.mask) == (block, start, mask):
        pieces[-1] = WarpPiece(block, last.start, stop, mask)
    else:
        pieces.append(WarpPiece(block, start, stop, mask))
