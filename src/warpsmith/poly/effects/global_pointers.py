"""The variables that outlive their functions, and which global pointers always own their memory.

    static double *A, *B;  init() { A = malloc(n); B = calloc(n, 8); }      A and B can never overlap

Invariant: a stable pointer holds null or memory of an allocation whose result went to it and nowhere else first; only
copies made from it later can name that memory too. Asked of the whole program, so it must have a `main` (or the
variable be static).
"""

from __future__ import annotations

import functools

from msgspec import Struct

from warpsmith.poly.effects.library import describe_call
from warpsmith.poly.effects.outside import Outside, outside_of
from warpsmith.poly.pointers.accesses import bases, direct_call
from warpsmith.poly.pointers.pointers import is_persistent
from warpsmith.tree.effects.effects import EffectsTable, FunctionEffects
from warpsmith.tree.nodes import (
    Assign,
    Binary,
    Call,
    Expr,
    GlobalDecl,
    Index,
    Literal,
    Member,
    Name,
    Node,
    Unary,
    VarDecl,
    Verbatim,
    VerbatimExpr,
)
from warpsmith.tree.program import Program
from warpsmith.tree.types import Array, Pointer, Scalar, Symbol
from warpsmith.tree.walk import peel, walk

__all__ = ["GlobalSurvey", "GlobalUses", "global_uses", "survey_globals"]


class GlobalSurvey(Struct, frozen=True):
    """`persistent`: every variable with static storage; `stable`: pointers among them that own what they hold;
    `address_taken`: those that may also be reached through a pointer; `held`: those of them whose address may stand
    in memory for reasons that no function of the program shows."""

    persistent: frozenset[Symbol]
    stable: frozenset[Symbol]
    address_taken: frozenset[Symbol]
    held: frozenset[Symbol]


class _Called(Struct, frozen=True, eq=False):
    """What is known of the functions that the program does not define."""

    defined: frozenset[Symbol]
    effects: EffectsTable

    def of(self, call: Call) -> FunctionEffects | None:
        name = direct_call(call)
        return describe_call(self.effects, call) if name is not None and name not in self.defined else None


class GlobalUses(Struct, frozen=True):
    """What the text of a program does with variables of static storage: names them (`seen`), gives them memory that has
    another name (`shared`), takes their address (`taken`)."""

    seen: frozenset[Symbol]
    shared: frozenset[Symbol]
    taken: frozenset[Symbol]


def survey_globals(program: Program) -> GlobalSurvey:
    """Look through the whole program once, and take in what is known from outside."""
    outside, uses = outside_of(program), global_uses(program)
    shared, taken = uses.shared | outside.shared, uses.taken | outside.taken
    whole = any(function.symbol.name == "main" for _, function in program.functions())
    closed = whole if program.outside is None else outside.closed
    # a variable that only functions of other files name lives as long: what they leave in it, they find again
    seen = uses.seen | _elsewhere(outside)
    pointers = {s for s in uses.seen if isinstance(s.type, Pointer) and (closed or s.storage != "global")}
    open_ones = {s for s in seen if s.storage == "global" and not closed}
    held = outside.taken | open_ones | {s for top in _tops(program) for s in _find_kept(top)}
    return GlobalSurvey(seen, frozenset(pointers - shared - taken), taken | open_ones, held)


@functools.lru_cache(maxsize=16)
def _elsewhere(outside: Outside) -> frozenset[Symbol]:
    """Return the variables that outlive their functions, of those that functions of other files touch."""
    found: set[Symbol] = set()
    for summary in (f.summary for f in outside.functions.values() if f.summary is not None):
        roots = summary.loads | summary.stores | summary.returns
        found |= summary.reads | summary.writes | {r.symbol for r in roots if r.symbol is not None}
    return frozenset(s for s in found if is_persistent(s))


def _tops(program: Program) -> list[Node]:
    declared = [item for unit in program.units for item in unit.items if isinstance(item, GlobalDecl)]
    return [*(f for _, f in program.functions()), *declared]


