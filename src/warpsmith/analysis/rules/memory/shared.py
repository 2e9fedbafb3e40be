"""MEM, the part about memory of known size: banks and budget of shared memory, bounds, what nobody has written."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet

from msgspec.structs import replace

from warpsmith.analysis.memory.transfer import short_name
from warpsmith.analysis.rules.finding import Estimate, EvidenceTable, KernelFinding
from warpsmith.analysis.rules.lanes import LaneValues
from warpsmith.analysis.rules.memory.layouts import against_conflict
from warpsmith.analysis.rules.memory.simulated import simulated_conflict
from warpsmith.analysis.rules.memory.vectors import find_joined
from warpsmith.analysis.rules.place import describe_access, place_of
from warpsmith.analysis.rules.walk import Escape, describe_tests, find_escapes
from warpsmith.analysis.uniformity.facts import AccessFact, KernelFacts
from warpsmith.base.source import Span
from warpsmith.machine.requests import WORD, bank_ways, conflicts_however_split, loads, phases
from warpsmith.ssa.nodes import Address, Branch, Constant, Instruction, Memory, Operand, Symbol, Value
from warpsmith.ssa.ops import OPS

__all__ = ["known_memory", "outside"]


def known_memory(facts: KernelFacts) -> Iterator[KernelFinding]:
    """Yield what is to be said of shared memory and of arrays whose size is known."""
    accesses = [access for access in facts.accesses if access.space == "shared"]
    whole = find_joined(facts, accesses)
    for access in accesses:
        conflicts = access.bank_ways is not None and access.bank_ways.least >= 2
        if conflicts and not _is_joined_without(access, whole.get(access.instruction, 0)):
            yield _conflict(facts, access)
        elif (seen := simulated_conflict(facts, access)) is not None:
            yield seen
    yield from _budget(facts)
    told = outside(facts)
    yield from told
    yield from _seen_outside(facts, {one.span for one in told})
    yield from _find_unwritten(facts)


def _conflict(facts: KernelFacts, access: AccessFact) -> KernelFinding:
    assert access.bank_ways is not None
    message = f"{facts.words.shared}-memory bank conflict, {access.bank_ways}-way: {describe_access(access)}"
    found = place_of(facts, access, "MEM010", message)
    banks = _banks(access)
    split = _split(access)
    return replace(
        found,
        certainty="conditional" if split and found.certainty == "proven" else found.certainty,
        assumptions=(*found.assumptions, *split),
        label=_distance(facts, access),
        evidence=(*found.evidence, banks) if banks is not None else found.evidence,
        estimate=Estimate("time of the request", float(access.bank_ways.least), "times that without conflicts"),
        help=against_conflict(facts, access),
        impact=float(access.bank_ways.least),
    )


def _distance(facts: KernelFacts, access: AccessFact) -> str:
    """Return how far apart lanes are: neighbors, or, where these are dense, the rows of a block that share a warp."""
    dense = access.stride_bytes is not None and abs(access.stride_bytes) == access.bytes
    if dense and access.stride_y_bytes and facts.block[0] < facts.device.warp_width:
        return f"{access.stride_y_bytes} bytes between the rows of a block, of which a warp has several"
    stride = access.stride if access.stride_bytes is None else access.stride_bytes
    return f"{stride or '?'} bytes between neighboring lanes"


def _is_joined_without(access: AccessFact, bytes_: int) -> bool:
    """Whether an access may become a part of one of so many bytes, which has no conflict."""
    return bytes_ > access.bytes and (not access.offsets or bank_ways(_addresses(access), bytes_) == 1)


def _split(access: AccessFact) -> tuple[str, ...]:
    """Return what is taken for how a wide request is split, where the conflict rests on it."""
    if access.bytes <= WORD or (access.offsets and conflicts_however_split(_addresses(access), access.bytes)):
        return ()
    part = "halves" if access.bytes <= 2 * WORD else "quarters"
    return (f"a request of {access.bytes} bytes a lane goes to the banks in {part} of a warp",)


def _addresses(access: AccessFact) -> dict[int, int]:
    return dict(enumerate(access.offsets))


def _banks(access: AccessFact) -> EvidenceTable | None:
    if not access.offsets:
        return None
    parts = phases(_addresses(access), access.bytes)
    worst = max((loads(part, access.bytes) for part in parts), key=max)
    ordered = sorted(enumerate(worst), key=lambda item: (-item[1], item[0]))
    rows = tuple((str(bank), str(count)) for bank, count in ordered if count)
    title = "different words asked of a bank" + ("" if len(parts) == 1 else f", in the worst of {len(parts)} parts")
    return EvidenceTable(title, ("bank", "words"), rows)


def _budget(facts: KernelFacts) -> Iterator[KernelFinding]:
    limit = facts.device.shared_per_block_kib * 1024
    held = facts.resources
    wanted = held.shared_bytes + held.dynamic_shared_bytes
    if wanted <= limit:
        return
    parts = f"{held.shared_bytes:,} static and {held.dynamic_shared_bytes:,} dynamic"
    message = (
        f"a block asks for {wanted:,} bytes of {facts.words.shared} memory ({parts}); "
        f"{facts.device.arch} gives {limit:,} at most: it will not launch"
    )
    yield KernelFinding(
        "MEM011", message, "proven", facts.kernel, facts.span, f"{facts.words.shared} memory budget",
        help=("use a smaller tile, or keep a part in registers",), impact=100.0,
    )  # fmt: skip


# --- bounds


def outside(facts: KernelFacts) -> list[KernelFinding]:
    """Return a MEM020 for each access that a thread makes beyond the array: any thread, where all get there, else those
    that are followed."""
    arrays = {i: symbol for i, symbol in _find_arrays(facts).items() if symbol.bytes}
    sizes = {symbol.name: symbol.bytes for symbol in arrays.values()}
    lanes = LaneValues(facts)
    followed = {escape.instruction: escape for escape in find_escapes(facts, sizes)} if sizes else {}
    found = []
    for access in facts.accesses:
        symbol = arrays.get(access.instruction)
        escape = None if symbol is None else _find_escape(facts, access, symbol, lanes)
        escape = escape or followed.get(access.instruction)
        if symbol is not None and escape is not None:
            found.append(_report_escape(facts, access, escape, symbol.bytes))
    return found


def _seen_outside(facts: KernelFacts, told: AbstractSet[Span | None]) -> Iterator[KernelFinding]:
    """Yield a MEM020 for each access that a run saw outside of its array, where the text does not tell that."""
    by_instruction = {access.instruction: access for access in facts.accesses}
    for seen in facts.simulated.escapes:
        access = by_instruction[seen.instruction]
        if access.span in told:
            continue
        thread, block = (f"({', '.join(map(str, index))})" for index in (seen.thread, seen.block))
        where = f"thread {thread} of block {block} is at byte {seen.offset}"
        named = access if access.variable else replace(access, variable=seen.variable)
        message = f"{describe_access(named)} outside of its {seen.size} bytes: {where}"
        table = ("thread", "block", "byte", "size"), ((thread, block, str(seen.offset), str(seen.size)),)
        yield replace(
            place_of(facts, access, "MEM020", message),
            certainty=seen.certainty,
            assumptions=seen.assumptions,
            label="beyond the end" if seen.offset > 0 else "before it",
            evidence=(EvidenceTable("witness", *table),),
            help=("test the index before the access, or make the array as large as the block needs",
                  f"to see it: {seen.replay}"),
            replay=seen.replay,
            impact=100.0,
            cause=f"{named.variable} {seen.size}",
        )  # fmt: skip


def _report_escape(facts: KernelFacts, access: AccessFact, escape: Escape, size: int) -> KernelFinding:
    thread = f"({', '.join(map(str, escape.thread))})"
    message = f"{describe_access(access)} outside of its {size} bytes: thread {thread} is at byte {escape.offset}"
    table = EvidenceTable("witness", ("thread", "byte", "size"), ((thread, str(escape.offset), str(size)),))
    assumed = (*facts.block_assumed, *facts.grid_assumed, *describe_tests(facts, escape))
    return replace(
        place_of(facts, access, "MEM020", message),
        certainty="conditional" if assumed else "proven",
        assumptions=assumed,
        label="beyond the end" if escape.offset > 0 else "before it",
        evidence=(table,),
        help=("test the index before the access, or make the array as large as the block needs",),
        impact=100.0,
        cause=f"{access.variable} {size}",
    )


def _find_escape(facts: KernelFacts, access: AccessFact, symbol: Symbol, lanes: LaneValues) -> Escape | None:
    """Return the first thread that an access of all threads leads out of its array."""
    detail, size = access.instruction.detail, symbol.bytes
    if not isinstance(detail, Memory) or not _certain(facts, access.block):
        return None
    offsets = _offsets(facts, access.instruction.operands[0], symbol.name, lanes)
    for thread, offset in zip(lanes.threads, offsets or (), strict=offsets is not None):
        first = offset + detail.offset
        if first < 0 or first + access.bytes > size:
            return Escape(access.instruction, thread, first, ())
    return None


def _find_arrays(facts: KernelFacts) -> dict[Instruction, Symbol]:
    """Return the array that each access is to, where it is declared as one; in PTX its name is longer than written."""
    by_name: dict[str, list[Symbol]] = defaultdict(list)
    for symbol in _symbols(facts):
        by_name[short_name(symbol.name)].append(symbol)
    found = {}
    for access in facts.accesses:
        named = by_name.get(short_name(access.variable), [])
        exact = [symbol for symbol in named if symbol.name == access.variable] or named
        if access.space in ("shared", "local", "constant") and len(exact) == 1:
            found[access.instruction] = exact[0]
    return found


def _symbols(facts: KernelFacts) -> tuple[Symbol, ...]:
    return *facts.function.symbols, *facts.module.symbols


def _offsets(facts: KernelFacts, address: Operand, name: str, lanes: LaneValues) -> tuple[int, ...] | None:
    """Return the byte offset from the start of a symbol in every thread, where it follows from the thread's index."""
    total = [0] * len(lanes.threads)
    pending: list[Operand] = [address]
    based = False
    while pending:
        operand = pending.pop()
        made = facts.warp_level.definitions.get(operand) if isinstance(operand, Value) else None
        column = lanes.of(operand)
        if column is not None:
            half, size = 1 << (operand.type.bits - 1), 1 << operand.type.bits
            total = [a + (b - size if b >= half else b) for a, b in zip(total, column, strict=True)]
        elif isinstance(made, Instruction) and isinstance(made.detail, Address):
            if based or made.detail.symbol != name:
                return None
            based = True
        elif isinstance(made, Instruction) and made.op in ("add", "to_generic", "from_generic"):
            pending += made.operands
        else:
            return None
    return tuple(total) if based else None


