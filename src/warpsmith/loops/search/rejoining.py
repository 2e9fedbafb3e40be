"""What the search took apart comes together again where that costs no thread.

    for (i) for (j) C[i][j] *= b;                       →    for (i) for (j) { C[i][j] *= b; for (k) C[i][j] += …; }
    for (i) for (j) for (k) C[i][j] += A[i][k]*B[k][j];

Two kernels in a row become one where as many loops of both are threads, all of these fuse, and one of the two has no
loop inside them: such a kernel has next to no work of its own, but reads and writes what the other one does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise

from warpsmith.loops.changed.changes import Run
from warpsmith.loops.place import LoopContext
from warpsmith.loops.prepared import Applied
from warpsmith.loops.search.cost import is_parallel, thread_loops
from warpsmith.loops.search.nests import outermost
from warpsmith.loops.step import Step
from warpsmith.loops.steps.order.fuse import Fuse
from warpsmith.poly.analyze import Facts
from warpsmith.poly.facts import FunctionFacts
from warpsmith.tree.nodes import Block, Empty, For, Function, If, While
from warpsmith.tree.walk import loop_names, loops, statements_of

__all__ = ["rejoin_pieces"]

Place = Callable[[Facts], tuple[Function, Run]]
"""The function that is worked on, and the statements that may be joined, as they are now."""
Try = Callable[[Facts, Step], tuple[Facts, Applied] | None]
"""The program after a step with its record; None where the step is not proved."""


def rejoin_pieces(
    facts: Facts, applied: tuple[Applied, ...], place: Place, try_step: Try
) -> tuple[Facts, tuple[Applied, ...]]:
    """Return the program and its steps with the kernels joined that may be."""
    refused: set[str] = set()
    while (pair := next(_pairs(facts, *place(facts), refused), None)) is not None:
        address, threads = pair
        joined = _join(facts, place, try_step, address, threads)
        if joined is None:
            refused.add(address)
        else:
            facts, applied = joined[0], (*applied, *joined[1])
            refused.clear()
    return facts, applied


def _pairs(facts: Facts, function: Function, run: Run, refused: set[str]) -> Iterator[tuple[str, int]]:
    """Yield the address of each kernel's first loop that might be joined with the kernel behind it, and how many loops
    of both are threads."""
    known, addresses = facts.of(function), loop_names(function)
    for first, second in _neighbors(known, run):
        threads = thread_loops(known, first)
        alike = threads and threads == thread_loops(known, second) and addresses[first] not in refused
        if alike and not all(_has_loops_inside(one, threads) for one in (first, second)):
            yield addresses[first], threads


def _neighbors(known: FunctionFacts, run: Run) -> Iterator[tuple[For, For]]:
    """Yield loops that stand one behind the other outside of kernels."""
    kept = [stmt for stmt in run if not isinstance(stmt, Empty)]
    for first, second in pairwise(kept):
        if isinstance(first, For) and isinstance(second, For):
            yield first, second
    for stmt in kept:
        if isinstance(stmt, Block):
            yield from _neighbors(known, stmt.statements)
        elif isinstance(stmt, If) and stmt.reasons:
            yield from _neighbors(known, statements_of(stmt.then))
        elif isinstance(stmt, While) or (isinstance(stmt, For) and not is_parallel(known.of(stmt))):
            yield from _neighbors(known, statements_of(stmt.body))


def _has_loops_inside(nest: For, threads: int) -> bool:
    return any(len(around) >= threads for _, around in loops(nest))


def _join(
    facts: Facts, place: Place, try_step: Try, address: str, threads: int
) -> tuple[Facts, tuple[Applied, ...]] | None:
    """Return the program with two kernels joined, loop by loop, and the steps; None where they cannot be, or threads
    are lost."""
    steps: list[Applied] = []
    inner = address
    for level in range(threads):
        after = try_step(facts, Fuse(inner))
        if after is None:
            return None
        facts, step = after
        steps.append(step)
        if level + 1 < threads:
            body = LoopContext.of(facts.program, inner).loop.body
            inner = loop_names(place(facts)[0])[next(outermost(body))]
    joined = LoopContext.of(facts.program, address).require_counted()
    return (facts, tuple(steps)) if thread_loops(facts.of(place(facts)[0]), joined) == threads else None
