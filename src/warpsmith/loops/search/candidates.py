"""Which steps are worth a check for a nest, the likeliest first.

    i carries, j inside is parallel         interchange
    statements that do not need each other  distribute
    an array that iterations share          privatize
    a temporary that iterations share       expand
    memory that an iteration allocates      hoist-allocation
    a subscript goes through a variable     forward-substitute, eliminate-recurrence
    a function gets the address of elements inline
    a function makes the running value      inline
    the step is a variable                  normalize
    pointers or other variables walk        canonicalize
    a pointer moves under a condition       index-pointer
    a branch sets what is read later        find-last
    a branch leaves the loop                find-first
    only iteration i == k is in the way     split at k
    nothing is parallel as written          wavefront, reschedule
    a kernel in a host loop is narrow       distribute, expand

Nothing here is a promise: every candidate is checked by its own step, and kept only if the result is better.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations
from typing import TypeVar, cast

from warpsmith.base.errors import RefusedError
from warpsmith.loops.analysis.shape import jump
from warpsmith.loops.scratch import scratch_names
from warpsmith.loops.search.cost import Cost, is_parallel, only_loop
from warpsmith.loops.step import Step
from warpsmith.loops.steps.data.expand import Expand
from warpsmith.loops.steps.data.hoist_allocation import HoistAllocation
from warpsmith.loops.steps.data.privatize import Privatize
from warpsmith.loops.steps.order.canonicalize import Canonicalize
from warpsmith.loops.steps.order.distribute import Distribute
from warpsmith.loops.steps.order.interchange import Interchange
from warpsmith.loops.steps.order.normalize import Normalize
from warpsmith.loops.steps.order.reschedule import Reschedule
from warpsmith.loops.steps.order.split import Split
from warpsmith.loops.steps.order.wavefront import Wavefront
from warpsmith.loops.steps.statements.eliminate_recurrence import EliminateRecurrence
from warpsmith.loops.steps.statements.find_first import FindFirst
from warpsmith.loops.steps.statements.find_last import FindLast
from warpsmith.loops.steps.statements.forward_substitute import ForwardSubstitute
from warpsmith.loops.steps.statements.index_pointer import IndexPointer
from warpsmith.loops.steps.statements.inline import Inline
from warpsmith.loops.strided_loops import strided_header
from warpsmith.poly.analyze import Facts
from warpsmith.poly.facts import LoopFacts
from warpsmith.poly.pointers.accesses import direct_call
from warpsmith.tree.nodes import Assign, Call, DeclStmt, For, Function, If, Index, Name, Node, VarDecl, While
from warpsmith.tree.types import Array, Pointer, Scalar, Symbol, is_integer
from warpsmith.tree.walk import children, loops, names, peel, statements_of, walk, written_symbols

__all__ = ["candidates", "countings", "expansions", "reorderings"]

_MOST_PERMUTED = 3
_Completed = TypeVar("_Completed", Distribute, Wavefront, Reschedule)


def candidates(facts: Facts, function: Function, loop: For, cost: Cost) -> Iterator[Step]:
    """Yield the steps to try on `loop`, which costs `cost` as it stands, but for reorderings."""
    known = facts.of(function)
    own = known.of(loop)
    if own.category == "parallel":
        if any(is_parallel(known.of(inner)) for inner, _ in loops(loop.body)):
            yield from _wider(facts, own)
        return
    if own.category == "unanalyzable":
        yield from _hoists(own)
        yield from _privatizations(own)
        yield from _substitutions(own)
        yield from _bodies(facts, own)
        yield from _counted_pointers(own)
        if isinstance(own.loop, For) and jump(own.loop.body) is not None:
            yield FindFirst(own.id)
        return
    yield from _running_values(facts, own)
    yield from _interchanges(own)
    if not cost.stranded and cost.depth == 1 and not cost.atomics:
        if own.claims:
            yield from _privatizations(own)
        if cost.narrow:
            yield from _widenings(facts, function, loop)
        yield from expansions(facts, function, loop)
        return
    for inner in _next_loops(loop.body):
        yield from _complete_step(facts, Distribute(known.of(inner).id))
    yield from _complete_step(facts, Distribute(own.id))
    yield from _privatizations(own)
    yield from expansions(facts, function, loop)
    yield from _substitutions(own)
    if cost.stranded or cost.depth > 1:
        yield from _splits(function, own)


def countings(facts: Facts, function: Function, loop: While) -> Iterator[Step]:
    """Yield the steps that may make a counted loop of `loop`."""
    own = facts.of(function).of(loop)
    if strided_header(loop) is not None:
        yield Normalize(own.id)
    yield Canonicalize(own.id)


def _bodies(facts: Facts, own: LoopFacts) -> Iterator[Step]:
    """Yield the bodies of the functions that a loop gives addresses of elements: which of these they touch is seen
    there. A function with a loop of its own is one that runs kernels itself, unless each iteration gives it a place of
    its own, such as a row: then the iterations may be threads as well."""
    defined = {function.symbol.key: function for _, function in facts.program.functions()}
    called: dict[str, Function] = {}
    apart: set[str] = set()
    for part in walk(own.loop.body):
        symbol = direct_call(part) if isinstance(part, Call) else None
        if symbol is None or symbol.key not in defined:
            continue
        places = [a for a in cast(Call, part).arguments if isinstance(peel(a).type, Pointer | Array)]
        if places:
            called[symbol.name] = defined[symbol.key]
        if isinstance(own.loop, For) and any(n.symbol == own.loop.variable for a in places for n in names(a)):
            apart.add(symbol.name)
    for name, function in called.items():
        if name in apart or not any(True for _ in loops(function.body)):
            yield Inline(own.id, name)


def _running_values(facts: Facts, own: LoopFacts) -> Iterator[Step]:
    """Yield the search for the iteration whose values stay, where a branch sets variables that others share, and the
    bodies of functions in whose values a running value may be hidden: `s = next(s, x[i])`."""
    shared = any(isinstance(s.type, Scalar | Pointer) for s in own.blamed)
    if shared and any(isinstance(part, If) for part in statements_of(own.loop.body)):
        yield FindLast(own.id)
    if own.category != "sequential":
        return
    defined = {function.symbol.key: function for _, function in facts.program.functions()}
    blamed = {s for s in own.blamed if isinstance(s.type, Scalar)}
    for part in walk(own.loop.body):
        value = peel(part.value) if isinstance(part, Assign) else None
        target = peel(part.target) if isinstance(part, Assign) else None
        symbol = direct_call(value) if isinstance(value, Call) else None
        if symbol is None or symbol.key not in defined or not isinstance(target, Name) or target.symbol not in blamed:
            continue
        if not any(True for _ in loops(defined[symbol.key].body)):
            yield Inline(own.id, symbol.name)


def reorderings(facts: Facts, function: Function, loop: For) -> Iterator[Step]:
    """Yield the steps that give a whole nest a new order: costly to find, and the text becomes another."""
    own = facts.of(function).of(loop)
    if own.category not in ("parallel", "unanalyzable"):
        yield from _complete_step(facts, Wavefront(own.id))
        # without schedules none was found: a check would look for them again
        yield from (step for step in _complete_step(facts, Reschedule(own.id)) if step.times)


def _wider(facts: Facts, own: LoopFacts) -> Iterator[Step]:
    """Yield what may give a parallel loop a second thread dimension."""
    yield from _interchanges(own, keep_first=True)
    # statements of a loop inside have to stand apart before those around it can
    for loop in reversed(_parallel_nest(facts, own)):
        yield from _complete_step(facts, Distribute(facts.of(own.function).of(loop).id))


def _parallel_nest(facts: Facts, own: LoopFacts) -> tuple[For, ...]:
    """Return a parallel loop and those that stand alone in it and are parallel as well."""
    known, found = facts.of(own.function), list[For]()
    loop = own.loop if isinstance(own.loop, For) else None
    while loop is not None and is_parallel(known.of(loop)):
        found.append(loop)
        loop = only_loop(loop.body)
    return tuple(found)


def _widenings(facts: Facts, function: Function, loop: For) -> Iterator[Step]:
    """Yield what may give the kernels inside a host loop a second thread dimension: their statements apart, and for
    that numbers of their iterations, such as the factor of a row in an elimination, in memory outside the loop."""
    known = facts.of(function)
    for inner, around in loops(loop.body):
        if not isinstance(inner, For) or any(is_parallel(known.of(outer)) for outer in around):
            continue
        if not is_parallel(known.of(inner)) or not any(is_parallel(known.of(deep)) for deep, _ in loops(inner.body)):
            continue
        if only_loop(inner.body) is not None:
            continue
        yield from _complete_step(facts, Distribute(known.of(inner).id))
        used = {n.symbol for deep, _ in loops(inner.body) for n in names(deep)}
        for stmt in statements_of(inner.body):
            for declared in stmt.declarations if isinstance(stmt, DeclStmt) else ():
                if declared.init is not None and declared.symbol in used and isinstance(declared.symbol.type, Scalar):
                    yield Expand(known.of(inner).id, declared.symbol.name, above=1 + len(around))


def _complete_step(facts: Facts, step: _Completed) -> Iterator[_Completed]:
    try:
        found = step.complete(facts.program, facts)
    except RefusedError:
        return
    if found is not None:
        yield found


def _interchanges(own: LoopFacts, *, keep_first: bool = False) -> Iterator[Step]:
    """Yield every other order of a perfect nest, those that change least first."""
    nest: list[For] = []
    current = own.loop if isinstance(own.loop, For) else None
    while current is not None and len(nest) < _MOST_PERMUTED:
        nest.append(current)
        current = only_loop(current.body)
    counters = [inner.variable.name for inner in nest]
    for order in permutations(counters):
        moved = list(order) != counters
        if moved and (not keep_first or order[0] == counters[0]):
            yield Interchange(own.id, order)


def _privatizations(own: LoopFacts) -> Iterator[Privatize]:
    """Yield copies for each iteration of the small local arrays that conflicting iterations share."""
    claimed = {s for one in own.claims for s in one.claim.private}
    local = (s for s in claimed.union(own.blamed) if s.storage == "local")
    shared = {s for s in local if isinstance(s.type, Array) and s.type.count is not None}
    for symbol in sorted(shared, key=lambda s: s.key):
        yield Privatize(own.id, symbol.name)


def _hoists(own: LoopFacts) -> Iterator[HoistAllocation]:
    """Yield blocks of memory before the loop for what its iterations allocate for themselves."""
    if isinstance(own.loop, For):
        yield from (HoistAllocation(own.id, name) for name in scratch_names(own.loop))


def expansions(facts: Facts, function: Function, loop: For, *, scalars: bool = False) -> Iterator[Expand]:
    """Yield expansions of what conflicting iterations share, through as many loops as hold all of its uses.

    With `scalars`, of every scalar that the nest computes too: it would tie the statements together that use it.
    """
    own = facts.of(function).of(loop)
    inside = {part.symbol for part in walk(loop) if isinstance(part, VarDecl)}
    inside |= {inner.variable for inner, _ in loops(loop) if isinstance(inner, For)}
    shared = {s for s in own.blamed if isinstance(s.type, Scalar | Array | Pointer)}
    if scalars:
        shared |= {s for s in written_symbols(loop.body) if isinstance(s.type, Scalar)}
    for symbol in sorted(shared - inside, key=lambda s: s.key):
        for depth in range(_depth(loop, symbol), 0, -1):
            yield Expand(own.id, symbol.name, depth)


def _depth(loop: For, symbol: Symbol) -> int:
    """Return how many loops, `loop` and others inside it, hold the least enclosed use of `symbol`."""
    depths: list[int] = []
    pending: list[tuple[Node, int]] = [(loop.body, 1)]
    while pending:
        node, depth = pending.pop()
        if isinstance(node, Name) and node.symbol == symbol:
            depths.append(depth)
        pending += [(child, depth + isinstance(node, For)) for child in children(node)]
    return min(depths, default=1)


def _next_loops(node: Node) -> Iterator[For]:
    """Yield the outermost counted loops below `node`."""
    pending = [node]
    while pending:
        current = pending.pop()
        if isinstance(current, For):
            yield current
        else:
            pending += reversed(list(children(current)))


def _substitutions(own: LoopFacts) -> Iterator[Step]:
    """Yield substitutions of integer variables that the body computes and uses in subscripts."""
    written = {s for s in written_symbols(own.loop.body) if is_integer(s.type)}
    counters = {inner.variable for inner, _ in loops(own.loop) if isinstance(inner, For)}
    used = {n.symbol for part in walk(own.loop) if isinstance(part, Index) for n in names(part.index)}
    for symbol in sorted((written & used) - counters, key=lambda s: s.key):
        yield ForwardSubstitute(own.id, symbol.name)
        yield EliminateRecurrence(own.id, symbol.name)


def _counted_pointers(own: LoopFacts) -> Iterator[IndexPointer]:
    """Yield counts of how far the pointers move that the iterations move on: `if (c) *p++ = x;`."""
    inside = {part.symbol for part in walk(own.loop.body) if isinstance(part, VarDecl)}
    moved = {s for s in written_symbols(own.loop.body) - inside if isinstance(s.type, Pointer)}
    for symbol in sorted(moved, key=lambda s: s.key):
        yield IndexPointer(own.id, symbol.name)


def _splits(function: Function, own: LoopFacts) -> Iterator[Step]:
    """Yield splits that set the iteration apart in which the loop meets a counter of a loop around it."""
    around = dict(loops(function.body))[own.loop]
    subscripts = {n.symbol for part in walk(own.loop) if isinstance(part, Index) for n in _find_named(part.index)}
    for outer in reversed(around):
        if isinstance(outer, For) and outer.variable in subscripts:
            yield Split(own.id, at=outer.variable.name, single=True)


def _find_named(node: Node) -> Iterator[Name]:
    return names(node)
