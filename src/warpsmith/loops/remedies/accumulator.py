"""A local accumulator: what a loop updates behind a pointer is kept in a variable while the loop runs.

    for (…) s->sum += a[i];           double s_sum = s->sum;
                                      for (…) s_sum += a[i];
                                      s->sum = s_sum;

Invariant: every mention of the object in the loop becomes the variable, so nothing in the loop sees another value,
unless another name of the loop reaches the object; those names are said (`requires`).
Limits: objects of arithmetic type whose address the loop does not change, and that it neither copies nor hands to a
function as a part of a whole; loops without calls of the program's own.
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
from warpsmith.tree.nodes import Assign, Call, Expr, For, Index, Member, Name, Node, Unary, VarDecl
from warpsmith.tree.printing.printer import print_expr
from warpsmith.tree.types import Array, Pointer, Record, Scalar, Symbol
from warpsmith.tree.walk import names, peel, root_symbol, same, walk, written_symbols

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
    objects = _objects(facts, known, place.loop)
    if not objects or any(_is_mentioned_whole(facts, known, uses[0]) for uses in objects.values()):
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


def _objects(facts: Facts, known: LoopFacts, loop: For) -> dict[str, list[Expr]]:
    """Return every object at a fixed address, not a variable, that the loop writes, with all of its mentions."""
    changed = _find_changed(loop)
    found: dict[str, list[Expr]] = {}
    targets = list(_targets(loop))
    for target in targets:
        if _is_fixed(target, changed) and all(_is_still(facts, known, load, targets) for load in _loads(target)):
            found.setdefault(print_expr(target), [])
    for part in walk(loop):
        if isinstance(part, Index | Member | Unary) and (text := print_expr(part)) in found:
            found[text].append(part)
    return found


def _is_mentioned_whole(facts: Facts, known: LoopFacts, target: Expr) -> bool:
    """Whether the loop mentions what an object is a part of as a whole: copies it, or hands it to a function."""
    root = root_symbol(target)
    parts = tuple(walk(known.loop))
    inside = {id(below) for part in parts if (below := _below(part)) is not None}
    for part in parts:
        if isinstance(part, Call) and any(_may_reach(facts, known, root, handed) for handed in part.arguments):
            return True
        if id(part) in inside or not isinstance(part, Name | Index | Member | Unary):
            continue
        whole = isinstance(part.type, Record) or (isinstance(part, Name) and isinstance(part.type, Array))
        if whole and root_symbol(part) == root and not _is_other_member(part, target):
            return True
    return False


def _may_reach(facts: Facts, known: LoopFacts, root: Symbol | None, handed: Expr) -> bool:
    """Whether an argument is a pointer that may lead to what `root` does."""
    if root is None or not isinstance(handed.type, Pointer | Array):
        return False
    return any(name.symbol == root or may_meet(facts, known, root, name.symbol) for name in names(handed))


def _loads(target: Expr) -> Iterator[Expr]:
    """Yield what is read from memory to find an lvalue: pointers on the way to it, and what its indices mention."""
    place = peel(target)
    while isinstance(place, Index | Member | Unary):
        if isinstance(place, Index):
            yield from (part for part in walk(place.index) if _is_access(part))
        place = peel(place.operand if isinstance(place, Unary) else place.base)
        if _is_access(place) and isinstance(place.type, Pointer):
            yield place


def _is_still(facts: Facts, known: LoopFacts, load: Expr, targets: list[Expr]) -> bool:
    """Whether no target may be what is loaded."""
    root = root_symbol(load)
    for target in targets:
        written = root_symbol(target)
        # what lies behind a pointer is not the pointer
        behind = isinstance(load.type, Pointer) and any(same(part, load) for part in walk(target))
        if isinstance(target, Name) or (behind and isinstance(target.type, Scalar)):
            continue
        if root is None or written is None:
            return False
        if may_meet(facts, known, root, written) and not (root == written and _is_other_member(load, target)):
            return False
    return True


def _find_changed(loop: For) -> set[Symbol]:
    """Return the variables that the loop gives other values; it may write members of others, or behind them."""
    assigned = {target.symbol for target in _targets(loop) if isinstance(target, Name)}
    assigned |= {part.symbol for part in walk(loop) if isinstance(part, VarDecl)}
    return {s for s in written_symbols(loop) if s in assigned or not isinstance(s.type, Pointer | Record)}


def _targets(loop: For) -> Iterator[Expr]:
    for part in walk(loop.body):
        if isinstance(part, Assign):
            yield peel(part.target)
        elif isinstance(part, Unary) and part.op in ("++x", "--x", "x++", "x--"):
            yield peel(part.operand)


def _is_fixed(target: Expr, changed: set[Symbol]) -> bool:
    """Whether an lvalue is one object behind a pointer, or of an array or a record, whatever the iteration."""
    if not isinstance(target, Index | Member | Unary) or not isinstance(target.type, Scalar) or target.type.volatile:
        return False
    if any(isinstance(part, Member) and _is_packed(part) for part in walk(target)):
        return False
    root = root_symbol(target)
    if root is None or not isinstance(root.type, Pointer | Array | Record):
        return False
    if any(isinstance(part, Call) for part in walk(target)):
        return False
    loads = [p for p in walk(target) if isinstance(p, Index | Unary) and isinstance(p.type, Pointer)]
    return not loads and not any(name.symbol in changed for name in names(target))


def _is_packed(member: Member) -> bool:
    """Whether a member may share its bytes with others: a bit-field, or one of a union or of a type not known here."""
    record = _record(member)
    if record is None or record.union:
        return True
    return not any(field.name == member.field and field.bits == 0 for field in record.fields)


def _is_of_union(member: Member) -> bool:
    record = _record(member)
    return record is None or record.union


def _record(member: Member) -> Record | None:
    base = peel(member.base).type
    record = base.to if isinstance(base, Pointer) else base
    return record if isinstance(record, Record) else None


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
    return tuple(s for s in found if isinstance(s.type, Pointer | Array | Record))


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
    """Whether both are reached from what one pointer points to by other members, whatever elements are chosen."""
    if any(isinstance(part, Member) and _is_of_union(part) for part in (*walk(access), *walk(target))):
        return False
    steps = zip(_steps(access), _steps(target), strict=False)
    return next((one != "" and other != "" for one, other in steps if one != other), False)


def _steps(expr: Expr) -> list[str]:
    """Return the members on the way to an lvalue, from its variable; "" for an element."""
    place, found = peel(expr), list[str]()
    while isinstance(place, Index | Member | Unary):
        if isinstance(place, Member):
            found += [place.field, ""] if place.arrow else [place.field]
        else:
            found.append("")
        place = peel(place.operand if isinstance(place, Unary) else place.base)
    return found[::-1]