def _certain(facts: KernelFacts, block: str) -> bool:
    """Whether every thread gets to a block: it stands behind no branch."""
    graph = facts.warp_level.graph
    return graph.post_dominates(block, graph.entry)


# --- what nobody has written


def _find_unwritten(facts: KernelFacts) -> Iterator[KernelFinding]:
    """Yield MEM021 for loads of a shared array that no store can come before."""
    if any(OPS[i.op].effect == "unknown" for _, i in facts.function.instructions()):
        return
    shared = [access for access in facts.accesses if access.space == "shared"]
    arrays = _find_arrays(facts)
    by_array: dict[str, list[AccessFact]] = defaultdict(list)
    for access in shared:
        if access.instruction in arrays:
            by_array[arrays[access.instruction].name].append(access)
    for symbol in _symbols(facts):
        mine = by_array.get(symbol.name, [])
        if not mine or symbol.initial or _escapes(facts, symbol.name, {access.instruction for access in mine}):
            continue
        writers = {access.block for access in mine if access.kind != "load"}
        for access in mine:
            if access.kind == "load" and not _comes_before(facts, access, mine, writers):
                undefined = f"{facts.words.shared} memory starts undefined"
                message = f"{describe_access(access)}, which nothing has written before: {undefined}"
                found = place_of(facts, access, "MEM021", message)
                helps = (f"write it first, and put {facts.words.barrier} between",)
                yield replace(
                    found, certainty="proven", assumptions=(), label="no store comes before", help=helps, impact=50.0
                )
                break