# nodes never change, and rewritten programs share most of theirs: what one says is remembered here and below
@functools.lru_cache(maxsize=4096)
def _find_kept(top: Node) -> frozenset[Symbol]:
    """Return the variables whose address is taken for something else than to hand it to a function."""
    handed = {peel(a) for node in walk(top) if isinstance(node, Call) for a in node.arguments}
    inside = _find_subscripted(top)
    return frozenset(symbol for node in walk(top) if node not in handed for symbol in _find_taken(node, inside))


def global_uses(program: Program) -> GlobalUses:
    """Look through the text of the program once."""
    defined = frozenset(f.symbol for _, f in program.functions()).union(outside_of(program).functions)
    known = _remember_called(defined, program.effects)
    seen: set[Symbol] = set()
    shared: set[Symbol] = set()
    taken: set[Symbol] = set()
    for top in _tops(program):
        uses = _uses(top, known)
        seen |= uses.seen
        shared |= uses.shared
        taken |= uses.taken
    return GlobalUses(frozenset(seen), frozenset(shared), frozenset(taken))


@functools.lru_cache(maxsize=64)
def _remember_called(defined: frozenset[Symbol], effects: EffectsTable) -> _Called:
    """Return the one object for these, by which answers are remembered."""
    return _Called(defined, effects)


@functools.lru_cache(maxsize=4096)
def _uses(top: Node, known: _Called) -> GlobalUses:
    """Return what one function or declaration does."""
    seen: set[Symbol] = set()
    shared: set[Symbol] = set()
    taken: set[Symbol] = set()
    lent: set[Node] = set()
    inside = _find_subscripted(top)
    for node in walk(top):
        if isinstance(node, Name | VarDecl) and is_persistent(node.symbol):
            seen.add(node.symbol)
        if isinstance(node, Name | Literal | Binary):
            continue
        lent |= _find_lent(node, known)
        shared |= _find_shared(node, known)
        taken |= _find_taken(node, inside) if node not in lent else set()
    return GlobalUses(frozenset(seen), frozenset(shared), frozenset(taken))


def _find_shared(node: Node, called: _Called) -> set[Symbol]:
    """Return the persistent pointers to which `node` may give memory that something else names as well."""
    match node:
        case Assign(op="=") if (symbol := _static(peel(node.target))) is not None:
            return set() if _is_own(node.value, called) else {symbol}
        case VarDecl() if node.init is not None and is_persistent(node.symbol):
            return set() if _is_own(node.init, called) else {node.symbol}
        case Verbatim() | VerbatimExpr():
            return set(node.writes)
        case _:
            return set()


def _static(target: Node) -> Symbol | None:
    """Return the variable of static storage that a place is."""
    return target.symbol if isinstance(target, Name) and is_persistent(target.symbol) else None


def _is_own(value: Expr, called: _Called) -> bool:
    """Whether the address is null or straight from an allocation."""
    return all(base.call is not None and _allocates(base.call, called) for base in bases(value))


def _allocates(call: Call, called: _Called) -> bool:
    known = called.of(call)
    return known is not None and known.returns == "fresh"


def _find_lent(node: Node, called: _Called) -> set[Node]:
    """Return the addresses of numbers that a library call is given; it does not keep them (`scanf("%d", &n)`)."""
    known = called.of(node) if isinstance(node, Call) else None
    if not isinstance(node, Call) or known is None or known.program:
        return set()
    addresses = {peel(a) for number, a in enumerate(node.arguments) if not known.keeps_argument(number)}
    return {a for a in addresses if isinstance(a, Unary) and isinstance(a.operand.type, Scalar)}


def _find_subscripted(top: Node) -> frozenset[Node]:
    """Return what is only taken an element of: an array there is no address."""
    return frozenset(peel(node.base) for node in walk(top) if isinstance(node, Index))


def _find_taken(node: Node, subscripted: frozenset[Node]) -> set[Symbol]:
    """Return the variable whose address `node` takes: `&x`, and `x.table` where it stands for its first element."""
    match node:
        case Index() | Member() if isinstance(node.type, Array) and node not in subscripted:
            found = bases(node)
        case Unary(op="&"):
            found = bases(node)
        case _:
            found = ()
    return {base.symbol for base in found if base.address and base.symbol is not None}
