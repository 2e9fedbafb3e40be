"""Memory that may be present on the device while a data region lasts, as far as host code can meet it.

    int main() {                              data region: the loop
        double *u = malloc(…), err;
        for (t …) {                           u, err: may be kept (they live longer than the data region)
            double w[8];                      w: dies inside, so it is never kept
            step(u, w, &err);                 step's u and err may be kept, its w may not
        }

Invariant: memory that a kernel works on and that may be kept is never *short-lived*: it does not go out of scope before
the outermost data region around it ends. Where memory of the heap may be freed in a data region, only what is seen to
die is kept (`watched`: the present table is notified, and forgets it), and what is known to outlive the data region
(regions/stack.py); any other end stands in a suspension. A place of which `may_meet` says no is not in a present range
when host code outside the kernels' offload regions is there.

By type: an object that kernels access as numbers of one type is not accessed through an lvalue of another one, but for
characters (C17 6.5p7).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from warpsmith.offload.memory.host_calls import calls_in
from warpsmith.offload.plan import DeviceBuffer
from warpsmith.poly.effects.summaries import Summaries
from warpsmith.poly.pointers.accesses import bases, direct_call
from warpsmith.poly.pointers.pointers import Provenance, Root, is_persistent
from warpsmith.tree.nodes import Call, Expr, Function, Index, Member, Name, Stmt, Unary, VarDecl, VerbatimExpr
from warpsmith.tree.types import Array, FunctionType, Opaque, Pointer, Record, Scalar, Symbol, Type
from warpsmith.tree.walk import peel, walk

__all__ = ["ANY_KIND", "Lasting", "Presence", "Resident", "element_kinds", "find_short_lived", "place_base"]

Kind = tuple[str, int]
_ON_THE_STACK = ("alloca", "__builtin_alloca")
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
        case FunctionType() | Opaque() | Record():
            yield ANY_KIND


def _kind(type: Scalar) -> Kind:
    if type.kind in ("float", "complex"):
        return ("float", type.bits // 2 if type.kind == "complex" else type.bits)
    return ANY_KIND if type.bits <= 8 or type.kind == "void" else ("integer", type.bits)


class Presence(Struct, frozen=True):
    """What all offload regions of the program put on the device: the `kinds` of numbers, those that kernels write
    (`written`), and the variables that they name. `allocations`: there are whole allocations among it; `elements`: the
    types of the elements of all else; `watched`: of what pointers lead to only the heap, static storage and what is
    known to outlive the data region are kept; `objects`: the variables of which anything may be present, None where
    that may be any whose address is known elsewhere."""

    summaries: Summaries
    kinds: frozenset[Kind]
    hosts: frozenset[Symbol]
    written: frozenset[Kind]
    allocations: bool = False
    elements: frozenset[Type] = frozenset()
    watched: bool = False
    objects: frozenset[Symbol] | None = None

    def is_written(self, type: Type) -> bool:
        """Whether a kernel may write a part of an lvalue of this type: else the host's copy is never stale."""
        mine = set(element_kinds(type))
        return bool(self.written) and (ANY_KIND in mine or ANY_KIND in self.written or bool(mine & self.written))

    def of_type(self, type: Type) -> bool:
        """Whether an lvalue of this type may be a part of present memory."""
        mine = set(element_kinds(type))
        return ANY_KIND in mine or ANY_KIND in self.kinds or bool(mine & self.kinds)

    def may_meet(self, function: Function, place: Expr, absent: frozenset[Root]) -> bool:
        """Whether the object that the lvalue `place` of `function` names may be present; `absent` are roots of which
        nothing is."""
        if not self.of_type(place.type):
            return False
        base = place_base(place)
        if isinstance(base, Symbol):
            return self._variable(function, base, absent)
        return self.points_to(function, base, absent)

    def points_to(self, function: Function, address: Expr, absent: frozenset[Root]) -> bool:
        """Whether `address` may point into present memory (its type aside)."""
        where = self.summaries.provenance(function)
        roots = _roots(where, address)
        return any(root not in absent or (root in where.escaped and not self.watched) for root in roots)

    def _variable(self, function: Function, symbol: Symbol, absent: frozenset[Root]) -> bool:
        possible = self.objects is None or symbol in self.objects
        if symbol.storage in ("function", "enumerator") or not possible:
            return False
        if is_persistent(symbol):
            array = isinstance(symbol.type, Array)
            return array or symbol in self.hosts or symbol in self.summaries.address_taken
        if Root("object", symbol) in absent:
            return False
        where = self.summaries.provenance(function)
        held = where.escaped.union(*where.roots.values())
        return isinstance(symbol.type, Array) or Root("object", symbol) in held or _is_lent(function, symbol)


def _roots(where: Provenance, address: Expr) -> frozenset[Root]:
    """Return where an address comes from; a reference that a function is given is bound for ever."""
    found: set[Root] = set()
    for base in bases(address):
        symbol = base.symbol
        bound = symbol is not None and not (base.deep or base.address) and symbol.storage == "parameter"
        refers = bound and symbol is not None and isinstance(symbol.type, Pointer) and symbol.type.reference
        found |= {Root("entry", symbol)} if refers else where.of(base)
    return frozenset(found)


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


class Lasting(Struct, frozen=True):
    """What outlives the data regions of a function, beside its callers' memory. `declared`: variables that their
    statements declare; `kept`: their own variables that may be kept; `first`: the functions whose data regions may be
    outermost ones; `early`: for calls, which objects are not kept yet."""

    declared: frozenset[Symbol] = frozenset()
    kept: frozenset[Symbol] = frozenset()
    first: frozenset[Function] = frozenset()
    early: Mapping[Call, frozenset[Root]] = field(default_factory=dict)


