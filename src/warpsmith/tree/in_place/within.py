"""An offload region that is not written twice: a flag says where the device is in use, and what is added between the
user's statements asks for it.

    for (k …) {                                  the user's
        if (ws_gpu) { launch } else              added before what it stands for
        for (i …) …                              the user's
    }

Invariant: where the flag is not set, the user's statements run and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from warpsmith.tree.in_place.alignment import align_statements
from warpsmith.tree.in_place.pairs import NeedsCopyError, PairedStatements
from warpsmith.tree.in_place.versioned import Run, Versioned
from warpsmith.tree.in_place.writer import InPlaceWriter, deeper
from warpsmith.tree.nodes import (
    Copy,
    CopyWait,
    DataEnter,
    DataExit,
    DataRegionBoundary,
    DeclStmt,
    DeviceAlloc,
    DeviceFree,
    If,
    Pragma,
    Stmt,
    replace,
)
from warpsmith.tree.printing.printer import DeviceStmt
from warpsmith.tree.text.additions import Addition
from warpsmith.tree.text.places import binds
from warpsmith.tree.text.wrapping import wrap
from warpsmith.tree.types import Pointer, Scalar

__all__ = ["additions_within", "opens_guard"]


def additions_within(writer: InPlaceWriter, flag: str, version: Versioned) -> list[Addition]:
    """Return the additions in source order; raises NeedsCopyError where a declaration would have to change."""
    return list(_Within(writer, version.function, flag).run(version.written, version.ported, version.function.body))


class _Within(PairedStatements, frozen=True):
    """The additions inside one offload region."""

    flag: str

    def run(self, old: Run, new: Run, owner: Stmt) -> Iterator[Addition]:
        """Yield the additions that make `new` of the consecutive statements `old`."""
        pairs = [*align_statements(old, new), (len(old), len(new))]
        old_start = new_start = 0
        for i, j in pairs:
            gone, come = old[old_start:i], new[new_start:j]
            after = old[i] if i < len(old) else None
            if gone or come:
                yield from self._gap(gone, come, old[old_start - 1] if old_start else None, after, owner)
            if after is not None:
                yield from self.pair(after, new[j], owner)
            old_start, new_start = i + 1, j + 1

    def _gap(self, gone: Run, come: Run, before: Stmt | None, after: Stmt | None, owner: Stmt) -> Iterator[Addition]:
        come, boundary, rest = _around_boundary(_with_own_pragmas(come))
        declared, body = self._come(come)
        if gone:
            if rest:
                raise NeedsCopyError
            yield from self._replace_gone(gone, declared, body, owner)
            if boundary is not None:
                start, end = gone[0].span.start, gone[-1].span.end
                yield Addition(
                    self.writer.after(gone), tuple(self._boundary_lines(boundary)), start - 2, end, closes=True
                )
            return
        lines = [*declared, *self._guard_body(body)]
        if boundary is not None:
            declared, body = self._come(rest)
            lines += [*self._boundary_lines(boundary), *declared, *self._guard_body(body)]
        yield self.between(lines, before, after, owner, _early((*come, *rest)))

    def _boundary_lines(self, boundary: DataRegionBoundary) -> list[str]:
        """Return the lines that make an object that holds data until its block ends: it stands beside the flag."""
        first, *more = self.writer.texts([replace(boundary, flag=self.flag)])[0].split("\n")
        return [first, *self._guard_body(more)]

    def _replace_gone(self, gone: Run, declared: list[str], body: list[str], owner: Stmt) -> Iterator[Addition]:
        if any(isinstance(stmt, DeclStmt) for stmt in gone):
            raise NeedsCopyError
        place = self.writer.before(gone, owner)
        several = len(gone) > 1 or place.above
        if body:
            lead = [*declared, *self._guard_body(body)]
            otherwise = "else {" if several else "else"
            lead = [*lead, otherwise] if _is_one_line(body) else [*lead[:-1], f"}} {otherwise}"]
        else:
            lead = [*declared, f"if (!{self.flag}) {{" if several else f"if (!{self.flag})"]
        yield self.writer.opens(place, gone, lead)
        if several:
            yield self.writer.closes(gone, ["}"])

    def _come(self, come: Run) -> tuple[list[str], list[str]]:
        """Return what `come` declares, and what it does, as lines."""
        declared: list[str] = []
        body: list[str] = []
        for stmt in come:
            if isinstance(stmt, DeclStmt):
                declared += self._declarations(stmt)
                body += self._assignments(stmt)
            elif isinstance(stmt, DeviceAlloc | DataEnter):
                declaration, assignment = self.writer.words.declare(stmt, self.writer.patcher.printer.expr)
                declared.append(declaration)
                body.append(wrap(assignment))
            else:
                body += self.writer.texts([stmt])
        return declared, body

    def _declarations(self, stmt: DeclStmt) -> Iterator[str]:
        """Yield declarations of the port's own variables; they get their values where the device is in use."""
        for declaration in stmt.declarations:
            symbol = declaration.symbol
            const = isinstance(symbol.type, Scalar | Pointer) and getattr(symbol.type, "const", False)
            if not isinstance(symbol.type, Scalar | Pointer) or const or symbol.storage != "local":
                raise NeedsCopyError
            yield f"{self.writer.patcher.printer.type(symbol.type, symbol.name)} = 0;"

    def _assignments(self, stmt: DeclStmt) -> Iterator[str]:
        for declaration in stmt.declarations:
            if declaration.init is not None:
                yield f"{declaration.symbol.name} = {self.writer.patcher.printer.slot(declaration, declaration.init)};"

    def _guard_body(self, body: list[str]) -> list[str]:
        """Return statements that run where the device is in use."""
        if not body:
            return []
        inner = deeper(body, self.writer.indentation)
        return [f"if ({self.flag})", *inner] if _is_one_line(body) else [f"if ({self.flag}) {{", *inner, "}"]

    # --- two statements that stand for each other

    def replaced(self, old: Stmt, new: Stmt, owner: Stmt) -> Iterator[Addition]:
        declared, body = self._come((new,))
        yield from self._replace_gone((old,), declared, body, owner)

    def otherwise(self, old: If, statements: Run) -> Iterator[Addition]:
        declared, body = self._come(statements)
        if declared:
            raise NeedsCopyError
        lines = [f"else if ({self.flag}) {{", *deeper(body, self.writer.indentation), "}"]
        yield self.writer.closes((old.then,), lines)


