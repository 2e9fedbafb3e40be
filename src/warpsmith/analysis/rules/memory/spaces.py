"""MEM012 and MEM014: memory of a thread's own that is device memory in truth, constants that lanes ask for apart."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby

from msgspec.structs import replace

from warpsmith.analysis.rules.finding import KernelFinding
from warpsmith.analysis.rules.origins import is_compiled, origin
from warpsmith.analysis.rules.place import describe_access, place_of
from warpsmith.analysis.uniformity.facts import AccessFact, KernelFacts
from warpsmith.base.findings import Certainty, Note
from warpsmith.ssa.nodes import Branch, Constant, Operand, Param, Value

__all__ = ["other_spaces"]


def other_spaces(facts: KernelFacts) -> Iterator[KernelFinding]:
    """Yield what is to be said of local and of constant memory."""
    yield from _private(facts)
    yield from _constants(facts)


def _private(facts: KernelFacts) -> Iterator[KernelFinding]:
    found = [access for access in facts.accesses if access.space == "local"]
    for name, group in _by_variable(found):
        if is_compiled(facts) and all(access.kind == "store" for access in group):
            continue  # what a call is handed, as the numbers that printf prints
        first, *rest = sorted(group, key=lambda access: (not _is_moving(facts, access), _line(access)))
        symbol = next((s for s in (*facts.function.symbols, *facts.module.symbols) if s.name == name), None)
        if symbol is not None and symbol.bytes == first.bytes:
            continue  # one element, whatever its index is
        size = f" of {symbol.bytes} bytes" if symbol is not None and symbol.bytes else ""
        space = f"{facts.words.private} memory, that is, in device memory"
        message = f"the private array {name or '(unnamed)'}{size} is in {space}"
        related = tuple(
            Note(a.span, describe_access(a)) for a in rest[:3] if a.span is not None and a.span != first.span
        )
        certainty, assumptions = _how_sure(facts, first, is_table=_is_table(facts, group))
        yield replace(
            place_of(facts, first, "MEM012", message),
            certainty=certainty,
            assumptions=assumptions,
            label="indexed with a number that only the run tells, or too large for registers",
            related=related,
            help=("make every index a constant: unroll the loop over it (#pragma unroll)",
                  f"or use {facts.words.shared} memory"),
        )  # fmt: skip


def _is_moving(facts: KernelFacts, access: AccessFact) -> bool:
    """Whether the address depends on anything but the place of the array."""
    made_of = origin(facts, access.instruction.operands[0])
    return bool(made_of.parameters or made_of.registers or made_of.loads or made_of.unknown or made_of.loop)


def _is_table(facts: KernelFacts, group: Iterable[AccessFact]) -> bool:
    """Whether only constants are written, at constant places, or a struct that is an argument, as it is: compilers
    put such an array into constant memory, where arguments are."""
    stores = [access for access in group if access.kind == "store"]
    written = (operand for access in stores for operand in access.instruction.operands[1:])
    return all(_is_given(facts, o) for o in written) and not any(_is_moving(facts, access) for access in stores)


def _is_given(facts: KernelFacts, operand: Operand) -> bool:
    """Whether a number is a constant, or a part of an argument."""
    made = facts.warp_level.definitions.get(operand) if isinstance(operand, Value) else None
    return isinstance(operand, Constant) or isinstance(getattr(made, "detail", None), Param)


def _how_sure(facts: KernelFacts, access: AccessFact, *, is_table: bool) -> tuple[Certainty, tuple[str, ...]]:
    """Return how sure it is that an array is in memory: a compiler unrolls loops with constant bounds, and then knows
    the index; what depends on the thread, an argument or data it cannot know."""
    if is_compiled(facts):
        return "proven", ()
    made_of = origin(facts, access.instruction.operands[0])
    known = not (made_of.parameters or made_of.registers or made_of.loads or made_of.unknown)
    if is_table or (known and not (made_of.loop and _runs_on(facts, access.block))):
        return "heuristic", ()
    return "conditional", ("the compiler does not turn the array into selections between registers",)


def _runs_on(facts: KernelFacts, block: str) -> bool:
    """Whether no test at an end of the innermost loop around a block tells a compiler how often it runs at most."""
    graph = facts.warp_level.graph
    around = graph.cycles_around(block)
    if not around:
        return False
    loop = around[-1]
    for name in loop.blocks:
        end = next(b for b in facts.function.blocks if b.name == name).terminator
        counts = name == loop.header or loop.header in graph.successors[name]
        if counts and isinstance(end, Branch) and not set(graph.successors[name]) <= set(loop.blocks):
            test = origin(facts, end.condition)
            if not (test.parameters or test.registers or test.loads or test.unknown):
                return False
    return True


def _line(access: AccessFact) -> int:
    return 0 if access.span is None else access.span.line


def _by_variable(accesses: Iterable[AccessFact]) -> Iterator[tuple[str, list[AccessFact]]]:
    ordered = sorted(accesses, key=lambda access: access.variable)
    for name, group in groupby(ordered, key=lambda access: access.variable):
        yield name, list(group)


def _constants(facts: KernelFacts) -> Iterator[KernelFinding]:
    for access in facts.accesses:
        if access.space != "constant" or access.bank_ways is None or access.bank_ways.most < 2:
            continue
        sure = access.bank_ways.least > 1
        message = (
            f"{describe_access(access)} in constant memory differs between lanes: {access.bank_ways} words, one by one"
        )
        found = place_of(facts, access, "MEM014", message)
        assumptions = found.assumptions if sure else (*found.assumptions, "the indices differ between lanes")
        yield replace(
            found,
            certainty=found.certainty if sure else "conditional",
            assumptions=assumptions,
            label="constant memory gives one word at a time",
            help=("use shared or global memory (`const __restrict__`) for what lanes index apart",),
            impact=float(access.bank_ways.most),
        )
