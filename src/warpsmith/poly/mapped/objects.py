"""Which object a name stands for at the point of a walk: arrays for good, pointers as they are assigned.

    double *a = malloc(…), *b = malloc(…);      a: memory 1     b: memory 2
    t = a; a = b; b = t;                        a: memory 2     b: memory 1

Invariant: a pointer leads into one of its places; without any it has no value, or is null. Memory that is reached
through pointers of different origin is taken to be different: two map clauses may not name overlapping memory.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from msgspec import Struct, field

from warpsmith.tree.free_store import DEVICE_MAKES, MAKES
from warpsmith.tree.nodes import (
    Assign,
    Binary,
    Block,
    Call,
    Case,
    Cast,
    Conditional,
    Expr,
    For,
    If,
    Literal,
    Name,
    Node,
    Switch,
    Unary,
    VarDecl,
    While,
)
from warpsmith.tree.types import Array, Pointer, Record, Scalar, Symbol
from warpsmith.tree.walk import children, names, peel, walk

__all__ = ["MappedObject", "Objects", "variable_place"]

_OF_HOST: Final = frozenset({"malloc", "calloc", "realloc", "aligned_alloc"}) | MAKES
# gives a pointer whose address it gets its value
_STORES: Final = "posix_memalign"


class MappedObject(Struct, frozen=True):
    """An object: a variable, what a pointer parameter was given, or what one expression allocates. `of_host`: it is
    certainly in the host's memory; `of_device`: in the device's own."""

    key: str
    name: str
    given: bool = False
    of_host: bool = False
    of_device: bool = False


class Objects(Struct):
    """What the pointers of a function lead to; `shifted`: not to the first element."""

    pointers: dict[Symbol, frozenset[MappedObject]] = field(default_factory=dict)
    shifted: set[Symbol] = field(default_factory=set)

    def copy(self) -> Objects:
        """Return the same, to be changed alone."""
        return Objects(dict(self.pointers), set(self.shifted))

    def join(self, others: Iterable[Objects]) -> Objects:
        """Return what holds after any of several ways that began here."""
        ways = list(others)
        if not ways:
            return self
        found = Objects()
        for symbol in set().union(*(way.pointers for way in ways)):
            found.pointers[symbol] = frozenset().union(*(way.pointers.get(symbol, {_own(symbol)}) for way in ways))
        found.shifted = set().union(*(way.shifted for way in ways))
        return found

    def places(self, symbol: Symbol) -> frozenset[MappedObject]:
        """Return the objects that an access through a variable may be to."""
        if isinstance(symbol.type, Pointer):
            return self.pointers.get(symbol) or frozenset({_own(symbol)})
        return frozenset({variable_place(symbol)})

    def plain(self, symbol: Symbol) -> bool:
        """Whether element 0 of a variable is that of its object."""
        return symbol not in self.shifted and len(self.places(symbol)) == 1

    def bind(self, symbol: Symbol, places: frozenset[MappedObject], plain: bool) -> None:
        """Let a pointer lead somewhere."""
        self.pointers[symbol] = places
        (self.shifted.discard if plain else self.shifted.add)(symbol)

    def declare(self, symbol: Symbol) -> MappedObject | None:
        """Return the new object that a declaration makes."""
        return None if isinstance(symbol.type, Pointer) else variable_place(symbol)

    def follow(self, node: Node) -> list[MappedObject]:
        """Take in what a statement or an expression does with pointers, along each of its ways; return the memory that
        it allocates."""
        match node:
            case Block(statements=run) | Case(body=run):
                return [fresh for stmt in run for fresh in self.follow(stmt)]
            case If(condition=test, then=then, other=other):
                return [*self.follow(test), *self._branch((then, other))]
            case Conditional(condition=test, then=then, other=other):
                return [*self.follow(test), *self._branch((then, other))]
            case Binary(op="&&" | "||", left=left, right=right):
                return [*self.follow(left), *self._branch((right, None))]
            case For() | While() | Switch():
                made: list[MappedObject] = []
                before: Objects | None = None
                while before != self:  # what one round assigns the next one hands on
                    before = self.copy()
                    made += [f for part in children(node) for f in self._branch((part, None))]
                return made
            case _ if isinstance(node, Expr) and not any(_is_pointer_change(part) for part in walk(node)):
                return []
            case _:
                fresh = self.assign(node)
                return [*([fresh] if fresh is not None else []), *(f for p in children(node) for f in self.follow(p))]

    def _branch(self, ways: tuple[Node | None, ...]) -> list[MappedObject]:
        made: list[MappedObject] = []
        ends: list[Objects] = []
        for way in ways:
            ends.append(self.copy())
            made += ends[-1].follow(way) if way is not None else []
        found = self.join(ends)
        self.pointers, self.shifted = found.pointers, found.shifted
        return made

    def assign(self, node: Node) -> MappedObject | None:
        """Take in a declaration or an assignment of a pointer; return the memory that it allocates."""
        if isinstance(node, VarDecl):
            if node.init is None:
                if isinstance(node.symbol.type, Pointer) and node.symbol.storage == "local":
                    self.bind(node.symbol, frozenset(), plain=True)
                return None
            symbol, value = node.symbol, node.init
        elif isinstance(node, Assign) and (target := _variable(node.target)) is not None:
            symbol, value = target, node.value
            if node.op != "=":
                self.shifted.add(symbol)
                return None
        elif isinstance(node, Call):
            return self._allocated_into(node)
        else:
            if isinstance(node, Unary) and ("++" in node.op or "--" in node.op):
                self.shifted |= {n.symbol for n in names(node.operand) if isinstance(n.symbol.type, Pointer)}
            return None
        if not isinstance(symbol.type, Pointer):
            return None
        last, place, value = _end_of_chain(symbol, node, value)
        by = _allocates(value)
        key = f"{last.key}@{place.span.start}"
        fresh = MappedObject(key, last.name, of_host=by in _OF_HOST, of_device=by in DEVICE_MAKES)
        places, plain = self.resolve(value, fresh)
        self.bind(symbol, places, plain)
        return fresh if places == {fresh} else None

    def _allocated_into(self, call: Call) -> MappedObject | None:
        """Take in `posix_memalign((void **)&p, …)`."""
        given = _without_casts(call.arguments[0]) if call.arguments else None
        if _allocates(call) != _STORES or not isinstance(given, Unary) or given.op != "&":
            return None
        symbol = _variable(given.operand)
        if symbol is None or not isinstance(symbol.type, Pointer):
            return None
        fresh = MappedObject(f"{symbol.key}@{call.span.start}", symbol.name, of_host=True)
        self.bind(symbol, frozenset({fresh}), plain=True)
        return fresh

    def resolve(self, expr: Expr, fresh: MappedObject | None = None) -> tuple[frozenset[MappedObject], bool]:
        """Return what an address leads into, and whether to its first element; `fresh`: what it allocates, if so."""
        bare = peel(expr)
        match bare:
            case Literal(value=0):
                return frozenset(), True
            case Name(symbol=symbol) if isinstance(symbol.type, Pointer | Array):
                return self.places(symbol), self.plain(symbol)
            case Cast(operand=operand):
                return self.resolve(operand, fresh)
            case Conditional(then=then, other=other):
                one, another = self.resolve(then, fresh), self.resolve(other, fresh)
                return one[0] | another[0], one[1] and another[1]
            case Unary(op="&", operand=Name(symbol=symbol)):
                return self.places(symbol) if not isinstance(symbol.type, Pointer) else frozenset(), True
            case _:
                return self._any_of(bare, fresh)

    def _any_of(self, expr: Expr, fresh: MappedObject | None) -> tuple[frozenset[MappedObject], bool]:
        used = [n.symbol for n in names(expr) if isinstance(n.symbol.type, Pointer | Array | Record)]
        if not used or (isinstance(expr, Call) and not any(isinstance(s.type, Array | Record) for s in used)):
            return (frozenset({fresh}) if fresh is not None else frozenset({MappedObject(expr.span.text, "")})), True
        return frozenset().union(*(self.places(s) for s in used)), False


def _is_pointer_change(node: Node) -> bool:
    target = node.target if isinstance(node, Assign) else node.operand if isinstance(node, Unary) else None
    return isinstance(node, Call) if target is None else isinstance(target.type, Pointer)


def _allocates(value: Expr) -> str:
    """Return the function that an expression calls for its value, or nothing."""
    bare = _without_casts(value)
    function = peel(bare.function) if isinstance(bare, Call) else None
    return function.symbol.name if isinstance(function, Name) else ""


def _end_of_chain(symbol: Symbol, node: Node, value: Expr) -> tuple[Symbol, Node, Expr]:
    """Return the last assignment of `p = q = r = value`, and what it assigns to: all of them get one value."""
    bare = _without_casts(value)
    while isinstance(bare, Assign) and bare.op == "=" and (target := _variable(bare.target)) is not None:
        symbol, node, value = target, bare, bare.value
        bare = _without_casts(value)
    return symbol, node, value


def _variable(target: Expr) -> Symbol | None:
    bare = peel(target)
    return bare.symbol if isinstance(bare, Name) else None


def _without_casts(expr: Expr) -> Expr:
    bare = peel(expr)
    while isinstance(bare, Cast):
        bare = peel(bare.operand)
    return bare


def variable_place(symbol: Symbol) -> MappedObject:
    """Return the object that a variable is; what its members or elements point to counts as the same one."""
    type = symbol.type
    while isinstance(type, Array):
        type = type.of
    return MappedObject(symbol.key, symbol.name, of_host=isinstance(type, Scalar))


def _own(symbol: Symbol) -> MappedObject:
    return MappedObject(f"*{symbol.key}", symbol.name, given=symbol.storage == "parameter")
