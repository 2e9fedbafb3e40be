"""SYN: barriers, races, exchanges between lanes, atomics."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from msgspec.structs import replace

from warpsmith.analysis.rules.blocks import tests_thread
from warpsmith.analysis.rules.branch_kinds import is_by_data
from warpsmith.analysis.rules.finding import Estimate, EvidenceTable, KernelFinding, why_of
from warpsmith.analysis.rules.lanes import LaneValues, alive_at, only_way
from warpsmith.analysis.rules.origins import origin
from warpsmith.analysis.rules.place import describe_access, place_of
from warpsmith.analysis.rules.race_causes import find_causes
from warpsmith.analysis.rules.race_evidence import (
    is_locked_without_fence,
    is_looked_at_again,
    is_of_another_block,
    is_of_no_launch,
    is_polled,
    is_reduced,
    is_release,
    is_spared_update,
    is_swap_loop,
    is_thin,
)
from warpsmith.analysis.rules.sides import comparison
from warpsmith.analysis.sync.by_data import BY_DATA
from warpsmith.analysis.sync.flags import describe_flags
from warpsmith.analysis.sync.races import UNLIKE
from warpsmith.analysis.uniformity.facts import AccessFact, BarrierFact, ExchangeFact, KernelFacts, RaceFact, Side
from warpsmith.base.findings import Certainty, Note, Severity
from warpsmith.base.source import Span
from warpsmith.ssa.nodes import Branch, Constant, Exit, Instruction, Operand, Query, Return, Value

__all__ = ["synchronization"]

_DONE_ONCE: Final = tuple(f"atomic_{op}" for op in ("exchange", "and", "or", "smin", "smax", "umin", "umax"))
"""Operations that do no more if the same is done again."""


def synchronization(facts: KernelFacts) -> Iterator[KernelFinding]:
    """Yield what is to be said of how the threads of a kernel wait for each other."""
    yield from (_divergent(facts, barrier) for barrier in facts.barriers if barrier.divergent)
    yield from _redundant(facts)
    yield from _races(facts)
    if facts.as_written is not None:
        yield from _races(replace(facts.as_written, words=facts.words))
    for exchange in facts.exchanges:
        # nobody waits for lanes that have ended (PTX ISA, vote.sync and others); only what they would give is undefined
        if exchange.absent and (exchange.op == "shuffle" or not exchange.exits):
            yield _absent(facts, exchange)
    lanes = LaneValues(facts)
    for access in facts.accesses:
        if access.kind == "atomic" and (found := _find_contended(facts, access, lanes)) is not None:
            yield found


def _text(span: Span | None) -> str:
    return "" if span is None else " ".join(span.text.split())


# --- barriers


def _divergent(facts: KernelFacts, barrier: BarrierFact) -> KernelFinding:
    returned = _after_return(facts, barrier)
    rule = "SYN003" if returned else "SYN001"
    helps: tuple[str, ...]
    if returned:
        message = "a barrier of the block that threads which have returned before never reach"
        label = "some threads have ended before"
        helps = (
            "turn the early `return` into a flag, and let all threads come to the barrier",
            "or test a condition that is the same for the whole block",
        )
    else:
        message = "a barrier of the block under a condition that differs between its threads"
        label = "threads of one block get here apart from each other, or not at all"
        helps = ("move the barrier out of the branch, and keep only the work inside it",)
    if of_roles := not returned and _is_of_roles(facts, barrier):
        message = (
            "whole warps of a block wait at barriers of their own: hardware may pair them, CUDA does not promise it"
        )
        helps = ("let all warps come to one barrier, or give each pair a named one (bar.sync with a number)",)
    why = why_of(barrier.why, barrier.lines)
    by_data = barrier.certainty != "proven" and is_by_data(facts, barrier)
    return KernelFinding(
        rule, message, barrier.certainty, facts.kernel, barrier.span, f"barrier {_text(barrier.span)}", label,
        assumptions=barrier.assumptions, why=why, help=helps, impact=100.0,
        cause=f"{why[0].text} {why[0].span}" if why else "", at_most="warning" if by_data or of_roles else "error",
    )  # fmt: skip


def _is_of_roles(facts: KernelFacts, barrier: BarrierFact) -> bool:
    """Whether the warps of a block have parts of their own, as producers and consumers do, and wait equally often:
    those that pass this barrier by come to another one, and no branch before it parts the lanes of a warp."""
    if facts.words.masked is False or not _parts_warps_alone(facts, barrier):
        return False
    lanes = LaneValues(facts)
    waiting = [alive_at(facts, one.block, lanes) for one in facts.barriers if one.divergent]
    known = [alive for alive in waiting if alive is not None]
    times = {sum(column) for column in zip(*known, strict=True)}
    return len(known) == len(waiting) and len(times) == 1 and 0 not in times


def _parts_warps_alone(facts: KernelFacts, barrier: BarrierFact) -> bool:
    parting = [
        branch.warp
        for branch in facts.branches
        if branch.block == "divergent"
        and isinstance(branch.place.terminator, Branch)
        and only_way(facts, branch.place, barrier.block) is not None
    ]
    return bool(parting) and all(warp == "uniform" for warp in parting)


def _after_return(facts: KernelFacts, barrier: BarrierFact) -> bool:
    """Whether threads that pass the barrier by have returned, rather than gone around it: a `return` is written where
    they part. In code, the two look alike."""
    if not barrier.exits:
        return False
    graph = facts.warp_level.graph
    blocks = {block.name: block for block in facts.function.blocks}
    for branch in facts.branches:
        terminator = branch.place.terminator
        if branch.block != "divergent" or not isinstance(terminator, Branch):
            continue
        way = only_way(facts, branch.place, barrier.block)
        if way is None:
            continue
        # whoever goes around the barrier meets the others behind it, and may return with them
        behind = _find_reached(facts, list(graph.successors[barrier.block]), branch.place.name)
        for name in _find_reached(facts, [terminator.other if way else terminator.then], branch.place.name) - behind:
            end = blocks[name].terminator
            if isinstance(end, Return | Exit) and _text(end.span).startswith("return"):
                return True
        if branch.span is not None and "return" in branch.span.file.line(branch.span.line):
            return True
    return False


def _find_reached(facts: KernelFacts, starts: list[str], end: str) -> set[str]:
    """Return the blocks that control may come to from some, these included, without passing `end`."""
    graph = facts.warp_level.graph
    pending, seen = list(starts), {end}
    while pending:
        name = pending.pop()
        if name not in seen and name in graph.successors:
            seen.add(name)
            pending += graph.successors[name]
    return seen - {end}


def _redundant(facts: KernelFacts) -> Iterator[KernelFinding]:
    """Yield SYN006 for one barrier at most: of two that each stand in for the other, one must stay."""
    found = [barrier for barrier in facts.barriers if barrier.redundant and not barrier.divergent]
    if not found:
        return
    last = found[-1]
    more = f"; {len(found) - 1} more may go after it: look again then" if len(found) > 1 else ""
    yield KernelFinding(
        "SYN006", f"nothing before and behind this barrier needs an order: it can go{more}", last.certainty,
        facts.kernel, last.span, f"barrier {_text(last.span)}", "every warp waits for the slowest one",
        assumptions=last.assumptions, help=("remove the barrier",), impact=0.5,
    )  # fmt: skip


# --- races


def _races(facts: KernelFacts) -> Iterator[KernelFinding]:
    races = [race for race in facts.races if not (_is_one_number(facts, race) or is_swap_loop(facts, race))]
    told = [_race(facts, race) for race in races]
    best: dict[object, KernelFinding] = {}
    for one, race in zip(told, races, strict=True):
        # a function that is called twice has one pair of places twice, of several warps and of one
        other = best.setdefault(_in_text(race), one)
        best[_in_text(race)] = max(other, one, key=_weight)
    for one, race, first in zip(told, races, find_causes(races), strict=True):
        if best[_in_text(race)] is one:
            yield replace(one, cause=f"{told[first].subject} {told[first].span}")


def _weight(one: KernelFinding) -> tuple[int, bool]:
    """Return what tells which of two findings of the same places is told: how certain it is, and of a whole block."""
    order: tuple[Certainty, ...] = ("heuristic", "conditional", "witnessed", "proven")
    return order.index(one.certainty), one.rule == "SYN002"


def _in_text(race: RaceFact) -> object:
    """Return the two places of a race in the text; instructions that have none are places of their own."""
    sides = (race.first.access, race.second.access)
    return race.variable, race.reach, frozenset(str(side.span) if side.span else id(side.instruction) for side in sides)


def _race(facts: KernelFacts, race: RaceFact) -> KernelFinding:
    first, second = race.first, race.second
    warped = race.barrier is None and _in_one_warp(facts, race)
    rule = "SYN008" if race.reach == "grid" else "SYN004" if warped else "SYN002"
    name = race.variable or "memory"
    where = name if race.offset is None else f"{name} at byte {race.offset}"
    terms = facts.words
    words = {
        "SYN002": (f"data race on {race.space} {where}: no barrier orders the two accesses",
                   (f"put {terms.barrier} between the two",
                    "if the race is meant: // warpsmith: ignore[SYN002] and the reason")),
        "SYN004": (f"threads of one warp exchange {where} without {terms.warp_barrier}: lanes need not run in step",
                   (f"put {terms.warp_barrier} between the two", f"or exchange the value by {terms.broadcast}")),
        "SYN008": (f"a block touches {where} that another block of the same launch touches: no order between them",
                   ("split the kernel at this point: a second launch waits for the first",
                    "or use cooperative groups and grid.sync()")),
    }  # fmt: skip
    message = words[rule][0]
    helps: tuple[str, ...] = words[rule][1]
    if race.barrier is not None:
        message, helps = _said_of_flags(race, where, race.barrier)
    elif race.space != "shared" and rule == "SYN002":
        helps = (f"put {terms.barrier_of_device_memory} between the two", *helps[1:])
    if rule == "SYN008" and first.access.instruction is second.access.instruction and _is_of_no_block(facts, race):
        message = f"every block of the launch writes the same elements of {where}: no order between them"
        helps = ("let the index depend on ctaid.x, or launch one block", helps[0])
    if race.replay:
        helps = (*helps, f"to see it: {race.replay}")
    if race.space != "shared" and (rows_alike := _rows_alike(facts, race)):
        helps = (rows_alike, *helps)
    certainty = _how_sure(facts, race)
    if _is_of_anyone(facts, race):
        message = f"data decide which of several threads writes {where} last: what it holds then is open"
        helps = ("if any of them will do, say so in an ignore comment; else let an atomic operation choose", *helps[2:])
    severity: Severity = "warning" if is_thin(facts, race) else "error"
    if (known := _known_kind(facts, race, where)) is not None:
        severity, message, helps = known
    block, other = (" of one block", " of another") if rule == "SYN008" else ("", "")
    related = () if first.access.span is None else (Note(first.access.span, _doing(first, block)),)
    if race.barrier is not None and race.barrier.span is not None:
        related = (*related, Note(race.barrier.span, f"orders {describe_flags(race.barrier)}"))
    rows = tuple(
        (_who(side, at), side.access.kind, str(side.access.span or ""))
        for side, at in ((first, block), (second, other))
    )
    subject = f"race {race.space} {race.variable} {_text(first.access.span)} {_text(second.access.span)}"
    return KernelFinding(
        rule, message, certainty, facts.kernel, second.access.span or first.access.span, subject, _doing(second, other),
        assumptions=_said_assumptions(race, certainty), related=related, help=helps, impact=100.0,
        evidence=(EvidenceTable("witness", ("thread", "access", "place"), rows),),
        replay=race.replay, at_most=severity,
    )  # fmt: skip


def _said_assumptions(race: RaceFact, certainty: Certainty) -> tuple[str, ...]:
    """Return what a race rests on; a conditional one rests at least on control that gets there."""
    if race.assumptions or certainty != "conditional":
        return race.assumptions
    return (f"more than one {'block' if race.reach == 'grid' else 'thread'} gets there",)


def _known_kind(facts: KernelFacts, race: RaceFact, where: str) -> tuple[Severity, str, tuple[str, ...]] | None:
    """Return how severe a race of a known kind is, what it is and what helps; None of others."""
    strict = "to be strict: read it by an atomic load (cuda::atomic_ref, relaxed), or leave the test out"
    if is_spared_update(facts, race):
        message = (
            f"{where} is read without an atomic operation, and others update it by one: harmless, since it is asked "
            "only whether the update would change anything"
        )
        return "note", message, (strict,)
    if is_polled(facts, race):
        message = f"{where} is polled by volatile reads: nothing orders what those who write it have written before"
        return "note", message, ("to be strict: cuda::atomic_ref, stored with release and loaded with acquire",)
    if is_release(facts, race):
        message = (
            f"{where} is a lock that a plain store gives back: what was written under it may be seen later than that"
        )
        return "warning", message, (facts.words.release,)
    if race.reach == "grid" and is_locked_without_fence(facts, race):
        message = f"{where} is touched under a lock without a fence: what one block writes there, another may not see"
        return "error", message, (facts.words.lock_fences,)
    if is_looked_at_again(facts, race):
        message = (
            f"{where} is read without an atomic operation to decide whether it is updated: it may be an old number"
        )
        return "warning", message, (strict,)
    return None


def _how_sure(facts: KernelFacts, race: RaceFact) -> Certainty:
    """Return how certain a race is, by what it rests on besides what is said of it."""
    # nothing in the addresses says that there is more than one block
    one_block = race.reach == "grid" and facts.shape.grid is None and not _is_of_blocks(facts, race)
    guarded = race.certainty == "conditional" and _is_guarded(facts, race)
    unlikely = one_block or guarded or _is_told_twice(facts, race) or is_of_no_launch(facts, race)
    unlikely = unlikely or is_reduced(facts, race) or is_of_another_block(facts, race)
    return "heuristic" if unlikely else race.certainty


def _said_of_flags(race: RaceFact, where: str, barrier: Instruction) -> tuple[str, tuple[str, ...]]:
    """Return the message of a race past a barrier of OpenCL, and what helps."""
    memory, flag = ("local", "CLK_LOCAL_MEM_FENCE") if race.space == "shared" else ("global", "CLK_GLOBAL_MEM_FENCE")
    at = "" if barrier.span is None else f" in line {barrier.span.line}"
    message = (
        f"data race on {memory} {where}: the flags of the barrier between the two accesses leave {memory} memory out"
    )
    return message, (f"add {flag} to the flags of the barrier{at}",)


def _is_one_number(facts: KernelFacts, race: RaceFact) -> bool:
    """Whether all that is stored is one number that is the same for all: a flag, whoever sets it. Who reads what it
    has stored itself gets that number as well."""
    sides = race.first.access, race.second.access
    stores = list({side.instruction: side for side in sides if side.kind == "store"}.values())
    if len(stores) != 1:
        numbers = [_constants(store.instruction) for store in stores]
        return len(numbers) > 1 and numbers[0] == numbers[1] != ()
    store, loads = stores[0], [side for side in sides if side.kind != "store"]
    if not _stores_one_number(facts, race, store):
        return False
    return all(load.kind == "load" and _is_read_back(facts, race, store, load) for load in loads)


def _stores_one_number(facts: KernelFacts, race: RaceFact, store: AccessFact) -> bool:
    numbers = store.instruction.operands[1:]
    level = facts.warp_level if UNLIKE in race.assumptions else facts.block_level
    alike = race.reach == "block" and (race.one_iteration or not store.loops)
    same = alike and all(level.is_uniform(value, store.block) for value in numbers)
    return same or origin(facts, *numbers).of_launch


def _is_read_back(facts: KernelFacts, race: RaceFact, store: AccessFact, load: AccessFact) -> bool:
    """Whether a thread that loads there has stored there itself, behind the last barrier that others stored behind:
    all threads store to one place, once, and whoever loads comes by the store."""
    address = store.instruction.operands[0]
    alike = race.reach == "block" and facts.block_level.is_uniform(address, store.block)
    if store.loops or not (alike or origin(facts, address).of_launch):
        return False
    if store.block != load.block:
        return facts.block_level.graph.dominates(store.block, load.block)
    inside = next(block.instructions for block in facts.function.blocks if block.name == store.block)
    return inside.index(store.instruction) < inside.index(load.instruction)


def _constants(i: Instruction) -> tuple[Constant, ...]:
    """Return the numbers that a store puts there, none where one is not written out."""
    numbers = tuple(operand for operand in i.operands[1:] if isinstance(operand, Constant))
    return numbers if len(numbers) == len(i.operands) - 1 else ()


def _is_guarded(facts: KernelFacts, race: RaceFact) -> bool:
    """Whether it is open that both threads get there, since a test of data or of the thread's index stands before."""
    is_open = any("get there" in text for text in race.assumptions)
    tested = [tests_thread(facts, side.access.block) for side in (race.first, race.second)]
    # who picks an element by data meets all threads of the other side, if these all get there
    return is_open and (all(tested) if BY_DATA in race.assumptions else any(tested))


