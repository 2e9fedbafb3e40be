"""Memory that each thread of a team allocates for itself, works on in loops that they share, and frees.

    double *t = malloc(m * sizeof *t);            each thread has a block of its own
    #pragma omp for
    for (i …) { for (j …) t[j] = …; … }           which an iteration writes before it reads
    free(t);

Invariant: no address in a block is known but by its one pointer, and what iterations leave in it nobody reads. So one
thread alone needs one block, and does the same with it.

What an iteration reads of a block was written in it (one_thread.py).

Limits: blocks of malloc, calloc, aligned_alloc and new; one pointer each, which nothing else is assigned to. What
a function writes through the pointer, before an iteration reads it, is not known to be all that is read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from warpsmith.poly.analyze import Facts
from warpsmith.poly.effects.effects import effects
from warpsmith.poly.openmp.team import NotOneThreadError, Team
from warpsmith.poly.pointers.accesses import direct_call
from warpsmith.poly.pointers.pointers import Root
from warpsmith.tree.free_store import FREES, MAKES
from warpsmith.tree.nodes import Assign, Call, Cast, DeclStmt, Expr, ExprStmt, Function, Name, Node
from warpsmith.tree.types import Array, Pointer, Record, Scalar, Symbol
from warpsmith.tree.walk import names, peel

__all__ = ["check_own_memory", "find_own_memory", "hands_nothing_own", "is_of_own_memory"]

_ALLOCATES: Final = frozenset({"malloc", "calloc", "aligned_alloc"}) | MAKES
_RELEASES: Final = frozenset({"free"}) | FREES


def find_own_memory(facts: Facts, function: Function, team: Team) -> Mapping[Symbol, Node]:
    """Return the pointers to blocks that are each thread's own, each with the statement that allocates it."""
    made: dict[Symbol, list[tuple[Node, Call]]] = {}
    for node in team.redundant:
        for symbol, call in _allocations(node):
            made.setdefault(symbol, []).append((node, call))
    found = {symbol: ways[0] for symbol, ways in made.items() if len(ways) == 1 and symbol in team.own}
    return {s: node for s, (node, call) in found.items() if _has_one_name(facts, function, s, call)}


def _has_one_name(facts: Facts, function: Function, symbol: Symbol, call: Call) -> bool:
    """Whether a pointer, and nothing else, leads to what a call allocates, and to nothing else."""
    where = facts.summaries.provenance(function)
    root = Root("fresh", node=call)
    known = {one for one, roots in where.roots.items() if root in roots}
    return root not in where.escaped and known == {symbol} and where.roots[symbol] == {root}


def _allocations(node: Node) -> Iterator[tuple[Symbol, Call]]:
    """Yield what a statement gives a block of its own."""
    if isinstance(node, DeclStmt):
        pairs = [(one.symbol, one.init) for one in node.declarations]
    elif isinstance(node, ExprStmt) and isinstance(assigned := peel(node.expr), Assign) and assigned.op == "=":
        target = peel(assigned.target)
        pairs = [(target.symbol, assigned.value)] if isinstance(target, Name) else []
    else:
        pairs = []
    for symbol, value in pairs:
        call = _call_of(value, _ALLOCATES) if value is not None else None
        if call is not None:
            yield symbol, call


def _call_of(value: Expr, functions: frozenset[str]) -> Call | None:
    value = peel(value)
    while isinstance(value, Cast):
        value = peel(value.operand)
    function = direct_call(value) if isinstance(value, Call) else None
    return value if isinstance(value, Call) and function is not None and function.name in functions else None


def is_of_own_memory(node: Node, own: Mapping[Symbol, Node]) -> bool:
    """Whether a statement does no more than allocate such blocks, or free one."""
    if isinstance(node, DeclStmt):
        calls = [_call_of(one.init, _ALLOCATES) for one in node.declarations if one.init is not None]
        return all(call is not None for call in calls) and all(own.get(s) is node for s, _ in _allocations(node))
    if any(own.get(symbol) is node for symbol, _ in _allocations(node)):
        return True
    call = _call_of(node.expr, _RELEASES) if isinstance(node, ExprStmt) else None
    argument = peel(call.arguments[0]) if call is not None and call.arguments else None
    return isinstance(argument, Name) and argument.symbol in own


def check_own_memory(facts: Facts, function: Function, team: Team, own: Mapping[Symbol, Node]) -> None:
    """Raise where what iterations leave in such a block may be read: by what every thread does, or by one of them."""
    for symbol in own:
        loops = [loop for _, loop in team.shared_loops]
        shared = [loop for loop in loops if _writes(facts, function, loop, symbol)]
        apart: list[Node] = [*team.combining, *(stmt for _, stmt in team.once), *(n for n in loops if n not in shared)]
        apart += [n for n in team.redundant if not is_of_own_memory(n, own) and _reads(facts, function, n, symbol)]
        reader = next((node for node in apart if any(n.symbol == symbol for n in names(node))), None)
        if shared and reader is not None:
            text = f"what {symbol.name} leads to is another block in each thread, and is read there"
            raise NotOneThreadError(text, reader.span)


def hands_nothing_own(facts: Facts, function: Function, team: Team) -> None:
    """Raise where a thread hands memory of its own to a function that shares work: the threads' iterations there work
    on what is another object in each of them, which its parameter does not tell."""
    where = facts.summaries.provenance(function)
    for argument in (argument for call in team.calls for argument in call.arguments):
        if not isinstance(argument.type, Pointer | Array | Record):
            continue
        for name in names(argument):
            roots = where.roots.get(name.symbol, frozenset()) if isinstance(name.symbol.type, Pointer) else frozenset()
            mine = any(root.kind == "fresh" or (root.kind == "object" and root.symbol in team.own) for root in roots)
            if name.symbol in team.own and (mine or not isinstance(name.symbol.type, Pointer | Scalar)):
                _refuse_own(name)
            if isinstance(name.symbol.type, Scalar) and name.symbol in team.own and "&" in argument.span.text:
                _refuse_own(name)


def _refuse_own(name: Name) -> None:
    text = f"{name.symbol.name} is each thread's own, and handed to a function that shares work among them"
    raise NotOneThreadError(text, name.span)


def _writes(facts: Facts, function: Function, node: Node, symbol: Symbol) -> bool:
    return symbol in effects(facts.program, node, function, facts.summaries).element_writes


def _reads(facts: Facts, function: Function, node: Node, symbol: Symbol) -> bool:
    return symbol in effects(facts.program, node, function, facts.summaries).element_reads
