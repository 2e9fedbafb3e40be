"""A loop over two nests whose iterations are passes of one kernel.

    for (t = 0; t < 9; t++) {                  four passes of two iterations each, every other one back, and one
        for (i …) B[i] = f(A[i-1], A[i+1]);    iteration as it is
        for (i …) A[i] = f(B[i-1], B[i+1]);
    }

Invariant: the nests are all that the loop does, each is parallel and stores one element an iteration, and both run
through the same values.
"""

from __future__ import annotations

from warpsmith.base.verdict import Reason
from warpsmith.offload.fragments import Draft, OffloadRequest, Passes
from warpsmith.offload.mapping.halo.passes import stored_element
from warpsmith.offload.mapping.ranges import launch_ranges
from warpsmith.offload.selection.nests import find_chain
from warpsmith.offload.selection.uses import find_accessed, obstacle
from warpsmith.offload.values.tested import find_tested
from warpsmith.poly.aliasing.overlap import overlaps
from warpsmith.poly.effects.origin import Origin
from warpsmith.poly.facts import LoopFacts
from warpsmith.poly.isl.bound_values import constant
from warpsmith.poly.isl.space import OutOfBudgetError, budget
from warpsmith.poly.regions.model import build_region
from warpsmith.poly.regions.subscripts.views import elements
from warpsmith.tree.nodes import For, Node, Stmt
from warpsmith.tree.program import Assumption, Decision
from warpsmith.tree.types import Scalar
from warpsmith.tree.walk import loops, names, same, statements_of

__all__ = ["passes_at"]


def passes_at(
    request: OffloadRequest, facts: LoopFacts, statements: tuple[Stmt, ...], decision: Decision
) -> Draft | Reason:
    """Return the fragment that a loop makes as passes of `decision.width` iterations, or why it makes none."""
    loop = facts.loop
    turns = _count_turns(loop, decision.width)
    nests = [part for part in statements_of(loop.body) if isinstance(part, For)]
    if turns is None or not isinstance(loop, For) or len(nests) != len(statements_of(loop.body)) or len(nests) != 2:
        return _refuse("an even number of passes, and one iteration more, of a loop over two nests", loop)
    reason = obstacle(request, (loop.body,))
    if reason is not None:
        return reason
    if any(n.symbol == loop.variable for n in names(loop.body)):
        return _refuse(f"the nests read {loop.variable.name}", loop)
    chains = []
    for nest in nests:
        chain = _read_nest(request, nest)
        if isinstance(chain, Reason):
            return chain
        chains.append(chain)
    first, second = chains
    if not _is_same_range(first, second):
        return _refuse("the two nests do not run through the same values", nests[1])
    heads = {f.loop.variable for chain in chains for f in chain if isinstance(f.loop, For)}
    uses = find_accessed(request, (loop,)).uses(frozenset(heads | {loop.variable}))
    return Draft(
        region=facts.id,
        kind="nest",
        statements=statements,
        loops=first,
        uses=uses,
        locals=(),
        finals=(),
        assumptions=tuple(dict.fromkeys((*find_tested(first), *find_tested(second), *_find_apart(request, loop)))),
        passes=Passes(((nests[0], first), (nests[1], second)), decision.width, turns),
    )


def _find_apart(request: OffloadRequest, loop: For) -> tuple[Assumption, ...]:
    """Return what is to be tested so that the names in both nests are memory of their own, in all that they read too:
    that is more than the nests need to be parallel."""
    function, poly, run = request.facts.function, request.poly, tuple(statements_of(loop.body))
    if not (poly.guards and request.options.guards):
        return ()
    origin = Origin.of(request.program, function, request.summaries)
    around = (*dict(loops(function.body))[loop], loop)
    try:
        with budget(poly.loop_operations):
            region, state = build_region(origin, run, around, guards=True, granted=poly.granted)
            needed, _ = overlaps(origin, run, region, poly, guards=True)
            found = [(s, a) for s in region.statements for a in s.accesses if a.path]
            for base in {a.base for _, a in found}:
                # what reading their subscripts assumes goes into the state
                elements(state, [(s, a) for s, a in found if a.base == base])
    except OutOfBudgetError:
        return ()
    return tuple(one for one in (*needed, *state.assumptions) if one.kind == "granted" or one.condition is not None)


def _count_turns(loop: Node, iterations: int) -> int | None:
    """Return how many passes the iterations of a loop but one are: an even number."""
    if not isinstance(loop, For) or constant(loop.lower) != 0 or loop.step != 1 or loop.relation != "<":
        return None
    total = constant(loop.bound)
    if total is None or total < 2 or iterations < 1 or (total - 1) % (2 * iterations):
        return None
    return (total - 1) // iterations


def _read_nest(request: OffloadRequest, nest: For) -> tuple[LoopFacts, ...] | Reason:
    """Return the loops of a nest that become threads: all of them, around one store."""
    facts = request.facts.of(nest)
    if facts.category != "parallel":
        return facts.reasons[0] if facts.reasons else _refuse("it is not parallel", nest)
    chain = find_chain(request, facts)
    if isinstance(chain, Reason):
        return chain
    heads = [f.loop for f in chain if isinstance(f.loop, For)]
    if stored_element(heads[-1]) is None:
        return _refuse("an iteration of the nest is more than one store to an element", nest)
    if any(not head.declares or head.step != 1 or head.relation not in ("<", "<=") for head in heads):
        return _refuse("its loops do not count up by one, with counters of their own", nest)
    counters = {head.variable for head in heads}
    if any(n.symbol in counters for head in heads for end in (head.lower, head.bound) for n in names(end)):
        return _refuse("its loops are no rectangle", nest)
    if launch_ranges(heads) is None or len({_bits(head) for head in heads}) > 1:
        return _refuse("its range cannot be computed on the host", nest)
    return chain


def _bits(head: For) -> int:
    return head.variable.type.bits if isinstance(head.variable.type, Scalar) else 0


def _is_same_range(first: tuple[LoopFacts, ...], second: tuple[LoopFacts, ...]) -> bool:
    if len(first) != len(second):
        return False
    for one, other in zip(first, second, strict=True):
        a, b = one.loop, other.loop
        if not isinstance(a, For) or not isinstance(b, For) or a.variable.type != b.variable.type:
            return False
        if a.relation != b.relation or not same(a.lower, b.lower) or not same(a.bound, b.bound):
            return False
    return True


def _refuse(text: str, node: Node) -> Reason:
    return Reason("STP002", text, node.header if isinstance(node, For) else node.span)
