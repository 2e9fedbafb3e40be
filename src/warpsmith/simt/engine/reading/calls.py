"""The functions that a kernel calls, where calls are left when all that can be inlined are (ssa/passes/inline.py).

    k ──► f ◄──► g         each becomes a function of its own; f and g call themselves, at most DEEPEST calls deep
    └───► h

Lanes that make a call together are in the same calls, so how deep they are is one number for all of them. Imports
nothing of LLVM."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from warpsmith.simt.layout import own_variables
from warpsmith.simt.thread import DEEPEST
from warpsmith.ssa.digraph import parts
from warpsmith.ssa.nodes import Address, Callee, Function, Instruction, Module

__all__ = ["called_functions", "calls_of", "is_call", "own_arrays", "stack_of"]

_STACK: Final = 1 << 12
"""Bytes of stack that an instruction may need: eight vectors of 64 lanes that no register holds."""
_VECTORS: Final = 8


def is_call(i: Instruction) -> bool:
    """Whether an instruction calls a function of the module."""
    return i.op == "call"


def calls_of(function: Function) -> tuple[str, ...]:
    """Return the names of the functions that a function calls."""
    found = (i.detail.name for _, i in function.instructions() if is_call(i) and isinstance(i.detail, Callee))
    return tuple(dict.fromkeys(found))


def called_functions(module: Module, function: Function) -> tuple[Function, ...]:
    """Return the functions with code that a kernel calls, and those that they call, each once, in the order of the
    module."""
    pending, seen = [*calls_of(function)], {function.name}
    while pending:
        name = pending.pop()
        found = module.function(name)
        if name not in seen and found is not None:
            pending += calls_of(found)
        seen.add(name)
    return tuple(one for one in module.functions if one is not function and one.name in seen and one.blocks)


def own_arrays(function: Function, functions: Sequence[Function]) -> tuple[str, ...]:
    """Return the local arrays that each call of a function has for itself, as far as one of `functions` names them."""
    sizes = {symbol.name: symbol.count for symbol in function.symbols}
    named = {i.detail.symbol for one in functions for _, i in one.instructions() if isinstance(i.detail, Address)}
    return tuple(sorted(name for name in own_variables(function) & named if sizes[name]))


def stack_of(function: Function, callees: Sequence[Function]) -> int:
    """Return how many bytes of stack a kernel needs, with all that it calls, one inside the other."""
    calls = {one.name: calls_of(one) for one in (function, *callees)}
    after = {name: [one for one in called if one in calls] for name, called in calls.items()}
    circular = {name for part in parts(after, after) for name in part if len(part) > 1 or name in after[name]}
    sizes = {one.name: _size(one) for one in (function, *callees)}
    deep = max((sizes[name] for name in circular), default=0)
    return _STACK * (sum(sizes.values()) + DEEPEST * deep)


def _size(function: Function) -> int:
    """Return how many instructions a function has; one that has many operands and results counts as several."""
    wide = sum((len(i.operands) + len(i.results)) // _VECTORS for _, i in function.instructions())
    return wide + sum(len(block.instructions) + 1 for block in function.blocks)
