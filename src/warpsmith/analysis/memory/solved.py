"""The forms of a function with all that is asked of them found: its addresses and its conditions."""

from __future__ import annotations

from warpsmith.analysis.memory.accesses import addresses
from warpsmith.analysis.memory.forms import Forms
from warpsmith.analysis.memory.lanes import BlockLanes
from warpsmith.analysis.memory.presence import conditions
from warpsmith.analysis.uniformity.facts import LaunchShape
from warpsmith.analysis.uniformity.uniformity import Uniformity
from warpsmith.ssa.nodes import Module

__all__ = ["solved_forms"]


def solved_forms(module: Module, answer: Uniformity, shape: LaunchShape) -> Forms:
    """Return the forms for the threads that uniformity was asked of, a block of a known shape."""
    assert answer.threads.block is not None
    lanes = BlockLanes(answer.threads.block, answer.threads.warp, answer.threads)
    forms = Forms(module, answer, lanes, shape)
    forms.solve([*addresses(forms), *conditions(forms)])
    return forms
