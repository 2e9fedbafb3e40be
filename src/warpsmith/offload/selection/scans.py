"""Loops with a running value as kernels: what an iteration needs of those before it, and what the body makes of it.

    for (i = 1; i < n; i++)                  element  b[i]          before the first iteration  a[0]
        a[i] = a[i - 1] + b[i];              body     a[i] = a_before + b[i];

    for (i = 0; i < n; i++) {                element  a[i]          before the first iteration  s
        s += a[i];                           body     s += a[i]; b[i] = s;   with an `s` of the thread's own
        b[i] = s;
    }

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
from warpsmith.offload.values.running import RunningKernel
from warpsmith.poly.dependences.reductions import offset_of
from warpsmith.poly.dependences.running import Running, running_value
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
    if not isinstance(loop, For) or len(facts.reductions) != 1:
        return Reason("POR002", "only a loop with one running value and no other accumulator is ported", loop.header)
    found = running_value(loop, facts.reductions[0])
    if isinstance(found, Reason):
        return found
    reason = obstacle(request, (loop.body,)) or _bad_range(loop)
    if reason is not None:
        return reason
    scan = _running_kernel(request, loop, found)
    if scan.is_rounded and request.options.precise_fp:
        text = f"--precise-fp: the running values of {found.symbol.name} would be reordered, so it stays on the host"
        return Reason("POR007", text, loop.header)
    used = find_accessed(request, (loop,))
    owned = _find_owned(facts, loop, found, used)
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


def _find_owned(facts: LoopFacts, loop: For, found: Running, used: Accessed) -> frozenset[Symbol] | Reason:
    """Return the scalars declared outside the loop that every iteration owns."""
    counters = {inner.variable for inner, _ in loops(loop) if isinstance(inner, For)}
    own = set(facts.private) | {loop.variable}
    for symbol in (s for s in used.outside if s in used.written and s != found.symbol):
        if symbol not in own or isinstance(symbol.type, Array | Record):
            return Reason("POR003", f"'{symbol.name}' is shared by the iterations and written", loop.header)
        if symbol != loop.variable and (symbol in facts.live_out or symbol in counters):
            return Reason("POR008", f"the value that '{symbol.name}' has after the loop may be read", loop.header)
    return frozenset(own & set(used.outside))


def _assumptions(facts: LoopFacts) -> tuple[Assumption, ...]:
    verdict = facts.combined
    return tuple(a for a in verdict.assumptions if isinstance(a, Assumption)) if isinstance(verdict, Proved) else ()


def _running_kernel(request: OffloadRequest, loop: For, found: Running) -> RunningKernel:
    plain = Scalar(found.type.name, found.type.bits, found.type.kind)
    previous = found.previous
    wanted = found.symbol.name if previous is None else request.names.fresh(f"{found.symbol.name}_before")
    variable = Symbol(wanted, f"{found.statement.span.start}:running:{wanted}", plain, "local", found.statement.span)

    def change(node: Node) -> Node:
        scalar = previous is None and isinstance(node, Name) and node.symbol == found.symbol
        earlier = previous is not None and isinstance(node, Index) and same(node, previous)
        return name(variable, node.span) if scalar or earlier else node

    body = rebuild(loop.body, change)
    if previous is None:
        return RunningKernel(found, variable, name(found.symbol, found.statement.span), body)
    offset = offset_of(previous.index, loop.variable)
    assert offset is not None, "an element before is a fixed number of elements away"
    return RunningKernel(found, variable, replace(previous, index=shift_expression(loop.lower, offset)), body)
