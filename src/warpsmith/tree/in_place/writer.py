"""The writer of the additions to one file: places in the user's text, names that are free, statements as lines."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from warpsmith.base.errors import RefusedError
from warpsmith.base.findings import Finding
from warpsmith.base.source import SourceFile, Span
from warpsmith.tree.in_place.beside import beside
from warpsmith.tree.in_place.versioned import InPlaceWords, Run, Versioned
from warpsmith.tree.nodes import Pragma, Stmt
from warpsmith.tree.printing.patch import Patcher
from warpsmith.tree.printing.printer import join_lines
from warpsmith.tree.program import Unit
from warpsmith.tree.text.additions import MACRO, Addition
from warpsmith.tree.text.layout import indent_at, indent_text, indentation_unit
from warpsmith.tree.text.lexical import identifiers, tokens
from warpsmith.tree.text.places import (
    InsertionPoint,
    bound_pragmas,
    end_of,
    is_balanced,
    is_bound_by_openmp,
    place_after,
    place_before,
    place_between,
)

__all__ = ["InPlaceWriter", "deeper", "takes_any_arguments"]


class InPlaceWriter:
    """Writes additions to one unit. `flags` counts the names given in each function; `checks` are additions by the
    statement that they belong to, which stop a build that leaves out what is added in a conditional of the user's."""

    def __init__(self, unit: Unit, words: InPlaceWords) -> None:
        self.unit = unit
        self.words = words
        self.flags: dict[str, int] = {}
        self.checks: dict[int, tuple[Addition, ...]] = {}
        self.patcher = Patcher(self.unit.functions, self.words, self.indentation)
        self.taken = identifiers(self.unit.file.text)
        self.mark = next(name for n in range(1, len(self.taken) + 2) if (name := f"{MACRO}_{n}") not in self.taken)

    @property
    def file(self) -> SourceFile:
        """The user's file."""
        return self.unit.file

    @property
    def indentation(self) -> str:
        """One step of its indentation."""
        return indentation_unit(self.unit.file.text)

    # --- names

    def flag(self, function: str) -> str:
        """Return a free name for a variable of `function` that remembers whether the device is in use."""
        while True:
            number = self.flags[function] = self.flags.get(function, 0) + 1
            name = f"{self.words.flag}{number if number > 1 else ''}"
            if name not in self.taken:
                return name

    # --- places

    def before(self, run: Run, owner: Stmt) -> InsertionPoint:
        """Return the place before the statements `run`, above their pragmas."""
        lower, start = owner.span.start, run[0].span.start
        end = end_of(self.file, start, run[-1].span.end)
        try:
            place = place_before(self.file, run[0].span, end, lower)
        except RefusedError:
            found = self._beside(run, lower) if is_balanced(self.file.text[start:end]) else None
            if found is None:
                raise
            place = found
        else:
            place = self._beside(run, lower) or place if self._cuts(place, run, lower) else place
        return replace(place, indent=self.indent(run))

    def between(self, lower: int, stmt: Stmt, *, early: bool) -> InsertionPoint:
        """Return a place between the code before `stmt` and `stmt`."""
        place = place_between(self.file, lower, stmt.span.start, self.indent((stmt,)), early=early)
        found = self._beside((stmt,), lower) if not early and self._cuts(place, (stmt,), lower) else None
        return place if found is None else replace(found, indent=place.indent)

    def _cuts(self, place: InsertionPoint, run: Run, lower: int) -> bool:
        """Whether a place is compiled where `run` is not, or stands between `run` and a pragma of its own, as text that
        the build leaves out may hide it."""
        start = run[0].span.start
        bound = bound_pragmas(self.file, lower, start, self._find_left_out())
        return not is_balanced(self.file.text[place.offset : start]) or any(p.start < place.offset for p in bound)

    def _beside(self, run: Run, lower: int) -> InsertionPoint | None:
        """Return the place beside the pragmas of `run` in a conditional that they share with other code."""
        found = beside(self.file, run, lower, self._find_left_out(), self.mark)
        if found is not None:
            self.checks.setdefault(run[0].span.start, found[1])
        return None if found is None else found[0]

    def _find_left_out(self) -> list[tuple[int, int]]:
        return [(s.start, s.end) for s in self.unit.left_out if s.file is self.file]

    def after(self, run: Run) -> InsertionPoint:
        """Return the place after the statements `run`."""
        end = end_of(self.file, run[0].span.start, run[-1].span.end)
        return replace(place_after(self.file, end), indent=self.indent(run))

    def clause(self, pragma: Span, text: str) -> Addition:
        """Return a clause behind those of a pragma."""
        if not pragma.text.startswith("#") or not takes_any_arguments(self.unit.arguments):
            raise RefusedError(Finding("POR008", "error", "no clause can be added to this pragma", pragma))
        code = [token for token in tokens(pragma.text) if token.kind not in ("blank", "newline", "comment")]
        end = pragma.start + code[-1].end
        place = InsertionPoint(end, indent_at(self.file, pragma.start), splits=False)
        return Addition(place, (text,), pragma.start, pragma.end, closes=True, clause=True)

    def indent(self, run: Run) -> str:
        """Return how deep `run` stands; a pragma may stand anywhere."""
        model = next((stmt for stmt in run if not isinstance(stmt, Pragma)), None)
        if model is not None:
            return indent_at(self.file, model.span.start)
        following = range(run[-1].span.end_line + 1, self.file.line_count)
        code = (n for n in following if not self.file.line(n).lstrip().startswith(("#", "//", "/*")))
        return indent_at(self.file, self.file.offset(next(code, run[0].span.line)))

    def check_place(self, version: Versioned) -> None:
        """Refuse what stands inside parentheses: a macro's arguments may hold no `#ifdef`."""
        start = version.written[0].span.start
        text = self.file.text[version.function.body.span.start : start]
        if _depth(text) > 0:
            message = "the loop stands inside parentheses (a macro's arguments?), where nothing can be added"
            raise RefusedError(Finding("POR008", "error", message, version.written[0].span))

    def check_whole(self, run: Run, place: InsertionPoint) -> None:
        """Refuse a conditional that starts or ends between `place` and the end of the statements `run`."""
        start = run[0].span.start if place.inside else place.offset
        if not is_balanced(self.file.text[start : self.after(run).offset]):
            message = "a preprocessor conditional starts or ends inside the region: nothing can be added to it"
            raise RefusedError(Finding("POR008", "error", message, run[0].span))

    def is_one(self, run: Run, place: InsertionPoint) -> bool:
        """Whether statements are one that may be the body of an `if` at a place, with what pragmas it has."""
        *pragmas, stmt = run
        if not all(isinstance(one, Pragma) for one in pragmas) or isinstance(stmt, Pragma):
            return False
        start = min(place.offset, run[0].span.start)
        return start == stmt.span.start or is_bound_by_openmp(self.file, start, stmt.span.start)

    # --- lines

    def write_test(self, version: Versioned) -> str:
        """Return what must hold for the port to run."""
        if version.condition is None:
            return self.words.on
        return f"{self.words.on} && ({self.patcher.printer.expr(version.condition)})"

    def texts(self, statements: Sequence[Stmt], indent: str = "") -> list[str]:
        """Return printed statements as lines behind `indent`."""
        printed = (join_lines(self.patcher.printer.stmt(s), self.indentation) for s in statements)
        return [indent + indent_text(text, indent) for text in printed]

    def opens(self, place: InsertionPoint, run: Run, lines: Sequence[str]) -> Addition:
        """Return lines that stand before the statements `run`."""
        return Addition(place, tuple(lines), run[0].span.start, run[-1].span.end, closes=False)

    def closes(self, run: Run, lines: Sequence[str]) -> Addition:
        """Return lines that stand behind the statements `run`."""
        return Addition(self.after(run), tuple(lines), run[0].span.start, run[-1].span.end, closes=True)

    def braces(self, place: InsertionPoint, run: Run, owner: Stmt, *, by: int = 0) -> tuple[Addition, Addition]:
        """Return braces, as deep as its owner, around a body that has none; outside of what else is added (`by`)."""
        indent, start, end = indent_at(self.file, owner.span.start), run[0].span.start, run[-1].span.end
        opening = Addition(replace(place, indent=indent), ("{",), start, end + by, closes=False)
        return opening, Addition(replace(self.after(run), indent=indent), ("}",), start - by, end, closes=True)


def deeper(lines: Sequence[str], unit: str) -> list[str]:
    """Return lines one step further to the right."""
    return [unit + indent_text(line, unit) for line in lines]


def _depth(text: str) -> int:
    return sum((t.sign in ("(", "[")) - (t.sign in (")", "]")) for t in tokens(text))


def takes_any_arguments(arguments: Sequence[str]) -> bool:
    """Whether a build takes macros with `...`: it need not where it keeps to C of 1990."""
    old = any(one in ("-ansi", "-std=c89", "-std=c90", "-std=iso9899:1990") for one in arguments)
    return not (old and any("pedantic" in one for one in arguments))
