"""Reads of a thread's loop that the threads of a block may make together, from a tile in shared memory.

    i on y, j on x:   for (k = 0; k < n; k++) C[i][j] += A[i][k] * B[k][j];

    A[i][k] by i and k    the threads along x read the same element        B[k][j] by k and j    so do those along y

Invariant: of the references found nothing writes the array while the kernel runs, they are one element wherever the
counters that they are read by are the same, and all else that says where they are is the same for all threads of a
block. `condition` is True exactly at the values of these counters at which the kernel reads the element.
Limits: loops that count up by one to a bound made of the kernel's parameters and counters; numbers of arrays that a
parameter leads to; subscripts of parameters and counters.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final

from msgspec import Struct

from warpsmith.base.verdict import Proved, Reason
from warpsmith.offload.fragments import Draft, OffloadRegion, OffloadRequest
from warpsmith.offload.mapping.profile import size_of
from warpsmith.poly.effects.origin import Origin
from warpsmith.poly.effects.summaries import Summaries
from warpsmith.poly.isl.bound_values import constant
from warpsmith.poly.legality.alone import AloneQuestion, is_alone
from warpsmith.poly.legality.read_where import ReadQuestion, find_read_where
from warpsmith.poly.pointers.control import escapes
from warpsmith.tree.nodes import (
    Assign,
    Binary,
    Call,
    DeviceNode,
    Expr,
    For,
    Index,
    Loop,
    Name,
    Node,
    Unary,
    Verbatim,
    VerbatimExpr,
    While,
)
from warpsmith.tree.printing.printer import show_expression
from warpsmith.tree.program import Assumption
from warpsmith.tree.types import LONG_LONG, Scalar, Symbol, is_integer
from warpsmith.tree.walk import children, loops, names, peel, root_symbol, same, walk

__all__ = [
    "LoopReads",
    "SharedRead",
    "TileSearch",
    "array_of",
    "counts_up",
    "find_obstacle",
    "find_shared_reads",
    "find_strides",
    "is_made_of",
    "is_number",
    "is_read_behind",
    "order_by_reach",
    "placeholder",
    "subscripts_of",
]

_WORD: Final = 32
# of one loop: each takes questions to isl
_MOST_READS: Final = 16


class SharedRead(Struct, frozen=True, eq=False):
    """References that are one element wherever the counters of the loops `by` are the same; the counter that moves the
    address least comes last. `held`: what a tile holds in their place: the references, or their products with what has
    one value in all threads, where the text has the same product around each of them. `strides`: how many elements a
    step of each counter of the nest moves it (None: many, or not known). `condition`: where the kernel reads it (None:
    wherever it can be asked), in the symbols of `at`."""

    nodes: tuple[Expr, ...]
    held: tuple[Expr, ...]
    by: tuple[For, ...]
    strides: dict[Symbol, int | None]
    condition: Expr | None
    at: dict[Symbol, Symbol]

    @property
    def element(self) -> Scalar:
        """The type of the element."""
        type = self.nodes[0].type
        assert isinstance(type, Scalar), "an element holds a number"
        return type

    @property
    def bytes(self) -> int:
        """The size of an element."""
        return size_of(self.element)


class LoopReads(Struct, frozen=True, eq=False):
    """A loop of the thread, what of its reads may be shared, and why others may not. `around`: the loops of the thread
    around it, which all threads of a block go through alike."""

    loop: For
    around: tuple[For, ...]
    reads: tuple[SharedRead, ...]
    refused: tuple[Reason, ...]


class TileSearch(Struct, frozen=True):
    """`heads`: the loops that are threads, outermost first. `wanted`: only reads of this loop (None: of all)."""

    request: OffloadRequest
    region: OffloadRegion
    draft: Draft
    heads: tuple[For, ...]
    wanted: Loop | None = None

    @property
    def tested(self) -> tuple[Assumption, ...]:
        """What is tested before the launch."""
        return tuple(dict.fromkeys((*self.draft.assumptions, *self.region.guards)))

    @property
    def values(self) -> frozenset[Symbol]:
        """The variables that have one value in all threads."""
        return frozenset(use.symbol for use in self.draft.uses if use.kind == "value")

    @property
    def known(self) -> Summaries:
        """What is known of the program's functions."""
        return self.request.summaries or Summaries.of(self.request.program)


