"""Loops that one GPU thread runs as a whole, as a step says, so that their data stay on the device.

    for (i = 1; i < n; i++)               a kernel of one thread: ws_f_k1(a_gpu, n)
        a[i] = a[i - 1] * a[i] + 1;       the loop runs in it as it stands

Invariant: the thread runs the loop's iterations in their order, so that no dependence is in the way. All that the loop
names has a copy on the device, or is the thread's own and read by nobody else afterwards.
"""

from __future__ import annotations

from collections.abc import Sequence

from warpsmith.base.verdict import Reason
from warpsmith.offload.fragments import Draft, OffloadRequest
from warpsmith.offload.selection.uses import Accessed, find_accessed, is_in_register, obstacle
from warpsmith.poly.effects.liveness import Liveness
from warpsmith.poly.effects.origin import Origin
from warpsmith.poly.facts import LoopFacts
from warpsmith.tree.nodes import For, Loop, Name, Node, Return, Stmt
from warpsmith.tree.types import Array, Pointer, Record, Scalar, Symbol
from warpsmith.tree.walk import children, loops, names, walk

__all__ = ["find_disturbed", "one_thread_at"]


def one_thread_at(request: OffloadRequest, facts: LoopFacts, statements: tuple[Stmt, ...]) -> Draft | Reason:
    """Return the fragment in which one thread runs the loop of `facts`, or why there can be none. `statements` are what
    it replaces: the pragmas in front of the loop, and the loop."""
    loop = facts.loop
    left = next((part for part in walk(loop) if isinstance(part, Return)), None)
    if left is not None:
        help = "leave the loop by break, and return behind it"
        return Reason("POR008", "the loop returns from its function", left.span, legal_if=(help,))
    reason = obstacle(request, (loop,))
    if reason is not None:
        return reason
    accessed = find_accessed(request, (loop,))
    owned = _find_owned(request, facts, accessed)
    if isinstance(owned, Reason):
        return owned
    reason = _find_unheld(loop, accessed, owned)
    if reason is not None:
        return reason
    uses = accessed.uses(owned)
    if not any(use.written for use in uses):
        return Reason("POR009", "the loop changes nothing: a kernel would do nothing", loop.header)
    return Draft(
        region=facts.id,
        kind="single",
        statements=statements,
        loops=(),
        uses=uses,
        locals=tuple(s for s in accessed.outside if s in owned),
        finals=(),
        assumptions=(),
    )


def find_disturbed(draft: Draft, others: Sequence[Draft]) -> Reason | None:
    """Return why a scalar that the thread of `draft` would write cannot be held on the device: the host sets it behind
    another kernel, whose counter it is there, or needs it for that."""
    written = {use.symbol for use in draft.uses if use.kind == "cell" and use.written}
    for other in others:
        used = {n.symbol for final in other.finals for n in names(final)} & written
        for symbol in sorted(used, key=lambda one: one.key):
            text = f"behind {other.region}, a kernel too, the host sets a counter, and '{symbol.name}' is in that"
            help = f"use another variable than {symbol.name} in one of the loops"
            return Reason("POR008", text, draft.statements[-1].span, legal_if=(help,))
    return None


def _find_owned(request: OffloadRequest, facts: LoopFacts, accessed: Accessed) -> frozenset[Symbol] | Reason:
    """Return the variables declared outside that the thread has for itself: counters, and what each iteration sets
    before it reads it, where nobody reads them afterwards."""
    loop, function = facts.loop, request.facts.function
    hidden = Origin.of(request.program, function, request.summaries).hidden
    after = Liveness.of(request.program, function, request.summaries).after[loop]
    private = {s for s in facts.private if isinstance(s.type, Scalar)}
    counters = {one.variable for one, _ in loops(loop) if isinstance(one, For) and not one.declares}
    owned: set[Symbol] = set()
    for symbol in accessed.outside:
        free = symbol.storage in ("local", "parameter") and symbol not in hidden and symbol not in after
        if free and (symbol in private or (symbol in counters and _is_counted(loop, symbol))):
            owned.add(symbol)
        elif symbol in counters:
            text = f"the counter {symbol.name} is read outside of its loops as well, or behind {facts.id}"
            help = f"declare {symbol.name} in each loop that it counts"
            return Reason("POR008", text, loop.header, legal_if=(help,))
    return frozenset(owned)


def _is_counted(loop: Loop, counter: Symbol) -> bool:
    """Whether a variable is named only in loops that it counts: then each of them sets it first."""
    pending: list[Node] = [loop]
    while pending:
        node = pending.pop()
        if isinstance(node, Name) and node.symbol == counter:
            return False
        if isinstance(node, For) and node.variable == counter:
            # the first value is computed before the counter has it
            pending.append(node.lower)
        else:
            pending += children(node)
    return True


def _find_unheld(loop: Loop, accessed: Accessed, owned: frozenset[Symbol]) -> Reason | None:
    """Return which variable from outside the device cannot hold for the host, or None."""
    for symbol in accessed.outside:
        if symbol in owned:
            continue
        changed = symbol in accessed.written
        if isinstance(symbol.type, Pointer | Array):
            if changed:
                help = f"use a pointer of the loop's own in place of {symbol.name}"
                text = f"the loop changes where '{symbol.name}' points to"
                return Reason("POR008", text, loop.header, legal_if=(help,))
        elif not isinstance(symbol.type, Scalar) and not (isinstance(symbol.type, Record) and not changed):
            return Reason("POR008", f"the loop writes '{symbol.name}', which is no number", loop.header)
        elif changed and is_in_register(symbol):
            text = f"'{symbol.name}' is declared register: it has no address to copy it back to"
            return Reason("POR008", text, loop.header, legal_if=(f"declare {symbol.name} without register",))
    return None
