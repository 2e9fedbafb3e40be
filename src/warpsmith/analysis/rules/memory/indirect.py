"""MEM004: accesses at an index that is loaded, where neighboring lanes may load indices that lie apart.

x[at[t]]                     each lane has an index of its own
x[at[t / c] * c + t % c]     lanes of one row have the same index, and lie side by side: nothing is told
out[atomicAdd(count, 1)]     lanes get one place after the other: nothing is told
"""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from warpsmith.analysis.rules.finding import KernelFinding, Why
from warpsmith.analysis.rules.origins import origin
from warpsmith.analysis.rules.place import describe_access, place_of
from warpsmith.analysis.uniformity.facts import AccessFact, KernelFacts
from warpsmith.ssa.nodes import Constant, Instruction, Operand, Value
from warpsmith.ssa.ops import OPS

__all__ = ["find_indirect"]

_COUNTERS: Final = ("atomic_add", "atomic_sub", "atomic_inc", "atomic_dec")
_DIVISIONS: Final = ("sdiv", "udiv")
_SHIFTS: Final = ("ashr", "lshr")
_FEW_BITS: Final = 3
"""Lanes whose numbers differ in 3 bits less have one of 5 indices, where a warp has 32 lanes."""
_DEEPEST: Final = 24


def find_indirect(facts: KernelFacts, access: AccessFact) -> KernelFinding | None:
    """Return MEM004 of an access whose pattern is indirect, unless lanes that are near each other get one place after
    the other, or one index."""
    loads = origin(facts, access.instruction.operands[0]).loads
    if all(load.op in _COUNTERS or _is_for_many(facts, load) for load in loads):
        return None
    most = facts.device.warp_width
    message = f"{describe_access(access)} at an index that is loaded: up to {most} sectors per warp request"
    apart = "the indices that neighboring lanes load lie apart"
    found = replace(place_of(facts, access, "MEM004", message), certainty="conditional", assumptions=(apart,))
    return replace(
        found,
        label="the index comes from memory",
        why=tuple(Why("the index is loaded here", load.span) for load in loads[:2]),
        help=(
            "only the data tell: `warpsmith simulate` counts sectors for given indices",
            "sorted indices make neighbors share sectors",
        ),
        impact=0.5,
    )


def _is_for_many(facts: KernelFacts, load: Instruction) -> bool:
    """Whether a load gives one number to all lanes of a warp, or to many that lie side by side."""
    homes = facts.warp_level.homes
    if load.op != "load":
        return False
    same = all(facts.warp_level.is_uniform(one, homes[one]) for one in load.results)
    return same or _changes_rarely(facts, load.operands[0], load)


def _changes_rarely(facts: KernelFacts, operand: Operand, user: Instruction, depth: int = _DEEPEST) -> bool:
    """Whether an operand differs between lanes by quotients alone: of a number that only the run tells, or a large
    one."""
    uniformity = facts.warp_level
    home = uniformity.homes.get(user.results[0])
    if home is not None and uniformity.is_uniform(operand, home):
        return True
    made = uniformity.definitions.get(operand) if isinstance(operand, Value) else None
    if not depth or not isinstance(made, Instruction) or not OPS[made.op].pure or not made.operands:
        return False
    if made.op in _DIVISIONS or made.op in _SHIFTS:
        divisor = made.operands[1]
        fewest = _FEW_BITS if made.op in _SHIFTS else 1 << _FEW_BITS
        known = not isinstance(divisor, Constant) or divisor.bits >= fewest
        if known and _changes_rarely(facts, divisor, made, 0):
            return True
    return all(_changes_rarely(facts, one, made, depth - 1) for one in made.operands)
