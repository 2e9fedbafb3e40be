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

__all__ = ["tidy"]


def tidy(function: Function) -> Function:
    """Return `function`, cleaned up; what it does, and the branches that depend on anything, stay."""
    if not function.blocks:
        return function
    before = -1
    while before != len(function.symbols):
        # an address that lay in memory leads to more memory once it is a value
        before = len(function.symbols)
        function = prune_unused(promote_memory(function, fold_instruction))
        if not any(symbol.space == "local" for symbol in function.symbols):
            break
    return prune_unused(rebuild_function(with_spaces(function), fold_instruction))