def _with_own_pragmas(come: Run) -> Run:
    """Return statements without the pragmas of the user's whose loop is not among them: a launch is in its place."""
    kept: list[Stmt] = []
    for stmt in reversed(come):
        unbound = not kept or isinstance(kept[-1], DeviceStmt | DeclStmt)
        if not (isinstance(stmt, Pragma) and binds(stmt.text) and unbound):
            kept.append(stmt)
    return tuple(reversed(kept))


def _around_boundary(come: Run) -> tuple[Run, DataRegionBoundary | None, Run]:
    """Return the first statement that makes an object which holds data, with what is before and behind it."""
    at = next((n for n, stmt in enumerate(come) if opens_guard(stmt)), None)
    if at is None:
        return come, None, ()
    boundary = come[at]
    assert isinstance(boundary, DataRegionBoundary)
    return come[:at], boundary, come[at + 1 :]


def opens_guard(stmt: Stmt) -> bool:
    """Whether a statement makes an object that holds data until its block ends."""
    return isinstance(stmt, DataRegionBoundary) and stmt.opens and bool(stmt.guard)


def _early(come: Run) -> bool:
    """Whether statements belong to what is before them: they end the life of something."""
    first = come[0] if come else None
    if isinstance(first, CopyWait):
        return first.by_host
    return isinstance(first, DeviceFree | DataExit) or (isinstance(first, Copy) and not first.to_device)


def _is_one_line(body: Sequence[str]) -> bool:
    return len(body) == 1 and "\n" not in body[0] and body[0].endswith(";")
