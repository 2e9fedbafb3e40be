"""From what a run left to the rows of its report: on the user's lines, in words of the kernel's own variables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from warpsmith.base.findings import Finding, Note
from warpsmith.base.source import Span, readable
from warpsmith.kernels.units import KernelUnit
from warpsmith.report.simulation.model import (
    BlockRow,
    BranchRow,
    Check,
    Column,
    MemoryRow,
    Mistake,
    TimelineGroup,
    WarpStep,
)
from warpsmith.simt.choose import Done
from warpsmith.simt.counters import BlockCount
from warpsmith.simt.engine.counts import RequestSum
from warpsmith.simt.launch import KernelProblem, Launch, Outcome, ProblemKind
from warpsmith.simt.layout import local_layout, shared_layout
from warpsmith.simt.memory import AccessConflict, LaunchMemory, RecordedAccess, Where
from warpsmith.simt.tally import WarpPiece
from warpsmith.ssa.nodes import BasicBlock, Branch, Function, Instruction, Jump, Module, Return, Switch, Terminator

__all__ = ["Pieces", "Watched", "block_rows", "branch_rows", "memory_rows", "mistakes_of", "text_order", "timeline_of"]

Pieces = Iterable[tuple[tuple[int, int], Sequence[WarpPiece]]]
"""What warps, as (block, warp), executed, in order."""


class Watched(Struct, frozen=True):
    """A run that is over, with all that was seen of it. `elements`: how many bytes an element of each array has."""

    unit: KernelUnit
    kernel: Function
    launch: Launch
    memory: LaunchMemory
    elements: Mapping[str, int]
    done: Done

    @property
    def outcome(self) -> Outcome:
        """How it ended."""
        return self.done.outcome


# --- counters


def branch_rows(watched: Watched) -> tuple[BranchRow, ...]:
    """Return the branches, in the order of the text."""
    sums: dict[tuple[str, str], BranchRow] = {}
    for block, count in watched.done.branches.items():
        if isinstance(block.terminator, Branch | Switch):
            row = _branch_row(block.terminator, count, watched.done.totals.lost.get(block.terminator, 0))
            key = (str(row.span), row.op)
            old = sums.get(key)
            sums[key] = row if old is None else _add_row(old, row)
    return tuple(sorted(sums.values(), key=lambda row: _position(row.span)))


def block_rows(watched: Watched) -> tuple[BlockRow, ...]:
    """Return the basic blocks that were executed, those that took most instructions of warps first."""
    rows = [
        BlockRow(_extent(block), len(block.instructions) + 1, count.visits, count.lanes, count.lost)
        for block, count in watched.done.blocks.items()
        if count.visits
    ]
    return tuple(sorted(rows, key=lambda row: (-row.warp_instructions, _position(row.span))))


def _extent(block: BasicBlock) -> Span | None:
    """Return where the first and the last instruction of a block begin; of an empty one what ends it."""
    spans = [one.span for one in block.instructions if one.span is not None]
    ends = _place_drawn(block.terminator, None)
    spans = spans or ([ends] if ends is not None else [])
    if not spans:
        return None
    mine = [Span(span.file, span.start, span.start) for span in spans if span.file is spans[0].file]
    return Span(mine[0].file, min(span.start for span in mine), max(span.end for span in mine))


def _branch_row(branch: Branch | Switch, count: BlockCount, lost: int) -> BranchRow:
    return BranchRow(branch.span, _branch_name(branch), count.visits, count.divergences, lost)


def _branch_name(branch: Branch | Switch) -> str:
    if isinstance(branch, Switch):
        return "switch"
    return branch.construct or ("predicate" if branch.predicated else "bra")


def _add_row(old: BranchRow, row: BranchRow) -> BranchRow:
    return replace(
        old,
        visits=old.visits + row.visits,
        divergences=old.divergences + row.divergences,
        lost_lane_slots=old.lost_lane_slots + row.lost_lane_slots,
    )


def _position(span: Span | None) -> tuple[str, int]:
    return ("", -1) if span is None else (span.file.path, span.start)


def memory_rows(watched: Watched) -> tuple[MemoryRow, ...]:
    """Return the accesses, in the order of the text."""
    sums: dict[tuple[str, str, str, str], MemoryRow] = {}
    for request in watched.done.requests:
        row = _memory_row(watched, request)
        key = (str(row.span), row.kind, row.space, row.variable)
        old = sums.get(key)
        if old is not None:
            row = replace(
                old,
                requests=old.requests + row.requests,
                lanes=old.lanes + row.lanes,
                sectors=old.sectors + row.sectors,
                ideal=old.ideal + row.ideal,
                bank_conflicts=old.bank_conflicts + row.bank_conflicts,
            )
        sums[key] = row
    return tuple(sorted(sums.values(), key=lambda row: _position(row.span)))


def _memory_row(watched: Watched, sums: RequestSum) -> MemoryRow:
    return MemoryRow(
        span=sums.place.span,
        kind={"load": "load", "store": "store"}.get(sums.place.op, "atomic"),
        space=sums.space,
        variable=_variable(watched, sums.space, sums.address),
        requests=sums.requests,
        lanes=sums.lanes,
        sectors=sums.sectors,
        ideal=sums.ideal,
        bank_conflicts=sums.conflicts,
    )


def _variable(watched: Watched, space: str, address: int) -> str:
    """Return the name of what lies at an address."""
    if space in ("shared", "local"):
        return _own_place(watched, space, address)[0]
    return next((b.name for b in watched.memory.buffers if b.address <= address < b.end), "(nothing)")


def _own_place(watched: Watched, space: str, offset: int) -> tuple[str, int, int]:
    """Return the variable of shared or local memory that a byte is in, or next to, the byte's place in it, its size."""
    module, kernel, launch = watched.unit.module, watched.kernel.name, watched.launch
    shared = space == "shared"
    layout = shared_layout(module, kernel, launch.shared, launch.parts) if shared else local_layout(module, kernel)
    offset = layout.in_level(offset)
    part = layout.near(offset)
    if part is None:
        return f"{space} memory", offset, 0
    # a name that several kernels have is numbered
    shown = part.name if watched.unit.language == "ptx" else part.name.partition(".")[0]
    return shown, offset - part.start, part.end - part.start


