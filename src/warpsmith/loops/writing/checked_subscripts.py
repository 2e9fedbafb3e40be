"""The tests of `at` in a loop, made once before it.

    for (i = 0; i < n; i++) s += v.at(k + i);      for (i = 0; i < n; i++) s += data[k + i];
                                                   where 0 <= k and k + n <= v.size(), or the loop has no iteration

Invariant: where the conditions hold at the loop's entry, no test of the loop fails. The model is of the loop with a
read of a probe at each subscript that is tested: in all its iterations the subscript keeps to the size. A model whose
domains are larger than what runs asks for more than is needed, never for less.

Limits: a subscript that is not affine (`v.at(idx[i])`), or a size that the loop may change, has no such condition.
"""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from warpsmith.base.verdict import Reason
from warpsmith.loops.place import LoopContext, with_run
from warpsmith.loops.versions import reads_no_memory
from warpsmith.loops.writing.storage import before
from warpsmith.poly.analyze import Facts
from warpsmith.poly.isl.polynomial import Polynomial
from warpsmith.poly.isl.space import OutOfBudgetError, budget
from warpsmith.poly.regions.model import build_region
from warpsmith.poly.regions.region import Path, Region, Subscript
from warpsmith.poly.regions.sections import loops_around
from warpsmith.poly.regions.state import State
from warpsmith.tree.containers import find_check
from warpsmith.tree.nodes import Expr, Index, Name, Node, Stmt, replace
from warpsmith.tree.program import Assumption
from warpsmith.tree.types import SIZE_T, Pointer, Symbol
from warpsmith.tree.walk import rebuild

__all__ = ["drop_checks", "guard_checks"]

_PROBE: Final = Pointer(SIZE_T)


def drop_checks(loop: Stmt) -> Stmt:
    """Return a loop without its tests."""

    def change(node: Node) -> Node:
        check = find_check(node)
        return node if check is None or not isinstance(node, Index) else replace(node, index=check.arguments[0])

    return rebuild(loop, change)


def guard_checks(
    facts: Facts, place: LoopContext, run: tuple[Stmt, ...], *, guards: bool
) -> tuple[Assumption, ...] | Reason:
    """Return the conditions, to be tested before a loop, under which none of its tests fails, or why there are none.
    `run` ends with the loop, and stands in its place: it declares the variables that the conditions name."""
    probed, probes = _probe(run[-1])
    trial = with_run(facts.program, place.function, (place.loop,), (*run[:-1], probed))
    after = facts.after(trial)
    function = next(f for _, f in trial.functions() if f.symbol == place.function.symbol)
    try:
        with budget(facts.options.max_operations):
            around = loops_around(after.summaries, function, probed)
            region, state = build_region(after.origin(function), (probed,), around, guards=guards)
            refused = next((r for probe in probes if (r := _bound(region, state, probe)) is not None), None)
    except OutOfBudgetError:
        return Reason("STP002", "whether its subscripts keep to the sizes takes too long to say", place.loop.header)
    if refused is not None:
        return refused
    tests = [test for test in state.assumptions if test.kind == "guarded"]
    for test in tests:
        # what it names keeps its value in the loop: it is a parameter of the model
        if test.condition is None or not reads_no_memory(test.condition):
            return Reason("STP002", f"{test.text} cannot be tested before the loop", place.loop.header)
    return tuple(tests)


class _Probe(Struct, frozen=True):
    """A read that stands for a test: of `element`, the subscript of `symbol`, against a size."""

    symbol: Symbol
    element: Index
    size: Expr


def _probe(loop: Stmt) -> tuple[Stmt, list[_Probe]]:
    """Return a loop with a read of a probe in place of each test."""
    probes: list[_Probe] = []

    def change(node: Node) -> Node:
        check = find_check(node)
        if check is None or not isinstance(node, Index):
            return node
        index, size = check.arguments
        name = f"probe{len(probes)}"
        symbol = Symbol(name, f":check:{name}", _PROBE, "local")
        probes.append(_Probe(symbol, node, size))
        base = Name(span=before(index.span), type=_PROBE, symbol=symbol)
        return replace(node, index=Index(span=index.span, type=SIZE_T, base=base, index=index))

    return rebuild(loop, change), probes


def _bound(region: Region, state: State, probe: _Probe) -> Reason | None:
    """Assume that a probe's subscript keeps to its size; return why that cannot be said."""
    most, text = state.affine.exact(probe.size), " ".join(probe.element.span.text.split())
    accesses = ((s, a) for s in region.statements for a in s.accesses if a.base == probe.symbol)
    # reading the probe itself has no path
    reads = [(statement, _subscript(access.path)) for statement, access in accesses if access.path]
    if most is None or not reads or any(value is None for _, value in reads):
        what = "its index" if most is not None else "the size"
        return Reason("STP002", f"{text} may throw: {what} is not known before the loop", probe.element.span)
    for statement, value in reads:
        # the walk is over: these are the counters that the subscript may be bounded by
        state.counters = list(statement.counters)
        ends = () if value is None else (value, most.shift(-1) - value)
        if not state.require_on(statement.domain, ends, text, declared=True):
            why = f"{text} may throw: no test before the loop says that its index is less than the size"
            return Reason("STP002", why, probe.element.span)
    return None


def _subscript(path: Path) -> Polynomial | None:
    """Return the value of a path that is one subscript; None where it is not known."""
    return path[0].value if len(path) == 1 and isinstance(path[0], Subscript) else None
