"""The variables that outlive their functions, and which global pointers always own their memory.

    static double *A, *B;  init() { A = malloc(n); B = calloc(n, 8); }      A and B can never overlap

Invariant: a stable pointer holds null or memory of an allocation whose result went to it and nowhere else first; only
copies made from it later can name that memory too. Asked of the whole program, so it must have a `main` (or the
variable be static).
"""

from __future__ import annotations

from dataclasses import dataclass

from warpsmith.poly.library import library_function
from warpsmith.poly.pointers import is_persistent
from warpsmith.poly.touches import bases, direct_call
from warpsmith.tree.nodes import Assign, Call, Expr, GlobalDecl, Name, Node, Unary, VarDecl, Verbatim, VerbatimExpr
from warpsmith.tree.program import Program
from warpsmith.tree.types import Pointer, Scalar, Symbol
from warpsmith.tree.walk import peel, walk

__all__ = ["GlobalSurvey", "survey_globals"]


@dataclass(frozen=True, slots=True)
class GlobalSurvey:
    """`persistent`: every variable with static storage; `stable`: pointers among them that own what they hold;
    `address_taken`: those that may also be reached through a pointer."""

    persistent: frozenset[Symbol]
    stable: frozenset[Symbol]
    address_taken: frozenset[Symbol]


def survey_globals(program: Program) -> GlobalSurvey:
    """Look through the whole program once."""
    seen: set[Symbol] = set()
    shared: set[Symbol] = set()
    taken: set[Symbol] = set()
    defined = {f.symbol for _, f in program.functions()}
    tops: list[Node] = [f for _, f in program.functions()]
    tops += [item for unit in program.units for item in unit.items if isinstance(item, GlobalDecl)]
    for top in tops:
        lent: set[Node] = set()
        for node in walk(top):
            lent |= _lent(node, defined)
            seen |= _named(node)
            shared |= _shared(node, defined)
            taken |= _taken(node) if node not in lent else set()
    closed = any(symbol.name == "main" for symbol in defined)
    pointers = {s for s in seen if isinstance(s.type, Pointer) and (closed or s.storage != "global")}
    open_ones = {s for s in seen if s.storage == "global" and not closed}
    return GlobalSurvey(frozenset(seen), frozenset(pointers - shared - taken), frozenset(taken | open_ones))


def _named(node: Node) -> set[Symbol]:
    if isinstance(node, Name | VarDecl) and is_persistent(node.symbol):
        return {node.symbol}
    return set()


def _shared(node: Node, defined: set[Symbol]) -> set[Symbol]:
    """Return the persistent pointers to which `node` may give memory that something else names as well."""
    match node:
        case Assign(op="="):
            target = peel(node.target)
            return {target.symbol} if isinstance(target, Name) and not _is_own(node.value, defined) else set()
        case VarDecl() if node.init is not None and not _is_own(node.init, defined):
            return {node.symbol}
        case Verbatim() | VerbatimExpr():
            return set(node.writes)
        case _:
            return set()


def _is_own(value: Expr, defined: set[Symbol]) -> bool:
    """Whether the address is null or straight from an allocation."""
    return all(base.call is not None and _allocates(base.call, defined) for base in bases(value))


def _allocates(call: Call, defined: set[Symbol]) -> bool:
    name = direct_call(call)
    if name is None or name in defined:
        return False
    known = library_function(name.name)
    return known is not None and known.returns == "fresh"


def _lent(node: Node, defined: set[Symbol]) -> set[Node]:
    """Return the addresses of numbers that a library call is given; it does not keep them (`scanf("%d", &n)`)."""
    name = direct_call(node) if isinstance(node, Call) else None
    if not isinstance(node, Call) or name is None or name in defined or library_function(name.name) is None:
        return set()
    addresses = {peel(a) for a in node.arguments}
    return {a for a in addresses if isinstance(a, Unary) and isinstance(a.operand.type, Scalar)}


def _taken(node: Node) -> set[Symbol]:
    """Return the variable whose address `node` takes."""
    if isinstance(node, Unary) and node.op == "&":
        return {base.symbol for base in bases(node) if base.address and base.symbol is not None}
    return set()