# --- mistakes


_CHECKS: Final[Mapping[ProblemKind, tuple[Check, str]]] = {
    "bounds": ("oob", "SIM002"),
    "uninitialized": ("uninit", "SIM003"),
    "barrier": ("barrier", "SIM004"),
    "exchange": ("barrier", "SIM004"),
    "alignment": ("fault", "SIM005"),
    "trap": ("fault", "SIM005"),
}
_WORDS: Final[Mapping[ProblemKind, str]] = {
    "bounds": "out of bounds: ",
    "uninitialized": "uninitialized read: ",
    "exchange": "exchange between lanes: ",
    "barrier": "barrier: ",
}


def mistakes_of(watched: Watched) -> Iterator[Mistake]:
    """Yield what the kernel did wrong; the same at one place once."""
    races: dict[frozenset[str], Mistake] = {}
    for conflict in watched.outcome.conflicts:
        pair = frozenset(str(_span(access)) for access in (conflict.first, conflict.second))
        races.setdefault(pair, _race(watched, conflict))
    yield from races.values()
    merged: dict[tuple[str, str], Mistake] = {}
    for problem in watched.outcome.problems:
        if problem.kind not in _CHECKS:
            continue
        check, rule = _CHECKS[problem.kind]
        key = (rule, str(problem.span) if problem.kind == "uninitialized" else f"{problem.span} {problem.message}")
        if key in merged:
            merged[key] = replace(merged[key], times=merged[key].times + 1)
            continue
        who = f" ({_thread(watched.launch, problem.block, problem.thread)})"
        message = f"{_WORDS.get(problem.kind, '')}{_describe_problem(watched, problem)}{who}"
        finding = Finding(rule, "error", message, problem.span, _advice(problem.kind))
        variable = "" if problem.where is None else _element(watched, problem.where)[0]
        merged[key] = Mistake(check, finding, problem.block, problem.thread, 1, None, variable)
    yield from merged.values()


def _describe_problem(watched: Watched, problem: KernelProblem) -> str:
    """Return what is wrong in words of elements, where it is about a place in memory."""
    if problem.where is None:
        return problem.message
    text, size = _element(watched, problem.where)
    if problem.kind == "uninitialized":
        return f"{text} is read before anything was written there"
    name, bytes_ = problem.where[0], 0
    if (space := _own_space(name)) is not None:
        name, _, bytes_ = _own_place(watched, space, problem.where[1])
    else:
        bytes_ = next((len(b.data) for b in watched.memory.buffers if b.name == name), 0)
    count = bytes_ // size
    if not count:
        return problem.message
    return f"{text}: {readable(name)} has {count:,} element{'' if count == 1 else 's'} of {size} bytes"


def _own_space(buffer: str) -> str | None:
    """Return the space of a buffer that is a block's or a thread's own; None for one of all."""
    return next((space for space in ("shared", "local") if buffer.startswith(f"the {space} memory")), None)


def _element(watched: Watched, where: Where) -> tuple[str, int]:
    """Return the element at a place in memory, `s[3]`, and how many bytes it has."""
    name, offset, size = where
    if (space := _own_space(name)) is not None:
        name, offset, _ = _own_place(watched, space, offset)
    elif name in watched.elements:
        size = watched.elements[name]
    return f"{readable(name)}[{offset // size}]", size


