"""What a text does, counted: the operations of a statement, the references of a loop, the work of a kernel's thread.

    for (j …)                              innermost, parallel: its operations are vectorized
        C[i][j] += alpha * A[i][k] * B[k][j];
                                           9 operations; C and B move with j; A and alpha stay in registers

A reference that does not move with the innermost loops around it is made once for all of their iterations. What is
counted is the text: an estimate, never a reason for a verdict.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct, field

from warpsmith.loops.search.traffic import target_of
from warpsmith.machine.time.coarse import KernelWork
from warpsmith.offload.gain.sizes import Sizes
from warpsmith.offload.mapping.profile import size_of
from warpsmith.poly.facts import LoopFacts, ReferenceFact
from warpsmith.tree.nodes import (
    Assign,
    Binary,
    Call,
    Conditional,
    Expr,
    For,
    Function,
    Index,
    Loop,
    Member,
    Name,
    Node,
    Unary,
    VarDecl,
    While,
)
from warpsmith.tree.types import Symbol, is_float
from warpsmith.tree.walk import children, loops, names, peel, root_symbol, walk

__all__ = [
    "Around",
    "Operations",
    "count_operations",
    "find_moving",
    "footprint",
    "has_loop",
    "kernel_work",
    "references_of",
]

_OPERATIONS = (Assign, Binary, Call, Conditional, Index, Member, Unary, VarDecl)
_CALL_OPERATIONS: Final = 20.0
_DIVISION_OPERATIONS: Final = 8.0
_DEPTH: Final = 4

Around = Sequence[tuple[Loop, float]]
"""Loops with their trip counts, outermost first."""


class Operations(Struct, frozen=True):
    """The operations that a text names, inner loops left out: how many, how many of them divide, and what it calls."""

    count: int
    divisions: int
    calls: tuple[Call, ...]


def count_operations(node: Node, moving: frozenset[Symbol] | None = None) -> Operations:
    """Return the operations below `node`, but for those of the loops in it. `moving`: what names none of these
    variables is worked out once for all iterations, and does not count."""
    count = divisions = 0
    calls: list[Call] = []
    pending: list[Node] = [node]
    while pending:
        part = pending.pop()
        if moving is None or any(name.symbol in moving for name in names(part)):
            count += isinstance(part, _OPERATIONS)
            divisions += _divides(part)
        calls += [part] if isinstance(part, Call) else []
        pending += [child for child in children(part) if not isinstance(child, For | While)]
    return Operations(count, divisions, tuple(calls))


def find_moving(loop: Loop) -> frozenset[Symbol]:
    """Return the variables, and the arrays, whose values an iteration of a loop changes."""
    found = {loop.variable} if isinstance(loop, For) else set[Symbol]()
    for part in walk(loop):
        target = target_of(part)
        root = root_symbol(target) if isinstance(target, Name | Index | Member | Unary) else None
        found |= {part.symbol} if isinstance(part, VarDecl) else {root} if root is not None else set()
    return frozenset(found)


def _divides(node: Node) -> bool:
    """Whether a node is a division that the processor has to carry out: those of integers are by constants mostly."""
    if isinstance(node, Binary | Assign):
        return node.op in ("%", "%=") or (node.op in ("/", "/=") and is_float(node.type))
    return False


def references_of(accesses: Iterable[ReferenceFact]) -> Mapping[int, ReferenceFact]:
    """Return accesses by the identity of their expressions."""
    return {id(access.expr): access for access in accesses}


def footprint(access: ReferenceFact, around: Around) -> float:
    """Return how many bytes a reference touches in all iterations of the loops around it."""
    size = float(size_of(access.element))
    for loop, trips in around:
        if isinstance(loop, For) and loop.variable in access.strides:
            size *= max(1.0, trips)
    return size


def is_cached(access: ReferenceFact, around: Around, cache: float) -> bool:
    """Whether a loop comes back to what a reference touches before a cache of so many bytes is full of it."""
    still = [n for n, (loop, _) in enumerate(around) if isinstance(loop, For) and loop.variable not in access.strides]
    return bool(still) and footprint(access, around[still[-1] + 1 :]) <= cache


def kernel_work(
    facts: LoopFacts,
    heads: Sequence[For],
    sectors: float,
    sizes: Sizes,
    functions: Mapping[Symbol, Function],
) -> tuple[KernelWork, bool]:
    """Return the work of one launch whose threads are the iterations of `heads`, from the loop of `facts` on (none:
    one thread runs it), and whether all counts are certain. `sectors`: what a warp's request touches."""
    threads, certain, inside, around = 1.0, True, sizes, list[tuple[Loop, float]]()
    for head in heads:
        trips = inside.trips(head)
        threads, certain, inside = threads * trips.value, certain and trips.certain, inside.inside(head)
        around.append((head, trips.value))
    body = heads[-1].body if heads else facts.loop
    counts = _Counts(functions, references_of(facts.accesses), tuple(around))
    counts.add(body, inside, 1.0, ())
    largest: dict[Symbol, float] = {}
    for base, size in counts.touched:
        largest[base] = max(largest.get(base, 0.0), size)
    work = KernelWork(threads, counts.operations, counts.requests, sectors, sum(largest.values()))
    return work, certain and counts.certain


