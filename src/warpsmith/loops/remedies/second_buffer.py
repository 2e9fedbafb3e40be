"""A second buffer: what later iterations overwrite is copied before the loop.

    for (i) a[i] = a[i + 1] + b[i];      for (i) a_before[i] = a[i + 1];
                                         for (i) a[i] = a_before[i] + b[i];

Invariant: the loop carries anti dependences only, so that every value that moves to the copy is the one from before the
loop. Where the loop reads what an earlier iteration wrote (`a[i] = a[i - 1] + a[i + 1]`: Gauss-Seidel) a copy would
change the results, and none is proposed.
Limits: one loop with step 1 and no loop inside, which does not change where it starts; the reads are at `i + c` and
happen in every iteration.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct
from msgspec.structs import replace

from warpsmith.base.source import Edit, Span
from warpsmith.loops.remedies.model import EditCode
from warpsmith.loops.remedies.rewriting import (
    InsertionSite,
    calls_program,
    declare,
    fresh,
    is_plain,
    keeps_start,
    leaves_iteration,
    may_meet,
    operand,
    place_of,
    trip_count,
)
from warpsmith.poly.analyze import Facts
from warpsmith.poly.facts import LoopFacts
from warpsmith.tree.nodes import Assign, Binary, Conditional, Expr, ExprStmt, For, Index, Literal, Name, Stmt, Unary
from warpsmith.tree.program import Unit
from warpsmith.tree.types import Scalar, Symbol, is_integer
from warpsmith.tree.walk import loops, peel, root_symbol, statements_of, walk

__all__ = ["second_buffers"]


class _Read(Struct, frozen=True):
    """A read of `array[i + offset]` that a later iteration overwrites."""

    expr: Index
    array: Symbol
    offset: int


def second_buffers(facts: Facts, known: LoopFacts) -> Iterator[EditCode]:
    """Yield the edit that reads what later iterations overwrite from a copy."""
    place = place_of(facts, known)
    unit = next((u for u, f in facts.program.functions() if f is known.function), None)
    if place is None or unit is None or not _carries_anti_only(known) or not is_plain(place.loop):
        return
    loop = place.loop
    if calls_program(facts, loop) or leaves_iteration(loop.body) or not keeps_start(loop):
        return
    if (
        loop.step != 1
        or loop.relation not in ("<", "<=")
        or any(True for _ in loops(loop.body))
        or not is_integer(loop.variable.type)
    ):
        return
    reads = _find_overwritten(loop, {d for r in known.reasons if (d := _variable(r.dependence)) is not None})
    if reads:
        yield replace(_edit(place, unit, reads), requires=_requirements(facts, known, loop, reads))


def _requirements(facts: Facts, known: LoopFacts, loop: For, reads: list[_Read]) -> tuple[str, ...]:
    """Return what the program does not show: that no other name of the loop writes what is copied."""
    written = {root for part in walk(loop.body) if (t := _target(part)) is not None and (root := root_symbol(t))}
    found = {
        f"{read.array.name} and {other.name} do not overlap": None
        for read in reads
        for other in sorted(written - {read.array}, key=lambda s: s.key)
        if may_meet(facts, known, read.array, other)
    }
    return tuple(found)


def _variable(dependence: object) -> str | None:
    name = getattr(dependence, "variable", None)
    return name if isinstance(name, str) else None


def _carries_anti_only(known: LoopFacts) -> bool:
    kinds = {reason.dependence.kind if reason.dependence is not None else "" for reason in known.reasons}
    return known.category == "sequential" and kinds == {"anti"}


def _find_overwritten(loop: For, blamed: set[str]) -> list[_Read]:
    """Return the reads of blamed arrays ahead of every write; nothing where one of them may not be moved."""
    writes = {
        (root, _offset(target, loop))
        for part in walk(loop.body)
        if (target := _target(part)) is not None and (root := root_symbol(target)) is not None
    }
    found: list[_Read] = []
    for stmt in statements_of(loop.body):
        for expr, certain in _reads(stmt):
            root = root_symbol(expr)
            if root is None or root.name not in blamed:
                continue
            offset = _offset(expr, loop)
            written = [w for array, w in writes if array == root]
            if offset is None or None in written or not isinstance(expr, Index):
                return []
            if written and offset > max(w for w in written if w is not None):
                if not certain:
                    return []
                found.append(_Read(expr, root, offset))
    return found


def _target(part: object) -> Expr | None:
    if isinstance(part, Assign):
        return peel(part.target)
    if isinstance(part, Unary) and part.op in ("++x", "--x", "x++", "x--"):
        return peel(part.operand)
    return None


def _reads(stmt: Stmt) -> Iterator[tuple[Expr, bool]]:
    """Yield the elements of arrays that a statement reads, and whether it does so in every iteration."""
    certain = isinstance(stmt, ExprStmt) and not any(
        isinstance(part, Conditional) or (isinstance(part, Binary) and part.op in ("&&", "||")) for part in walk(stmt)
    )
    stored = {id(peel(part.target)) for part in walk(stmt) if isinstance(part, Assign) and part.op == "="}
    for part in walk(stmt):
        if isinstance(part, Index) and id(part) not in stored:
            yield part, certain


def _offset(expr: Expr, loop: For) -> int | None:
    """Return c of `a[i + c]`, a variable's element, or None."""
    if not isinstance(expr, Index) or not isinstance(peel(expr.base), Name) or not isinstance(expr.type, Scalar):
        return None
    return _distance(peel(expr.index), loop.variable)


