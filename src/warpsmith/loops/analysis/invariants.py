"""Loop invariants in memory: members, bounds and pointers behind pointers that a loop reads again and never changes.

    for (i = 0; i < g->n; i++)         g->n  a bound in memory
        s->u[i] = s->v[i] * g->dt;     s->u, s->v  pointers in a struct;  g->dt  a number in a struct

Invariant: each `Invariant` has one value while the loop runs, and reading it before the loop, under its conditions, is
as safe as running the loop.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec.structs
from msgspec import Struct

from warpsmith.base.verdict import Reason
from warpsmith.loops.analysis.evaluation import KnownBefore
from warpsmith.loops.place import LoopContext
from warpsmith.poly.aliasing.unchanged import Disturbance, declared_below, disturbance, disturbances, is_direct, loads
from warpsmith.poly.analyze import Facts
from warpsmith.tree.memory.effective_types import keeps_types
from warpsmith.tree.nodes import (
    Assign,
    Binary,
    Cast,
    Expr,
    For,
    Index,
    Literal,
    MacroUse,
    Member,
    Name,
    Node,
    Stmt,
    Unary,
    While,
)
from warpsmith.tree.printing.printer import show_expression
from warpsmith.tree.types import Array, FunctionType, Opaque, Pointer, Record, Scalar, Symbol, Type
from warpsmith.tree.walk import children, names, peel, same, walk

__all__ = [
    "Invariant", "InvariantSurvey", "holds_pointers", "invariant_type", "is_element", "is_still", "root_of", "survey",
]  # fmt: skip


class Invariant(Struct, frozen=True):
    """A place that the loop reads and never changes: the nodes that name it, the first of them first, and the
    conditions under which it may be read before the loop. `stores`: lvalues that the loop writes, and that must not be
    this place or a part of it, for all that is known."""

    nodes: tuple[Expr, ...]
    type: Type
    conditions: tuple[Expr, ...]
    stores: tuple[Expr, ...] = ()

    @property
    def load(self) -> Expr:
        """The place, as the user wrote it first."""
        return self.nodes[0]


class InvariantSurvey(Struct, frozen=True):
    """The invariants of a loop, and why the rest of what looks like it is not."""

    invariants: tuple[Invariant, ...]
    refused: tuple[Reason, ...]


def survey(facts: Facts, place: LoopContext) -> InvariantSurvey:
    """Look at everything that a loop reads through pointers and from structs."""
    typed = keeps_types(place.unit.arguments)
    own = declared_below(place.loop)
    evidence: KnownBefore | None = None
    invariants: dict[int, Invariant] = {}
    refused: list[tuple[Expr, Reason]] = []
    while True:
        before = len(refused)
        groups = _groups(place.loop, own, [load for load, _ in refused])
        for group in groups:
            if id(group[0]) in invariants:
                continue
            evidence = evidence or KnownBefore.of(facts, place.function, place.loop)
            found = _judge_group(facts, place, (group, evidence), typed=typed)
            if isinstance(found, Invariant):
                invariants[id(group[0])] = found
            else:
                refused.append((group[0], found))
        if len(refused) == before:
            return InvariantSurvey(
                _evaluable([invariants[id(g[0])] for g in groups]), tuple(reason for _, reason in refused)
            )


def _judge_group(
    facts: Facts, place: LoopContext, about: tuple[tuple[Expr, ...], KnownBefore], *, typed: bool
) -> Invariant | Reason:
    """Return a group of nodes as invariant, or why it is not."""
    group, evidence = about
    load = group[0]
    why = _moves(facts, place, load, typed=typed)
    certain = next((w for w in why if w.target is None or not is_element(w.target, load) or same(w.target, load)), None)
    if certain is not None:
        return Reason("STP002", f"{_text(load)} may change in the loop: {certain.text}", certain.node.span)
    conditions = evidence.needs(load, group)
    if conditions is None:
        text = f"{_text(load)} may never be read: reading it before the loop may not be safe"
        remedy = f"read {_text(load)} into a variable before the loop"
        return Reason("STP002", text, load.span, legal_if=(remedy,))
    return Invariant(group, invariant_type(load), conditions, tuple(w.target for w in why if w.target is not None))


def is_element(target: Expr, load: Expr) -> bool:
    """Whether an lvalue is an element of an array, so that a section may bound where it is, or a member of what another
    pointer leads to, which may be in another block of memory."""
    target = peel(target)
    while isinstance(target, Member) and not target.arrow:
        target = peel(target.base)
    if isinstance(target, Index):
        return True
    pointer = target.base if isinstance(target, Member) else target.operand if isinstance(target, Unary) else None
    return pointer is not None and root_of(pointer) not in (None, root_of(load))


def _moves(facts: Facts, place: LoopContext, load: Expr, *, typed: bool) -> list[Disturbance]:
    """Return what in the loop may change the value of `load`; where the loop may change the place itself, that alone,
    without the lvalue."""
    origin = facts.origin(place.function)
    reads = list(loads(load)) if not isinstance(load.type, Array) else [None, *loads(_address(load))]
    for part in reads[1:]:
        if part is not None and (found := disturbance(origin, (place.loop,), part, typed=typed)) is not None:
            return [msgspec.structs.replace(found, target=None)]
    first = reads[0]
    return [] if first is None else list(disturbances(origin, (place.loop,), first, typed=typed))


def _address(load: Expr) -> Expr:
    return Unary(span=load.span, type=Pointer(load.type), op="&", operand=load)


def _evaluable(invariants: list[Invariant]) -> tuple[Invariant, ...]:
    """Return those whose conditions read nothing from memory but invariants without a condition, in an order in which
    they can be declared."""
    plain = [h for h in invariants if not h.conditions]
    kept = [h for h in invariants if h.conditions and all(_reads_only(c, plain) for c in h.conditions)]
    return (*plain, *kept)


def _reads_only(condition: Expr, plain: Sequence[Invariant]) -> bool:
    if any(same(h.load, condition) for h in plain):
        return True
    if isinstance(condition, Member | Index) or (isinstance(condition, Unary) and condition.op == "*"):
        return False
    return all(_reads_only(child, plain) for child in children(condition) if isinstance(child, Expr))


# --- what looks like it


def _groups(loop: Stmt, own: set[Symbol], refused: Sequence[Expr]) -> list[tuple[Expr, ...]]:
    """Return the places that are worth a variable, each with all the nodes that read it, the largest ones only; `own`
    are the variables of the loop, `refused` what is none of them: then its parts may be."""
    places = _never_values(loop)
    bounds = {id(part) for end in _ends(loop) for part in walk(end)}
    found: list[list[Expr]] = []
    stack: list[Node] = [loop]
    while stack:
        node = stack.pop()
        taken = isinstance(node, Expr) and id(node) not in places and _is_wanted(node, id(node) in bounds, own)
        if isinstance(node, Expr) and taken and not any(same(node, old) for old in refused):
            group = next((g for g in found if same(g[0], node)), None)
            if group is None:
                found.append([node])
            else:
                group.append(node)
        else:
            stack += reversed(list(children(node)))
    return [tuple(group) for group in found]


def _never_values(loop: Node) -> set[int]:
    """Return the identities of lvalues that are no reads: targets of assignments, operands of & and ++."""
    found: set[int] = set()
    for part in walk(loop):
        if isinstance(part, Assign):
            found.add(id(peel(part.target)))
        elif isinstance(part, Unary) and (part.op == "&" or "++" in part.op or "--" in part.op):
            found.add(id(peel(part.operand)))
    return found


def _ends(loop: Stmt) -> Iterator[Expr]:
    """Yield what decides how often the loop, and those in it, run."""
    for part in walk(loop):
        if isinstance(part, For):
            yield from (part.lower, part.bound)
        elif isinstance(part, While) and part.form == "for" and part.condition is not None:
            yield part.condition


def _is_wanted(node: Expr, in_bound: bool, own: set[Symbol]) -> bool:
    if not isinstance(node, Member | Index) and not (isinstance(node, Unary) and node.op == "*"):
        return False
    if not is_still(node, own):
        return False
    match node.type:
        case Pointer(to=to):
            return not isinstance(to, FunctionType) and _can_be_named(to)
        case Scalar(kind=kind, volatile=volatile):
            return not volatile and kind not in ("void", "complex") and (in_bound or _follows_struct(node))
        case Array():
            return _is_lone_array(node)
        case FunctionType() | Opaque() | Record():
            return False


def is_still(node: Expr, own: set[Symbol]) -> bool:
    """Whether the place is made of variables, members and numbers, none of them the loop's own."""
    for part in walk(node):
        match part:
            case Name(symbol=symbol):
                if symbol in own or symbol.storage == "function":
                    return False
            case Literal() | Member() | Index() | MacroUse():
                pass
            case Binary(op="+" | "-" | "*") | Cast():
                pass
            case Unary(op="*" | "-" | "&"):
                pass
            case _:
                return False
        if isinstance(part, Expr) and isinstance(part.type, Scalar) and part.type.volatile:
            return False
    return True