def _is_of_anyone(facts: KernelFacts, race: RaceFact) -> bool:
    """Whether data decide which threads store there, and the kernel reads it nowhere: an example of what was found,
    `if (volume[i] < 0) bad[0] = i`, whoever stores last."""
    access = race.first.access
    if access.instruction is not race.second.access.instruction or access.kind != "store" or race.space == "shared":
        return False
    if not origin(facts, access.instruction.operands[0]).of_launch:
        return False
    if any(one.kind != "store" and one.variable in (access.variable, "") for one in facts.accesses):
        return False
    return any(
        isinstance(above.terminator, Branch)
        and only_way(facts, above, access.block) is not None
        and origin(facts, above.terminator.condition).loads
        for above in facts.function.blocks
        if above.name in facts.warp_level.graph.successors
    )


def _is_told_twice(facts: KernelFacts, race: RaceFact) -> bool:
    """Whether the threads of one column stage the same: an element of a tile is that of the thread's x, and so is what
    they store there, from memory that nobody writes."""
    access = race.first.access
    store = access.instruction
    if store is not race.second.access.instruction or access.kind != "store" or race.space != "shared":
        return False
    first, second = race.first.thread, race.second.thread
    if first is None or second is None or first.index[0] != second.index[0]:
        return False
    if access.stride_bytes is None or abs(access.stride_bytes) < access.bytes or access.stride_y_bytes != 0:
        return False
    made_of = origin(facts, *store.operands)
    read = origin(facts, *(load.operands[0] for load in made_of.loads))
    written = {one.variable for one in facts.accesses if one.kind != "load"}
    kept = [one for one in facts.accesses if one.instruction in made_of.loads and one.variable not in written | {""}]
    plain = len(kept) == len(made_of.loads) < 2 and not made_of.unknown and read.plain
    return plain and (made_of.registers | read.registers).isdisjoint({"tid.y", "tid.z"})


