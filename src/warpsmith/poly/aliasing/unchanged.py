"""Whether what an expression loads keeps its value while statements run.

    for (i …) { s->u[i] = 0; g->n++; *q = r; }      s->u: a double is stored, and u is a pointer: it stays
                                                    s->n: g->n is the same member of, perhaps, the same struct

Invariant: where `disturbance` answers None, evaluating the load before, while and after the statements run gives one
value. Three rules tell a store from a load: where the addresses come from (pointers.py), the types of the two (C17
6.5p7: nothing but characters is changed through another type), and the members that they name. Of a container, only its
own members change where its elements are and how many (tree/containers.py).

Limits: an unknown call may change all that it may know.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from msgspec import Struct

from warpsmith.poly.aliasing.aliasing import may_overlap
from warpsmith.poly.effects.origin import Origin
from warpsmith.poly.pointers.accesses import MemoryAccess, accesses, direct_call, node_accesses
from warpsmith.poly.pointers.pointers import UNKNOWN, Provenance, Root
from warpsmith.tree.containers import changes_no_container, is_held_by_container
from warpsmith.tree.nodes import (
    Assign,
    Call,
    Expr,
    For,
    Index,
    Literal,
    Member,
    Name,
    Node,
    Stmt,
    Unary,
    VarDecl,
    Verbatim,
    VerbatimExpr,
)
from warpsmith.tree.types import Array, FunctionType, Opaque, Pointer, Record, Scalar, Symbol, Type
from warpsmith.tree.walk import children, peel, same, walk

__all__ = [
    "Disturbance", "declared_below", "disturbance", "disturbances", "is_direct", "loads", "other_uses",
]  # fmt: skip


class Disturbance(Struct, frozen=True):
    """What may change a load. `target`: the lvalue that is stored to, where it is one of the function's own."""

    node: Node
    text: str
    target: Expr | None = None


def loads(expr: Expr) -> Iterator[Expr]:
    """Yield every part of `expr` that reads a variable or memory, outermost first; an array's name reads nothing."""
    expr = peel(expr)
    match expr:
        case Name():
            if expr.symbol.storage not in ("function", "enumerator") and not isinstance(expr.type, Array):
                yield expr
        case Index() | Member() | Unary(op="*"):
            if not isinstance(expr.type, Array | FunctionType):
                yield expr
            yield from _place_loads(expr)
        case Unary(op="&", operand=operand):
            yield from _place_loads(peel(operand))
        case _:
            for child in children(expr):
                if isinstance(child, Expr):
                    yield from loads(child)


def _place_loads(place: Expr) -> Iterator[Expr]:
    """Yield what finding the place of an lvalue reads."""
    match place:
        case Index(base=base, index=index):
            yield from loads(base) if isinstance(peel(base).type, Pointer) else _place_loads(peel(base))
            yield from loads(index)
        case Member(base=base, arrow=arrow):
            yield from loads(base) if arrow else _place_loads(peel(base))
        case Unary(op="*", operand=operand):
            yield from loads(operand)
        case _:
            return


def is_direct(expr: Expr) -> Symbol | None:
    """Return the variable of which the lvalue `expr` is a part, no pointer being followed; None where one is."""
    expr = peel(expr)
    while True:
        match expr:
            case Name(symbol=symbol):
                return symbol
            case Index(base=base) if isinstance(peel(base).type, Array):
                expr = peel(base)
            case Member(base=base, arrow=False):
                expr = peel(base)
            case _:
                return None


def disturbance(origin: Origin, run: tuple[Stmt, ...], load: Expr, *, typed: bool) -> Disturbance | None:
    """Return what in `run` may change the value of `load`, one read of a variable or of memory; None where nothing
    does. `typed`: the program keeps C's rule of effective types (it is not built with -fno-strict-aliasing)."""
    return next(disturbances(origin, run, load, typed=typed), None)


def disturbances(origin: Origin, run: tuple[Stmt, ...], load: Expr, *, typed: bool) -> Iterator[Disturbance]:
    """Yield everything in `run` that may change the value of `load`."""
    where = origin.summaries.provenance(origin.function)
    roots = _roots_of_load(load, where)
    for stmt in run:
        for access in node_accesses(stmt):
            found = _by_access(origin, where, access, (load, roots, typed))
            if found is not None:
                yield found


def other_uses(origin: Origin, run: Stmt, place: Expr, *, typed: bool) -> Iterator[Expr]:
    """Yield the lvalues that `run` reads or writes, written in another way than `place`, and that may be it or a part
    of it; calls and text that is not modelled are left out."""
    where = origin.summaries.provenance(origin.function)
    roots = _roots_of_load(place, where)
    for access in node_accesses(run):
        if access.kind in ("call", "opaque"):
            continue
        # a load is the place that it reads
        found = access.node if isinstance(access.node, Name | Index | Member) or _is_load(access.node) else None
        lvalue = found or _target(access.node) or access.node
        if not isinstance(lvalue, Expr) or same(peel(lvalue), peel(place)):
            continue
        met = may_overlap(origin.summaries, where, _roots_of_access(access, where), roots)
        direct = access.symbol is not None and access.symbol == is_direct(place)
        if (met or direct) and not _keeps_load(peel(lvalue), place, typed=typed):
            yield lvalue