def _follows_struct(node: Expr) -> bool:
    """Whether a number stands in a struct that holds pointers, in a class or in a union: no kernel can have these."""
    part: Expr = node
    while isinstance(part, Member | Index):
        owner = _owner(part) if isinstance(part, Member) else None
        if owner is not None and (holds_pointers(owner) or _is_class(owner) or _is_union(owner)):
            return True
        if isinstance(part, Index) and not isinstance(peel(part.base).type, Array):
            return False
        part = peel(part.base)
    return False


def _is_class(type: Type) -> bool:
    """Whether a type has a name of C++ that device code cannot write."""
    return isinstance(type, Record) and ("::" in type.tag or "<" in type.tag)


def _is_union(type: Type) -> bool:
    return isinstance(type, Record) and type.union


def _is_lone_array(node: Expr) -> bool:
    """Whether an array stands in a struct with pointers, or in a class, which a kernel must not see, and has rows of
    constant size."""
    if not isinstance(node, Member):
        return False
    inner = node.type
    while isinstance(inner, Array):
        if inner.count is None:
            return False
        inner = inner.of
    owner = _owner(node)
    return isinstance(inner, Scalar) and not inner.volatile and (holds_pointers(owner) or _is_class(owner))


def _owner(member: Member) -> Type:
    """Return the type of the struct that a member stands in."""
    owner = peel(member.base).type
    return owner.to if member.arrow and isinstance(owner, Pointer) else owner