def _rows_alike(facts: KernelFacts, race: RaceFact) -> str:
    """Return what to do where the block has rows that the addresses know nothing of, "" elsewhere."""
    made_of = origin(facts, *(side.access.instruction.operands[0] for side in (race.first, race.second)))
    if facts.block[1] == 1 or not made_of.plain or "tid.y" in made_of.registers:
        return ""
    row = facts.words.thread("y")
    return f"the index has no {row}, but the block has {facts.block[1]} rows: launch a flat block, or use it"


def _is_of_blocks(facts: KernelFacts, race: RaceFact) -> bool:
    """Whether an address depends on the index of the block."""
    return origin(facts, *(side.access.instruction.operands[0] for side in (race.first, race.second))).of_block


def _is_of_no_block(facts: KernelFacts, race: RaceFact) -> bool:
    """Whether a store goes to the same place in each block: nothing in its address depends on the block, or on data."""
    made_of = origin(facts, race.first.access.instruction.operands[0])
    return race.first.access.kind == "store" and made_of.plain and not made_of.of_block


def _who(side: Side, at: str) -> str:
    return f"{'a thread' if side.thread is None else side.thread}{at}"


def _doing(side: Side, at: str) -> str:
    word = {"load": "reads", "store": "writes", "atomic": "updates"}[side.access.kind]
    return f"{_who(side, at)} {word} {side.access.variable}"


