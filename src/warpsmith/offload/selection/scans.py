"""Loops with running values as kernels: what an iteration needs of those before it, and what the body makes of it.

    for (i = 1; i < n; i++)                  element  b[i]          before the first iteration  a[0]
        a[i] = a[i - 1] + b[i];              body     a[i] = a_before + b[i];

    for (i = 0; i < n; i++) {                element  a[i]          before the first iteration  s
        s += a[i];                           body     s += a[i]; b[i] = s;   with an `s` of the thread's own
        b[i] = s;
    }

    for (i = 0; i < n; i++)                  element  a[i] > 0 ? 1 : 0          before the first iteration  k
        if (a[i] > 0) b[k++] = a[i];         body     as it is, with a `k` of the thread's own

Invariant: a thread that starts its iteration with the value that all earlier iterations leave does in the user's own
statements what that iteration does; poly proved that nothing else is carried. The order in which elements are combined
is free (poly/dependences/reductions.py), so that value may be computed in parts (emit/device/scan.py): exactly for
integers, minima and maxima, up to rounding for sums and products of floating point.
"""

from __future__ import annotations

from warpsmith.base.verdict import Proved, Reason
from warpsmith.offload.expressions import name, shift_expression
from warpsmith.offload.fragments import Draft, OffloadRequest
from warpsmith.offload.mapping.ranges import launch_ranges
from warpsmith.offload.selection.finals import final_statement
from warpsmith.offload.selection.uses import Accessed, find_accessed, obstacle, uses_only_scalars
from warpsmith.offload.values.running import RunningKernel, RunningValue
from warpsmith.poly.dependences.in_place import offset_of
from warpsmith.poly.dependences.running import Running, running_values
from warpsmith.poly.effects.summaries import Summaries
from warpsmith.poly.facts import LoopFacts
from warpsmith.tree.nodes import For, Index, Name, Node, Stmt, replace
from warpsmith.tree.program import Assumption
from warpsmith.tree.types import Array, Record, Scalar, Symbol
from warpsmith.tree.walk import loops, rebuild, same

__all__ = ["is_scan", "scan_at"]


def is_scan(facts: LoopFacts) -> bool:
    """Whether a running value is all that the loop carries."""
    return facts.category == "scan" and isinstance(facts.combined, Proved)


def scan_at(request: OffloadRequest, facts: LoopFacts, statements: tuple[Stmt, ...]) -> Draft | Reason:
    """Return the fragment that the scan of `facts` makes, or why it makes none. `statements`: see `nest_at`."""
    loop = facts.loop
    if not isinstance(loop, For):
        return Reason("POR008", "only a counted loop can become threads", loop.header)
    found = running_values(loop, facts.reductions, request.summaries or Summaries.of(request.program))
    if isinstance(found, Reason):
        return found
    reason = obstacle(request, (loop.body,)) or _bad_range(loop)
    if reason is not None:
        return reason
    scan = _running_kernel(request, loop, found)
    if scan.is_rounded and request.options.precise_fp:
        name = next(value.running.symbol.name for value in scan.values if value.is_rounded)
        text = f"--precise-fp: the running values of {name} would be reordered, so it stays on the host"
        return Reason("POR007", text, loop.header)
    used = find_accessed(request, (loop,))
    owned = _find_owned(facts, loop, {running.symbol for running in found}, used)
    if isinstance(owned, Reason):
        return owned
    final = None if loop.declares else final_statement((loop,))
    if final is None and not loop.declares:
        text = f"the value that {loop.variable.name} has after the loop cannot be written"
        return Reason("POR008", text, loop.header)
    return Draft(
        region=facts.id,
        kind="nest",
        statements=statements,
        loops=(facts,),
        uses=used.uses(owned),
        locals=tuple(s for s in used.outside if s in owned and s != loop.variable),
        finals=() if final is None else (final,),
        assumptions=_assumptions(facts),
        scan=scan,
    )


def _bad_range(loop: For) -> Reason | None:
    for bound in (loop.lower, loop.bound):
        if not uses_only_scalars(bound):
            text = "the loop's bound reads memory: copy it to a local variable before the loop"
            return Reason("POR008", text, bound.span)
    if launch_ranges((loop,)) is None:
        return Reason("POR008", "the range of the counter cannot be computed on the host", loop.header)
    return None


def _find_owned(facts: LoopFacts, loop: For, running: set[Symbol], used: Accessed) -> frozenset[Symbol] | Reason:
    """Return the scalars declared outside the loop that every iteration owns."""
    counters = {inner.variable for inner, _ in loops(loop) if isinstance(inner, For)}
    own = set(facts.private) | {loop.variable}
    for symbol in (s for s in used.outside if s in used.written - running):
        if symbol not in own or isinstance(symbol.type, Array | Record):
            return Reason("POR003", f"'{symbol.name}' is shared by the iterations and written", loop.header)
        if symbol != loop.variable and (symbol in facts.live_out or symbol in counters):
            return Reason("POR008", f"the value that '{symbol.name}' has after the loop may be read", loop.header)
    return frozenset(own & set(used.outside))


def _assumptions(facts: LoopFacts) -> tuple[Assumption, ...]:
    verdict = facts.combined
    return tuple(a for a in verdict.assumptions if isinstance(a, Assumption)) if isinstance(verdict, Proved) else ()


def _running_kernel(request: OffloadRequest, loop: For, found: tuple[Running, ...]) -> RunningKernel:
    values = tuple(_running_value(request, loop, running) for running in found)

    def change(node: Node) -> Node:
        for value in values:
            previous = value.running.previous
            scalar = previous is None and isinstance(node, Name) and node.symbol == value.running.symbol
            earlier = previous is not None and isinstance(node, Index) and same(node, previous)
            if scalar or earlier:
                return name(value.variable, node.span)
        return node

    return RunningKernel(values, rebuild(loop.body, change))


def _running_value(request: OffloadRequest, loop: For, found: Running) -> RunningValue:
    plain = Scalar(found.type.name, found.type.bits, found.type.kind)
    previous, span = found.previous, found.statement.span
    wanted = found.symbol.name if previous is None else request.names.fresh(f"{found.symbol.name}_before")
    variable = Symbol(wanted, f"{span.start}:running:{wanted}", plain, "local", span)
    if previous is None:
        return RunningValue(found, variable, name(found.symbol, span))
    offset = offset_of(previous.index, loop.variable)
    assert offset is not None, "an element before is a fixed number of elements away"
    return RunningValue(found, variable, replace(previous, index=shift_expression(loop.lower, offset)))
