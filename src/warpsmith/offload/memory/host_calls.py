"""Who calls whom on the host, as far as kernels are concerned.

    main ─► stage ─► ws_blur_k1          stage leads to kernels; what a kernel's own statements call runs on the device

Invariant: a function that the host may call while statements run is in `find_reached` of them. What stands in a
text that is not modelled, but of which it is known what it does (`Doing`), is seen.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator

from msgspec import Struct

from warpsmith.poly.effects.summaries import Summaries
from warpsmith.poly.pointers.accesses import direct_call
from warpsmith.tree.nodes import Call, Expr, Function, Node, Stmt, VerbatimExpr
from warpsmith.tree.types import Symbol
from warpsmith.tree.walk import walk

__all__ = ["HostCalls", "calls_in", "device_call", "leads_to_kernels"]


def device_call(node: Stmt | Expr, device: frozenset[Symbol]) -> Call | None:
    """Return a call in `node` of a function that leads to a kernel."""
    return next((call for call in calls_in(node) if direct_call(call) in device), None) if device else None


def leads_to_kernels(summaries: Summaries, first: set[Symbol]) -> frozenset[Symbol]:
    """Return the functions that run kernels, or call such a function; `first` are those that run some themselves."""
    found = set(first)
    changed = True
    while changed:
        more = {
            symbol
            for symbol, function in summaries.definitions.items()
            if symbol not in found and any(direct_call(call) in found for call in calls_in(function.body))
        }
        changed = bool(more)
        found |= more
    return frozenset(found)


@functools.lru_cache(maxsize=4096)
def calls_in(node: Node) -> tuple[Call, ...]:
    """Return the calls in `node`, those of texts whose doing is known too. Every choice of what is held asks again."""
    return tuple(_calls(node))


def _calls(node: Node) -> Iterator[Call]:
    for part in walk(node):
        if isinstance(part, Call):
            yield part
        elif isinstance(part, VerbatimExpr) and part.doing is not None:
            for expr in part.doing.evaluates:
                yield from _calls(expr)


class HostCalls(Struct, frozen=True):
    """What the host calls. A call in the statements of a kernel runs on the device; or on the host, where a guard
    fails, but then everything is valid there, and what is called leads to no kernel."""

    summaries: Summaries
    kernels: frozenset[Node]
    device: frozenset[Symbol]

    @classmethod
    def of(cls, summaries: Summaries, kernels: Iterable[Stmt], device: frozenset[Symbol]) -> HostCalls:
        """Prepare the answers; `kernels` are the statements that run on the device."""
        return cls(summaries, frozenset(part for stmt in kernels for part in walk(stmt)), device)

    def find_reached(self, statements: Iterable[Stmt]) -> frozenset[Function]:
        """Return the functions that the host calls while the statements run."""
        found: set[Symbol] = set()
        pending = [symbol for stmt in statements for symbol in self._find_made_by(stmt)]
        while pending:
            symbol = pending.pop()
            if symbol not in found:
                found.add(symbol)
                pending += self._find_made_by(self.summaries.definitions[symbol].body)
        return frozenset(self.summaries.definitions[symbol] for symbol in found)

    def _find_made_by(self, stmt: Stmt) -> Iterator[Symbol]:
        """Yield the functions of the program that a statement calls on the host."""
        for call in calls_in(stmt):
            name = direct_call(call)
            known = name is not None and name in self.summaries.definitions
            if name is not None and known and (call not in self.kernels or name in self.device):
                yield name
