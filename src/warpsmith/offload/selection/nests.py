"""Loop nests whose iterations become threads.

    for (i …)                 parallel  ┐ at most three perfectly nested parallel loops: the threads
        for (j …)             parallel  ┘
            for (k …) …       anything: runs inside the thread

Invariant: a nest is chosen only where its outermost loop's verdict is Proved and every scalar that its iterations write
is owned by each of them; what such a scalar holds afterwards is either never read, or restored on the host. Or the
outermost loop is a reduction: then its accumulators are what the iterations write together (reductions.py), and the
loops below it that become threads are parallel, or reductions of the same accumulators.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from warpsmith.base.verdict import Proved, Reason
from warpsmith.loops.fresh import declared_symbols
from warpsmith.loops.search.cost import declared_between, only_loop
from warpsmith.offload.decisions import Decided
from warpsmith.offload.fragments import Draft, OffloadRequest
from warpsmith.offload.mapping.ranges import launch_ranges
from warpsmith.offload.selection.finals import final_statement
from warpsmith.offload.selection.uses import Accessed, find_accessed, obstacle, uses_only_scalars
from warpsmith.offload.values.reductions import Accumulator, accumulators, is_reduction, order_notes
from warpsmith.offload.values.tested import find_tested
from warpsmith.poly.effects.effects import find_captured
from warpsmith.poly.effects.liveness import Liveness
from warpsmith.poly.facts import LoopFacts
from warpsmith.tree.nodes import DeclStmt, For, Function, Loop, Name, Node, Stmt, Unary
from warpsmith.tree.program import Assumption
from warpsmith.tree.types import Array, Record, Symbol, Type
from warpsmith.tree.walk import children, loops, names, statements_of, walk

__all__ = ["find_chain", "nest_at"]

_MOST_THREAD_LOOPS = 3


class _Nest(Struct, frozen=True):
    """A nest under way: its loop, the loops that become threads, and what it touches."""

    statement: For
    chain: tuple[LoopFacts, ...]
    heads: tuple[For, ...]
    accessed: Accessed
    accumulators: tuple[Accumulator, ...]


def nest_at(request: OffloadRequest, facts: LoopFacts, statements: tuple[Stmt, ...]) -> Draft | Reason:
    """Return the fragment that the parallel loop or reduction of `facts` makes, or why it makes none.

    `statements` are what the fragment replaces: the pragmas in front of the loop, and the loop.
    """
    loop = facts.loop
    if not isinstance(loop, For):
        return Reason("POR008", "only a counted loop can become threads", loop.header)
    reason = obstacle(request, (loop.body,)) or _bad_bounds(loop)
    if reason is not None:
        return reason
    chain = find_chain(request, facts)
    if isinstance(chain, Reason):
        return chain
    heads = tuple(f.loop for f in chain if isinstance(f.loop, For))
    if launch_ranges(heads) is None:
        return Reason("POR008", "the range of the counter cannot be computed on the host", loop.header)
    together = accumulators(chain)
    if isinstance(together, Reason):
        return together
    unwanted = _why_unwanted(request, chain, together)
    if unwanted is not None:
        return unwanted
    nest = _Nest(loop, chain, heads, find_accessed(request, (loop,)), together)
    owned = _find_owned(nest)
    if isinstance(owned, Reason):
        return owned
    finals = _finals(request, nest, owned)
    if isinstance(finals, Reason):
        return finals
    counters = {head.variable for head in heads}
    uses = nest.accessed.uses(owned | counters)
    if not any(use.written for use in uses):
        return _idle(request, loop)
    return Draft(
        region=facts.id,
        kind="nest",
        statements=statements,
        loops=chain,
        uses=uses,
        locals=(*(s for s in nest.accessed.outside if s in owned and s not in counters), *_find_between(nest)),
        finals=finals,
        assumptions=find_tested(chain),
        accumulators=together,
    )


def _idle(request: OffloadRequest, loop: For) -> Reason:
    """Return why a loop that writes nothing which its function names becomes no kernel."""
    captured = find_captured(request.program, request.facts.function, loop, request.summaries)
    if captured:
        text = f"a lambda that it calls has captured {captured[0].name}, a variable of another function"
        return Reason("POR008", text, loop.header)
    return Reason("POR009", "its iterations change nothing: a kernel would do nothing", loop.header)


def _bad_bounds(loop: For) -> Reason | None:
    for bound in (loop.lower, loop.bound):
        if not uses_only_scalars(bound):
            text = "the loop's bound reads memory: copy it to a local variable before the loop"
            return Reason("POR008", text, bound.span)
    return None


def find_chain(request: OffloadRequest, outermost: LoopFacts) -> tuple[LoopFacts, ...] | Reason:
    """Return the loops that become threads: as long as a loop's body is nothing but one more parallel loop; exactly as
    many as a decision maps, where there is one."""
    decided = Decided.of(request.program, request.facts.function)
    threads = decided.threads(outermost.loop)
    chain = [outermost]
    heads = [outermost.loop]
    while len(chain) < (_MOST_THREAD_LOOPS if threads is None else len(threads.axes)):
        inner = only_loop(heads[-1].body)
        if inner is None or _bad_bounds(inner) is not None or inner in decided.by_loop:
            break
        facts = request.facts.of(inner)
        if not _continues(outermost, facts) or _rests_on(facts, heads, find_tested(chain)):
            break
        if inner.variable in {head.variable for head in heads if isinstance(head, For)}:
            break
        if not _owns(facts, heads[-1], inner):
            break
        if launch_ranges([head for head in (*heads, inner) if isinstance(head, For)]) is None:
            break
        chain.append(facts)
        heads.append(inner)
    if threads is not None and len(chain) < len(threads.axes):
        text = f"a step maps {len(threads.axes)} loops, and only {len(chain)} can become threads"
        return Reason("STP005", text, outermost.loop.header)
    return tuple(chain)


def _why_unwanted(
    request: OffloadRequest, chain: Sequence[LoopFacts], together: Sequence[Accumulator]
) -> Reason | None:
    """Return why a nest that may become a kernel shall not, or None."""
    header = chain[0].loop.header
    if _is_better_inside(together, chain):
        return Reason("POR002", "the loop inside it is parallel, without atomic updates", header)
    changed = order_notes(together)
    if changed and request.options.precise_fp:
        return Reason("POR007", f"--precise-fp: as a kernel, {changed[0]}", header)
    return None


def _is_better_inside(together: Sequence[Accumulator], chain: Sequence[LoopFacts]) -> bool:
    """Whether the loops inside are parallel and alone decide which elements are updated: `for i for j y[j] += …`."""
    atomic = [one for one in together if one.form == "atomic"]
    inside = {facts.loop.variable for facts in chain[1:] if isinstance(facts.loop, For)}
    moving = {n.symbol for one in atomic for u in one.updates for n in names(u.target)} - {one.symbol for one in atomic}
    parallel = len(chain) > 1 and all(facts.category == "parallel" for facts in chain[1:])
    return bool(atomic) and parallel and moving <= inside


def _continues(outermost: LoopFacts, inner: LoopFacts) -> bool:
    """Whether the loop inside may become threads too: it carries nothing, or nothing but what the outermost does."""
    if any(r.companions for r in outermost.reductions):
        return False
    if inner.category == "parallel":
        return isinstance(inner.verdict, Proved)
    shared = {(r.op, r.variable) for r in outermost.reductions}
    mine = {(r.op, r.variable) for r in inner.reductions}
    return is_reduction(outermost) and is_reduction(inner) and mine <= shared


def _owns(facts: LoopFacts, outer: Loop, inner: For) -> bool:
    """Whether each iteration of the loop inside has its own of what is declared in front of that loop, which has no
    value there: then it may as well be declared in the iteration."""
    declared = {*declared_between(outer)} - {inner.variable} if isinstance(outer, For) else set()
    bounds = {n.symbol for bound in (inner.lower, inner.bound) for n in names(bound)}
    return not declared & bounds and declared & _find_used(inner.body) <= {*facts.private}


def _find_between(nest: _Nest) -> tuple[Symbol, ...]:
    """Return the variables that are declared between the loops that become threads, and used inside them."""
    used = _find_used(nest.heads[-1].body)
    counters = {head.variable for head in nest.heads}
    return tuple(s for head in nest.heads[:-1] for s in declared_between(head) if s in used and s not in counters)


def _find_used(body: Stmt) -> set[Symbol]:
    return {n.symbol for n in names(body)} | {deep.variable for deep, _ in loops(body) if isinstance(deep, For)}


def _rests_on(inner: LoopFacts, heads: Sequence[Loop], known: Sequence[Assumption]) -> bool:
    """Whether a loop inside `heads` is parallel under a condition on what they count, which is tested before them; what
    is `known` of them already says enough where the condition is an alternative to it."""
    inside = {symbol for head in heads for symbol in declared_symbols(head)}
    inside |= {head.variable for head in heads if isinstance(head, For)}
    new = find_tested((inner,), known)
    return any(n.symbol in inside for a in new if a.condition is not None for n in names(a.condition))


def _find_owned(nest: _Nest) -> frozenset[Symbol] | Reason:
    """Return the scalars declared outside the nest that every iteration owns."""
    private = {symbol for facts in nest.chain[:1] for symbol in facts.private}
    private |= {inner.variable for inner, _ in loops(nest.statement) if isinstance(inner, For)}
    together = {s for one in nest.accumulators for s in (one.symbol, *one.companions)}
    written = [s for s in nest.accessed.outside if s in nest.accessed.written and s not in together]
    forced = any(a.kind == "granted" and a.condition is None for a in find_tested(nest.chain))
    if forced:
        # the user asserted that for the loop: what its iterations share stays shared, and the referee has the last word
        written = [s for s in written if s in private]
    for symbol in written:
        if symbol not in private:
            return Reason("POR003", f"'{symbol.name}' is shared by the iterations and written", nest.statement.header)
        if isinstance(symbol.type, Array) or not _is_plain(symbol.type):
            return Reason("POR008", f"every iteration needs its own '{symbol.name}'", nest.statement.header)
    return frozenset(written)


def _is_plain(type: Type) -> bool:
    """Whether a thread may have an object of its own by declaring it: it is a number, a pointer, or a struct of data
    alone, of which nothing runs when one is made or goes."""
    if not isinstance(type, Record):
        return True
    return (
        type.definition is not None
        and "(" not in type.definition.text
        and all(not isinstance(field.type, Record) or _is_plain(field.type) for field in type.fields)
    )


def _finals(request: OffloadRequest, nest: _Nest, owned: frozenset[Symbol]) -> tuple[Stmt, ...] | Reason:
    """Return the host statements that restore the owned variables which are read after the nest."""
    outermost, function = nest.chain[0], request.facts.function
    live = set(outermost.live_out)
    after = Liveness.of(request.program, function, request.summaries).after[nest.statement]
    counted = {s for s in owned if s not in outermost.private and s in after}
    live |= {s for s in counted if _is_seen_elsewhere(function, nest.statement, s)}
    counters = {head.variable: index for index, head in enumerate(nest.heads) if not head.declares}
    result: list[Stmt] = []
    for symbol in sorted(live & owned, key=lambda s: counters.get(s, len(counters))):
        chain = _chain_to(nest, symbol)
        statement = None if chain is None else final_statement(chain)
        if statement is None:
            text = f"the value that '{symbol.name}' has after the loop is read, and only the last iteration knows it"
            help = f"declare {symbol.name} inside the loop, or compute its last value after the loop"
            return Reason("POR008", text, nest.statement.header, legal_if=(help,))
        result.append(statement)
    return tuple(result)


def _chain_to(nest: _Nest, counter: Symbol) -> tuple[For, ...] | None:
    """Return the loops from the outermost to the only one that writes `counter`, if each runs once per iteration."""
    for index, head in enumerate(nest.heads):
        if head.variable == counter:
            return nest.heads[: index + 1] if _writers(nest.statement, counter) == 1 else None
    for inner in statements_of(nest.heads[-1].body):
        if isinstance(inner, For) and inner.variable == counter and not inner.declares:
            plain = uses_only_scalars(inner.lower) and uses_only_scalars(inner.bound)
            fixed = not _is_written_inside(nest, inner)
            return (*nest.heads, inner) if plain and fixed and _writers(nest.statement, counter) == 1 else None
    return None


def _writers(statement: Stmt, counter: Symbol) -> int:
    """Return how many loops below have this counter; any other write of it counts as many."""
    count = sum(isinstance(inner, For) and inner.variable == counter for inner, _ in loops(statement))
    for part in walk(statement):
        target = getattr(part, "target", None)
        if isinstance(part, Unary) and ("++" in part.op or "--" in part.op or part.op == "&"):
            target = part.operand
        if isinstance(target, Node) and isinstance(target, Name) and target.symbol == counter:
            count += 10
    return count


def _is_written_inside(nest: _Nest, inner: For) -> bool:
    """Whether a bound of `inner` names a variable that the nest writes or declares (other than its thread counters)."""
    counters = {head.variable for head in nest.heads}
    declared = {d.symbol for part in walk(nest.statement) if isinstance(part, DeclStmt) for d in part.declarations}
    named = {n.symbol for bound in (inner.lower, inner.bound) for n in walk(bound) if isinstance(n, Name)}
    return bool((named - counters) & (nest.accessed.written | declared))


def _is_seen_elsewhere(function: Function, loop: For, symbol: Symbol) -> bool:
    """Whether `symbol` may be read after `loop`: it is named outside it and outside loops that it counts itself."""
    if symbol.storage in ("global", "static", "static local"):
        return True
    pending: list[Node] = [function.body]
    while pending:
        node = pending.pop()
        if node is loop:
            continue
        if isinstance(node, Name) and node.symbol == symbol:
            return True
        if isinstance(node, For) and node.variable == symbol and not _holds(node, loop):
            pending += [node.lower, node.bound]
            continue
        pending += children(node)
    return False


def _holds(node: Node, wanted: Node) -> bool:
    return any(part is wanted for part in walk(node))
