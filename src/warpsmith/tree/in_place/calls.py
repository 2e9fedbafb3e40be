"""A function that calls generated ones, as additions between the user's statements.

    WARPSMITH_ONLY(struct ws_f_data ws_gpu = ws_f_begin(n, a);)
    for (k …) {                                         the user's
        WARPSMITH_ONLY(if (!ws_f_1(ws_gpu, n, k)))
        for (i …) …                                     the user's
    }
    WARPSMITH_ONLY(ws_f_end(ws_gpu, a);)

Invariant: every statement of the user's stands in the function with calls once, in the same order, as it was. Only
where the two ways to run a region have nothing in common is his text the second branch of an `if`.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from warpsmith.base.errors import RefusedError
from warpsmith.tree.in_place.pairs import NeedsCopyError, PairedStatements
from warpsmith.tree.in_place.versioned import Run, Versioned, WithCalls
from warpsmith.tree.in_place.within import opens_guard
from warpsmith.tree.in_place.writer import InPlaceWriter, deeper
from warpsmith.tree.in_place.written_twice import check_twice
from warpsmith.tree.nodes import Block, DataRegionBoundary, ExprStmt, For, If, Pragma, Stmt, Switch, Update, While
from warpsmith.tree.text.additions import Addition
from warpsmith.tree.text.places import end_of, is_balanced
from warpsmith.tree.walk import same, statements_of

__all__ = ["call_additions", "can_call"]


def call_additions(writer: InPlaceWriter, called: WithCalls) -> list[Addition]:
    """Return the additions that make the function of the user's the one with calls.

    Raises NeedsCopyError or RefusedError where they cannot be added.
    """
    old, new = called.function.body, called.text.body
    return list(_Calls(writer, called.function).run(old.statements, new.statements, old))


def can_call(writer: InPlaceWriter, called: WithCalls) -> bool:
    """Whether the function with calls can be written in the user's text; `writer` is used up."""
    try:
        call_additions(writer, called)
    except (NeedsCopyError, RefusedError):
        return False
    return True


class _Calls(PairedStatements, frozen=True):
    """The additions to one function."""

    def run(self, old: Run, new: Run, owner: Stmt) -> Iterator[Addition]:
        yield from self.part(old, new, owner, whole=True)

    def part(self, old: Run, new: Run, owner: Stmt, *, whole: bool) -> Iterator[Addition]:
        """Yield the additions to consecutive statements; `whole`: they are all that `owner` has."""
        position = first = 0
        added: list[Stmt] = []
        for stmt in new:
            before = old[position - 1] if position else None
            if _is_choice(stmt) and not (position < len(old) and stmt is old[position]):
                count = _count((stmt,), old[position:])
                yield from self.choice(stmt, old[position : position + count], added, owner)
            elif position < len(old) and _stands_for(old[position], stmt):
                count = 1
                if added:
                    lines = self.lines(added, whole=whole)
                    one = self.between(lines, before, old[position], owner, _is_early(added))
                    yield self.checked(_behind(one, old[first:position]), before, stmt)
                yield from self.pair(old[position], stmt, owner)
            else:
                added.append(stmt)
                continue
            position, first, added = position + count, position, []
        if position != len(old):
            raise NeedsCopyError
        last = old[-1] if old else None
        if added and last is not None and not whole:
            one = self.writer.closes((last,), self.lines(added, whole=whole))
            # the choice around has been checked, from where it opens
            yield _behind(one, old[first:])
        elif added:
            one = self.between(self.writer.texts(added), last, None, owner, early=True)
            yield self.checked(_behind(one, old[first:]), last, None)

    def checked(self, one: Addition, before: Stmt | None, after: Stmt | None) -> Addition:
        """Return an addition that no conditional of the user's cuts off from the statement beside which it stands."""
        beside = before if one.closes else after
        if beside is not None and not beside.span.text.startswith("#endif"):
            start = beside.span.start
            above = self.writer.before((beside,), self.function.body).offset if one.closes else one.place.offset
            start = start if one.place.inside else min(start, above)
            end = end_of(self.writer.file, beside.span.start, beside.span.end)
            if not is_balanced(self.writer.file.text[start:end]):
                raise NeedsCopyError
        return one

    def lines(self, added: list[Stmt], *, whole: bool) -> list[str]:
        """Return added statements; those in a choice stand deeper, whose braces the user's own do not show."""
        lines = self.writer.texts(added)
        return lines if whole else deeper(lines, self.writer.indentation)

    def choice(self, stmt: Stmt, gone: Run, added: list[Stmt], owner: Stmt) -> Iterator[Addition]:
        """Yield the additions around statements that do not always run."""
        if not gone:
            raise NeedsCopyError
        lines = self.writer.texts(added)
        place = self.writer.before(gone, owner)
        self.writer.check_whole(gone, place)
        lead, inside = self._head(stmt, gone)
        several = not (self.writer.is_one(gone, place) and _is_one_of(gone, inside))
        lines += [*lead[:-1], f"{lead[-1]} {{".lstrip()] if several else lead
        if any(lines):
            yield self.writer.opens(place, gone, lines)
        yield from self.part(gone, inside, owner, whole=False)
        if several:
            yield self.writer.closes(gone, ["}"])

    def _head(self, stmt: Stmt, gone: Run) -> tuple[list[str], Run]:
        """Return the lines that open a choice, and what runs in it of the user's."""
        if not isinstance(stmt, If):
            return [""], statements_of(stmt)
        test = f"if ({self.writer.patcher.printer.expr(stmt.condition)})"
        if stmt.other is None:
            check_twice(Versioned(self.function, gone, (), None), kept=False)
            return [test], statements_of(stmt.then)
        ported = statements_of(stmt.then)
        check_twice(Versioned(self.function, gone, ported, None), kept=True)
        if any(opens_guard(part) for part in ported):
            raise NeedsCopyError
        lines = deeper(self.writer.texts(ported), self.writer.indentation)
        return [f"{test} {{", *lines, "} else"], statements_of(stmt.other)

    def pair(self, old: Stmt, new: Stmt, owner: Stmt) -> Iterator[Addition]:
        if isinstance(new, Pragma) and new.alone:
            yield self.writer.clause(old.span, f"if (!{self.writer.words.on})")
            return
        yield from super().pair(old, new, owner)

    def replaced(self, old: Stmt, new: Stmt, owner: Stmt) -> Iterator[Addition]:
        raise NeedsCopyError

    def otherwise(self, old: If, statements: Run) -> Iterator[Addition]:
        lines = deeper(self.writer.texts(statements), self.writer.indentation)
        yield self.writer.closes((old.then,), ["else {", *lines, "}"])