def _in_one_warp(facts: KernelFacts, race: RaceFact) -> bool:
    """Whether both sides stand where only one warp of the block gets, as the last steps of a reduction do, or each warp
    has its own part of the memory."""
    if race.one_warp or facts.block[0] * facts.block[1] * facts.block[2] <= facts.device.warp_width:
        return True
    lanes = LaneValues(facts)
    return all(_warps_at(facts, side.access.block, lanes) == 1 for side in (race.first, race.second))


def _warps_at(facts: KernelFacts, block: str, lanes: LaneValues) -> int | None:
    """Return how many warps of a block may get to a block of code, where branches on the thread's index say so."""
    alive = alive_at(facts, block, lanes)
    return None if alive is None else sum(any(warp) for warp in lanes.warps(alive))


# --- exchanges and atomics


def _absent(facts: KernelFacts, exchange: ExchangeFact) -> KernelFinding:
    absent = "have ended" if exchange.exits else "may not be there"
    if facts.words.masked:
        elsewhere = "lanes of the mask that are elsewhere"
        helped = "take the mask before the branch: unsigned m = __ballot_sync(0xffffffff, condition)"
    else:
        elsewhere = "work-items that are elsewhere"
        helped = "let the whole sub-group come to the call: take it out of the branch"
    return KernelFinding(
        "SYN005", f"{exchange.op}: {_lanes_of(facts, exchange)} {absent}", exchange.certainty, facts.kernel,
        exchange.span, f"{exchange.op} {_text(exchange.span)}",
        "what comes from them is undefined" if exchange.exits else
        f"{elsewhere}: undefined, or a hang",
        assumptions=exchange.assumptions, why=why_of(exchange.why, exchange.lines), impact=100.0,
        help=(helped,
              "or call it where all lanes are, and select the result"),
    )  # fmt: skip


