"""Branches: whether they part threads, and the chain of reasons from there back to where divergence begins."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from warpsmith.analysis.uniformity.facts import BranchFact
from warpsmith.analysis.uniformity.uniformity import Cause, Uniformity
from warpsmith.base.source import Span
from warpsmith.ssa.nodes import Branch, Switch, terminator_operands

__all__ = ["PARTED", "branches", "reasons"]

PARTED: Final = ("threads leave a loop apart", "threads come different ways")
"""Reasons why a value differs between threads that are branches, not operands."""


def branches(warp: Uniformity, whole: Uniformity) -> Iterator[BranchFact]:
    """Yield the fact for each branch; `whole` is the answer for a block, `warp` for a warp."""
    function = warp.function
    for block in function.blocks:
        terminator = block.terminator
        if block.name not in warp.graph.successors or not isinstance(terminator, Branch | Switch):
            continue
        answer = warp if block.name in warp.branches else whole
        why, lines = reasons(answer, answer.branches.get(block.name))
        yield BranchFact(
            kernel=function.name,
            span=terminator.span,
            op="switch" if isinstance(terminator, Switch) else "bra",
            warp="divergent" if block.name in warp.branches else "uniform",
            block="divergent" if block.name in whole.branches else "uniform",
            why=why,
            lines=lines,
            place=block,
            depth=len(warp.graph.cycles_around(block.name)),
        )


def reasons(answer: Uniformity, cause: Cause | None) -> tuple[tuple[str, ...], tuple[Span | None, ...]]:
    """Return the chain from a cause back to where divergence begins, as texts, and their places."""
    chain = list(_chain(answer, cause))
    return tuple(text for text, _ in chain), tuple(span for _, span in chain)


def _chain(answer: Uniformity, cause: Cause | None) -> Iterator[tuple[str, Span | None]]:
    seen: set[int] = set()
    while cause is not None and id(cause) not in seen:
        seen.add(id(cause))
        if cause.text:
            yield cause.text, None
        if cause.kind in ("sync", "temporal", "cycle") and cause.branch is not None:
            diverged = answer.branches.get(cause.branch)
            block = next(b for b in answer.function.blocks if b.name == cause.branch)
            yield PARTED[cause.kind != "temporal"], block.terminator.span
            condition = terminator_operands(block.terminator)[:1]
            cause = answer.cause(condition[0], cause.branch) if diverged is not None and condition else None
        elif cause.source is not None:
            made = answer.definitions[cause.source]
            yield f"%{cause.source.name or 'value'}", made.span
            cause = answer.divergent.get(cause.source)
        else:
            cause = None
