"""Functions that only kernels call: their loops run on the device, though no kernel was made of them.

    main ──► cluster ──► k3, with the text of nearest ──► distance        nearest, distance: in k3
                     └── where a test fails: the user's loop, which calls nearest

Invariant: whatever the program begins with, or may call by an address, is called by the host. What only runs where a
test fails does not count, as it does not for loops (fallbacks.py).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence

from warpsmith.base.source import Span
from warpsmith.loops.fallbacks import fallback_loops
from warpsmith.loops.prepared import Prepared
from warpsmith.offload.plan import Fragment, Plan
from warpsmith.tree.nodes import Call, For, Name, Node, While
from warpsmith.tree.program import Program
from warpsmith.tree.types import FunctionType, Symbol
from warpsmith.tree.walk import children, peel, walk

__all__ = ["find_called_by_kernels"]


def find_called_by_kernels(prepared: Prepared, plan: Plan | None) -> Mapping[Symbol, Fragment]:
    """Return the functions that only kernels call, each with the fragment of one of them."""
    functions = [function for _, function in prepared.program.functions()]
    named = {function.symbol: [*_name_functions(walk(function.body))] for function in functions}
    texts = {function.symbol: function.span for function in functions}
    found: dict[Symbol, Fragment] = {}
    for fragment in plan.fragments if plan else ():
        inside = [part for stmt in fragment.statements for part in walk(stmt)]
        written_in = {symbol for symbol, span in texts.items() if any(_is_from(part, span) for part in inside)}
        for symbol in _reach({*_name_functions(inside), *written_in} - {fragment.function.symbol}, named):
            found.setdefault(symbol, fragment)
    if not found:
        return found
    kernels = {id(stmt) for fragment in (plan.fragments if plan else ()) for stmt in fragment.statements}
    by_host = {
        function.symbol: [*_name_functions(_walk_without(function.body, kernels | fallback_loops(function)))]
        for function in functions
    }
    live = _reach(_find_first(prepared.original.program), by_host)
    return {symbol: fragment for symbol, fragment in found.items() if symbol not in live}


def _find_first(program: Program) -> Iterator[Symbol]:
    """Yield the functions of the user's program that something may call which we do not see: those without a call, and
    those with an address."""
    functions = [function for _, function in program.functions()]
    parts = [part for function in functions for part in walk(function.body)]
    names = (peel(part.function) for part in parts if isinstance(part, Call))
    calls = Counter(name.symbol for name in names if isinstance(name, Name))
    uses = Counter(_name_functions(parts))
    yield from (f.symbol for f in functions if not calls[f.symbol] or uses[f.symbol] > calls[f.symbol])


def _reach(first: Iterable[Symbol], called: Mapping[Symbol, Sequence[Symbol]]) -> set[Symbol]:
    """Return the functions that are called from `first`, and these themselves."""
    found: set[Symbol] = set()
    pending = [symbol for symbol in first if symbol in called]
    while pending:
        symbol = pending.pop()
        if symbol not in found:
            found.add(symbol)
            pending += [other for other in called[symbol] if other in called]
    return found


def _is_from(part: Node, text: Span) -> bool:
    """Whether a loop of a kernel stood in the text of a function."""
    return isinstance(part, For | While) and text.contains(part.span)


def _walk_without(body: Node, left_out: Container[int]) -> Iterator[Node]:
    pending = [body]
    while pending:
        node = pending.pop()
        if id(node) not in left_out:
            yield node
            pending += children(node)


def _name_functions(parts: Iterable[Node]) -> Iterator[Symbol]:
    yield from (part.symbol for part in parts if isinstance(part, Name) and isinstance(part.symbol.type, FunctionType))
