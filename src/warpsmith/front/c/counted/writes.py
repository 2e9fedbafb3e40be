"""The writes of a piece of the tree, as far as the front end must know them to recognize counted loops.

A *variable* is written by assigning it; a *store* goes through an array element, a pointer or a member. A store can
change a scalar variable only through a pointer, only where the variable's address was taken, and only where the types
may name the same object (C17 6.5p7): characters reach everything, equal sizes reach each other, else not.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from operator import attrgetter

from msgspec import Struct, field

from warpsmith.base.records import Partial
from warpsmith.base.source import Span
from warpsmith.tree.containers import is_held_by_container
from warpsmith.tree.nodes import (
    Assign,
    Call,
    Expr,
    For,
    Index,
    Member,
    Name,
    Node,
    Unary,
    VarDecl,
    Verbatim,
    VerbatimExpr,
)
from warpsmith.tree.types import Array, FunctionType, Opaque, Pointer, Record, Scalar, Symbol, Type, is_integer
from warpsmith.tree.walk import peel, root_symbol, walk

__all__ = ["Knowledge", "Store", "Writes", "close_over_calls", "is_direct", "may_name_same_object", "writes_of"]

_FILE_SCOPE = ("global", "static", "static local")


class Store(Partial, frozen=True, eq=False):
    """A write to memory: the variable at the bottom of the lvalue, whether it goes through a pointer, its type; and,
    for people, where it stands."""

    compared = attrgetter("root", "indirect", "type")
    root: Symbol | None
    indirect: bool
    type: Type
    at: Span | None = None


class Writes(Struct, frozen=True):
    """Variables assigned, stores, functions called, in one piece of the tree; `unknown`: it calls what is not known,
    first `at` this place.

    `opaque` has the variables that count as assigned only because text that is not modelled names them, with its
    reason.
    """

    variables: frozenset[Symbol] = frozenset()
    stores: frozenset[Store] = frozenset()
    calls: frozenset[Symbol] = frozenset()
    unknown: bool = False
    opaque: frozenset[tuple[Symbol, str]] = frozenset()
    at: Span | None = None

    def merge(self, other: Writes) -> Writes:
        """Return what either of the two may write."""
        return Writes(
            self.variables | other.variables, self.stores | other.stores, self.calls | other.calls,
            self.unknown or other.unknown, self.opaque | other.opaque, self.at or other.at,
        )  # fmt: skip


class Knowledge(Struct, frozen=True):
    """What is known about the program's functions: by key, what each may write with everything that it calls.

    `library` has the keys of functions that system headers declare; `escaped` those of variables whose address was
    taken; `whole`: the program has its `main`, so no code is unseen but the libraries'; `references`: in the text that
    is read an argument may be bound to a reference (C++), which takes an address without saying so.
    """

    functions: Mapping[str, Writes] = field(default_factory=dict)
    library: frozenset[str] = frozenset()
    escaped: frozenset[str] = frozenset()
    whole: bool = False
    references: bool = False

    def find_kept(self, named: tuple[Symbol, ...]) -> tuple[Symbol, ...]:
        """Return those of `named` whose address text that is not modelled may take: what `&` names somewhere, and what
        is or has an array, whose name is its address."""
        if self.references:
            return named
        return tuple(s for s in named if not isinstance(s.type, Scalar | Pointer) or s.key in self.escaped)

    def is_hidden(self, symbol: Symbol) -> bool:
        """Whether no pointer leads to a struct of a function's own: nothing takes its address, by `&`, by an array in
        it, or by a reference."""
        type = symbol.type
        if symbol.storage not in ("local", "parameter") or not isinstance(type, Record) or not type.fields:
            return False
        return not self.references and symbol.key not in self.escaped and not _has_array(type)


def _has_array(type: Type) -> bool:
    if isinstance(type, Record):
        return any(_has_array(part.type) for part in type.fields)
    return isinstance(type, Array | Opaque)


def may_name_same_object(left: Type, right: Type) -> bool:
    """Whether lvalues of the two types may name the same object."""
    if isinstance(left, Pointer) and isinstance(right, Pointer):
        return True
    if isinstance(left, Scalar) and isinstance(right, Scalar):
        if 8 in (left.bits, right.bits):
            return True
        return left.bits == right.bits and is_integer(left) == is_integer(right)
    pair = (left, right)
    return not (any(isinstance(t, Pointer) for t in pair) and any(isinstance(t, Scalar) and t.bits != 8 for t in pair))


def is_direct(expr: Expr) -> bool:
    """Whether an lvalue lies in the declared object of its root variable: no pointer is followed."""
    expr = peel(expr)
    while True:
        match expr:
            case Name():
                return True
            case Index(base=base) if isinstance(peel(base).type, Array):
                expr = peel(base)
            case Member(base=base, arrow=False):
                expr = peel(base)
            case _:
                return False


def writes_of(nodes: Iterable[Node]) -> Writes:
    """Return what the nodes may write, functions that they call not followed."""
    variables: set[Symbol] = set()
    stores: set[Store] = set()
    calls: set[Symbol] = set()
    unknown: list[Span] = []
    opaque: set[tuple[Symbol, str]] = set()
    for node in nodes:
        for part in walk(node):
            match part:
                case Assign(target=target):
                    _target(target, variables, stores)
                case Unary(op="x++" | "x--" | "++x" | "--x", operand=operand):
                    _target(operand, variables, stores)
                case Unary(op="&", operand=operand):
                    root = root_symbol(operand)
                    if root is not None and is_direct(operand):
                        variables.add(root)
                case For(variable=symbol) | VarDecl(symbol=symbol):
                    variables.add(symbol)
                case Verbatim(writes=named, calls=called) | VerbatimExpr(writes=named, calls=called):
                    variables.update(named)
                    opaque.update((symbol, part.reason) for symbol in named)
                    stores.update(Store(symbol, True, Opaque(""), part.span) for symbol in named)
                    unknown += [part.span] if called else []
                case Call():
                    unknown += [part.span] if _call(part, calls, stores) else []
                case _:
                    pass
    first = unknown[0] if unknown else None
    return Writes(
        frozenset(variables), frozenset(stores), frozenset(calls), bool(unknown), frozenset(opaque), first
    )  # fmt: skip


def _target(target: Expr, variables: set[Symbol], stores: set[Store]) -> None:
    target = peel(target)
    root = root_symbol(target)
    if isinstance(target, Name):
        variables.add(target.symbol)
        return
    direct = is_direct(target)
    if direct and root is not None and not isinstance(root.type, Array):
        variables.add(root)
    # what a container holds in itself is changed by nothing else: such a store may be of any of it
    type = Opaque("") if is_held_by_container(target) else target.type
    stores.add(Store(root, not direct, type, target.span))


def _call(call: Call, calls: set[Symbol], stores: set[Store]) -> bool:
    """Record a call; return whether it is one whose function is not known."""
    function = peel(call.function)
    if not isinstance(function, Name) or function.symbol.storage != "function":
        return True
    calls.add(function.symbol)
    parameters = function.symbol.type.parameters if isinstance(function.symbol.type, FunctionType) else ()
    passes_function = False
    for number, argument in enumerate(call.arguments):
        # A called function may write whatever it is given a pointer to, unless it promises not to.
        type = parameters[number] if number < len(parameters) else argument.type
        passes_function = passes_function or isinstance(_pointee(type), FunctionType)
        if _may_store_through(type):
            stores.add(Store(root_symbol(argument), True, Opaque(""), call.span))
    return passes_function


def _pointee(type: Type) -> Type:
    return type.to if isinstance(type, Pointer) else type


def _may_store_through(type: Type) -> bool:
    if isinstance(type, Array):
        return True
    return isinstance(type, Pointer) and not getattr(type.to, "const", False)


def close_over_calls(own: Mapping[str, Writes], library: frozenset[str]) -> dict[str, Writes]:
    """Return, for every function, what it may write with everything that it calls; its locals are left out."""
    closed = {key: _outside(writes, own, library) for key, writes in own.items()}
    changed = True
    while changed:
        changed = False
        for key, writes in closed.items():
            merged = writes
            for called in writes.calls:
                if called.key in closed:
                    merged = merged.merge(closed[called.key])
            if merged != writes:
                closed[key] = merged
                changed = True
    return closed


def _outside(writes: Writes, own: Mapping[str, Writes], library: frozenset[str]) -> Writes:
    """Return what of a function's own writes is visible outside of it."""
    variables = frozenset(s for s in writes.variables if s.storage in _FILE_SCOPE)
    stores = frozenset(s for s in writes.stores if s.indirect or s.root is None or s.root.storage in _FILE_SCOPE)
    unseen = any(called.key not in own and called.key not in library for called in writes.calls)
    return Writes(variables, stores, writes.calls, writes.unknown or unseen)
