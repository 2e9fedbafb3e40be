"""A local accumulator: what a loop updates behind a pointer is kept in a variable while the loop runs.

    for (…) s->sum += a[i];           double s_sum = s->sum;
                                      for (…) s_sum += a[i];
                                      s->sum = s_sum;

Invariant: every mention of the object in the loop becomes the variable, so nothing in the loop sees another value,
unless another name of the loop reaches the object; those names are said (`requires`).
Limits: objects of arithmetic type whose address the loop does not change; loops without calls of the program's own.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeGuard

from warpsmith.base.source import Edit
from warpsmith.loops.remedies.model import EditCode
from warpsmith.loops.remedies.rewriting import (
    InsertionSite,
    calls_program,
    declare,
    fresh,
    is_plain,
    may_meet,
    place_of,
)
from warpsmith.poly.analyze import Facts
from warpsmith.poly.facts import LoopFacts
from warpsmith.tree.nodes import Assign, Call, Expr, For, Index, Member, Node, Unary
from warpsmith.tree.printing.printer import print_expr
from warpsmith.tree.types import Array, Pointer, Record, Scalar, Symbol
from warpsmith.tree.walk import names, peel, root_symbol, walk, written_symbols

__all__ = ["local_accumulators"]


def local_accumulators(facts: Facts, known: LoopFacts) -> Iterator[EditCode]:
    """Yield the edit that keeps what the loop updates at fixed addresses in local variables."""
    place = place_of(facts, known)
    # a pragma that shares the iterations out would share the variable too
    if (
        place is None
        or place.first is not place.loop.span
        or not is_plain(place.loop)
        or calls_program(facts, place.loop)
    ):
        return
    objects = _objects(place.loop)
    if not objects:
        return
    edits: list[Edit] = []
    before: list[str] = []
    behind: list[str] = []
    taken: set[str] = set()
    for text, uses in objects.items():
        name = _local_name(uses[0], place, taken)
        type = uses[0].type
        if not isinstance(type, Scalar):
            return
        shown = uses[0].span.text
        before.append(f"{declare(type, name)} = {shown};")
        behind.append(f"{shown} = {name};")
        edits += [Edit(use.span, name) for use in uses]
        taken |= {name, text}
    title = f"a local accumulator for {', '.join(uses[0].span.text for uses in objects.values())}"
    requires = _requirements(facts, known, place.loop, objects)
    yield EditCode(title, (*place.before(before), *edits, *place.behind(behind)), "", requires)


def _objects(loop: For) -> dict[str, list[Expr]]:
    """Return every object at a fixed address, not a variable, that the loop writes, with all of its mentions."""
    changed = written_symbols(loop)
    found: dict[str, list[Expr]] = {}
    for target in _targets(loop):
        if _is_fixed(target, changed):
            found.setdefault(print_expr(target), [])
    for part in walk(loop):
        if isinstance(part, Index | Member | Unary) and (text := print_expr(part)) in found:
            found[text].append(part)
    return found


def _targets(loop: For) -> Iterator[Expr]:
    for part in walk(loop.body):
        if isinstance(part, Assign):
            yield peel(part.target)
        elif isinstance(part, Unary) and part.op in ("++x", "--x", "x++", "x--"):
            yield peel(part.operand)


def _is_fixed(target: Expr, changed: set[Symbol]) -> bool:
    """Whether an lvalue is one object behind a pointer, or of an array, whatever the iteration."""
    if not isinstance(target, Index | Member | Unary) or not isinstance(target.type, Scalar) or target.type.volatile:
        return False
    if any(isinstance(part, Member) and _is_packed(part) for part in walk(target)):
        return False
    root = root_symbol(target)
    if root is None or not isinstance(root.type, Pointer | Array) or any(isinstance(p, Call) for p in walk(target)):
        return False
    loads = [p for p in walk(target) if isinstance(p, Index | Unary) and isinstance(p.type, Pointer)]
    return not loads and not any(name.symbol in changed for name in names(target))


def _is_packed(member: Member) -> bool:
    """Whether a member may share its bytes with others: a bit-field, or one of a union or of a type not known here."""
    base = peel(member.base).type
    record = base.to if isinstance(base, Pointer) else base
    if not isinstance(record, Record) or record.union:
        return True
    return not any(field.name == member.field and field.bits == 0 for field in record.fields)


def _local_name(use: Expr, place: InsertionSite, taken: set[str]) -> str:
    root = root_symbol(use)
    words = [root.name] if root is not None and root.name != "this" else ["own"]
    words += [use.field] if isinstance(use, Member) else ["value"]
    name = fresh(place.loop.span, "_".join(words))
    return name if name not in taken else fresh(place.loop.span, f"{name}_{len(taken)}")


def _requirements(facts: Facts, known: LoopFacts, loop: For, objects: dict[str, list[Expr]]) -> tuple[str, ...]:
    """Return what the program does not show: that no other name of the loop reaches an object, and that it exists also
    where the loop does not run."""
    mentioned = {id(part) for uses in objects.values() for use in uses for part in walk(use)}
    reached: dict[Symbol, dict[str, None]] = {}
    pointers: dict[str, None] = {}
    for uses in objects.values():
        root = root_symbol(uses[0])
        if root is None:
            continue
        for other in _others(loop, mentioned, uses[0]):
            if other == root or may_meet(facts, known, root, other):
                reached.setdefault(other, {})[uses[0].span.text] = None
        if isinstance(root.type, Pointer) and root.name != "this" and not root.type.reference:
            pointers[f"{root.name} points to an object even where the loop runs no iteration"] = None
    apart = [f"no other access through {other.name} reaches {' or '.join(texts)}" for other, texts in reached.items()]
    return (*apart, *pointers)


def _others(loop: Node, mentioned: set[int], target: Expr) -> tuple[Symbol, ...]:
    """Return the pointers and arrays through which the loop reaches memory elsewhere, that could be the target."""
    found: dict[Symbol, None] = {}
    parts = tuple(walk(loop))
    # `a[i]` of `a[i].x` is no access of its own, and neither is what `&` takes the address of
    inside = {id(below) for part in parts if (below := _below(part)) is not None}
    for access in (part for part in parts if _is_access(part) and id(part) not in inside | mentioned):
        root = root_symbol(access)
        if root is not None and not (root == root_symbol(target) and _is_other_member(access, target)):
            found[root] = None
    return tuple(s for s in found if isinstance(s.type, Pointer | Array))


def _is_access(part: Node) -> TypeGuard[Index | Member | Unary]:
    return isinstance(part, Index | Member) or (isinstance(part, Unary) and part.op == "*")


def _below(part: Node) -> Expr | None:
    """Return what an access, or the taking of an address, goes through."""
    match part:
        case Index(base=base) | Member(base=base):
            return peel(base)
        case Unary(op="*" | "&", operand=operand):
            return peel(operand)
        case _:
            return None


def _is_other_member(access: Expr, target: Expr) -> bool:
    """Whether both are members of what one pointer points to, and not the same."""
    one, other = peel(access), peel(target)
    while isinstance(one, Index | Member) and isinstance(peel(one.base), Index | Member):
        one = peel(one.base)
    while isinstance(other, Index | Member) and isinstance(peel(other.base), Index | Member):
        other = peel(other.base)
    return isinstance(one, Member) and isinstance(other, Member) and one.field != other.field
