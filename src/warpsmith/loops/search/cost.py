"""How well a statement run would do on a GPU, estimated from verdicts alone: what the search for steps compares.

    for (t …)                    one host loop around kernels: depth 1
        for (i …) a[i] = …;      parallel: one kernel an iteration of t
        for (i …) b = f(b);      neither parallel nor a reduction, nothing parallel inside: stranded on the host

Of two forms the one with fewer stranded statements is better, then the one with fewer host loops around its kernels,
then the one with fewer launches in an iteration, then the one with more loops that can be threads.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import inf
from operator import attrgetter

from msgspec import Struct
from msgspec.structs import replace

from warpsmith.base.records import Partial
from warpsmith.base.verdict import Proved
from warpsmith.loops.search.effort import trips_of
from warpsmith.poly.analyze import Facts
from warpsmith.poly.claimed import regions_of
from warpsmith.poly.facts import FunctionFacts, LoopFacts
from warpsmith.tree.nodes import Block, DeclStmt, Empty, For, Function, If, Node, Pragma, Stmt, Switch, While
from warpsmith.tree.types import Array, Pointer, Scalar, Symbol, Type
from warpsmith.tree.walk import children, statements_of

__all__ = ["Cost", "cost_of", "declared_between", "is_parallel", "kernel_loops", "only_loop", "thread_loops"]

_MOST_THREAD_LOOPS = 3
_WARP = 32
# a reduction is two kernels, a scan three
_LAUNCHES = {"parallel": 1, "reduction": 2, "scan": 3}


class Cost(Partial, frozen=True, eq=False):
    """`stranded`: statements in loops without parallelism; `depth`: host loops around kernels; `atomics`: kernels whose
    threads update shared elements one after the other; `launches`: kernels and single-thread statements in one pass of
    the innermost of those host loops; `narrow`: the thread loops that nests lack compared with two each; `buried`:
    parallel loops with loops of their own that threads go through, and that might be threads; `kernels`: of them all;
    `reduces`: one of them is a reduction or a scan; `small`: all are, or have no more threads than a warp, and are
    inside as many host loops; `handed`: scans that hand elements on, none where the loop falls into two."""

    compared = attrgetter("stranded", "depth", "atomics", "launches", "narrow", "buried")
    stranded: int = 0
    depth: int = 0
    atomics: int = 0
    launches: int = 0
    narrow: int = 0
    buried: int = 0
    kernels: int = 0
    reduces: bool = False
    small: bool = False
    handed: int = 0

    def __lt__(self, other: Cost) -> bool:
        return self.compared(self) < self.compared(other)

    @property
    def ideal(self) -> bool:
        """Whether everything runs on the device, with no host loop around a kernel."""
        return self.stranded == 0 and self.depth == 0

    @property
    def perfect(self) -> bool:
        """Whether no step could better it: all on the device, with threads enough, and none waits for another."""
        return self.ideal and not (self.narrow or self.buried or self.atomics or self.handed)

    @property
    def runs_well(self) -> bool:
        """Whether everything runs on the device, with at most one host loop around a kernel."""
        return self.stranded == 0 and self.depth <= 1 and self.atomics == 0 and not (self.depth and self.reduces)


def cost_of(facts: Facts, function: Function, run: Iterable[Stmt]) -> Cost:
    """Return the cost of consecutive statements of `function`."""
    regions = (region.body for region in regions_of(function))
    known = _Known(facts.of(function), frozenset(id(body) for body in regions if not isinstance(body, For | While)))
    return _sum(_cost(known, stmt, inside=False) for stmt in run)


def thread_loops(known: FunctionFacts, loop: For) -> int:
    """Return how many perfectly nested parallel loops start with `loop`, at most three."""
    count = 0
    current: For | None = loop
    while current is not None and count < _MOST_THREAD_LOOPS and is_parallel(known.of(current)):
        count += 1
        current = only_loop(current.body)
    return count


def is_parallel(facts: LoopFacts) -> bool:
    """Whether the loop's iterations may become threads as they stand."""
    return facts.category == "parallel" and isinstance(facts.verdict, Proved)


def only_loop(body: Stmt) -> For | None:
    """Return the loop that is all that a body does; variables may be declared in front of it, without a value."""
    inside = [s for s in statements_of(body) if not _does_nothing(s)]
    while len(inside) == 1 and isinstance(inside[0], Block):
        inside = [s for s in inside[0].statements if not _does_nothing(s)]
    return inside[0] if len(inside) == 1 and isinstance(inside[0], For) else None


def declared_between(outer: For) -> tuple[Symbol, ...]:
    """Return the variables that are declared between a loop and the only loop in it."""
    run = [*statements_of(outer.body)] if only_loop(outer.body) is not None else []
    found: list[Symbol] = []
    while run:
        stmt = run.pop(0)
        run = [*stmt.statements, *run] if isinstance(stmt, Block) else run
        found += [one.symbol for one in stmt.declarations] if isinstance(stmt, DeclStmt) else []
    return tuple(found)


