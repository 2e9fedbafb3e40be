"""A kernel is run by the interpreter and by the compiled machine, and both must show the same."""

from __future__ import annotations

import struct
from collections import defaultdict
from collections.abc import Mapping

from msgspec import Struct
from msgspec.structs import replace

from warpsmith.simt.engine.engine import Checks, Run, run, why_refused
from warpsmith.simt.engine.words import Stop
from warpsmith.simt.interpreter import interpret
from warpsmith.simt.launch import Launch, Outcome, ProblemKind
from warpsmith.simt.layout import local_layout, shared_layout
from warpsmith.simt.memory import LaunchMemory, allocate_shared
from warpsmith.simt.tally import Tally, Totals, add_pieces, count_pieces
from warpsmith.ssa.nodes import BasicBlock, Module

__all__ = ["ALL", "QUICKLY", "Case", "Differs", "agree"]

ALL = Checks()
QUICKLY = Checks(quick=True)
"""With code that starts sooner."""

Row = tuple[int, int, int, int, int]
"""Requests, lanes, sectors, ideal sectors, bank conflicts."""


class Differs(AssertionError):
    """The two do not show the same."""


class Case(Struct, frozen=True):
    """A kernel `name`, how it is launched, and its arrays: (bytes, whether they are known) by parameter."""

    module: Module
    name: str
    launch: Launch
    arrays: Mapping[str, tuple[bytes, bool]]

    def placed(self, *, checks: bool) -> tuple[LaunchMemory, Launch]:
        """Return memory of its own with the arrays in it, and the launch with their addresses."""
        memory, arguments = LaunchMemory(checks=checks), dict(self.launch.arguments)
        for name, (data, known) in self.arrays.items():
            arguments[name] = struct.pack("<Q", memory.allocate(name, data, known=known).address)
        return memory, replace(self.launch, arguments=arguments)


def agree(case: Case, checks: Checks = ALL, *, contents: bool = True) -> str:
    """Run a kernel twice; return "" where both show the same, else why the compiled machine leaves it to the
    interpreter. `contents`: arrays must hold the same, which threads that race may not give. Raises Differs; also where
    the interpreter finds nothing wrong of what the machine says is."""
    function = case.module.function(case.name)
    assert function is not None
    memory, launch = case.placed(checks=checks.races)
    why = why_refused(case.module, function, launch)
    if why:
        return why
    before = [bytes(buffer.data) for buffer in memory.buffers]
    made = run(case.module, case.name, launch, memory, checks)
    if made.why:
        _expect("memory that is put back", [bytes(b.data) for b in memory.buffers], before)
        _confirm(case, made)
        return made.why
    other, launch = case.placed(checks=checks.races)
    tally = Tally()
    outcome = interpret(case.module, case.name, launch, other, tally)
    _clean(outcome, checks)
    for one, two in zip(memory.buffers, other.buffers, strict=True):
        if contents and one.data != two.data:
            raise Differs(f"{one.name}: {_first(one.data, two.data)}")
        if checks.uninitialized:
            _expect(f"what is known of {one.name}", bytes(one.known), bytes(two.known))
    _counters(made, tally, outcome, case, checks)
    return ""


_TOLD: Mapping[Stop, ProblemKind] = {
    Stop.BOUNDS: "bounds",
    Stop.ALIGNMENT: "alignment",
    Stop.UNINITIALIZED: "uninitialized",
    Stop.TRAP: "trap",
    Stop.BUDGET: "budget",
    Stop.BARRIER: "barrier",
    Stop.EXCHANGE: "exchange",
    Stop.ASKED: "unmodeled",
}
"""What the interpreter says where the machine stops."""


def _confirm(case: Case, made: Run) -> None:
    """Raise Differs where the machine stops for a reason that the interpreter does not see."""
    memory, launch = case.placed(checks=True)
    outcome = interpret(case.module, case.name, launch, memory)
    kinds = {problem.kind for problem in outcome.problems}
    if made.stop is Stop.RACE and not outcome.conflicts and outcome.complete:
        raise Differs(f"only the machine finds {made.why}")
    # threads that race read what was never written in one order and not in another
    if made.stop in _TOLD and _TOLD[made.stop] not in kinds and outcome.complete and not outcome.conflicts:
        raise Differs(f"only the machine finds {made.why}")