def find_shared_reads(search: TileSearch) -> tuple[LoopReads, ...] | Reason:
    """Return the innermost loops of the threads with the reads that may be shared, or why there can be none at all."""
    stop = find_obstacle(search)
    if stop is not None:
        return stop
    found: list[LoopReads] = []
    for loop, around in loops(search.heads[-1].body):
        if isinstance(loop, For) and (loop is search.wanted or (search.wanted is None and _is_innermost(loop))):
            found.append(_reads_of(search, loop, around))
    return tuple(found)


def array_of(element: Expr) -> str:
    """Return the name of an element's array."""
    symbol = root_symbol(element)
    assert symbol is not None, "an element of an array that a variable leads to"
    return symbol.name


def find_obstacle(search: TileSearch) -> Reason | None:
    """Return why the threads of the kernel cannot wait for one another in their loops."""
    draft, head = search.draft, search.heads[-1]
    if draft.scan is not None or draft.accumulators:
        return _refuse("its threads combine values: they walk over the iterations, each over others", head)
    if escapes(head.body):
        return _refuse("an iteration may end early: its thread would not wait for the others", head)
    for part in walk(head.body):
        if isinstance(part, Verbatim | VerbatimExpr | DeviceNode):
            return _refuse("the loop has text that is not modelled", part)
    return None


def _is_innermost(loop: For) -> bool:
    return not any(isinstance(part, For | While) for part in walk(loop.body))


def _reads_of(search: TileSearch, loop: For, around: Sequence[Node]) -> LoopReads:
    outer = tuple(one for one in around if isinstance(one, For))
    reason = _judge_loop(search, loop, around)
    if reason is not None:
        return LoopReads(loop, outer, (), (reason,))
    reads: list[SharedRead] = []
    refused: list[Reason] = []
    for nodes in islice(_group_reads(loop), _MOST_READS):
        made = _judge_read(search, loop, outer, nodes)
        if isinstance(made, SharedRead):
            reads.append(made)
        elif made is not None:
            refused.append(made)
    return LoopReads(loop, outer, tuple(reads), tuple(refused))


def _judge_loop(search: TileSearch, loop: For, around: Sequence[Node]) -> Reason | None:
    """Return why the threads of a block cannot go through a loop tile by tile."""
    type = loop.variable.type
    if loop.step != 1 or loop.relation not in ("<", "<="):
        return _refuse(f"the loop over {loop.variable.name} does not count up by one to a bound", loop)
    if not isinstance(type, Scalar) or not _is_wide_enough(type, loop.lower):
        return _refuse(f"{loop.variable.name} may wrap around where a tile goes on behind the loop's last value", loop)
    counters = {head.variable for head in search.heads}
    if not is_made_of((loop.lower, loop.bound), search.values | counters):
        return _refuse(f"how far the loop over {loop.variable.name} runs is not known for the block as a whole", loop)
    if escapes(loop.body):
        return _refuse(f"the loop over {loop.variable.name} may be left early", loop)
    if is_read_behind(search.heads[-1].body, loop.variable):
        return _refuse(f"the value that {loop.variable.name} has behind its loop is read", loop)
    known = search.values
    for outer in around:
        if not isinstance(outer, For) or not is_made_of((outer.lower, outer.bound), known) or escapes(outer.body):
            return _refuse("a loop around it runs differently in each thread", outer)
        known = known | {outer.variable}
    return None


def is_read_behind(body: Node, counter: Symbol) -> bool:
    """Whether a thread reads a counter elsewhere than in a loop over it."""
    own = [part for part in walk(body) if isinstance(part, For) and part.variable == counter]
    inside = {id(part) for loop in own for part in walk(loop.body)}
    return any(n.symbol == counter and id(n) not in inside for n in names(body))


