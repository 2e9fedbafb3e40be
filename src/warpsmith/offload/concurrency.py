"""Where a port would change what runs at once: recursive functions, and code that OpenMP already runs on many threads.

Buffers and launches of one function belong to one host thread and one call at a time. Invariant: nothing is ported in
a function that may run while another call of it is under way.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from warpsmith.base.verdict import Reason
from warpsmith.tree.nodes import Block, Call, For, Function, Name, Node, Pragma, While
from warpsmith.tree.program import Program
from warpsmith.tree.types import Symbol
from warpsmith.tree.walk import children, walk

__all__ = ["no_port_here", "run_concurrently"]

_MANY_THREADS = ("parallel", "task", "taskloop", "sections", "teams", "target")


def no_port_here(program: Program, function: Function) -> Reason | None:
    """Return why no loop of `function` may be ported at all, or None."""
    callees = {f.symbol: _called(f) for _, f in program.functions()}
    if function.symbol in _reach(callees, callees.get(function.symbol, set())):
        return Reason("POR008", f"'{function.symbol.name}' is recursive", function.symbol.span)
    for _, other in program.functions():
        started = {s for node in _threaded(other.body) for s in _called(node)}
        if function.symbol in _reach(callees, started):
            text = f"'{function.symbol.name}' is called from '{other.symbol.name}' inside an OpenMP parallel region"
            return Reason("POR008", text, function.symbol.span)
    return None


def run_concurrently(function: Function) -> dict[int, Reason]:
    """Return, by `id`, the loops of `function` that several host threads run at once, so may not be ported alone."""
    found: dict[int, Reason] = {}
    for node in _threaded(function.body):
        reason = Reason("POR008", "several host threads run this loop at once (OpenMP)", node.span)
        inside = walk(node)
        if isinstance(node, For | While):
            next(inside)
        found.update((id(part), reason) for part in inside if isinstance(part, For | While))
    return found


def _threaded(node: Node) -> Iterator[Node]:
    """Yield the statements that an OpenMP construct lets several threads run."""
    for part in walk(node):
        items = part.statements if isinstance(part, Block) else tuple(children(part))
        for pragma, after in pairwise(items):
            if isinstance(pragma, Pragma) and _starts_threads(pragma.text):
                yield after


def _starts_threads(text: str) -> bool:
    words = text.replace("#", " ").replace("(", " ").split()
    return len(words) > 1 and words[1] == "omp" and any(word in _MANY_THREADS for word in words[2:])


def _called(node: Node) -> set[Symbol]:
    """Return the functions that `node` calls, or whose address it takes."""
    calls = {part.function.symbol for part in walk(node) if isinstance(part, Call) and isinstance(part.function, Name)}
    taken = {part.symbol for part in walk(node) if isinstance(part, Name) and part.symbol.storage == "function"}
    return calls | taken


def _reach(callees: dict[Symbol, set[Symbol]], start: set[Symbol]) -> set[Symbol]:
    found: set[Symbol] = set()
    pending = list(start)
    while pending:
        symbol = pending.pop()
        if symbol not in found:
            found.add(symbol)
            pending += callees.get(symbol, ())
    return found