def _advice(kind: ProblemKind) -> tuple[str, ...]:
    match kind:
        case "bounds":
            return ("the run stops here: guard the access, or give the array more elements",)
        case "barrier":
            return ("every thread of a block has to come to the same barrier",)
        case _:
            return ()


def _race(watched: Watched, conflict: AccessConflict) -> Mistake:
    first, second = conflict.first, conflict.second
    variable = _name_touched(watched, conflict)
    same_block = first.origin.block == second.origin.block
    between = "no barrier stands between them" if same_block else "nothing orders threads of different blocks"
    places = [_span(first), _span(second)]
    notes = [
        Note(span, f"{_verb(access)} by {_thread(watched.launch, access.origin.block, access.origin.thread)}")
        for access, span in zip((first, second), places, strict=True)
        if span is not None
    ]
    who = [
        f"{_thread(watched.launch, access.origin.block, access.origin.thread)} {_verb(access)}"
        for access in (first, second)
    ]
    message = f"data race on {variable}: {' and '.join(who)}, {between}"
    other = (second.origin.block, second.origin.thread)
    finding = Finding("SIM001", "error", message, places[0] or places[1], (), tuple(notes[1:]))
    return Mistake("race", finding, first.origin.block, first.origin.thread, 1, other, variable)


def _verb(access: RecordedAccess) -> str:
    return {"load": "reads", "store": "writes", "atomic": "updates it atomically"}[access.kind]


def _span(access: RecordedAccess) -> Span | None:
    return access.instruction.span if isinstance(access.instruction, Instruction) else None


def _name_touched(watched: Watched, conflict: AccessConflict) -> str:
    """Return the element that two accesses touch, `s[3]`, as the first access sees elements."""
    return _element(watched, (conflict.buffer, conflict.offset, _bytes(conflict.first.instruction)))[0]


def _bytes(instruction: object) -> int:
    """Return how many bytes an element has that an instruction reads or writes."""
    if not isinstance(instruction, Instruction):
        return 1
    moved = instruction.results[0] if instruction.op == "load" else instruction.operands[1]
    return moved.type.bytes


def _thread(launch: Launch, block: int, thread: int) -> str:
    """Return a thread as one names it: by x where there is nothing else."""
    return f"block {_number(block, launch.grid)} thread {_number(thread, launch.block)}"


def _number(number: int, sizes: tuple[int, int, int]) -> str:
    x, y, z = sizes
    if y == z == 1:
        return str(number)
    return f"({number % x}, {number // x % y}, {number // (x * y)})"


# --- the timeline


def text_order(module: Module) -> dict[BasicBlock, int]:
    """Return where each block starts in its text."""
    found: dict[BasicBlock, int] = {}
    for block in (block for function in module.functions for block in function.blocks):
        starts = [one.span.start for one in block.instructions if one.span is not None]
        found[block] = min(starts, default=0 if block.terminator.span is None else block.terminator.span.start)
    return found


def timeline_of(warps: Pieces) -> tuple[TimelineGroup, ...]:
    """Return what each warp executed, in order: warps with the same steps side by side."""
    groups: dict[tuple[WarpStep, ...], dict[tuple[int, ...], list[tuple[int, int]]]] = {}
    for warp, pieces in warps:
        runs = list(_runs(pieces))
        alike = groups.setdefault(tuple(step for step, _ in runs), {})
        alike.setdefault(tuple(mask for _, mask in runs), []).append(warp)
    return tuple(
        TimelineGroup(steps, tuple(Column(tuple(warps), masks) for masks, warps in alike.items()))
        for steps, alike in groups.items()
    )


def _runs(pieces: Iterable[WarpPiece]) -> Iterator[tuple[WarpStep, int]]:
    """Yield runs of instructions of one line with one mask."""
    number, start, held, mask = 0, 0, None, 0
    for piece in pieces:
        for one in piece.instructions_executed():
            span = _place_drawn(one, held)
            changes = piece.mask != mask or _line(span) != _line(held)
            if changes and number > start:
                yield _step(start, number, held), mask
                start = number
            held, mask, number = span, piece.mask, number + 1
    if number > start:
        yield _step(start, number, held), mask


def _place_drawn(one: Instruction | Terminator, held: Span | None) -> Span | None:
    """Return where an instruction is drawn: a jump, which nobody wrote, with what is before it; the end of a body at
    its closing brace."""
    if one.span is None or (isinstance(one, Jump) and held is not None):
        return held
    if isinstance(one, Return) and one.span.line != one.span.end_line:
        return Span(one.span.file, max(one.span.start, one.span.end - 1), one.span.end)
    return one.span


def _line(span: Span | None) -> int:
    return 0 if span is None else span.line


def _step(start: int, stop: int, span: Span | None) -> WarpStep:
    text = "" if span is None else readable(span.file.line(span.line)).strip()
    return WarpStep(start, stop - start, _line(span), text)
