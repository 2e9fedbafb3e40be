"""Statements of the user's and those that stand for them, side by side: what is added between them and in their bodies.

    for (k …) {                   for (k …) {
        for (i …) …        →          launch                   run: of the bodies, one after the other
        s;                            s;
    }                             }

Invariant: a body without braces gets them where something is added to it, outside of what is added.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator

from msgspec import Struct
from msgspec.structs import replace

from warpsmith.tree.in_place.alignment import is_replaced
from warpsmith.tree.in_place.versioned import Run
from warpsmith.tree.in_place.writer import InPlaceWriter
from warpsmith.tree.nodes import Block, Case, For, Function, If, Pragma, Stmt, Switch, Verbatim, While
from warpsmith.tree.printing.computed import is_computed
from warpsmith.tree.text.additions import Addition
from warpsmith.tree.text.layout import indent_at
from warpsmith.tree.text.places import cut_conditionals, place_between
from warpsmith.tree.walk import same, statements_of

__all__ = ["NeedsCopyError", "PairedStatements"]


class NeedsCopyError(Exception):
    """The statements cannot be written as additions between the user's."""


class PairedStatements(Struct, frozen=True):
    """The additions to statements of one function."""

    writer: InPlaceWriter
    function: Function

    @abstractmethod
    def run(self, old: Run, new: Run, owner: Stmt) -> Iterator[Addition]:
        """Yield the additions that make `new` of the consecutive statements `old`, which stand in `owner`."""

    @abstractmethod
    def replaced(self, old: Stmt, new: Stmt, owner: Stmt) -> Iterator[Addition]:
        """Yield the additions by which `new` runs in place of `old`."""

    @abstractmethod
    def otherwise(self, old: If, statements: Run) -> Iterator[Addition]:
        """Yield the additions that give `old`, which has no other branch, one with `statements`."""

    def between(self, lines: list[str], before: Stmt | None, after: Stmt | None, owner: Stmt, early: bool) -> Addition:
        """Return statements that stand between two others, behind the first rather than before the second (`early`)."""
        lower = owner.span.start if before is None else before.span.end
        if is_computed(after):
            raise NeedsCopyError  # no statement may stand in a declaration
        if after is not None:
            if isinstance(before, Pragma | Verbatim) and before.span.text.startswith("#") and not _ends(owner, before):
                # it may belong to what is after it
                early, lower = False, owner.span.start
            if before is None and lower == after.span.start:
                # the first statement behind a label: the line of the label is not known here
                early = False
            place = self.writer.between(lower, after, early=early)
            model = _model(owner, before) if after.span.text.startswith("#") else None
            if model is not None:
                # a line of the preprocessor's may stand anywhere
                place = replace(place, indent=self.writer.indent((model,)))
            run, closes = ((before,), True) if early and before is not None else ((after,), False)
            return Addition(place, tuple(lines), run[0].span.start, run[-1].span.end, closes)
        # an offload region's own run need not reach the end of the function's body, which stands for what is around it
        around = owner is self.function.body or not isinstance(owner, Block)
        if before is not None and around:
            return self.writer.closes((before,), lines)
        file = owner.span.file
        indent = indent_at(file, owner.span.start) + self.writer.indentation
        indent = indent if before is None else indent_at(file, before.span.start)
        place = place_between(file, lower, owner.span.end - 1, indent, early=True)
        start = owner.span.end if before is None else before.span.start
        return Addition(place, tuple(lines), start, owner.span.end, closes=True)

    def pair(self, old: Stmt, new: Stmt, owner: Stmt) -> Iterator[Addition]:
        """Yield the additions that make `new` of the statement `old` that it stands for."""
        if old is new or same(old, new):
            return
        match old, new:
            case _ if is_computed(old):
                raise NeedsCopyError  # half of a declaration is no statement
            case _ if is_replaced(old, new):
                yield from self.replaced(old, new, owner)
            case Block(), Block():
                yield from self.run(old.statements, new.statements, old)
            case For(), For():
                yield from self.body(old.body, new.body, old)
            case While(), While():
                yield from self.body(old.body, new.body, old)
            case If(), If():
                yield from self.branches(old, new)
            case Switch(), Switch():
                for one, other in zip(old.cases, new.cases, strict=True):
                    yield from self.run(one.body, other.body, _as_owner(one))

    def branches(self, old: If, new: If) -> Iterator[Addition]:
        """Yield the additions in the branches."""
        added = old.other is None and new.other is not None
        yield from self.body(old.then, new.then, old, closed=added)
        if new.other is None:
            if old.other is not None:
                raise NeedsCopyError
        elif old.other is not None:
            yield from self.body(old.other, new.other, old)
        else:
            yield from self.otherwise(old, statements_of(new.other))

    def body(self, old: Stmt, new: Stmt, owner: Stmt, *, closed: bool = False) -> Iterator[Addition]:
        """Yield the additions in a body; one without braces gets them where something is added, or it shall be
        `closed`."""
        if isinstance(old, Block) and old.span.text.startswith("{"):
            if not (isinstance(new, Block) and new.span == old.span):
                raise NeedsCopyError
            yield from self.pair(old, new, owner)
            return
        inner = list(self.run((old,), statements_of(new) if _is_made(new) else (new,), owner))
        if not inner and not closed:
            return
        opening, closing = self.writer.braces(self.writer.before((old,), owner), (old,), owner)
        yield from (opening, *inner, closing)


def _model(owner: Stmt, before: Stmt | None) -> Stmt | None:
    """Return the last statement up to `before` that is no line of the preprocessor's."""
    if before is None or not before.span.text.startswith("#"):
        return before
    run = owner.statements if isinstance(owner, Block) else ()
    found = [stmt for stmt in run if stmt.span.end <= before.span.start and not stmt.span.text.startswith("#")]
    return found[-1] if found else None


def _ends(owner: Stmt, line: Stmt) -> bool:
    """Whether a line of the preprocessor's ends a conditional that the statement before it opens."""
    model = _model(owner, line)
    return line.span.text.startswith("#endif") and model is not None and cut_conditionals(model.span.text)[1] > 0


def _is_made(body: Stmt) -> bool:
    """Whether a body is a rewritten run, and no block of the user's."""
    return isinstance(body, Block) and not body.span.text.startswith("{")


def _as_owner(case: Case) -> Stmt:
    return case.body[0] if case.body else Block(span=case.span, statements=())
