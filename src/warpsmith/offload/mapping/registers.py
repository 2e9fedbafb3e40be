"""Elements of arrays that each thread of a kernel keeps in a variable while its loops run.

    for (k = 0; k < n; k++)                 double C_value = C_gpu[i * n + j];
        C_gpu[i * n + j] += …;          →   for (k = 0; k < n; k++)
                                                C_value += …;
                                            C_gpu[i * n + j] = C_value;

What a thread does not touch no other thread is kept from, and what it touches is its own as long as its loops were
proved to run at once; what the threads update together stays in memory. So one thread alone is asked (loops/
replaceable.py), with what is tested before the kernel is launched.

Invariant: the thread stores to each element that it stored to before, with the value that it stored last, and to no
other. Limits: one loop nest a kernel; kernels with running values keep nothing; so many elements a thread at most.
"""

from __future__ import annotations

from typing import Final

from warpsmith.base.verdict import Verdict
from warpsmith.loops.replaceable import Replacement, find_replaceable, root_of_element
from warpsmith.loops.writing.replaced import with_variables
from warpsmith.offload.fragments import Draft, OffloadRegion, OffloadRequest
from warpsmith.offload.mapping.own_variables import OwnVariables
from warpsmith.poly.effects.origin import Origin
from warpsmith.poly.effects.summaries import Summaries
from warpsmith.poly.legality.alone import AloneQuestion, is_alone
from warpsmith.tree.memory.effective_types import keeps_types
from warpsmith.tree.nodes import Block, Expr, Loop, Stmt, replace
from warpsmith.tree.types import Scalar, Symbol
from warpsmith.tree.walk import loops, statements_of, walk

__all__ = ["keep_in_registers"]

# registers are few: of elements beyond these the first ones in the text are kept
_MOST: Final = 12


def keep_in_registers(request: OffloadRequest, region: OffloadRegion, draft: Draft, own: OwnVariables) -> Stmt:
    """Return the body of the innermost mapped loop of a draft, in the host's names, with a variable for each element
    that a thread's loops touch again and again; `own`: what makes the kernel's variables."""
    head = draft.loops[-1].loop
    if draft.scan is not None or not any(True for _ in loops(head.body)):
        return head.body
    known = request.summaries or Summaries.of(request.program)
    tested = tuple(dict.fromkeys((*draft.assumptions, *region.guards)))
    question = ("kept in registers", head, tuple((a.text, a.kind) for a in tested), request.poly)
    found = known.remember(question, lambda: _find(request, draft, region, known))

    def variable(one: Replacement, type: Scalar) -> Symbol:
        array = root_of_element(one.place)
        return own.make(f"{array.name}_value", type, array.span)

    new = with_variables(statements_of(head.body), found, variable)
    if isinstance(head.body, Block):
        return replace(head.body, statements=new) if found else head.body
    return new[0] if len(new) == 1 else Block(span=head.body.span, statements=new)


def _find(request: OffloadRequest, draft: Draft, region: OffloadRegion, known: Summaries) -> tuple[Replacement, ...]:
    """Return the elements that one thread may keep, the proofs resting on what is tested before the launch."""
    function, head = request.facts.function, draft.loops[-1].loop
    origin = Origin.of(request.program, function, known)
    around = (*dict(loops(function.body))[head], head)
    tested = (*draft.assumptions, *region.guards)
    together = {one.symbol for one in draft.accumulators}
    updates = {id(part) for one in draft.accumulators for u in one.updates for part in walk(u.node)}

    def alone(run: tuple[Stmt, ...], nodes: tuple[Expr, ...], inside: tuple[Loop, ...]) -> Verdict:
        return is_alone(AloneQuestion(origin, run, nodes, (*around, *inside), request.poly, draft.statements, tested))

    def wanted(element: Expr) -> bool:
        return id(element) not in updates and root_of_element(element) not in together

    found = find_replaceable(
        origin,
        statements_of(head.body),
        alone,
        typed=keeps_types(request.facts.unit.arguments),
        wanted=wanted,
    ).found
    return tuple(one for one in found if not any(id(node) in updates for node in one.nodes))[:_MOST]