def _lanes_of(facts: KernelFacts, exchange: ExchangeFact) -> str:
    """Return what an exchange waits for, up to the verb."""
    if not facts.words.masked and exchange.mask == 0xFFFFFFFF:
        return "it is of the whole sub-group, of which some"
    mask = "its mask" if exchange.mask is None else f"the mask 0x{exchange.mask:08x}"
    return f"{mask} names lanes that"


def _find_contended(facts: KernelFacts, access: AccessFact, lanes: LaneValues) -> KernelFinding | None:
    if access.addresses is None or access.addresses.most > 1 or access.space == "local" or access.lanes < 2:
        return None
    alone = _alone(facts, access, lanes)
    if alone:
        return None
    message = f"all lanes of a warp update one address: {describe_access(access)} is done lane by lane"
    found = place_of(facts, access, "SYN007", message)
    width = facts.device.warp_width
    guarded = access.active == "some" and alone is None
    assumptions = (*found.assumptions, "several lanes of a warp get there") if guarded else found.assumptions
    return replace(
        found,
        certainty="conditional" if guarded and found.certainty == "proven" else found.certainty,
        assumptions=assumptions,
        label="one address for the whole warp",
        estimate=Estimate("updates of the address a warp", float(width), "where 1 would do after a warp reduction"),
        help=_against_contention(facts, access),
        impact=float(width) / 4,
    )


