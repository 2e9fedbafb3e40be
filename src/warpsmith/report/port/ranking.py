"""Which loops matter: an estimate of their work from the text, through the call graph.

    main: for t (unknown: 100)            100 calls of step
    step: for i (unknown: 100)            100 · 100 iterations
              for j (64)                  100 · 100 · 64 · its operations

A loop's work is (calls of its function) · (iterations of the loops around it and of itself) · (operations of its body,
inner loops and called functions included). A function calls itself only once. Ties: the deeper loop first. Figures are
estimates for an order, and are printed as shares.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from msgspec import Struct, field

from warpsmith.loops.search.effort import FunctionEffort, LoopEffort

__all__ = ["Weights", "weigh"]

UNKNOWN_TRIPS: Final = 100
UNCOUNTED_TRIPS: Final = 10
"""A `while` seldom runs over an array."""

MOST: Final = 1e250


class Weights(Struct, frozen=True):
    """Work of each loop by (function key, number): all that runs inside, and its own operations alone; `total` of the
    program."""

    inclusive: Mapping[tuple[str, int], float]
    own: Mapping[tuple[str, int], float]
    total: float


class _Weighing(Struct):
    functions: Mapping[str, FunctionEffort]
    callees: Mapping[str, Mapping[str, float]]
    costs: dict[str, float] = field(default_factory=dict)

    def cost(self, key: str) -> float:
        """Return the operations of one call of a function; callees first, without recursion of ours."""
        pending, open_ones = [key], set[str]()
        while pending:
            current = pending[-1]
            if current in self.costs or current not in self.functions:
                pending.pop()
                continue
            open_ones.add(current)
            function = self.functions[current]
            missing = [
                c for c in self.callees[current] if c in self.functions and c not in self.costs and c not in open_ones
            ]
            if missing:
                pending += sorted(missing)
                continue
            self.costs[current] = self.body(function, -1)
            pending.pop()
        return self.costs.get(key, 1.0)

    def body(self, function: FunctionEffort, around: int) -> float:
        """Return the operations of one iteration of a loop (-1: of the function), all that is inside included."""
        inside = function.loops[around] if around >= 0 else None
        own = function.operations if inside is None else inside.operations
        calls = function.calls if inside is None else inside.calls
        total = own + sum(self.costs.get(c, 1.0) for c in calls)
        for number, loop in enumerate(function.loops):
            if loop.around == around:
                total += _trips(loop) * self.body(function, number)
        return min(total, MOST)


def weigh(efforts: Sequence[FunctionEffort]) -> Weights:
    """Return the work of every loop of the functions `efforts` (one a key)."""
    functions = {effort.key: effort for effort in efforts}
    callees = {key: _callees(function) for key, function in functions.items()}
    state = _Weighing(functions, callees)
    for key in functions:
        state.cost(key)
    called = _calls(callees)
    inclusive: dict[tuple[str, int], float] = {}
    own: dict[tuple[str, int], float] = {}
    for key, function in functions.items():
        times = [0.0] * len(function.loops)
        for number, loop in enumerate(function.loops):
            outer = called[key] if loop.around < 0 else times[loop.around]
            times[number] = min(outer * _trips(loop), MOST)
            inclusive[key, number] = min(times[number] * state.body(function, number), MOST)
            own[key, number] = min(times[number] * max(1, loop.operations), MOST)
    below = {callee for key, found in callees.items() for callee in found if callee != key}
    total = sum(cost for key, cost in state.costs.items() if key == "main" or key not in below)
    return Weights(inclusive, own, max([total, 1.0, *inclusive.values()]))


def _trips(loop: LoopEffort) -> float:
    if loop.trips is not None:
        return float(loop.trips)
    return float(UNKNOWN_TRIPS if loop.counted else UNCOUNTED_TRIPS)


def _callees(function: FunctionEffort) -> dict[str, float]:
    """Return how often one call of a function calls each other one."""
    found: dict[str, float] = {}
    times = [0.0] * len(function.loops)
    for called in function.calls:
        found[called] = found.get(called, 0.0) + 1
    for number, loop in enumerate(function.loops):
        outer = 1.0 if loop.around < 0 else times[loop.around]
        times[number] = min(outer * _trips(loop), MOST)
        for called in loop.calls:
            found[called] = min(found.get(called, 0.0) + times[number], MOST)
    return found


def _calls(callees: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    """Return how often each function is called in one run: callers first, a circle entered once."""
    edges = {key: {c: n for c, n in to.items() if c in callees and c != key} for key, to in callees.items()}
    order = _callers_first(edges)
    place = {key: n for n, key in enumerate(order)}
    called = dict.fromkeys(callees, 0.0)
    has_caller = {c for key, to in edges.items() for c in to if place[c] > place[key]}
    for key in order:
        if key not in has_caller:
            called[key] = 1.0
        for callee, count in edges[key].items():
            if place[callee] > place[key]:
                called[callee] = min(called[callee] + called[key] * count, MOST)
    return called


def _callers_first(edges: Mapping[str, Mapping[str, float]]) -> list[str]:
    """Return the functions such that callers stand before callees, circles cut where they are first met."""
    done: list[str] = []
    state: dict[str, int] = {}
    roots = set(edges) - {c for to in edges.values() for c in to}
    for start in (*sorted(roots), *sorted(edges)):
        stack = [(start, iter(sorted(edges[start])))] if start not in state else []
        state.setdefault(start, 1)
        while stack:
            key, rest = stack[-1]
            following = next((c for c in rest if c not in state), None)
            if following is None:
                done.append(key)
                stack.pop()
            else:
                state[following] = 1
                stack.append((following, iter(sorted(edges[following]))))
    return done[::-1]
