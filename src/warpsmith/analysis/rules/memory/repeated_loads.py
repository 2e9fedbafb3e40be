"""MEM006: what a thread has loaded already, with nothing written since.

x = a[i]; … y = a[i];         the same address twice in one block of code, with no store between
for (…) s += a[i];            the same address in every iteration of a loop that writes nothing
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from warpsmith.analysis.rules.finding import KernelFinding
from warpsmith.analysis.rules.origins import Numbers, is_compiled
from warpsmith.analysis.rules.place import DEVICE, describe_access, place_of
from warpsmith.analysis.uniformity.facts import AccessFact, KernelFacts
from warpsmith.base.findings import Note
from warpsmith.ssa.nodes import BasicBlock, Instruction, Memory
from warpsmith.ssa.ops import OPS

__all__ = ["find_repeated"]


def find_repeated(facts: KernelFacts) -> Iterator[KernelFinding]:
    """Yield loads of an address that the thread has loaded before, in the same block of code, with nothing written
    between; and loads that a loop repeats though it writes nothing."""
    by_instruction = {access.instruction: access for access in facts.accesses}
    numbers = Numbers(facts)
    for block in facts.function.blocks:
        yield from _again(facts, block, by_instruction, numbers)
    for access in facts.accesses:
        yield from _in_loop(facts, access)


def _again(
    facts: KernelFacts, block: BasicBlock, known: dict[Instruction, AccessFact], numbers: Numbers
) -> Iterator[KernelFinding]:
    loaded: dict[object, AccessFact] = {}
    for i in block.instructions:
        if _may_write(i):
            loaded.clear()
        access = known.get(i)
        if access is None or access.kind != "load" or access.space not in DEVICE or _is_settled(facts, i):
            continue
        detail = i.detail
        assert isinstance(detail, Memory)
        key = (numbers.of(i.operands[0]), detail.offset, access.bytes)
        first = loaded.setdefault(key, access)
        if first is not access:
            message = f"{describe_access(access)} that the thread has loaded already, with nothing written between"
            related = () if first.span is None else (Note(first.span, "the same address is loaded here"),)
            helps = ("keep the value in a variable",)
            yield replace(_report_repeated(facts, access, message), related=related, help=helps)


def _in_loop(facts: KernelFacts, access: AccessFact) -> Iterator[KernelFinding]:
    if access.kind != "load" or access.space not in DEVICE or not access.loops:
        return
    if _is_settled(facts, access.instruction):
        return
    inner = access.loops[0]
    cycle = next((c for c in facts.warp_level.graph.cycles_around(access.block) if c.header == inner.header), None)
    if inner.stride_bytes != 0 or cycle is None:
        return
    blocks = [block for block in facts.function.blocks if block.name in cycle.blocks]
    if any(_may_write(i) for block in blocks for i in block.instructions):
        return
    unchanged = "neither its address nor what is there changes"
    message = f"{describe_access(access)} is repeated in every iteration, though {unchanged}"
    related = () if inner.span is None else (Note(inner.span, "the loop"),)
    yield replace(_report_repeated(facts, access, message), related=related, help=("load it once, before the loop",))


def _report_repeated(facts: KernelFacts, access: AccessFact, message: str) -> KernelFinding:
    """Return MEM006; in a source file it is a guess, since the compiler may well see it too."""
    sure = is_compiled(facts)
    found = place_of(facts, access, "MEM006", message)
    return replace(
        found,
        certainty="proven" if sure else "heuristic",
        assumptions=() if sure else ("the compiler does not see it by itself",),
        label="the same address again",
    )


def _may_write(i: Instruction) -> bool:
    return OPS[i.op].effect in ("writes", "synchronizes", "unknown")


def _is_settled(facts: KernelFacts, i: Instruction) -> bool:
    """Whether a load must be made each time (it is volatile, or orders others), or need not be reported: in source,
    `__ldg` promises that nothing writes there, so that the compiler keeps the value by itself."""
    if not isinstance(i.detail, Memory):
        return False
    return bool(i.detail.order) or (i.detail.cached == "read only" and not is_compiled(facts))
