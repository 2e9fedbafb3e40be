"""What may be present on the device while a hold lasts, as far as host code can meet it.

    int main() {                              hold: the loop
        double *u = malloc(…), err;
        for (t …) {                           u, err: may be kept (they live longer than the hold)
            double w[8];                      w: dies inside, so it is never kept
            step(u, w, &err);                 step's u and err may be kept, its w may not
        }

Invariant: memory that a kernel works on and that may be kept is never *short-lived*: it is not freed and does not go
out of scope before the outermost hold around it ends, or a pause stands where it may do so. A place of which
`may_meet` says no is not in a present range when host code outside the kernels' homes is there.

By type: an object that kernels access as numbers of one type is not accessed through an lvalue of another one, but for
characters (C17 6.5p7).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from warpsmith.poly.pointers import Root, is_persistent
from warpsmith.poly.summaries import Summaries
from warpsmith.poly.touches import bases, direct_call
from warpsmith.tree.nodes import Call, Expr, Function, Index, Member, Name, Node, Stmt, Unary, VarDecl
from warpsmith.tree.types import Array, Pointer, Record, Scalar, Symbol, Type
from warpsmith.tree.units import is_row_starts
from warpsmith.tree.walk import peel, walk

__all__ = ["ANY_KIND", "Presence", "Resident", "element_kinds", "place_base", "short_lived"]

Kind = tuple[str, int]
ANY_KIND: Kind = ("any", 0)


def element_kinds(type: Type) -> Iterator[Kind]:
    """Yield the kinds of numbers that an object of `type` consists of."""
    match type:
        case Scalar():
            yield _kind(type)
        case Array(of=of):
            yield from element_kinds(of)
        case Record(fields=fields, union=False) if fields:
            for field in fields:
                yield from element_kinds(field.type)
        case Pointer():
            yield ("pointer", 64)
        case _:
            yield ANY_KIND


def _kind(type: Scalar) -> Kind:
    if type.kind in ("float", "complex"):
        return ("float", type.bits // 2 if type.kind == "complex" else type.bits)
    return ANY_KIND if type.bits <= 8 or type.kind == "void" else ("integer", type.bits)


@dataclass(frozen=True, slots=True)
class Presence:
    """What all homes of the program put on the device: the `kinds` of numbers, those that kernels write (`written`),
    and the variables that they name. `units`: there are whole blocks of the heap among it."""

    summaries: Summaries
    kinds: frozenset[Kind]
    hosts: frozenset[Symbol]
    written: frozenset[Kind]
    units: bool = False

    def is_written(self, type: Type) -> bool:
        """Whether a kernel may write a part of an lvalue of this type: else the host's copy is never stale."""
        mine = set(element_kinds(type))
        return bool(self.written) and (ANY_KIND in mine or ANY_KIND in self.written or bool(mine & self.written))

    def of_type(self, type: Type) -> bool:
        """Whether an lvalue of this type may be a part of present memory."""
        mine = set(element_kinds(type))
        return ANY_KIND in mine or ANY_KIND in self.kinds or bool(mine & self.kinds)

    def may_meet(self, function: Function, place: Expr, short: frozenset[Root]) -> bool:
        """Whether the object that the lvalue `place` of `function` names may be present."""
        if not self.of_type(place.type):
            return False
        base = place_base(place)
        if isinstance(base, Symbol):
            return self._variable(function, base, short)
        return self.points_to(function, base, short)

    def points_to(self, function: Function, address: Expr, short: frozenset[Root]) -> bool:
        """Whether `address` may point into present memory (its type aside)."""
        where = self.summaries.provenance(function)
        roots = {root for base in bases(address) for root in where.of(base)}
        return any(root not in short or root in where.escaped for root in roots)

    def _variable(self, function: Function, symbol: Symbol, short: frozenset[Root]) -> bool:
        if symbol.storage in ("function", "enumerator"):
            return False
        if is_persistent(symbol):
            array = isinstance(symbol.type, Array)
            return array or symbol in self.hosts or symbol in self.summaries.address_taken
        if Root("object", symbol) in short:
            return False
        where = self.summaries.provenance(function)
        held = where.escaped.union(*where.roots.values())
        return isinstance(symbol.type, Array) or Root("object", symbol) in held or _is_lent(function, symbol)


