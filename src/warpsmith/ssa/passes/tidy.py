"""The passes that leave a function as its user would draw it: no calls to follow, no memory where values do.

promote and fold ─► prune ─► spaces ─► fold ─► prune
"""

from __future__ import annotations

from warpsmith.ssa.nodes import Function
from warpsmith.ssa.passes.fold import fold_instruction
from warpsmith.ssa.passes.promote import promote_memory
from warpsmith.ssa.passes.prune import prune_unused
from warpsmith.ssa.passes.rebuild import rebuild_function
from warpsmith.ssa.passes.spaces import with_spaces

__all__ = ["tidy", "tidy_twice"]


def tidy(function: Function) -> Function:
    """Return `function`, cleaned up; what it does, and the branches that depend on anything, stay."""
    return prune_unused(_clean(function, reads=False)) if function.blocks else function


def tidy_twice(function: Function) -> tuple[Function, Function | None]:
    """Return `function`, cleaned up, and once more with the reads of memory whose values nobody uses; None where it has
    none."""
    if not function.blocks:
        return function, None
    made = _clean(function, reads=True)
    short = prune_unused(made)
    if _count_loads(short) == _count_loads(made):
        return short, None
    written = prune_unused(made, reads=True)
    return tidy(prune_unused(function)), written if _count_loads(written) > _count_loads(short) else None


def _clean(function: Function, *, reads: bool) -> Function:
    before = -1
    while before != len(function.symbols):
        # an address that lay in memory leads to more memory once it is a value
        before = len(function.symbols)
        function = prune_unused(promote_memory(function, fold_instruction), reads=reads)
        if not any(symbol.space == "local" for symbol in function.symbols):
            break
    return rebuild_function(with_spaces(function), fold_instruction)


def _count_loads(function: Function) -> int:
    return sum(i.op == "load" for _, i in function.instructions())