def _does_nothing(stmt: Stmt) -> bool:
    """Whether a statement is none, or declares numbers and pointers that have no value yet."""
    if not isinstance(stmt, DeclStmt):
        return isinstance(stmt, Pragma | Empty)
    return not stmt.types and all(
        one.init is None and one.symbol.storage == "local" and _is_number(one.symbol.type) for one in stmt.declarations
    )


def _is_number(type: Type) -> bool:
    return isinstance(type, Scalar) or (isinstance(type, Pointer) and not type.reference)


def kernel_loops(facts: Facts, function: Function, run: Iterable[Stmt]) -> Iterator[For]:
    """Yield the outermost loops of consecutive statements of `function` that may be kernels."""
    known = facts.of(function)
    pending: list[Node] = [*run]
    while pending:
        node = pending.pop()
        if isinstance(node, For) and known.of(node).category in _LAUNCHES:
            yield node
        else:
            pending += children(node)


class _Known(Struct, frozen=True):
    """What is known of a function. `threaded`: by `id`, its statements other than loops that several host threads run:
    nothing in them goes to the device."""

    facts: FunctionFacts
    threaded: frozenset[int]


def _cost(known: _Known, stmt: Node, *, inside: bool) -> Cost:
    if id(stmt) in known.threaded:
        return Cost(stranded=1)
    match stmt:
        case For():
            return _loop_cost(known, stmt)
        case While(body=body):
            return _host_loop(_cost(known, body, inside=True))
        case Block(statements=parts):
            return _sum(_cost(known, part, inside=inside) for part in parts)
        case If(then=then, reasons=reasons) if reasons:
            # a step's test: what stands there for when it fails is the user's own text
            return _cost(known, then, inside=inside)
        case If() | Switch():
            return _sum(_cost(known, part, inside=inside) for part in children(stmt) if isinstance(part, Stmt))
        case Pragma() | Empty() | DeclStmt():
            return Cost()
        case _:
            return Cost(launches=int(inside))


def _loop_cost(known: _Known, loop: For) -> Cost:
    facts = known.facts.of(loop)
    if is_parallel(facts):
        wanted = 2 if _has_loop(loop.body) else 1
        threads = thread_loops(known.facts, loop)
        narrow, buried = max(0, wanted - threads), _count_buried(known.facts, loop, threads)
        return Cost(launches=1, narrow=narrow, buried=buried, kernels=1, small=_threads(loop, threads) <= _WARP)
    inner = _cost(known, loop.body, inside=True)
    if facts.category in _LAUNCHES and facts.reductions:
        alone = Cost(
            launches=_LAUNCHES[facts.category], narrow=int(_has_loop(loop.body)), kernels=1, reduces=True, small=True
        )
        shared = any(isinstance(r.variable.type, Array | Pointer) for r in facts.reductions)
        handed = any(isinstance(r.variable.type, Array | Pointer) and r.op == "latest" for r in facts.reductions)
        alone = replace(alone, atomics=int(shared and facts.category == "reduction"), handed=int(handed))
        return min(alone, _host_loop(inner))
    return _host_loop(inner)


def _count_buried(known: FunctionFacts, loop: For, threads: int) -> int:
    """Return how many loops inside the `threads` loops of threads might be threads and have loops inside them."""
    if threads == _MOST_THREAD_LOOPS:
        return 0
    inner = loop
    for _ in range(threads - 1):
        inner = only_loop(inner.body) or inner
    count, pending = 0, [*children(inner.body)]
    while pending:
        node = pending.pop()
        if isinstance(node, For) and is_parallel(known.of(node)):
            count += _has_loop(node.body)
        else:
            pending += children(node)
    return count


def _threads(loop: For, depth: int) -> float:
    """Return how many threads `depth` loops make, where that is a constant."""
    count = 1
    current: For | None = loop
    for _ in range(depth):
        trips = trips_of(current) if current is not None else None
        if current is None or trips is None:
            return inf
        count *= trips
        current = only_loop(current.body)
    return count


def _has_loop(body: Stmt) -> bool:
    pending: list[Node] = [body]
    while pending:
        node = pending.pop()
        if isinstance(node, For | While):
            return True
        pending += children(node)
    return False


def _host_loop(inner: Cost) -> Cost:
    """Return the cost of a loop that stays on the host; one without any kernel inside is stranded as a whole, and
    so is the second one around small kernels alone."""
    if not inner.kernels or (inner.small and inner.depth):
        return Cost(stranded=max(1, inner.stranded + inner.launches))
    return replace(inner, depth=inner.depth + 1)


def _sum(costs: Iterable[Cost]) -> Cost:
    parts = list(costs)
    deepest = max((c.depth for c in parts), default=0)
    return Cost(
        stranded=sum(c.stranded for c in parts),
        depth=deepest,
        atomics=sum(c.atomics for c in parts),
        launches=sum(c.launches for c in parts if c.depth == deepest),
        narrow=sum(c.narrow for c in parts),
        buried=sum(c.buried for c in parts),
        kernels=sum(c.kernels for c in parts),
        reduces=any(c.reduces for c in parts),
        small=all(c.small and c.depth == deepest for c in parts if c.kernels),
        handed=sum(c.handed for c in parts),
    )
