"""The additions for one offload region: what runs on the device in place of some of the user's statements.

if (ws_on() && guards) { ported } else       where none of the user's statements is left in the port: written twice
const int ws_gpu = ws_on() && guards;        else: a flag, and additions inside (within.py)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from warpsmith.base.findings import Finding
from warpsmith.tree.in_place.alignment import align_statements
from warpsmith.tree.in_place.instances import instances
from warpsmith.tree.in_place.pairs import NeedsCopyError
from warpsmith.tree.in_place.versioned import InsertionError, Run, Versioned
from warpsmith.tree.in_place.within import additions_within, opens_guard
from warpsmith.tree.in_place.writer import InPlaceWriter, deeper
from warpsmith.tree.in_place.written_twice import check_twice
from warpsmith.tree.nodes import DataEnter, DeviceAlloc, For, Function, If, Stmt, While
from warpsmith.tree.text.additions import Addition
from warpsmith.tree.text.places import InsertionPoint
from warpsmith.tree.walk import walk

__all__ = ["is_lone", "owner_of_body", "region_additions"]


def region_additions(
    writer: InPlaceWriter, group: Sequence[Versioned], versions: Sequence[Versioned]
) -> list[Addition]:
    """Return the additions for the offload regions of one text, of all `versions`."""
    first = group[0]
    writer.check_place(first)
    if first.instance:
        return instances(writer, group)
    if not _is_kept(first.written, first.ported):
        return _instead(writer, first)
    checks = dict(writer.checks)
    try:
        return _flag_entered(writer, first, versions)
    except NeedsCopyError:
        writer.checks = checks
        return _instead(writer, first)


def _flag_entered(writer: InPlaceWriter, version: Versioned, versions: Sequence[Versioned]) -> list[Addition]:
    """Set a flag where the offload region is entered, and add what asks for it."""
    flag = writer.flag(version.function.symbol.name)
    inner = additions_within(writer, flag, version)
    first = writer.between(version.function.body.span.start, version.written[0], early=False)
    fallback = [_unless(writer, flag, statements) for statements in version.fallback]
    lines = [f"const int {flag} = {writer.write_test(version)};", *fallback[0]]
    edits = [writer.opens(first, version.written, lines), *inner]
    if fallback[1]:
        edits.append(writer.closes(version.written, fallback[1]))
    closed = is_lone(version) or bool(version.before) or _shares_names(version, versions)
    return _close_braces(writer, version, first, edits) if closed else edits


def _instead(writer: InPlaceWriter, version: Versioned) -> list[Addition]:
    """Write `if (on && guards) { ported } else` before the user's statements."""
    check_twice(version, kept=_is_kept(version.written, version.ported))
    if any(opens_guard(stmt) for stmt in version.ported):
        message = "data cannot be held from here on: the region is written twice, and what holds them would end in it"
        raise InsertionError(version.function, Finding("POR018", "note", message, version.written[0].span))
    before, after = (writer.texts(statements, writer.indentation) for statements in version.fallback)
    start = writer.before(version.written, version.function.body)
    several = len(version.written) > 1 or bool(before or after) or start.above
    body = writer.texts(version.ported, writer.indentation)
    lead = [f"if ({writer.write_test(version)}) {{", *body, "} else {" if several else "} else", *before]
    edits = [writer.opens(start, version.written, lead)]
    if several:
        edits.append(writer.closes(version.written, [*after, "}"]))
    closed = is_lone(version) or bool(version.before)
    return _close_braces(writer, version, start, edits) if closed else edits


def _close_braces(
    writer: InPlaceWriter, version: Versioned, first: InsertionPoint, edits: list[Addition]
) -> list[Addition]:
    """Return additions in braces of their own, the port's declarations first; what else is inserted beside the offload
    region stands inside as well."""
    run = version.written
    writer.check_whole(run, first)
    opening = ("{", *writer.texts(version.before))
    return [
        Addition(first, opening, run[0].span.start, run[-1].span.end + 1, closes=False),
        *edits,
        Addition(writer.after(run), ("}",), run[0].span.start - 1, run[-1].span.end, closes=True),
    ]


def _unless(writer: InPlaceWriter, flag: str, statements: Run) -> list[str]:
    """Return statements that run where the device is not in use."""
    lines = writer.texts(statements)
    return [f"if (!{flag}) {{", *deeper(lines, writer.indentation), "}"] if lines else []


def _is_kept(written: Run, ported: Run) -> bool:
    """Whether a statement of the user's is still there in the port."""
    return bool(align_statements(written, ported))


def is_lone(version: Versioned) -> bool:
    """Whether the statements are the unbraced body of a loop or branch."""
    return owner_of_body(version.function, version.written[0]) is not None


def owner_of_body(function: Function, stmt: Stmt) -> Stmt | None:
    """Return the loop or branch whose body `stmt` is, without braces."""
    if stmt.span.text.startswith("{"):
        return None
    loops = (node for node in walk(function.body) if isinstance(node, Stmt))
    return next((node for node in loops if any(stmt.span == body.span for body in _bodies(node))), None)


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
    """Whether another offload region of the function declares a buffer of the same name: then each has braces of its
    own."""
    mine = _buffers(version)
    others = (v for v in versions if v is not version and v.function is version.function)
    return any(mine & _buffers(other) for other in others)


def _buffers(version: Versioned) -> set[str]:
    return {
        node.buffer.name for stmt in version.ported for node in walk(stmt) if isinstance(node, DeviceAlloc | DataEnter)
    }