def holds_pointers(type: Type) -> bool:
    """Whether an object of this type has pointers in it."""
    match type:
        case Pointer():
            return True
        case Array(of=of):
            return holds_pointers(of)
        case Record(fields=fields):
            return any(holds_pointers(f.type) for f in fields)
        case FunctionType() | Opaque() | Scalar():
            return False


def _can_be_named(type: Type) -> bool:
    """Whether a declaration can spell the type."""
    while isinstance(type, Pointer | Array):
        if isinstance(type, Array):
            if type.count is None:
                return False
            type = type.of
        else:
            type = type.to
    if isinstance(type, Record):
        return bool(type.spelling) or (bool(type.tag) and type.tag.replace("_", "a").isalnum())
    return isinstance(type, Scalar) and not type.volatile


def invariant_type(load: Expr) -> Type:
    """Return the type of a variable that holds what `load` reads; for an array, of a pointer to its first element."""
    type = load.type
    if isinstance(type, Array):
        constant = any(_is_constant(part.type) for part in walk(load) if isinstance(part, Expr))
        element = type.of
        if constant and isinstance(element, Scalar):
            element = msgspec.structs.replace(element, const=True)
        return Pointer(element)
    if isinstance(type, Pointer):
        return msgspec.structs.replace(type, const=False, restrict=False)
    return msgspec.structs.replace(type, const=False) if isinstance(type, Scalar) else type


def _is_constant(type: Type) -> bool:
    """Whether a struct, or what a pointer points to, is const."""
    owner = type.to if isinstance(type, Pointer) else type
    return isinstance(owner, Record) and owner.const


def root_of(load: Expr) -> Symbol | None:
    """Return the variable with which the place begins."""
    direct = is_direct(load)
    return direct if direct is not None else next((n.symbol for n in names(load)), None)


def _text(expr: Expr) -> str:
    return show_expression(expr)