def _is_lent(function: Function, symbol: Symbol) -> bool:
    """Whether the variable's address is given to a call."""
    for part in walk(function.body):
        if isinstance(part, Unary) and part.op == "&":
            inner = peel(part.operand)
            while isinstance(inner, Index | Member) and not (isinstance(inner, Member) and inner.arrow):
                inner = peel(inner.base)
            if isinstance(inner, Name) and inner.symbol == symbol:
                return True
    return False


def place_base(place: Expr) -> Symbol | Expr:
    """Return the variable that `place` is a part of, or the address through which it is reached."""
    place = peel(place)
    while True:
        match place:
            case Name(symbol=symbol):
                return symbol
            case Index(base=base) if isinstance(base.type, Array):
                place = peel(base)
            case Index(base=base):
                return base
            case Member(base=base, arrow=True):
                return base
            case Member(base=base):
                place = peel(base)
            case Unary(op="*", operand=operand):
                return operand
            case _:
                return place


@dataclass(frozen=True, slots=True)
class Resident:
    """A function whose homes are entered and left through the present table. `short`: the roots whose memory dies
    before the outermost hold ends."""

    presence: Presence
    short: frozenset[Root]

    def keeps(self, function: Function, host: Symbol) -> bool:
        """Whether the memory behind a buffer's host variable outlives every hold."""
        if isinstance(host.type, Array):
            return is_persistent(host) or (host.storage == "local" and Root("object", host) not in self.short)
        if not isinstance(host.type, Pointer):
            return False
        where = self.presence.summaries.provenance(function)
        return not where.roots.get(host, frozenset({Root("entry", host)})) & self.short


# --- what dies inside a hold


def short_lived(
    presence: Presence, inside: Mapping[Function, tuple[Stmt, ...]], whole: frozenset[Function]
) -> dict[Function, Resident]:
    """Return, for each function, what of its memory dies inside a hold. `inside`: the statements of each function that
    run in one; `whole`: those of them that are called there, so that all their own memory is gone at the return."""
    summaries = presence.summaries
    short: dict[Function, set[Root]] = {f: set(_own(summaries, f, run, f in whole)) for f, run in inside.items()}
    by_symbol = {function.symbol: function for function in whole}
    changed = True
    while changed:
        changed = False
        for function, run in inside.items():
            where = summaries.provenance(function)
            for call in _calls(run):
                callee = by_symbol.get(name) if (name := direct_call(call)) is not None else None
                for parameter, argument in zip(callee.parameters, call.arguments, strict=False) if callee else ():
                    entry = Root("entry", parameter)
                    roots = {root for base in bases(argument) for root in where.of(base)}
                    if callee is not None and roots & short[function] and entry not in short[callee]:
                        short[callee].add(entry)
                        changed = True
    return {function: Resident(presence, frozenset(roots)) for function, roots in short.items()}


def _own(summaries: Summaries, function: Function, run: Iterable[Stmt], whole: bool) -> Iterator[Root]:
    """Yield the roots of memory that is born in `function` and dies before the hold ends."""
    for stmt in (function.body,) if whole else run:
        for part in walk(stmt):
            if isinstance(part, VarDecl) and part.symbol.storage == "local":
                yield Root("object", part.symbol)
            elif isinstance(part, Call) and not is_row_starts(part):
                yield Root("fresh", node=part)
    if whole:
        yield from (Root("object", parameter) for parameter in function.parameters)


def _calls(run: Iterable[Node]) -> Iterator[Call]:
    for stmt in run:
        for part in walk(stmt):
            if isinstance(part, Call):
                yield part
