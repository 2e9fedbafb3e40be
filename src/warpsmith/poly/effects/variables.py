"""Reads and writes of variables, in evaluation order, with calls and the function's own pointers resolved. An array
counts as one variable: any of its elements.

    sincos(x, &s, &c);  *p = s;      read x, write s, write c, read s, perhaps write what p points to

Invariant: every evaluation of the piece that reads or writes a variable has its event; a write is `certain` only if
every evaluation of the whole piece does it.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator

from msgspec import Struct

from warpsmith.base.source import Span
from warpsmith.poly.effects.summaries import Summaries
from warpsmith.poly.pointers.accesses import MemoryAccess, accesses, node_accesses, own_accesses
from warpsmith.poly.pointers.pointers import Provenance, Root
from warpsmith.tree.nodes import Call, Expr, Function, Name, Node, Unary, VarDecl
from warpsmith.tree.types import Array, Symbol
from warpsmith.tree.walk import names, peel

__all__ = ["VariableEvent", "Variables"]


class VariableEvent(Struct, frozen=True):
    """A read or write of `symbol`, or of the member `path` of it; `certain`: a write of just that whole part, always
    done where the piece is evaluated."""

    write: bool
    symbol: Symbol
    path: tuple[str, ...]
    node: Node
    certain: bool


class Variables(Struct, frozen=True):
    """The variables of one function as its text evaluates them."""

    summaries: Summaries
    function: Function
    where: Provenance

    @classmethod
    def of(cls, summaries: Summaries, function: Function) -> Variables:
        """Prepare the events of `function`."""
        return cls(summaries, function, summaries.provenance(function))

    def evaluate(self, expr: Expr | None) -> list[VariableEvent]:
        """Return the events of evaluating `expr`, in order; nothing for None."""
        return list(self._events(accesses(expr))) if expr is not None else []

    def own(self, node: Node) -> list[VariableEvent]:
        """Return the events of a statement without those of the statements in it."""
        return list(self._events(own_accesses(node)))

    def everything(self, node: Node) -> list[VariableEvent]:
        """Return the events of all that `node` contains, in no order."""
        return list(self._events(node_accesses(node)))

    def writes(self) -> tuple[tuple[Span, frozenset[Symbol]], ...]:
        """Return where the function's body may write variables, and which there; one such set is one object."""
        return self.summaries.remember(("writes", self.function), lambda: tuple(self._writes()))

    def writes_of(self, symbol: Symbol) -> list[Span]:
        """Return where the function's body may write `symbol`."""
        return [span for span, symbols in self.writes() if symbol in symbols]

    def _writes(self) -> Iterator[tuple[Span, frozenset[Symbol]]]:
        known: dict[frozenset[Symbol], frozenset[Symbol]] = {}
        for access in node_accesses(self.function.body):
            if access.kind in ("read", "write") and access.symbol is not None:
                written = frozenset((access.symbol,)) if access.kind == "write" else frozenset[Symbol]()
            elif not isinstance(access.node, VarDecl):
                written = frozenset(self._find_reached(access)[1])
            else:
                continue
            if written:
                yield access.node.span, known.setdefault(written, written)

    def within_reach(self, node: Node) -> frozenset[Symbol]:
        """Return the variables that `node` names, and those that its calls may touch. What its own pointers may reach
        besides is memory behind these pointers, under whatever other name; so are the variables of other functions."""
        found = set(_find_named(node))
        mine = _find_named(self.function)
        for access in node_accesses(node):
            if access.kind in ("call", "opaque"):
                accessed = {event.symbol for event in self._indirect(access)}
                found |= {s for s in accessed if s in mine or s.storage not in ("local", "parameter")}
            elif access.symbol is not None:
                found.add(access.symbol)
        return frozenset(found)

    def always_live(self) -> frozenset[Symbol]:
        """Return the variables that something outside the function's own text may read at any time."""
        held = self.where.escaped
        own = {r.symbol for r in held if r.kind == "object" and r.symbol is not None}
        arrays = {s for s in self.summaries.globals if isinstance(s.type, Array)}
        return frozenset(own | arrays | self.summaries.address_taken)

    def _events(self, accessed: Iterable[MemoryAccess]) -> Iterator[VariableEvent]:
        for access in accessed:
            if access.kind in ("read", "write") and access.symbol is not None:
                yield self._direct(access, access.symbol)
            elif not isinstance(access.node, VarDecl):
                yield from self._indirect(access)

    def _direct(self, access: MemoryAccess, symbol: Symbol) -> VariableEvent:
        certain = access.certain and access.whole
        return VariableEvent(access.kind == "write", symbol, access.path, access.node, certain)

    def _indirect(self, access: MemoryAccess) -> Iterator[VariableEvent]:
        """Yield what a call, opaque code or an access through a pointer may do to variables."""
        reads, writes = self._find_reached(access)
        for symbol in _in_order(reads):
            yield VariableEvent(False, symbol, (), access.node, certain=False)
        filled = self._find_filled(access)
        for symbol in _in_order(writes):
            yield VariableEvent(True, symbol, (), access.node, certain=symbol in filled and access.certain)

    def _find_reached(self, access: MemoryAccess) -> tuple[set[Symbol], set[Symbol]]:
        """Return the variables that a call, opaque code or an access through a pointer may read, and may write."""
        done = self.summaries.effects_of((access,), self.where)
        return done.reads | self._find_pointed(done.loads), done.writes | self._find_pointed(done.stores)

    def _find_pointed(self, roots: set[Root]) -> frozenset[Symbol]:
        """Return the variables that an access through `roots` may touch."""
        found = _objects(frozenset(roots))
        if any(root.kind == "unknown" for root in roots):
            return found | _objects(self.where.escaped) | _data(self.summaries.find_held())
        return found

    def _find_filled(self, access: MemoryAccess) -> set[Symbol]:
        """Return the variables that a library call certainly writes whole, and does not read (`sincos(x, &s, &c)`)."""
        if not isinstance(access.node, Call) or access.kind != "call":
            return set()
        library = self.summaries.library(access.node)
        if library is None or not library.fills:
            return set()
        named = [_whole_variable(a) for i, a in enumerate(access.node.arguments) if i in library.fills]
        return {symbol for symbol in named if symbol is not None}


@functools.lru_cache(maxsize=2048)
def _find_named(node: Node) -> frozenset[Symbol]:
    """Return the variables that `node` names: of a function, every one of its loops asks again."""
    return frozenset(name.symbol for name in names(node))


@functools.lru_cache(maxsize=2048)
def _objects(roots: frozenset[Root]) -> frozenset[Symbol]:
    """Return the variables among `roots`: a large function has hundreds, and every access through a pointer asks."""
    return _data(frozenset(r.symbol for r in roots if r.kind == "object" and r.symbol is not None))


@functools.lru_cache(maxsize=256)
def _data(symbols: frozenset[Symbol]) -> frozenset[Symbol]:
    return frozenset(symbol for symbol in symbols if symbol.storage != "function")


def _in_order(symbols: set[Symbol]) -> list[Symbol]:
    """Return variables in an order that is the same in every run: reasons are reported in it."""
    return sorted(symbols, key=lambda symbol: symbol.key)


def _whole_variable(argument: Expr) -> Symbol | None:
    """Return x of `&x`; a member or an element is not the whole variable."""
    argument = peel(argument)
    operand = peel(argument.operand) if isinstance(argument, Unary) and argument.op == "&" else None
    return operand.symbol if isinstance(operand, Name) else None