def _distance(index: Expr, counter: Symbol) -> int | None:
    match index:
        case Name(symbol=symbol) if symbol == counter:
            return 0
        case Binary(op="+" | "-" as op, left=left, right=right):
            first, second = peel(left), peel(right)
            if isinstance(first, Literal) and op == "+":
                first, second = second, first
            if isinstance(second, Literal) and isinstance(second.value, int):
                inner = _distance(first, counter)
                return None if inner is None else inner + (second.value if op == "+" else -second.value)
    return None


def _edit(place: InsertionSite, unit: Unit, reads: list[_Read]) -> EditCode:
    loop, counter = place.loop, place.loop.variable.name
    lower = loop.lower.span.text
    at = counter if lower == "0" else f"{counter} - {operand(loop.lower)}"
    copies: dict[str, str] = {}
    before: list[str] = []
    behind: list[str] = []
    edits: list[Edit] = []
    header = loop.header.text
    for read in reads:
        text = read.expr.span.text
        if text not in copies:
            name = copies[text] = _copy_name(place, read, len(copies))
            before += _allocation(unit, read, name, trip_count(loop), (place, header, f"{name}[{at}] = {text};"))
            behind.append(f"free({name});")
        edits.append(Edit(read.expr.span, f"{copies[text]}[{at}]"))
    include = _include(unit, reads[0])
    return EditCode(
        f"a copy of {', '.join(copies)} from before the loop",
        (*include, *place.before(before), *edits, *place.behind(behind)),
    )


def _copy_name(place: InsertionSite, read: _Read, number: int) -> str:
    name = fresh(place.loop.span, f"{read.array.name}_before")
    return name if number == 0 else fresh(place.loop.span, f"{name}_{number + 1}")


def _allocation(unit: Unit, read: _Read, name: str, count: str, copy: tuple[InsertionSite, str, str]) -> list[str]:
    place, header, statement = copy
    type = read.expr.type
    assert isinstance(type, Scalar)
    words = declare(type, "").strip()
    cast = "" if unit.language == "c" else f"({words} *)"
    return [
        f"{words} *{name} = {cast}malloc((size_t)({count}) * sizeof *{name} + 1);",
        f"if (!{name})",
        f"{place.unit}abort();",
        header,
        f"{place.unit}{statement}",
    ]


def _include(unit: Unit, read: _Read) -> tuple[Edit, ...]:
    file = read.expr.span.file
    if any(header.rsplit("/", 1)[-1] == "stdlib.h" for header in unit.headers) or "stdlib.h" in file.text:
        return ()
    return (Edit(Span(file, 0, 0), "#include <stdlib.h>\n"),)