def _against_contention(facts: KernelFacts, access: AccessFact) -> tuple[str, ...]:
    words, updated = facts.words, access.instruction.operands[1:]
    once = access.instruction.op in _DONE_ONCE and all(facts.warp_level.is_uniform(o, access.block) for o in updated)
    if once:
        return ("all lanes leave the same there: let one lane do it, or look first whether it is done",)
    return (
        f"add up within the warp first ({words.reduce_add}, or five {words.shuffle_down}), then let one lane update",
        f"or reduce a block in {words.shared} memory, and update once a block",
    )


def _alone(facts: KernelFacts, access: AccessFact, lanes: LaneValues) -> bool | None:
    """Whether at most one lane of each warp gets to an access; None: it is not known."""
    alive = alive_at(facts, access.block, lanes)
    if alive is not None and all(sum(warp) <= 1 for warp in lanes.warps(alive)):
        return True
    if _is_elected(facts, access.block):
        return True
    return None if access.active == "some" else False


def _is_elected(facts: KernelFacts, block: str) -> bool:
    """Whether a test lets one lane through: its own index equals a number that all lanes share."""
    for above in facts.function.blocks:
        terminator = above.terminator
        if above.name not in facts.warp_level.graph.successors or not isinstance(terminator, Branch):
            continue
        way = only_way(facts, above, block)
        test = comparison(facts, terminator.condition) if way is not None else None
        if test is not None and test.op == ("eq" if way else "ne"):
            for index, number in ((test.left, test.right), (test.right, test.left)):
                if _differs_everywhere(facts, index) and facts.warp_level.is_uniform(number, above.name):
                    return True
                if _is_rank(facts, index):
                    return True
    return False