class Resident(Struct, frozen=True):
    """A function whose offload regions are entered and left through the present table. `short`: the roots whose memory
    may die before the outermost data region ends; `absent`: those whose memory is never kept, whoever calls the
    function; `watched`: memory of the heap may die there as well, and is seen to; `held`: the function may run inside a
    data region."""

    presence: Presence
    short: frozenset[Root]
    absent: frozenset[Root] = frozenset()
    watched: bool = False
    held: bool = True

    def keeps(self, function: Function, host: Symbol) -> bool:
        """Whether the memory behind a buffer's host variable outlives every data region, or the run time sees if it
        does."""
        if not self.held:
            return False
        if isinstance(host.type, Array):
            return is_persistent(host) or (host.storage == "local" and Root("object", host) not in self.short)
        if not isinstance(host.type, Pointer) or self.watched:
            return isinstance(host.type, Pointer)
        where = self.presence.summaries.provenance(function)
        return not where.roots.get(host, frozenset({Root("entry", host)})) & self.short

    def watches(self, function: Function, buffer: DeviceBuffer) -> bool:
        """Whether the run time decides about a buffer, by what it knows of the memory."""
        pointer = isinstance(buffer.host.type, Pointer)
        return pointer and self.watched and not buffer.cell and self.keeps(function, buffer.host)


# --- what dies inside a data region


def find_short_lived(
    presence: Presence,
    inside: Mapping[Function, tuple[Stmt, ...]],
    whole: frozenset[Function],
    lasting: Lasting,
    *,
    watched: bool = False,
) -> dict[Function, Resident]:
    """Return, for each function, what of its memory dies inside a data region. `inside`: the statements of each
    function that run in one; `whole`: those of them that are called there, so that all their own memory is gone at the
    return."""
    presence, summaries = replace(presence, watched=watched), presence.summaries
    short: dict[Function, set[Root]] = {f: set(_own(f, run, f in whole)) for f, run in inside.items()}
    kept = {Root("object", symbol) for symbol in lasting.declared}
    for function in inside.keys() - whole:
        short[function] -= kept
    handed = tuple(_find_handed(summaries, inside, whole, lasting.early))
    changed = True
    while changed:
        more = {(one.to, one.entry) for one in handed if one.roots & short[one.by]}
        changed = any(entry not in short[function] for function, entry in more)
        for function, entry in more:
            short[function].add(entry)
    own = {f: {r for r in roots if r.kind != "entry"} for f, roots in short.items()}
    if watched:
        # what lies on the stack is kept as an array's own memory, or where it is known to outlive the data region
        outliving = {Root("object", symbol) for symbol in lasting.kept}
        own = {f: (roots | set(_single(f))) - outliving for f, roots in own.items()}
    absent = _absent(inside, whole - lasting.first, handed, own)
    return {f: Resident(presence, frozenset(roots), frozenset(absent[f]), watched) for f, roots in short.items()}


class _Handed(Struct, frozen=True):
    """A function hands memory with these roots to another one, for this pointer. `early`: roots not kept yet."""

    by: Function
    roots: frozenset[Root]
    early: frozenset[Root]
    to: Function
    entry: Root


def _find_handed(
    summaries: Summaries,
    inside: Mapping[Function, tuple[Stmt, ...]],
    whole: frozenset[Function],
    early: Mapping[Call, frozenset[Root]],
) -> Iterator[_Handed]:
    """Yield what the calls inside data regions hand over."""
    by_symbol = {function.symbol: function for function in whole}
    for function, run in inside.items():
        where = summaries.provenance(function)
        for call in (c for stmt in run for c in calls_in(stmt)):
            callee = by_symbol.get(name) if (name := direct_call(call)) is not None else None
            for parameter, argument in zip(callee.parameters, call.arguments, strict=False) if callee else ():
                made = isinstance(argument, VerbatimExpr) and argument.doing is not None
                roots = _roots(where, argument) if not made else frozenset()
                if callee is not None:
                    yield _Handed(function, roots, early.get(call, frozenset()), callee, Root("entry", parameter))


def _absent(
    inside: Mapping[Function, tuple[Stmt, ...]],
    known: frozenset[Function],
    handed: Sequence[_Handed],
    own: Mapping[Function, set[Root]],
) -> dict[Function, set[Root]]:
    """Return the roots whose memory is never kept: what functions have themselves, and what every call hands over of
    that alone (nothing of a text, or of an object that is made for the call). `known`: functions that run in no data
    region but those that are `handed` something there."""
    absent = {f: set(own[f]) | {Root("entry", p) for p in f.parameters if f in known} for f in inside}
    changed = True
    while changed:
        kept = [one for one in handed if one.entry in absent[one.to] and not one.roots <= absent[one.by] | one.early]
        changed = bool(kept)
        for one in kept:
            absent[one.to].discard(one.entry)
    return absent


def _single(function: Function) -> Iterator[Root]:
    """Yield the variables of a function that are no arrays."""
    declared = (part.symbol for part in walk(function.body) if isinstance(part, VarDecl))
    for symbol in (*function.parameters, *declared):
        if symbol.storage in ("local", "parameter") and not isinstance(symbol.type, Array):
            yield Root("object", symbol)


def _own(function: Function, run: Iterable[Stmt], whole: bool) -> Iterator[Root]:
    """Yield the roots of memory that is born in `function` and dies before the data region ends."""
    for stmt in (function.body,) if whole else run:
        for part in walk(stmt):
            if isinstance(part, VarDecl) and part.symbol.storage == "local":
                yield Root("object", part.symbol)
            elif isinstance(part, Call) and (name := direct_call(part)) is not None and name.name in _ON_THE_STACK:
                yield Root("fresh", node=part)
    if whole:
        yield from (Root("object", parameter) for parameter in function.parameters)