class _Counts(Struct):
    """The work of one thread, as its text is read."""

    functions: Mapping[Symbol, Function]
    references: Mapping[int, ReferenceFact]
    heads: Around
    operations: float = 0.0
    requests: float = 0.0
    certain: bool = True
    touched: list[tuple[Symbol, float]] = field(default_factory=list)

    def add(self, node: Node, sizes: Sizes, times: float, around: Around, depth: int = 0) -> None:
        """Add what `node` does `times` times, inside the loops `around` of the thread."""
        if isinstance(node, For | While):
            trips = sizes.trips(node)
            self.certain = self.certain and trips.certain
            self.add(node.body, sizes.inside(node), times * trips.value, (*around, (node, trips.value)), depth)
            return
        found = count_operations(node)
        self.operations += times * (found.count + _DIVISION_OPERATIONS * found.divisions)
        for access in self._references(node):
            self.requests += _requests(access, around)
            self.touched.append((access.base, footprint(access, (*self.heads, *around))))
        for call in found.calls:
            self._call(call, sizes, times, depth)
        for loop in (loop for loop, outer in loops(node) if not outer):
            self.add(loop, sizes, times, around, depth)

    def _references(self, node: Node) -> Iterator[ReferenceFact]:
        pending: list[Node] = [node]
        while pending:
            part = pending.pop()
            if isinstance(part, Expr) and id(part) in self.references:
                yield self.references[id(part)]
            pending += [child for child in children(part) if not isinstance(child, For | While)]

    def _call(self, call: Call, sizes: Sizes, times: float, depth: int) -> None:
        callee = peel(call.function)
        function = self.functions.get(callee.symbol) if isinstance(callee, Name) else None
        if function is None or depth >= _DEPTH:
            self.operations += times * _CALL_OPERATIONS
            return
        bound = {p: sizes.value(a) for p, a in zip(function.parameters, call.arguments, strict=False)}
        known = {symbol: size for symbol, size in bound.items() if size is not None}
        self.add(function.body, sizes.with_values(known), times, (), depth + 1)


def _requests(access: ReferenceFact, around: Around) -> float:
    """Return how often a thread asks memory for a reference: it stays in a register while no loop moves it."""
    moving = [n for n, (loop, _) in enumerate(around) if isinstance(loop, For) and loop.variable in access.strides]
    count = 1.0
    for _, trips in around[: moving[-1] + 1 if moving else 0]:
        count *= max(1.0, trips)
    return count


def has_loop(node: Node) -> bool:
    """Whether a text has a loop."""
    return any(isinstance(part, For | While) for part in walk(node))