def _behind(one: Addition, run: Run) -> Addition:
    """Return what stands behind the statements `run`, and behind the end of a choice around all of them."""
    return replace(one, start=min(one.start, run[0].span.start)) if one.closes and run else one


def _is_choice(stmt: Stmt) -> bool:
    """Whether a statement is none of the user's, but has some of his in it."""
    if isinstance(stmt, Block):
        return not stmt.span.text.startswith("{")
    return isinstance(stmt, If) and bool(stmt.reasons)


def _is_one_of(gone: Run, inside: Run) -> bool:
    """Whether what runs is the user's statements and nothing else."""
    return len(gone) == len(inside) and all(_stands_for(old, new) for old, new in zip(gone, inside, strict=True))


def _count(new: Run, old: Run) -> int:
    """Return how many of the statements `old`, from the first one on, stand in `new`, choices seen through."""
    position = 0
    for stmt in new:
        if isinstance(stmt, If) and stmt.reasons:
            position += _count(statements_of(stmt.then if stmt.other is None else stmt.other), old[position:])
        elif position < len(old) and _stands_for(old[position], stmt):
            position += 1
        elif isinstance(stmt, Block):
            position += _count(stmt.statements, old[position:])
    return position


def _stands_for(old: Stmt, new: Stmt) -> bool:
    """Whether `new` is a statement of the user's, which may have additions in it."""
    if new is old:
        return True
    place = (old.span.file, old.span.start, old.span.end)
    if type(old) is not type(new) or place != (new.span.file, new.span.start, new.span.end):
        return False
    match new:
        case If(reasons=reasons) if reasons:
            return False
        case Block() | For() | While() | If() | Switch():
            return True
        case Pragma(alone=True):
            return True
        case _:
            return same(old, new)


def _is_early(added: list[Stmt]) -> bool:
    """Whether statements belong to what is before them: they end the life of something, or tell what it wrote."""
    match added[0]:
        case ExprStmt():
            return True
        case Update(to_device=to_device):
            return to_device
        case DataRegionBoundary(opens=opens):
            return not opens
        case _:
            return False
