"""Kinds of tests that branches make, as far as their text and the affine forms of their numbers tell.

i < n            i counts the threads of the whole launch: a boundary, only one warp parts
tid < n          in a flat block: only one warp of each block parts
i += stride      a loop over the grid: only its last trip parts; so does one of a warp, from lane in steps of 32
from t * n / count to (t + 1) * n / count   as many trips for all, or one more
i < min(s + 4, n)   from s on: as many trips for all but the threads at the edge
tid % k == c     every warp parts, in the same way after every k lanes
k < n / parts    of the share of each thread, which host code rounds up: threads come to a barrier in it equally often
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from warpsmith.analysis.affine.symbols import center
from warpsmith.analysis.rules.lanes import LaneValues, only_way
from warpsmith.analysis.rules.origins import Numbers, ValueOrigin, origin
from warpsmith.analysis.rules.sides import BranchTest, comparison
from warpsmith.analysis.uniformity.facts import BarrierFact, BranchFact, KernelFacts
from warpsmith.ssa.nodes import Branch, Constant, Instruction, Operand, Param, Phi, Value, terminator_operands
from warpsmith.ssa.ops import OPS

__all__ = [
    "ORDERED", "is_boundary", "is_bounded_by_guard", "is_by_data", "is_edge_of_block", "is_of_one_thread", "period_of",
]  # fmt: skip

_MOST_PARTS: Final = 64
_CASTS = ("sext", "zext", "trunc")
_DIVISIONS: Final = ("udiv", "sdiv", "lshr", "ashr")
_OF_BLOCK: Final = ("ctaid.x", "ctaid.y", "ctaid.z")
ORDERED = ("slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge")


def is_boundary(facts: KernelFacts, branch: BranchFact) -> bool:
    """Whether an index that grows with the thread, counted through all blocks, is compared with one bound for all."""
    terminator = branch.place.terminator
    assert isinstance(terminator, Branch)
    parts = _conjuncts(facts, terminator.condition)
    return (
        bool(parts)
        and any(_is_bound(facts, branch, part) for part in parts)
        and all(_is_bound(facts, branch, part) or not _varies(facts, branch, part) for part in parts)
    )


def is_edge_of_block(facts: KernelFacts, branch: BranchFact) -> bool:
    """Whether the index in a flat block is compared with numbers that are the same for all, so that of the warps of
    a block only one parts."""
    terminator = branch.place.terminator
    assert isinstance(terminator, Branch)
    parts = [part for part in _conjuncts(facts, terminator.condition) if _varies(facts, branch, part)]
    flat = facts.block[1] == facts.block[2] == 1 and facts.block[0] > facts.device.warp_width
    return flat and len(parts) == 1 and parts[0].op in ORDERED and _is_of_lane(facts, branch, parts[0])


def is_of_one_thread(facts: KernelFacts, branch: BranchFact) -> bool:
    """Whether one way is that of a single thread of the grid: its global index is a number that is the same for all."""
    terminator = branch.place.terminator
    assert isinstance(terminator, Branch)
    parts = [part for part in _conjuncts(facts, terminator.condition) if _varies(facts, branch, part)]
    if len(parts) != 1 or parts[0].op not in ("eq", "ne"):
        return False
    sides = ((parts[0].left, parts[0].right), (parts[0].right, parts[0].left))
    return any(
        origin(facts, index).of_block
        and origin(facts, index).of_thread
        and _is_of_lane(facts, branch, BranchTest("slt", index, bound))
        for index, bound in sides
    )


def _is_of_lane(facts: KernelFacts, branch: BranchFact, test: BranchTest) -> bool:
    """Whether a number that grows evenly from lane to lane is compared with one that is the same for all."""
    for index, bound in ((test.left, test.right), (test.right, test.left)):
        known = facts.warp_level.affine_of(index, branch.place.name)
        small = known is not None and 0 < min(known.coefficients[0], -known.coefficients[0] % (1 << 32)) < (1 << 16)
        if small and origin(facts, index).plain and facts.warp_level.is_uniform(bound, branch.place.name):
            return True
    return False


def _conjuncts(facts: KernelFacts, condition: Operand) -> list[BranchTest]:
    """Return the comparisons that a condition joins by && or ||; nothing where there is anything else in it."""
    made = facts.warp_level.definitions.get(condition) if isinstance(condition, Value) else None
    if isinstance(made, Instruction) and made.op in ("and", "or") and made.result.type.bits == 1:
        left, right = (_conjuncts(facts, operand) for operand in made.operands)
        return [*left, *right] if left and right else []
    test = comparison(facts, condition)
    return [] if test is None else [test]


def _varies(facts: KernelFacts, branch: BranchFact, test: BranchTest) -> bool:
    return not all(facts.warp_level.is_uniform(o, branch.place.name) for o in (test.left, test.right))


def _is_bound(facts: KernelFacts, branch: BranchFact, test: BranchTest) -> bool:
    if test.op not in ORDERED:
        return False
    for side, bound in ((test.left, test.right), (test.right, test.left)):
        index = _narrow(facts, side)
        made_of = origin(facts, index)
        known = facts.warp_level.affine_of(index, branch.place.name)
        if known is None:
            known = facts.warp_level.affine_of(_unscaled(facts, index), branch.place.name)
        global_index = made_of.plain and made_of.of_thread and made_of.of_block
        if global_index and known is not None and facts.warp_level.is_uniform(bound, branch.place.name):
            return True
    return False


def _unscaled(facts: KernelFacts, operand: Operand) -> Operand:
    """Return the number that another one is a multiple of, maybe in more bits: `(int)(i * sizeof(float4))`."""
    made = facts.warp_level.definitions.get(operand) if isinstance(operand, Value) else None
    while isinstance(made, Instruction) and (made.op in _CASTS or _is_scaled(made)):
        operand = made.operands[0]
        made = facts.warp_level.definitions.get(operand) if isinstance(operand, Value) else None
    return operand


def _is_scaled(made: Instruction) -> bool:
    return made.op in ("mul", "shl") and isinstance(made.operands[1], Constant)


def _narrow(facts: KernelFacts, operand: Operand) -> Operand:
    """Return the number that another one is, with more bits: an index that is compared with a `long`."""
    made = facts.warp_level.definitions.get(operand) if isinstance(operand, Value) else None
    while isinstance(made, Instruction) and made.op in _CASTS[:2]:
        operand = made.operands[0]
        made = facts.warp_level.definitions.get(operand) if isinstance(operand, Value) else None
    return operand


def is_bounded_by_guard(facts: KernelFacts, branch: BranchFact, lanes: LaneValues) -> bool:
    """Whether a loop runs over the grid, or over what a warp works on: its counter starts at the thread's index, and
    takes steps as long as all that is before the next one, so that only the last trip parts."""
    terminator = branch.place.terminator
    test = comparison(facts, terminator_operands(terminator)[0])
    if test is None or test.op not in ORDERED:
        return False
    for index, bound in ((test.left, test.right), (test.right, test.left)):
        made_of = origin(facts, index)
        uniform = facts.warp_level.is_uniform(bound, branch.place.name)
        if uniform and made_of.of_thread and made_of.loop:
            known = facts.warp_level.affine_of(index, branch.place.name)
            if (known is not None and known.coefficients[0] == 1) or (made_of.plain and _steps_by_launch(made_of)):
                return True
        if uniform and _strides(facts, index, lanes):
            return True
        if _is_cut_at_edge(facts, branch, index, bound) or _is_even_share(facts, index, bound):
            return True
    return False


_LINEAR: Final = (*_CASTS, "mul", "shl", "smulwide", "umulwide", "udiv", "sdiv", "lshr", "ashr")


def _is_even_share(facts: KernelFacts, index: Operand, bound: Operand) -> bool:
    """Whether a loop runs over an even share of all items, from `t * n / count` to `(t + 1) * n / count`: no share has
    more than one item more than another."""
    counter = _narrow(facts, index)
    made = facts.warp_level.definitions.get(counter) if isinstance(counter, Value) else None
    if not isinstance(made, Phi):
        return False
    starts = [operand for _, operand in made.incoming if _step(facts, counter, operand) is None]
    return len(starts) == 1 and _is_next(facts, Numbers(facts), _narrow(facts, starts[0]), _narrow(facts, bound))


def _is_next(facts: KernelFacts, numbers: Numbers, one: Operand, other: Operand) -> bool:
    """Whether a number is what another one is for the next thread."""
    made, after = (facts.warp_level.definitions.get(o) if isinstance(o, Value) else None for o in (one, other))
    if not isinstance(after, Instruction):
        return False
    if after.op == "add" and after.operands[1] == Constant(after.result.type, 1):
        return numbers.of(after.operands[0]) == numbers.of(one)
    if not isinstance(made, Instruction) or made.op != after.op or made.op not in _LINEAR:
        return False
    pairs = list(zip(made.operands, after.operands, strict=True))
    changed = [pair for pair in pairs if numbers.of(pair[0]) != numbers.of(pair[1])]
    kept = [first for first, second in pairs if numbers.of(first) == numbers.of(second)]
    linear = made.op in ("mul", "smulwide", "umulwide") or changed[:1] == pairs[:1]
    alike = all(origin(facts, operand).of_launch for operand in kept)
    return linear and alike and len(changed) == 1 and _is_next(facts, numbers, *changed[0])


def _is_cut_at_edge(facts: KernelFacts, branch: BranchFact, index: Operand, bound: Operand) -> bool:
    """Whether a counter runs from where it starts over a constant number of steps, but no further than a number that
    is the same for all."""
    value = _narrow(facts, bound)
    ends = facts.warp_level.definitions.get(value) if isinstance(value, Value) else None
    if not isinstance(ends, Instruction) or ends.op not in ("smin", "umin"):
        return False
    counter = _narrow(facts, index)
    made = facts.warp_level.definitions.get(counter) if isinstance(counter, Value) else None
    if not isinstance(made, Phi):
        return False
    starts = [operand for _, operand in made.incoming if _step(facts, counter, operand) is None]
    for end, edge in (ends.operands, ends.operands[::-1]):
        added = facts.warp_level.definitions.get(end) if isinstance(end, Value) else None
        same = facts.warp_level.is_uniform(edge, branch.place.name)
        if same and isinstance(added, Instruction) and added.op == "add" and isinstance(added.operands[1], Constant):
            return starts == [added.operands[0]]
    return False


def _strides(facts: KernelFacts, index: Operand, lanes: LaneValues) -> bool:
    """Whether a counter takes steps of a constant, and the lanes of each warp start no further apart than one."""
    counter = _narrow(facts, index)
    made = facts.warp_level.definitions.get(counter) if isinstance(counter, Value) else None
    if isinstance(made, Instruction) and made.op == "add":
        # what is compared is the next number
        counter = made.operands[0]
        made = facts.warp_level.definitions.get(counter) if isinstance(counter, Value) else None
    if not isinstance(made, Phi):
        return False
    steps = {operand: _step(facts, counter, operand) for _, operand in made.incoming}
    taken = {abs(step) for step in steps.values() if step is not None}
    starts = [lanes.of(operand) for operand, step in steps.items() if step is None]
    if len(taken) != 1 or not starts:
        return False
    (step,) = taken
    bits = made.result.type.bits
    return all(start is not None and _reach(lanes, start, bits) <= step for start in starts)


def _step(facts: KernelFacts, counter: Operand, operand: Operand) -> int | None:
    """Return the constant that is added to a counter, None where an operand is no such sum; `i += sizeof(float4)` adds
    in more bits than the counter has."""
    value = _uncast(facts, operand)
    made = None if value is None else facts.warp_level.definitions.get(value)
    if not isinstance(made, Instruction) or made.op not in ("add", "sub"):
        return None
    before, added = made.operands
    if _uncast(facts, before) != counter or not isinstance(added, Constant):
        return None
    return center(added.bits, added.type.bits)


def _uncast(facts: KernelFacts, operand: Operand) -> Value | None:
    """Return the value that another one is, in more or fewer bits."""
    while isinstance(operand, Value):
        made = facts.warp_level.definitions.get(operand)
        if not isinstance(made, Instruction) or made.op not in _CASTS:
            return operand
        operand = made.operands[0]
    return None


def _reach(lanes: LaneValues, column: Sequence[int], bits: int) -> int:
    """Return how far apart the numbers of one warp lie."""
    rows = ([center(number, bits) for number in warp] for warp in lanes.warps(column))
    return max((max(row) - min(row) for row in rows if row), default=0)


def _steps_by_launch(made_of: ValueOrigin) -> bool:
    return any(name.startswith(("ntid", "nctaid")) for name in made_of.registers)


def period_of(facts: KernelFacts, test: BranchTest | None, split: tuple[int, ...] | None) -> int | None:
    """Return the number of lanes after which a branch repeats, inside every warp."""
    width = facts.device.warp_width
    if split is not None:
        whole = (1 << width) - 1
        for period in range(2, width // 2 + 1):
            kept = whole >> period
            if all(mask not in (0, whole) and (mask ^ mask >> period) & kept == 0 for mask in split):
                return period
        return None
    masked = _masked_index(facts, test)
    return masked if masked is not None and masked < width else None


def _masked_index(facts: KernelFacts, test: BranchTest | None) -> int | None:
    """Return k where the test is `index % k == c` or `index & (k - 1) == c` of an index that grows by one a lane."""
    if test is None or test.op not in ("eq", "ne") or not isinstance(test.right, Constant):
        return None
    made = facts.warp_level.definitions.get(test.left) if isinstance(test.left, Value) else None
    if not isinstance(made, Instruction) or made.op not in ("and", "urem", "srem"):
        return None
    index, number = made.operands
    if not isinstance(number, Constant):
        return None
    known = facts.warp_level.affine.get(index) if isinstance(index, Value) else None
    if known is None or known.coefficients[0] != 1:
        return None
    if number.bits < 1:
        return None
    return 1 << number.bits.bit_length() if made.op == "and" else number.bits


# --- what keeps threads from a barrier


def is_by_data(facts: KernelFacts, barrier: BarrierFact) -> bool:
    """Whether it is data alone that would keep threads from a barrier, a bound that is known to be a multiple of the
    block, or one that is a share of an argument: it is not known whether they ever do."""
    blocks = {block.name: block for block in facts.function.blocks}
    ways = [
        terminator.condition
        for branch in facts.branches
        if branch.block == "divergent"
        and isinstance(terminator := branch.place.terminator, Branch)
        and only_way(facts, branch.place, blocks[barrier.block].name) is not None
    ]
    return bool(ways) and all(
        origin(facts, condition).loads or _is_multiple(facts, condition) or _is_of_shares(facts, condition)
        for condition in ways
    )


def _is_of_shares(facts: KernelFacts, condition: Operand) -> bool:
    """Whether a counter is compared with a quotient of an argument that no launch gives, or each block begins at a
    multiple of one: host code that deals elements out rounds them up, so that all threads have as many."""
    definitions, pending, seen = facts.warp_level.definitions, [condition], set[Operand]()
    while pending and len(seen) < _MOST_PARTS:
        made = definitions.get(value) if isinstance(value := pending.pop(), Value) and value not in seen else None
        seen.add(value)
        if isinstance(made, Phi):
            pending += [come for _, come in made.incoming]
        if not isinstance(made, Instruction) or not OPS[made.op].pure:
            continue
        made_of = origin(facts, *made.operands)
        is_share = made.op in _DIVISIONS and not made_of.registers
        of_block = made.op == "mul" and bool(made_of.registers) and all(r in _OF_BLOCK for r in made_of.registers)
        if (is_share or of_block) and not (made_of.loads or made_of.unknown):
            if made_of.parameters and made_of.parameters.isdisjoint(facts.shape.arguments):
                return True
            if is_share:
                return False
        pending += made.operands
    return False


def _is_multiple(facts: KernelFacts, condition: Operand) -> bool:
    """Whether a number is compared with an argument that launches are known to give as a multiple of the block."""
    test = comparison(facts, condition)
    for side in () if test is None else (test.left, test.right):
        made = facts.warp_level.definitions.get(side) if isinstance(side, Value) else None
        detail = made.detail if isinstance(made, Instruction) else None
        number = facts.shape.arguments.get(detail.parameter) if isinstance(detail, Param) else None
        if number is not None and number % facts.block[0] == 0:
            return True
    return False