def _comes_before(facts: KernelFacts, load: AccessFact, mine: list[AccessFact], writers: set[str]) -> bool:
    """Whether a store to the same array may have run before a load: on the way to it, or on a way that other threads
    take, which is not behind it."""
    graph = facts.warp_level.graph
    before, after = (_reach(ways, load.block) for ways in (graph.predecessors, graph.successors))
    elsewhere = writers - after - {load.block}
    parted = [branch.place.name for branch in facts.branches if branch.block == "divergent"] if elsewhere else []
    reached = (_reach(graph.successors, name) for name in parted)
    if before & writers or any(load.block in ways and elsewhere & ways for ways in reached):
        return True
    block = next(b for b in facts.function.blocks if b.name == load.block)
    stores = {access.instruction for access in mine if access.kind != "load"}
    for i in block.instructions:
        if i is load.instruction:
            return False
        if i in stores:
            return True
    return True


def _reach(ways: Mapping[str, Sequence[str]], start: str) -> set[str]:
    """Return the blocks that ways lead to from one, without itself unless they come back."""
    found: set[str] = set()
    pending = list(ways.get(start, ()))
    while pending:
        name = pending.pop()
        if name not in found:
            found.add(name)
            pending += ways[name]
    return found


def _escapes(facts: KernelFacts, name: str, followed: set[Instruction]) -> bool:
    """Whether an address of a symbol goes where it is not followed: into memory, a call, an access that is not known
    as one of this array."""
    derived: set[Value] = set()
    changed = True
    while changed:
        changed = False
        for block in facts.function.blocks:
            for phi in block.phis:
                if phi.result not in derived and any(o in derived for _, o in phi.incoming):
                    return True
            for i in block.instructions:
                named = isinstance(i.detail, Address) and i.detail.symbol == name
                uses = named or any(o in derived for o in i.operands if not isinstance(o, Constant))
                if not uses or i in followed:
                    if i in followed and any(o in derived for o in i.operands[1:]):
                        return True
                    continue
                if not named and not OPS[i.op].pure:
                    return True
                if any(value not in derived for value in i.results):
                    derived.update(i.results)
                    changed = True
    return any(isinstance(block.terminator, Branch) and block.terminator.condition in derived for block in
               facts.function.blocks)  # fmt: skip