def _is_load(node: Node) -> bool:
    return isinstance(node, Unary) and node.op == "*"


_Load = tuple[Expr, frozenset[Root], bool]


def _by_access(origin: Origin, where: Provenance, access: MemoryAccess, about: _Load) -> Disturbance | None:
    load, roots, typed = about
    known = origin.summaries
    match access.kind:
        case "write" | "store":
            target = _target(access.node)
            if target is not None and _keeps_load(target, load, typed=typed):
                return None
            stored = _roots_of_access(access, where)
            if access.symbol is not None and access.symbol == is_direct(load):
                return Disturbance(access.node, f"{access.symbol.name} is written", target)
            if may_overlap(known, where, stored, roots):
                return Disturbance(access.node, f"{_text(access.node)} may write it", target)
            return None
        case "call":
            assert isinstance(access.node, Call), "only a call calls"
            return _by_call(origin, where, access.node, about)
        case "opaque":
            return _by_opaque(origin, access.node, load)
        case "read" | "load":
            return None
        case _:
            assert_never(access.kind)


def _target(node: Node) -> Expr | None:
    """Return the lvalue that a node writes."""
    match node:
        case Assign(target=target):
            return peel(target)
        case Unary(operand=operand):
            return peel(operand)
        case VarDecl(symbol=symbol):
            return Name(span=node.span, type=symbol.type, symbol=symbol)
        case For(variable=symbol):
            return Name(span=node.span, type=symbol.type, symbol=symbol)
        case _:
            return None


def _roots_of_load(load: Expr, where: Provenance) -> frozenset[Root]:
    load = peel(load)
    found = [t for t in accesses(load) if t.kind in ("read", "load") and t.node is load]
    return frozenset().union(*(_roots_of_access(t, where) for t in found)) if found else frozenset({UNKNOWN})


def _roots_of_access(access: MemoryAccess, where: Provenance) -> frozenset[Root]:
    if access.symbol is not None:
        return frozenset({Root("object", access.symbol)})
    return where.of(access.base) if access.base is not None else frozenset({UNKNOWN})


# --- types and members


def _keeps_load(target: Expr, load: Expr, *, typed: bool) -> bool:
    """Whether a store to `target` leaves `load` alone wherever the two lie, as their types and members tell."""
    if isinstance(target, VerbatimExpr):
        return False
    if is_held_by_container(load) and changes_no_container(target):
        return True
    if _in_union(target) or _in_union(load):
        return False
    if typed and not _meet(_classes(target.type), _classes(load.type)):
        return True
    return any(_are_parts_apart(one, other, typed=typed) for one in _find_parts(target) for other in _find_parts(load))


def _find_parts(place: Expr) -> Iterator[Member | Index]:
    """Yield the members and elements of which a place is a part, itself first, up to where a pointer is followed."""
    place = peel(place)
    while isinstance(place, Member | Index):
        yield place
        followed = place.arrow if isinstance(place, Member) else not isinstance(peel(place.base).type, Array)
        if followed:
            return
        place = peel(place.base)


def _are_parts_apart(one: Member | Index, other: Member | Index, *, typed: bool) -> bool:
    """Whether two lvalues are other members of one struct, or of two that do not overlap (C has no two of one type that
    do), or other elements of one array, by number."""
    if isinstance(one, Member) and isinstance(other, Member) and one.field != other.field:
        mine, its = _owner(one), _owner(other)
        if mine is None or its is None or mine != its or mine.union:
            return False
        return typed or (one.arrow == other.arrow and same(peel(one.base), peel(other.base)))
    if isinstance(one, Index) and isinstance(other, Index) and isinstance(array := peel(one.base).type, Array):
        numbers = {number for part in (one, other) if (number := _inside(part, array)) is not None}
        return len(numbers) == 2 and same(peel(one.base), peel(other.base))
    return False


def _inside(element: Index, array: Array) -> int | None:
    """Return the number of an element, where that is a constant and the array has it."""
    number = peel(element.index)
    if not isinstance(number, Literal) or not isinstance(number.value, int) or array.count is None:
        return None
    return number.value if 0 <= number.value < array.count else None


def _in_union(place: Expr) -> bool:
    """Whether an lvalue is, or may be, a member of a union on its way from its variable or pointer."""
    place = peel(place)
    while isinstance(place, Index | Member):
        if isinstance(place, Member):
            owner = _owner(place)
            if owner is None or owner.union:
                return True
            if place.arrow:
                return False
        elif isinstance(peel(place.base).type, Pointer):
            return False
        place = peel(place.base)
    return isinstance(place.type, Record) and place.type.union