def _is_wide_enough(type: Scalar, lower: Expr) -> bool:
    """Whether a counter in 64 bits takes all values, and those of one more tile."""
    small = isinstance(value := constant(lower), int) and 0 <= value < 2**_WORD
    return is_integer(type) and (type.bits == _WORD or (type.bits > _WORD and small))


def is_made_of(exprs: Sequence[Expr], known: frozenset[Symbol] | set[Symbol]) -> bool:
    """Whether expressions read nothing but these variables, and constants."""
    for part in (part for expr in exprs for part in walk(expr)):
        if isinstance(part, Index | Call | Assign | VerbatimExpr) or (isinstance(part, Unary) and part.op == "*"):
            return False
        if isinstance(part, Name) and part.symbol not in known and part.symbol.value is None:
            return False
    return True


def _group_reads(loop: For) -> Iterator[tuple[Expr, ...]]:
    """Yield the elements of arrays that the loop's text names, each with all nodes that name it."""
    inside = {id(peel(part.base)) for part in walk(loop.body) if isinstance(part, Index)}
    groups: list[list[Index]] = []
    for node in walk(loop.body):
        if isinstance(node, Index) and id(node) not in inside:
            group = next((g for g in groups if same(g[0], node)), None)
            if group is None:
                groups.append([node])
            else:
                group.append(node)
    yield from (tuple(group) for group in groups)


def _judge_read(
    search: TileSearch, loop: For, outer: tuple[For, ...], nodes: tuple[Expr, ...]
) -> SharedRead | Reason | None:
    """Return what may be shared of one element's references, or why nothing; None where there is nothing to share."""
    node = nodes[0]
    if not is_number(node) or _is_changed(loop, nodes):
        return None
    subscripts = subscripts_of(node)
    found = {n.symbol for part in subscripts for n in names(part)}
    by = tuple(head for head in (*search.heads, loop) if head.variable in found)
    if loop not in by or len(by) > len(search.heads):
        return None
    inner = {head.variable for head in (*search.heads, loop, *outer)}
    if not is_made_of(subscripts, search.values | inner):
        return _refuse(f"where {show_expression(node)} is, is not made of parameters and counters alone", node)
    if not all(map(counts_up, by)):
        return _refuse(f"{show_expression(node)} is read by a counter that does not count up by one", node)
    strides = find_strides(search, node)
    if strides is None:
        return None
    return _prove_read(search, nodes, order_by_reach(by, strides), strides, (*outer, loop))


def _prove_read(
    search: TileSearch,
    nodes: tuple[Expr, ...],
    by: tuple[For, ...],
    strides: dict[Symbol, int | None],
    inner: tuple[For, ...],
) -> SharedRead | Reason:
    """Return the read, if nothing writes it meanwhile and it is known where it is read."""
    *outer, loop = inner
    request, function = search.request, search.request.facts.function
    origin = Origin.of(request.program, function, search.known)
    around = dict(loops(function.body))[search.heads[0]]
    tested = search.tested
    question = ("shared read", search.heads[0], nodes, tuple((a.text, a.kind) for a in tested), request.poly)

    def ask() -> SharedRead | Reason:
        verdict = is_alone(AloneQuestion(origin, search.draft.statements, nodes, around, request.poly, allowed=tested))
        if not isinstance(verdict, Proved):
            return verdict.reasons[0]
        at = {one.variable: placeholder(one.variable, wide=one not in search.heads) for one in (*by, *outer)}
        # a thread behind the last iteration may wrap around where its counter starts elsewhere than at 0
        rising = [one for one in (*by, *outer) if one not in search.heads or constant(one.lower) == 0]
        floors = frozenset(one.variable for one in rising if one.step > 0)
        run, heads = search.draft.statements, search.heads
        where = find_read_where(
            ReadQuestion(origin, run, nodes, around, (*by, *outer), at, floors, heads, request.poly, tested)
        )
        if isinstance(where, Reason):
            return where
        return SharedRead(nodes, _find_held(search, loop, nodes), by, strides, where.condition, at)

    return search.known.remember(question, ask)


