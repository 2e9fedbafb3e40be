"""The additions for one home: what runs on the device in place of some of the user's statements.

if (ws_on() && guards) { ported } else       where none of the user's statements is left in the port: written twice
const int ws_gpu = ws_on() && guards;        else: a flag, and additions inside (within.py)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from warpsmith.base.findings import Finding
from warpsmith.tree.in_place.alignment import aligned
from warpsmith.tree.in_place.instances import instances
from warpsmith.tree.in_place.versioned import InsertionError, Run, Versioned
from warpsmith.tree.in_place.within import NeedsCopyError, additions_within, opens_guard
from warpsmith.tree.in_place.writer import Pen, deeper
from warpsmith.tree.in_place.written_twice import check_twice
from warpsmith.tree.nodes import DataEnter, DeviceAlloc, For, Function, If, Stmt, While
from warpsmith.tree.text.additions import Addition
from warpsmith.tree.text.places import Place
from warpsmith.tree.walk import walk

__all__ = ["home_additions", "is_body", "is_lone"]


def home_additions(pen: Pen, group: Sequence[Versioned], versions: Sequence[Versioned]) -> list[Addition]:
    """Return the additions for the homes of one text, of all `versions`."""
    first = group[0]
    pen.check_place(first)
    if first.instance:
        return instances(pen, group)
    if not _kept(first.written, first.ported):
        return _instead(pen, first)
    checks = dict(pen.checks)
    try:
        return _flagged(pen, first, versions)
    except NeedsCopyError:
        pen.checks = checks
        return _instead(pen, first)


def _flagged(pen: Pen, version: Versioned, versions: Sequence[Versioned]) -> list[Addition]:
    """Set a flag where the home is entered, and add what asks for it."""
    flag = pen.flag(version.function.symbol.name)
    inner = additions_within(pen, flag, version)
    first = pen.between(version.function.body.span.start, version.written[0], early=False)
    fallback = [_unless(pen, flag, statements) for statements in version.fallback]
    lines = [f"const int {flag} = {pen.tested(version)};", *fallback[0]]
    edits = [pen.opens(first, version.written, lines), *inner]
    if fallback[1]:
        edits.append(pen.closes(version.written, fallback[1]))
    closed = is_lone(version) or bool(version.before) or _shares_names(version, versions)
    return _closed(pen, version, first, edits) if closed else edits


def _instead(pen: Pen, version: Versioned) -> list[Addition]:
    """Write `if (on && guards) { ported } else` before the user's statements."""
    check_twice(version, kept=_kept(version.written, version.ported))
    if any(opens_guard(stmt) for stmt in version.ported):
        message = "data cannot be held from here on: the region is written twice, and what holds them would end in it"
        raise InsertionError(version.function, Finding("POR018", "note", message, version.written[0].span))
    before, after = (pen.texts(statements, pen.indentation) for statements in version.fallback)
    start = pen.before(version.written, version.function.body)
    several = len(version.written) > 1 or bool(before or after) or start.above
    body = pen.texts(version.ported, pen.indentation)
    lead = [f"if ({pen.tested(version)}) {{", *body, "} else {" if several else "} else", *before]
    edits = [pen.opens(start, version.written, lead)]
    if several:
        edits.append(pen.closes(version.written, [*after, "}"]))
    closed = is_lone(version) or bool(version.before)
    return _closed(pen, version, start, edits) if closed else edits


def _closed(pen: Pen, version: Versioned, first: Place, edits: list[Addition]) -> list[Addition]:
    """Return additions in braces of their own, the port's declarations first; what else is inserted beside the home
    stands inside as well."""
    run = version.written
    pen.check_whole(run, first)
    opening = ("{", *pen.texts(version.before))
    return [
        Addition(first, opening, run[0].span.start, run[-1].span.end + 1, closes=False),
        *edits,
        Addition(pen.after(run), ("}",), run[0].span.start - 1, run[-1].span.end, closes=True),
    ]


def _unless(pen: Pen, flag: str, statements: Run) -> list[str]:
    """Return statements that run where the device is not in use."""
    lines = pen.texts(statements)
    return [f"if (!{flag}) {{", *deeper(lines, pen.indentation), "}"] if lines else []


def _kept(written: Run, ported: Run) -> bool:
    """Whether a statement of the user's is still there in the port."""
    return bool(aligned(written, ported))


def is_lone(version: Versioned) -> bool:
    """Whether the statements are the unbraced body of a loop or branch."""
    return is_body(version.function, version.written[0])


def is_body(function: Function, stmt: Stmt) -> bool:
    """Whether `stmt` is the body of a loop or branch without braces."""
    bodies = (body for node in walk(function.body) for body in _bodies(node))
    return any(stmt.span == body.span and not body.span.text.startswith("{") for body in bodies)


def _bodies(node: object) -> Iterator[Stmt]:
    match node:
        case For() | While():
            yield node.body
        case If():
            yield node.then
            if node.other is not None:
                yield node.other
        case _:
            return


def _shares_names(version: Versioned, versions: Sequence[Versioned]) -> bool:
    """Whether another home of the function declares a buffer of the same name: then each has braces of its own."""
    mine = _buffers(version)
    others = (v for v in versions if v is not version and v.function is version.function)
    return any(mine & _buffers(other) for other in others)


def _buffers(version: Versioned) -> set[str]:
    return {
        node.buffer.name for stmt in version.ported for node in walk(stmt) if isinstance(node, DeviceAlloc | DataEnter)
    }
