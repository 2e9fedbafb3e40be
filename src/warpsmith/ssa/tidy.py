"""The passes that leave a function as its user would draw it: no calls to follow, no memory where values do.

promote and fold ─► prune ─► spaces ─► fold ─► prune
"""

from __future__ import annotations

from warpsmith.ssa.fold import folded
from warpsmith.ssa.nodes import Function
from warpsmith.ssa.promote import promoted
from warpsmith.ssa.prune import pruned
from warpsmith.ssa.rebuild import rebuilt
from warpsmith.ssa.spaces import with_spaces

__all__ = ["tidy"]


def tidy(function: Function) -> Function:
    """Return `function`, cleaned up; what it does, and the branches that depend on anything, stay."""
    if not function.blocks:
        return function
    function = pruned(promoted(function, folded))
    return pruned(rebuilt(with_spaces(function), folded))