def _find_held(search: TileSearch, loop: For, nodes: tuple[Expr, ...]) -> tuple[Expr, ...]:
    """Return the references, or the largest products around them of which the other factors have one value in all
    threads. Each such product is a factor itself: no compiler makes one instruction of it and a sum, and what is
    computed once for a tile is what every thread would compute."""
    held = tuple(nodes)
    while True:
        wider = tuple(_find_product(search, loop, one) for one in held)
        found = tuple(one for one in wider if one is not None)
        if len(found) < len(held) or not all(same(found[0], one) for one in found[1:]):
            return held
        held = found


def _find_product(search: TileSearch, loop: For, expr: Expr) -> Expr | None:
    """Return the product that an expression is a factor of, if the other factor is a value and it is a factor too."""
    product = _find_parent(loop, expr)
    if not isinstance(product, Binary) or product.op != "*" or product.type != expr.type:
        return None
    if not isinstance(product.type, Scalar) or product.type.kind != "float":
        return None
    other = product.right if product.left is expr else product.left
    around = _find_parent(loop, product)
    inside = isinstance(around, Binary) and around.op == "*" and around.type == product.type
    plain = peel(other).type == product.type and is_made_of((other,), search.values)
    return product if inside and plain else None


def _find_parent(loop: For, expr: Expr) -> Node | None:
    """Return what an expression is an operand of."""
    return next((part for part in walk(loop.body) if any(child is expr for child in children(part))), None)


def placeholder(counter: Symbol, *, wide: bool) -> Symbol:
    """Return what a condition calls a counter until the tile is written."""
    type = LONG_LONG if wide else counter.type
    return Symbol(counter.name, f"at:{counter.key}", type, "local", counter.span)


def is_number(node: Expr) -> bool:
    """Whether a reference is to a number in an array that a variable leads to."""
    type = node.type
    if not isinstance(type, Scalar) or type.volatile or type.kind not in ("signed", "unsigned", "float"):
        return False
    base = node
    while isinstance(base, Index):
        base = peel(base.base)
    return isinstance(base, Name) and type.bits <= 2 * _WORD and root_symbol(node) is not None


def _is_changed(loop: For, nodes: tuple[Expr, ...]) -> bool:
    """Whether the loop stores to an element by one of these nodes, or takes its address."""
    own = {id(node) for node in nodes}
    for part in walk(loop.body):
        if isinstance(part, Assign) and id(peel(part.target)) in own:
            return True
        if isinstance(part, Unary) and part.op not in ("+", "-", "~", "!") and id(peel(part.operand)) in own:
            return True
    return False


def subscripts_of(node: Expr) -> tuple[Expr, ...]:
    """Return the subscripts of an element, outermost first."""
    found: list[Expr] = []
    while isinstance(node, Index):
        found.insert(0, node.index)
        node = peel(node.base)
    return tuple(found)


def counts_up(head: For) -> bool:
    """Whether a loop's counter goes up by one, in at least 32 bits."""
    type = head.variable.type
    return head.step == 1 and isinstance(type, Scalar) and is_integer(type) and type.bits >= _WORD


def find_strides(search: TileSearch, node: Expr) -> dict[Symbol, int | None] | None:
    """Return how far each counter moves the address of a reference; None where nothing is known of it."""
    for fact in search.draft.loops[0].accesses:
        if fact.expr is node and fact.affine:
            return dict(fact.strides)
    return None


def order_by_reach(by: tuple[For, ...], strides: dict[Symbol, int | None]) -> tuple[For, ...]:
    """Return the loops, that whose counter moves the address least last."""

    def reach(loop: For) -> float:
        stride = strides.get(loop.variable, 0)
        return float("inf") if stride is None else abs(stride)

    return tuple(sorted(by, key=reach, reverse=True))


def _refuse(text: str, node: Node) -> Reason:
    return Reason("STP002", text, node.span)
