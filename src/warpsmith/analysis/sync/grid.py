"""Places that threads of different blocks touch in one launch, one of them writing: nothing orders blocks.

    out[tid.x] = …                  no block index: every block writes the same
    a[i] = a[i + 1]                 the last thread of a block reads what the first one of the next block writes

Only what is plain is reported: addresses that are sums of a pointer, arguments, loop counters and indices.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from warpsmith.analysis.affine.symbols import Atom, Form
from warpsmith.analysis.memory.accesses import AccessSite
from warpsmith.analysis.sync.races import Judge, overlap
from warpsmith.analysis.uniformity.facts import AccessFact, Dim, RaceFact, Side, WitnessThread
from warpsmith.ssa.graph import Graph
from warpsmith.ssa.nodes import Function, Instruction, Memory, Operand, Phi, Query, Value
from warpsmith.ssa.ops import OPS

__all__ = ["across_blocks", "may_order_blocks"]

_MOST_PLACES = 300
_CASTS = ("zext", "sext", "trunc")


def across_blocks(
    judge: Judge, places: Sequence[AccessSite], facts: Mapping[Instruction, AccessFact], grid: Dim | None
) -> Iterator[RaceFact]:
    """Yield the races between blocks that are plain to see; none where the kernel may have an order of its own: a fence
    with a flag behind it, a loop that waits for memory to change, what other functions do."""
    if grid == (1, 1, 1) or may_order_blocks(judge.forms.answer.function):
        return
    plain: dict[Atom, list[AccessSite]] = defaultdict(list)
    for place in places:
        if place.space == "global" and place.base is not None and _is_plain(place):
            plain[place.base].append(place)
    for inside in plain.values():
        stores = [place for place in inside if place.kind == "store"][:_MOST_PLACES]
        for store in stores:
            come = _find_comers(judge, store.block)
            if come and not _is_of_block(judge, store) and not _of_one_block(judge, store):
                yield _fact(judge, (store, store), (min(come), min(come)), facts, grid)
        loads = [place for place in inside if place.kind == "load"][:_MOST_PLACES]
        if len(stores) * len(loads) <= _MOST_PLACES:
            yield from _neighbors(judge, stores, loads, facts, grid)


def may_order_blocks(function: Function) -> bool:
    """Whether a kernel may make its blocks wait for each other, or be one that is launched together."""
    if any(i.op in ("fence", "call", "unmodeled") for _, i in function.instructions()):
        return True
    polls = {block.name for block, i in function.instructions() if _is_volatile(i)}
    return bool(polls) and any(polls & cycle.blocks for cycle in Graph.of(function).cycles)


def _is_volatile(i: Instruction) -> bool:
    """Whether this reads memory that others may write meanwhile: in a loop, it may wait for them."""
    detail = i.detail
    return (
        i.op == "load" and isinstance(detail, Memory) and bool(detail.order) and detail.space in ("global", "generic")
    )


def _is_plain(place: AccessSite) -> bool:
    assert place.address is not None
    return all(
        atom.kind == "index" or atom.argument or atom.of_block or (atom.range[0] == 0 and atom.cycles)
        for atom in place.address.atoms()
    ) and not any(atom.memory for atom in place.address.atoms())


def _block_indices(place: AccessSite) -> list[Atom]:
    assert place.address is not None
    return [atom for atom in place.address.atoms() if atom.of_block]


def _is_of_block(judge: Judge, place: AccessSite) -> bool:
    """Whether the index of the block takes part in an address, in whatever way: a quotient of it, and a counter that
    starts at it, are unknowns of their own in the sum."""
    definitions = judge.forms.answer.definitions
    left: list[Operand] = [place.instruction.operands[0]]
    seen: set[Value] = set()
    while left:
        operand = left.pop()
        if not isinstance(operand, Value) or operand in seen:
            continue
        seen.add(operand)
        made = definitions.get(operand)
        if isinstance(made, Phi):
            left += [value for _, value in made.incoming]
        elif made is not None:
            if isinstance(made.detail, Query) and made.detail.register.startswith("ctaid"):
                return True
            left += made.operands
    return False


def _find_comers(judge: Judge, block: str) -> frozenset[int]:
    """Return the threads of a block that the tests before some code may let through: none behind
    `if (blockDim.x >= 512)`, where it is 128."""
    come = judge.presences.at(block).threads
    above = judge.forms.graph.dominator.get(block)
    while above is not None:
        guard = judge.presences.guard(above, block)
        come = come if guard is None else come & judge.presences.may_hold(guard)
        above = judge.forms.graph.dominator.get(above)
    return come


def _of_one_block(judge: Judge, place: AccessSite) -> bool:
    """Whether a test may let one block alone through: its block's index takes part, as in `if (i == 0)`, or a number
    that an atomic operation gives to one thread of the launch: `if (atomicAdd(count, 1) == 0)`."""
    above: str | None = place.block
    while above is not None:
        above = judge.forms.graph.dominator.get(above)
        guard = None if above is None else judge.presences.guard(above, place.block)
        if guard is None:
            continue
        if any(atom.of_block for test in judge.presences.zeros(guard) for atom in test.atoms()):
            return True
        if any(_elects(judge, operand) for i in judge.presences.equalities(guard) for operand in i.operands):
            return True
    return False


def _elects(judge: Judge, operand: Operand) -> bool:
    """Whether a number is what an atomic operation on memory of the whole launch has found there."""
    made = judge.forms.answer.definitions.get(operand) if isinstance(operand, Value) else None
    while isinstance(made, Instruction) and made.op in _CASTS and isinstance(made.operands[0], Value):
        made = judge.forms.answer.definitions.get(made.operands[0])
    detail = made.detail if isinstance(made, Instruction) and OPS[made.op].cost == "atomic" else None
    return getattr(detail, "space", "") in ("global", "generic")


def _neighbors(
    judge: Judge,
    stores: Sequence[AccessSite],
    loads: Sequence[AccessSite],
    facts: Mapping[Instruction, AccessFact],
    grid: Dim | None,
) -> Iterator[RaceFact]:
    for store in stores:
        for load in loads:
            threads = _meet(judge, store, load)
            if threads is not None:
                yield _fact(judge, (store, load), threads, facts, grid)
                break


def _meet(judge: Judge, store: AccessSite, load: AccessSite) -> tuple[int, int] | None:
    """Return the threads of two neighboring blocks that touch one place, None where there are none."""
    assert store.address is not None
    assert load.address is not None
    one, two = Form(64, store.address.terms), Form(64, load.address.terms)
    indices = set(_block_indices(store))
    difference = one.common().plus(two.common(), -1)
    lanes = judge.forms.lanes
    mine, yours = lanes.parts(one.varying()), lanes.parts(two.varying())
    if len(indices) != 1 or any(m for m in difference.terms) or set(mine) | set(yours) > {()}:
        return None
    (index,) = indices
    step = one.terms.get((index,), 0)
    if not step or sum(index in m for m in one.terms) != 1:
        return None
    zero = (0,) * lanes.count
    comers = _find_comers(judge, store.block), _find_comers(judge, load.block)
    for shift in (step, -step):
        here = {t: n + shift + difference.terms.get((), 0) for t, n in enumerate(mine.get((), zero)) if t in comers[0]}
        there = {t + lanes.count: n for t, n in enumerate(yours.get((), zero)) if t in comers[1]}
        found = overlap(here, there, (store.bytes, load.bytes, 0), 0) if here and there else None
        if found is not None:
            return found[0], found[1] - lanes.count
    return None


def _fact(
    judge: Judge,
    pair: tuple[AccessSite, AccessSite],
    threads: tuple[int, int],
    facts: Mapping[Instruction, AccessFact],
    grid: Dim | None,
) -> RaceFact:
    texts = [] if grid is not None else ["the grid has several blocks"]
    graph = judge.forms.graph
    if not all(graph.post_dominates(place.block, graph.entry) for place in pair):
        texts.append("more than one block gets there")
    texts += [f"the index of {p.base.name} does not overflow" for p in pair if p.overflow and p.base]
    x, y, _ = judge.forms.lanes.block
    one, two = (WitnessThread((t % x, t // x % y, t // (x * y))) for t in threads)
    return RaceFact(
        kernel=judge.forms.answer.function.name,
        variable=facts[pair[0].instruction].variable,
        space="global",
        reach="grid",
        offset=None,
        first=Side(one, facts[pair[0].instruction]),
        second=Side(two, facts[pair[1].instruction]),
        certainty="conditional",
        assumptions=tuple(dict.fromkeys(texts or ["the launch is as given"])),
    )