def _is_rank(facts: KernelFacts, operand: Operand) -> bool:
    """Whether an operand is how many lanes of a mask stand before this one: `__popc(mask & ((1 << lane) - 1))`."""
    made = facts.warp_level.definitions.get(operand) if isinstance(operand, Value) else None
    if not isinstance(made, Instruction) or made.op != "popcount":
        return False
    masked = facts.warp_level.definitions.get(made.operands[0]) if isinstance(made.operands[0], Value) else None
    if not isinstance(masked, Instruction) or masked.op != "and":
        return False
    makers = [facts.warp_level.definitions.get(one) for one in masked.operands if isinstance(one, Value)]
    return any(isinstance(one, Instruction) and _is_of_lanes_before(facts, one) for one in makers)


def _is_of_lanes_before(facts: KernelFacts, made: Instruction) -> bool:
    """Whether a value is `(1 << lane) - 1`, or the mask of the lanes before this one."""
    if isinstance(made.detail, Query):
        return made.detail.register == "lanemask_lt"
    if made.op not in ("add", "sub") or not isinstance(made.operands[0], Value):
        return False
    type = made.result.type
    one, last = Constant(type, 1), Constant(type, (1 << type.bits) - 1)
    if made.operands[1] != (one if made.op == "sub" else last):
        return False
    power = facts.warp_level.definitions.get(made.operands[0])
    is_power = isinstance(power, Instruction) and power.op == "shl" and power.operands[0] == one
    return is_power and isinstance(power, Instruction) and origin(facts, power.operands[1]).of_thread


def _differs_everywhere(facts: KernelFacts, operand: Operand) -> bool:
    """Whether an operand is another number in each lane of a warp."""
    if not isinstance(operand, Value):
        return False
    made = facts.warp_level.definitions.get(operand)
    if getattr(getattr(made, "detail", None), "register", "") == "laneid":
        return True
    known = facts.warp_level.affine.get(operand)
    if known is None or known.coefficients[0] != 1 or any(known.coefficients[1:]):
        return False
    return facts.block[0] >= facts.device.warp_width and facts.block[0] % facts.device.warp_width == 0