def _clean(outcome: Outcome, checks: Checks) -> None:
    unseen = ("overflow",) if checks.uninitialized else ("overflow", "uninitialized")
    wrong = [problem.message for problem in outcome.problems if problem.kind not in unseen]
    if wrong or outcome.conflicts or not outcome.complete:
        raise Differs(f"the interpreter alone finds {wrong} {outcome.conflicts[:1]}")


def _first(one: bytearray, two: bytearray) -> str:
    at = next(n for n, (a, b) in enumerate(zip(one, two, strict=True)) if a != b) // 4 * 4
    return f"byte {at}: {bytes(one[at : at + 8]).hex()} is not {bytes(two[at : at + 8]).hex()}"


def _counters(made: Run, tally: Tally, outcome: Outcome, case: Case, checks: Checks) -> None:
    """Compare all that was counted."""
    width = case.launch.warp
    sums, own, warps = Totals(), made.counts.totals, [pieces for _, pieces in tally.warps()]
    for pieces in warps:
        add_pieces(pieces, width, sums)
    _expect("steps", own.lane_instructions, outcome.steps)
    for name in ("warp_instructions", "lane_instructions", "issued_slots", "unfilled"):
        _expect(name, getattr(own, name), getattr(sums, name))
    blocks = count_pieces(warps, {block: count.divergences for block, count in tally.branches().items()})
    visited = {_name(block): count for block, count in made.counts.blocks.items() if count.visits}
    _expect("blocks", visited, {_name(block): count for block, count in blocks.items()})
    lost = sum(count.lost for count in made.counts.blocks.values())
    _expect("lost slots of blocks", lost, sum(sums.lost.values()) + sums.other)
    if checks.lost:
        _expect("lost slots", dict(own.lost), dict(sums.lost))
    if checks.requests:
        _expect("requests", _own_requests(made), _requests(tally, case, launch_memory(case)))


def _name(block: BasicBlock) -> tuple[str, int]:
    """Return a name that no block of another function has."""
    return block.name, id(block)


def launch_memory(case: Case) -> LaunchMemory:
    """Return the memory of a case as it is before a launch, its variables allocated as well."""
    memory, _ = case.placed(checks=False)
    allocate_shared(case.module, memory)
    return memory


def _own_requests(made: Run) -> dict[tuple[int, str, int], Row]:
    return {
        (id(one.place), one.space, one.address): (one.requests, one.lanes, one.sectors, one.ideal, one.conflicts)
        for one in made.counts.requests
    }


def _requests(tally: Tally, case: Case, memory: LaunchMemory) -> dict[tuple[int, str, int], Row]:
    """Return the same sums, as the report makes them of the interpreter's requests."""
    shared = shared_layout(case.module, case.name, case.launch.shared, case.launch.parts)
    local = local_layout(case.module, case.name)
    sums: dict[tuple[int, str, int], list[int]] = defaultdict(lambda: [0] * 5)
    for request in tally.requests():
        address = request.addresses[min(request.addresses)]
        space: str = request.space
        if space in ("shared", "local"):
            layout = shared if space == "shared" else local
            part = layout.near(layout.in_level(address))
            start = part.start if part is not None else -1
        else:
            start = next(b for b in memory.buffers if b.address <= address < b.end).address
        moves = space in ("global", "local")
        wanted = {byte for a in request.addresses.values() for byte in range(a, a + request.bytes)}
        row = (
            1,
            len(request.addresses),
            request.sectors if moves else 0,
            -(-len(wanted) // 32) if moves else 0,
            request.ways - 1 if space == "shared" else 0,
        )
        total = sums[id(request.place), space, start]
        total[:] = [a + b for a, b in zip(total, row, strict=True)]
    return {key: (row[0], row[1], row[2], row[3], row[4]) for key, row in sums.items()}


def _expect(what: str, one: object, two: object) -> None:
    if one != two:
        raise Differs(f"{what}: {one} is not {two}")
