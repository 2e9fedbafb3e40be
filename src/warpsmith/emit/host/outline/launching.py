"""Which statements may have a kernel run while they do, and which functions may launch one.

Invariant: a function that may launch a kernel is among those found, by whichever way of calls: text that we do not
read, and pointers to functions, may lead anywhere.
Limits: functions that the program does not define launch none, and call none of its own that is not named to them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from warpsmith.emit.host.outline.statements import Moving
from warpsmith.tree.nodes import Call, Name, Node, Update, Verbatim, VerbatimExpr
from warpsmith.tree.program import Program
from warpsmith.tree.types import FunctionType, Pointer, Symbol
from warpsmith.tree.walk import peel, walk

__all__ = ["find_launching", "is_for_the_host"]


def find_launching(program: Program) -> frozenset[Symbol]:
    """Return the functions of a program from which a kernel may be launched."""
    known = {function.symbol: function.body for _, function in program.functions()}
    found: set[Symbol] = set()
    while more := [s for s, body in known.items() if s not in found and not is_for_the_host((body,), found)]:
        found.update(more)
    return frozenset(found)


def is_for_the_host(run: Iterable[Node], launching: Collection[Symbol]) -> bool:
    """Whether no kernel may run while statements do: none is there, nor a function of those that launch one."""
    return not any(_may_launch(part, launching) for root in run for part in walk(root))


def _may_launch(part: Node, launching: Collection[Symbol]) -> bool:
    if isinstance(part, Moving):
        return not isinstance(part, Update)
    match part:
        case Verbatim() | VerbatimExpr():
            return True
        case Call(function=function) if not isinstance(peel(function), Name):
            return True
        case Name(symbol=symbol) if isinstance(symbol.type, FunctionType):
            return symbol in launching
        case Name(symbol=symbol) if isinstance(symbol.type, Pointer):
            return isinstance(symbol.type.to, FunctionType)
        case _:
            return False