def _owner(member: Member) -> Record | None:
    type = peel(member.base).type
    if member.arrow and isinstance(type, Pointer):
        type = type.to
    return type if isinstance(type, Record) else None


def _meet(one: frozenset[str], other: frozenset[str]) -> bool:
    return "any" in one or "any" in other or bool(one & other)


def _classes(type: Type) -> frozenset[str]:
    """Return the classes of objects that an lvalue of this type may change: `any` for characters and the unknown."""
    match type:
        case Pointer():
            return frozenset({"pointer"})
        case Scalar(kind="bool"):
            return frozenset({"bool"})
        case Scalar(kind="void"):
            return frozenset({"any"})
        case Scalar(kind=kind, bits=bits):
            whole = kind in ("signed", "unsigned")
            return frozenset({"any" if whole and bits <= 8 else f"{'integer' if whole else kind}{bits}"})
        case Array(of=of):
            return _classes(of)
        case Record(fields=fields, union=False) if fields:
            inner = frozenset().union(*(_classes(f.type) for f in fields))
            # the characters of a struct are no characters that reach everything
            return (
                inner - {"any"} | ({"character"} if "any" in inner else set()) if _whole(type) else frozenset({"any"})
            )
        case FunctionType() | Opaque() | Record():
            return frozenset({"any"})


def _whole(record: Record) -> bool:
    """Whether all that a record holds is modelled."""
    return all(
        isinstance(part := _element(f.type), Scalar | Pointer)
        or (isinstance(part, Record) and not part.union and bool(part.fields) and _whole(part))
        for f in record.fields
    )


def _element(type: Type) -> Type:
    while isinstance(type, Array):
        type = type.of
    return type


# --- calls


def _by_call(origin: Origin, where: Provenance, call: Call, about: _Load) -> Disturbance | None:
    load, roots, typed = about
    known = origin.summaries
    done = known.memory_effects(call, origin.function)
    if done.calls_unknown:
        return None if _is_private(origin, load) else Disturbance(call, f"{_text(call)} calls what is not known here")
    stored = frozenset(done.stores) | frozenset(Root("object", s) for s in done.writes)
    if not may_overlap(known, where, stored, roots):
        return None
    inside = _stores_inside(origin, call)
    if inside is not None and all(_keeps_load(target, load, typed=typed) for target in inside):
        return None
    return Disturbance(call, f"{_text(call)} may write it")


def _stores_inside(origin: Origin, call: Call) -> tuple[Expr, ...] | None:
    """Return every lvalue that a call may store to, in the functions that it leads to; None where not all are seen."""
    known = origin.summaries
    name = direct_call(call)
    if name is None or name not in known.definitions:
        return None
    return known.remember(("stores inside", name), lambda: _stores_of(origin, name))


def _stores_of(origin: Origin, name: Symbol) -> tuple[Expr, ...] | None:
    known = origin.summaries
    found: list[Expr] = []
    seen, pending = {name}, [name]
    while pending:
        for access in node_accesses(known.definitions[pending.pop()].body):
            if access.kind in ("write", "store"):
                target = _target(access.node)
                if target is None:
                    return None
                found.append(target)
            elif access.kind == "opaque":
                return None
            elif access.kind == "call" and isinstance(access.node, Call):
                callee = direct_call(access.node)
                if callee is not None and callee in known.definitions:
                    if callee not in seen:
                        seen.add(callee)
                        pending.append(callee)
                elif not _stores_nothing(origin, access.node):
                    return None
    return tuple(found)


def _stores_nothing(origin: Origin, call: Call) -> bool:
    """Whether a library call writes none of its arguments' memory."""
    library = origin.summaries.library(call)
    return library is not None and not any(library.writes_argument(k) for k in range(len(call.arguments)))


def _by_opaque(origin: Origin, node: Node, load: Expr) -> Disturbance | None:
    """Text that is not modelled changes what it names, and all that this leads to; a call in it changes what it can."""
    if not isinstance(node, Verbatim | VerbatimExpr):
        return Disturbance(node, "a device statement stands there")
    if not node.calls and not node.writes:
        return None
    root = is_direct(load)
    if root is not None and _is_private(origin, load) and root not in node.writes:
        return None
    return Disturbance(node, f"{node.reason} may write it")


def _is_private(origin: Origin, load: Expr) -> bool:
    """Whether the load reads a local variable that nothing outside the function can reach."""
    root = is_direct(load)
    return root is not None and root.storage in ("local", "parameter") and root not in origin.hidden


def _text(node: Node) -> str:
    words = " ".join(node.span.text.split())
    return words if len(words) <= 60 else f"{words[:57]}..."


def declared_below(node: Node) -> set[Symbol]:
    """Return every variable declared in `node`."""
    found = {n.symbol for n in walk(node) if isinstance(n, VarDecl)}
    return found | {n.variable for n in walk(node) if isinstance(n, For) and n.declares}
