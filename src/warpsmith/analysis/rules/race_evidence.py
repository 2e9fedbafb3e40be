"""What a race rests on: whether it is an error of the user's, a warning, or none.

error      proven, seen in a run, or true for arguments that any launch may have: if (i < n) out[0] = in[i];
warning    data decide whether both threads get there:                            if (in[i] < 0) out[0] = i;
           or how far places lie apart was picked:                                out[y * pitch + x], pitch is 256
           or a plain store gives back a lock:                                    while (atomicCAS(l, 0, 1)); … *l = 0;
           or a read decides whether an update is tried that looks for itself:    while (*h < n && atomicAdd(h, 1) < n)
note       a read only spares an atomic operation what would change nothing:     if (*best < v) atomicMax(best, v);
           or a volatile read waits for what others write, and is only compared: while (*flag == 0);
none       no launch has such arguments; or a read only feeds a compare and swap, which looks for itself
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from warpsmith.analysis.rules.lanes import only_way
from warpsmith.analysis.rules.origins import Numbers, origin
from warpsmith.analysis.sync.races import UNLIKE
from warpsmith.analysis.uniformity.facts import AccessFact, KernelFacts, RaceFact
from warpsmith.ssa.nodes import BasicBlock, Branch, Constant, Instruction, Memory, Operand, Phi, Value
from warpsmith.ssa.ops import OPS

__all__ = [
    "is_locked_without_fence",
    "is_looked_at_again",
    "is_of_another_block",
    "is_of_no_launch",
    "is_reduced",
    "is_release",
    "is_spared_update",
    "is_swap_loop",
    "is_thin",
]

_PICKED: Final = re.compile(r"(?P<name>\w+) is (?P<number>-?\d+)$")
_OPEN: Final = re.compile(r"gets? there\b|lead both threads there")
_APART: Final = "get there between the same two barriers"
"""It is not known whether a barrier stands between the two."""
_SWAP: Final = "atomic_compare"
_EXCHANGE: Final = "atomic_exchange"
_MONOTONIC: Final = frozenset({
    "atomic_smax", "atomic_umax", "atomic_smin", "atomic_umin", "atomic_and", "atomic_or",
    _SWAP,
})  # fmt: skip
_KEPT: Final = ("zext", "sext", "trunc", "bitcast", "and", "or", "not")


def is_thin(facts: KernelFacts, race: RaceFact) -> bool:
    """Whether it is open that both threads get there, or that they store different things, or numbers were picked that
    addresses are made of."""
    if race.certainty in ("proven", "witnessed"):
        return False
    if any(text.endswith(_APART) for text in race.assumptions):
        return True
    if UNLIKE in race.assumptions and not _store_indices(facts, race):
        return True
    made_of = origin(facts, *(side.access.instruction.operands[0] for side in (race.first, race.second)))
    picked = {name for name, _ in _picked(race)}
    if picked & made_of.parameters:
        return True
    by_data = any(_is_guarded_by_data(facts, side.access.block) for side in (race.first, race.second))
    return by_data and any(_OPEN.search(text) for text in race.assumptions)


def _store_indices(facts: KernelFacts, race: RaceFact) -> bool:
    """Whether what lanes store grows with their number, so that it is another one in each."""
    stores = [side.access for side in (race.first, race.second) if side.access.kind == "store"]
    level = facts.warp_level
    known = [level.affine_of(operand, one.block) for one in stores for operand in one.instruction.operands[1:]]
    return bool(known) and all(one is not None and one.coefficients[0] != 0 for one in known)


def is_of_no_launch(facts: KernelFacts, race: RaceFact) -> bool:
    """Whether a number was picked for a parameter that no launch gives it."""
    calls = facts.shape.calls
    known = {name: {n for call in calls for n in call.numbers[name]} for name in (calls[0].numbers if calls else ())}
    return any(name in known and number not in known[name] for name, number in _picked(race))


def is_reduced(facts: KernelFacts, race: RaceFact) -> bool:
    """Whether it is lanes of one warp that store what an exchange between them gave: a sum is the same for all."""
    if UNLIKE not in race.assumptions:
        return False
    stores = [side.access.instruction for side in (race.first, race.second) if side.access.kind == "store"]
    return bool(stores) and all(origin(facts, *store.operands[1:]).unknown for store in stores)


def _picked(race: RaceFact) -> Iterator[tuple[str, int]]:
    for text in race.assumptions:
        found = _PICKED.match(text)
        if found is not None:
            yield found["name"], int(found["number"])


def is_spared_update(facts: KernelFacts, race: RaceFact) -> bool:
    """Whether one side reads what the other one updates, only to compare it before the same update of its own: what
    it reads too early or too late makes an update more or less that changes nothing."""
    pair = _read_and_update(facts, race)
    return pair is not None and pair[1].instruction.op in _MONOTONIC and _only_guards(facts, *pair)


def is_looked_at_again(facts: KernelFacts, race: RaceFact) -> bool:
    """Whether a read only decides whether an update is tried that looks for itself, as the head of a queue has it:

    while (*head < n) { int i = atomicAdd(head, 1); if (i < n) work(i); }
    """
    pair = _read_and_update(facts, race)
    if pair is None or not any(_is_compared(facts, result) for result in pair[1].instruction.results):
        return False
    guards = _find_guards(facts, *pair, swaps=False)
    return bool(guards) and all(only_way(facts, guard, pair[1].block) is not None for guard in guards or ())


def is_polled(facts: KernelFacts, race: RaceFact) -> bool:
    """Whether a volatile read in a loop waits for what others write, atomically or volatile, and is only compared."""
    sides = race.first.access, race.second.access
    reads, writes = [one for one in sides if one.kind == "load"], [one for one in sides if one.kind != "load"]
    if len(reads) != 1 or not reads[0].loops or not _is_volatile(reads[0]):
        return False
    if writes[0].kind != "atomic" and not _is_volatile(writes[0]):
        return False
    guards = _find_guards(facts, reads[0], writes[0], swaps=False)
    return bool(guards) and all(_leaves_loop(facts, guard) for guard in guards or ())


def _leaves_loop(facts: KernelFacts, block: BasicBlock) -> bool:
    """Whether a block of a loop ends with a branch out of it."""
    graph = facts.warp_level.graph
    around = graph.cycles_around(block.name)
    return bool(around) and not set(graph.successors[block.name]) <= around[-1].blocks


def _is_volatile(access: AccessFact) -> bool:
    detail = access.instruction.detail
    return isinstance(detail, Memory) and bool(detail.order)


def _read_and_update(facts: KernelFacts, race: RaceFact) -> tuple[AccessFact, AccessFact] | None:
    """Return the read and the atomic update of one place that race, None where it is other accesses that do."""
    sides = race.first.access, race.second.access
    reads = [side for side in sides if side.kind == "load"]
    updates = [side for side in sides if side.kind == "atomic"]
    if len(reads) != 1 or len(updates) != 1:
        return None
    read, update = reads[0], updates[0]
    numbers = Numbers(facts)
    same = numbers.of(read.instruction.operands[0]) == numbers.of(update.instruction.operands[0])
    return (read, update) if same and read.bytes == update.bytes else None


def _is_compared(facts: KernelFacts, value: Value) -> bool:
    users = [user for _, user in _users(facts, value)]
    return any(isinstance(user, Instruction) and user.op in OPS and OPS[user.op].shape == "compare" for user in users)


def is_swap_loop(facts: KernelFacts, race: RaceFact) -> bool:
    """Whether what is read goes to a compare and swap, which looks for itself whether it is still there."""
    updates = [side for side in (race.first.access, race.second.access) if side.kind == "atomic"]
    swaps = [side for side in updates if side.instruction.op == _SWAP]
    return len(swaps) == 1 and is_spared_update(facts, race)


def is_release(facts: KernelFacts, race: RaceFact) -> bool:
    """Whether a plain store gives back a lock: behind an atomic swap that put one number there, it puts another one."""
    sides = race.first.access, race.second.access
    takes = [side for side in sides if side.kind == "atomic" and side.instruction.op in (_SWAP, _EXCHANGE)]
    gives = [side for side in sides if side.kind == "store"]
    if len(takes) != 1 or len(gives) != 1:
        return False
    take, give = takes[0].instruction, gives[0].instruction
    taken, given = take.operands[-1], give.operands[-1]
    numbers = Numbers(facts)
    same = _is_one_place(numbers, take, give)
    behind = facts.warp_level.graph.dominates(takes[0].block, gives[0].block)
    return same and behind and isinstance(taken, Constant) and isinstance(given, Constant) and taken != given


def is_of_another_block(facts: KernelFacts, race: RaceFact) -> bool:
    """Whether one store, by the index of the thread, writes elements of the variable twice in a block that is a guess:
    such a kernel is most likely launched in blocks of another shape."""
    guessed = bool(facts.block_assumed) and not facts.shape.blocks
    return guessed and any(one.variable == race.variable and _writes_twice(facts, one) for one in facts.races)


def _writes_twice(facts: KernelFacts, race: RaceFact) -> bool:
    store = race.first.access
    if store.kind != "store" or store.instruction is not race.second.access.instruction or race.reach != "block":
        return False
    return any(name.startswith("tid") for name in origin(facts, store.instruction.operands[0]).registers)


def _is_one_place(numbers: Numbers, first: Instruction, second: Instruction) -> bool:
    """Whether two accesses of a thread certainly go to the same place."""
    places = [
        (numbers.of(i.operands[0]), i.detail.offset) if isinstance(i.detail, Memory) else None for i in (first, second)
    ]
    return places[0] is not None and places[0] == places[1]


def is_locked_without_fence(facts: KernelFacts, race: RaceFact) -> bool:
    """Whether both accesses stand between atomic swaps of one place, and nothing orders memory there: such a lock keeps
    blocks apart, but not what they have written (PTX ISA, section 8.8: a relaxed operation orders no other access)."""
    if any(i.op == "fence" for _, i in facts.function.instructions()):
        return False
    graph, numbers = facts.warp_level.graph, Numbers(facts)
    swaps = [access for access in facts.accesses if access.instruction.op in (_SWAP, _EXCHANGE)]

    def is_between(access: AccessFact) -> bool:
        takes = [one for one in swaps if one.instruction.op == _SWAP and graph.dominates(one.block, access.block)]
        gives = [one for one in swaps if graph.post_dominates(one.block, access.block)]
        pairs = ((take, give) for take in takes for give in gives if take is not give)
        return any(_is_one_place(numbers, take.instruction, give.instruction) for take, give in pairs)

    sides = race.first.access, race.second.access
    return all(side.kind != "atomic" and is_between(side) for side in sides)


def _only_guards(facts: KernelFacts, read: AccessFact, update: AccessFact) -> bool:
    """Whether a number that is read is used in conditions of the update alone, and in the update; a compare and swap
    looks for itself whether what was read is still there, so that anything may be computed of it before."""
    swaps = update.instruction.op == _SWAP
    guards = _find_guards(facts, read, update, swaps=swaps)
    return guards is not None and (swaps or all(_guards_alone(facts, block, update) for block in guards))


def _find_guards(facts: KernelFacts, read: AccessFact, update: AccessFact, *, swaps: bool) -> list[BasicBlock] | None:
    """Return the blocks whose branches ask for a number that is read, None where it is used elsewhere than there and in
    the update; `swaps`: anything may be computed of it before."""
    pending: list[Value] = list(read.instruction.results)
    seen, guards = set(pending), list[BasicBlock]()
    while pending:
        for block, user in _users(facts, pending.pop()):
            if user is None:
                guards.append(block)
            elif user is not update.instruction:
                if not _is_computed(user, swaps=swaps):
                    return None
                made = {user.result} if isinstance(user, Phi) else set(user.results)
                pending += made - seen
                seen |= made
    return guards


def _guards_alone(facts: KernelFacts, guard: BasicBlock, update: AccessFact) -> bool:
    """Whether an update is all that is done on the ways from a test to where they meet."""
    graph = facts.warp_level.graph
    blocks = {block.name: block for block in facts.function.blocks}
    pending, seen = list(graph.successors[guard.name]), {graph.post_dominator.get(guard.name, "")}
    while pending:
        name = pending.pop()
        if name in seen or name not in blocks:
            continue
        seen.add(name)
        others = (i for i in blocks[name].instructions if i is not update.instruction)
        if name == guard.name or any(i.op not in OPS or OPS[i.op].effect not in ("pure", "reads") for i in others):
            return False
        pending += graph.successors[name]
    return only_way(facts, guard, update.block) is not None


def _is_guarded_by_data(facts: KernelFacts, block: str) -> bool:
    """Whether a test of data stands before a block."""
    return any(
        isinstance(above.terminator, Branch)
        and only_way(facts, above, block) is not None
        and origin(facts, above.terminator.condition).loads
        for above in facts.function.blocks
        if above.name in facts.warp_level.graph.successors
    )


def _is_computed(user: Instruction | Phi, *, swaps: bool) -> bool:
    if isinstance(user, Phi) or user.op not in OPS:
        return swaps and isinstance(user, Phi)
    return OPS[user.op].shape == "compare" or user.op in _KEPT or (swaps and OPS[user.op].pure)


def _users(facts: KernelFacts, value: Operand) -> Iterator[tuple[BasicBlock, Instruction | Phi | None]]:
    """Yield what uses a value, None for the end of a block."""
    for block in facts.function.blocks:
        yield from ((block, phi) for phi in block.phis if any(operand is value for _, operand in phi.incoming))
        yield from ((block, i) for i in block.instructions if any(operand is value for operand in i.operands))
        if isinstance(block.terminator, Branch) and block.terminator.condition is value:
            yield block, None
