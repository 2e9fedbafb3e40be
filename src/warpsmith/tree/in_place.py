"""The port inside the user's own file: additions behind one `#ifdef`, the user's lines as they were.

    #ifdef WARPSMITH
        if (ws_on() && guards) { ported } else
    #endif
        for (…) …                                the user's loop, byte for byte

A home with host code between its kernels is not written twice: a flag is set where it is entered, and what is added
asks for it.

    #ifdef WARPSMITH
        const int ws_gpu = ws_on() && guards;
        double *A_gpu = 0;
        if (ws_gpu) { A_gpu = acquire; copy }
    #endif
        for (k …) {                              the user's
    #ifdef WARPSMITH
            if (ws_gpu) { launch } else
    #endif
            for (i …) …                          the user's
        }

Invariant: taking the added text out again gives the user's bytes but for line ends where a line had to be split; what
the preprocessor leaves without WARPSMITH are the user's tokens. Every `if … else` that is added has braces where an
`else` or a pragma of the user's could bind to it.

Limits: nothing is added inside a macro's text or arguments, nor where a conditional of the user's starts or ends inside
a statement; that is refused. A home that rewrites a declaration is written out a second time, in the ported branch.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from warpsmith.base.errors import RefusedError
from warpsmith.base.findings import Finding
from warpsmith.base.source import Edit, SourceFile, Span, apply_edits
from warpsmith.tree.additions import MACRO, Addition, as_edits, wrapped_in
from warpsmith.tree.alignment import aligned, is_replaced
from warpsmith.tree.in_place_instances import by_text, instances
from warpsmith.tree.layout import indent_at, indentation_unit, indented, line_end, wrapped
from warpsmith.tree.lexical import identifiers, tokens
from warpsmith.tree.nodes import (
    Block,
    Case,
    Copy,
    DataEnter,
    DataExit,
    DataHold,
    DeclStmt,
    DeviceAlloc,
    DeviceFree,
    For,
    Function,
    If,
    Member,
    Name,
    Pragma,
    Stmt,
    Switch,
    VarDecl,
    While,
)
from warpsmith.tree.openers import opener_insertions
from warpsmith.tree.patch import Patcher, include_offset, openers_in
from warpsmith.tree.places import Place, is_balanced, place_after, place_before, place_beside, place_between
from warpsmith.tree.printer import join_lines
from warpsmith.tree.program import Unit
from warpsmith.tree.types import Pointer, Scalar
from warpsmith.tree.versioned import InPlaceWords, Inserted, InsertionError, Run, Versioned
from warpsmith.tree.walk import same, walk
from warpsmith.tree.written_twice import check_twice

__all__ = ["in_place_text"]


def in_place_text(
    unit: Unit,
    versions: Sequence[Versioned],
    inserted: Sequence[Inserted],
    words: InPlaceWords,
    includes: tuple[str, ...],
) -> str:
    """Return the text of `unit` with `versions` of its statements and what is `inserted` between them added, and
    `includes` after the file's own.

    Raises RefusedError where something cannot be added, InsertionError where that is `inserted`.
    """
    if not versions and not inserted:
        return unit.file.text
    pen = _Pen(unit, words)
    if MACRO in pen.taken:
        message = f"the file has a macro {MACRO} of its own, which a build for the GPU defines"
        place = versions[0].written[0].span if versions else inserted[0].node.span
        raise RefusedError(Finding("POR008", "error", message, place))
    added = [one for new in inserted for one in _beside(pen, new, versions)]
    added = (
        [one for one in added if not one.closes]
        + [one for group in by_text(versions) for one in pen.group(group, versions)]
        + [one for one in added if one.closes]
    )
    edits = as_edits(unit.file, added)
    first = min(edit.span.start for edit in edits)
    offset = include_offset(unit.file, _function_start(unit, first))
    before = "" if not offset or unit.file.text[:offset].endswith("\n") or offset == 3 else "\n"
    lines = (before + wrapped_in(includes)).replace("\n", line_end(unit.file.text))
    made = _openers(unit, edits, versions)
    return apply_edits(unit.file, [*edits, Edit(Span(unit.file, offset, offset), lines), *made])


def _beside(pen: _Pen, new: Inserted, versions: Sequence[Versioned]) -> list[Addition]:
    try:
        return list(pen.inserted(new, versions))
    except RefusedError as error:
        raise InsertionError(new.function, *error.findings) from error


def _openers(unit: Unit, edits: Sequence[Edit], versions: Sequence[Versioned]) -> list[Edit]:
    """Return what makes private members known that the additions name."""
    ported = (p for v in versions for s in (*v.ported, *v.before) for p in walk(s) if isinstance(p, Member))
    known = [*openers_in(unit), *(part.opener for part in ported if part.opener is not None)]
    places: dict[int, list[str]] = {}
    for place, lines in opener_insertions(unit.file, edits, known, guarded=True):
        places.setdefault(place, []).extend(lines)
    end = line_end(unit.file.text)
    return [Edit(Span(unit.file, p, p), wrapped_in(lines).replace("\n", end)) for p, lines in places.items()]


def _function_start(unit: Unit, offset: int) -> int:
    """Return where the top-level item around `offset` starts."""
    return max((item.span.start for item in unit.items if item.span.start <= offset), default=0)


class _NeedsCopyError(Exception):
    """The home cannot be written as additions between the user's statements."""


@dataclass(slots=True)
class _Pen:
    """Writes additions to one unit."""

    unit: Unit
    words: InPlaceWords
    flags: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.patcher = Patcher(self.unit.functions, self.words, self.indentation)
        self.taken = identifiers(self.unit.file.text)

    patcher: Patcher = field(init=False)
    taken: set[str] = field(init=False)

    @property
    def file(self) -> SourceFile:
        return self.unit.file

    @property
    def indentation(self) -> str:
        return indentation_unit(self.unit.file.text)

    # --- one home

    def group(self, group: Sequence[Versioned], all_versions: Sequence[Versioned]) -> list[Addition]:
        """Return the additions for the homes of one text."""
        if not group[0].instance:
            return self.version(group[0], all_versions)
        self._check_place(group[0])
        return instances(self, group)

    def tested(self, version: Versioned) -> str:
        """Return what must hold for the port to run."""
        return self.words.on if version.condition is None else f"{self.words.on} && {self._condition(version)}"

    def version(self, version: Versioned, all_versions: Sequence[Versioned]) -> list[Addition]:
        """Return the additions for one home."""
        self._check_place(version)
        if not _kept(version.written, version.ported):
            return self._instead(version)
        flag = self._flag(version.function.symbol.name)
        try:
            inner = _Additions(self, flag, version).edits()
        except _NeedsCopyError:
            return self._instead(version)
        condition = self.tested(version)
        owner = version.function.body
        first = self.between(owner.span.start, version.written[0], early=False)
        fallback = [self._unless(flag, statements) for statements in version.fallback]
        edits = [self.opens(first, version.written, [f"const int {flag} = {condition};", *fallback[0]]), *inner]
        if fallback[1]:
            edits.append(self.closes(version.written, fallback[1]))
        closed = _is_lone(version) or bool(version.before) or _shares_names(version, all_versions)
        return self._closed(version, first, edits) if closed else edits

    def _closed(self, version: Versioned, first: Place, edits: list[Addition]) -> list[Addition]:
        """Return additions in braces of their own, the port's declarations first; what else is inserted beside the home
        stands inside as well."""
        run = version.written
        last = self.after(run)
        if not is_balanced(self.file.text[first.offset : last.offset]):
            raise _cut(version)
        opening = ("{", *self.texts(version.before))
        return [
            Addition(first, opening, run[0].span.start, run[-1].span.end + 1, closes=False),
            *edits,
            Addition(last, ("}",), run[0].span.start - 1, run[-1].span.end, closes=True),
        ]

    def inserted(self, new: Inserted, versions: Sequence[Versioned]) -> Iterator[Addition]:
        """Yield what stands beside a statement outside of every home, or around a home."""
        body, node = new.function.body, new.node
        holds = tuple(stmt for stmt in new.statements if isinstance(stmt, DataHold))
        lines = self.texts([stmt for stmt in new.statements if stmt not in holds])
        home = next((v for v in versions if node.span in (v.written[0].span, v.written[-1].span)), None)
        self._check_names(new, () if home is None else home.before)
        run: Run = (node,) if home is None else home.written
        if new.where == "within":
            indent = indent_at(self.file, node.span.start) + self.indentation
            place = place_between(self.file, node.span.start, node.span.end - 1, indent, early=True)
            yield Addition(place, tuple(lines), node.span.end, node.span.end, closes=True)
            return
        if new.where == "else":
            yield from self._else(node, lines)
            return
        lone = _is_body(new.function, node) and not (home is not None and _is_lone(home))
        place = self.before(run, body)
        if new.where == "before":
            yield self.opens(place, run, lines)
        else:
            yield self.closes(run, lines)
        if holds:
            yield self._outside(place, run, self.texts(holds), closes=new.where != "before")
        if lone:
            yield self._outside(place, run, ["{"], closes=False, by=3)
            yield self._outside(place, run, ["}"], closes=True, by=3)

    def _outside(self, place: Place, run: Run, lines: Sequence[str], *, closes: bool, by: int = 2) -> Addition:
        """Return lines that stand outside of what is added around `run`: what they declare is known behind it. The
        braces of a body that had none stand outside of them (`by`)."""
        start, end = run[0].span.start, run[-1].span.end
        if closes:
            return Addition(self.after(run), tuple(lines), start - by, end, closes=True)
        return Addition(place, tuple(lines), start, end + by, closes=False)

    def _check_names(self, new: Inserted, declared: Run) -> None:
        """Refuse a statement that names a variable which only a step has made."""
        user = next(f for f in self.unit.functions if f.span == new.function.span)
        known = {*user.parameters, *(part.symbol for part in walk(user.body) if isinstance(part, VarDecl))}
        known |= {part.symbol for stmt in declared for part in walk(stmt) if isinstance(part, VarDecl)}
        known |= {part.variable for part in walk(user.body) if isinstance(part, For)}
        used = {part.symbol for stmt in new.statements for part in walk(stmt) if isinstance(part, Name)}
        strange = next((s.name for s in sorted(used - known, key=lambda s: s.key) if s.storage == "local"), None)
        if strange is not None:
            message = f"what the device needs to know here is said with {strange}, which is not in the user's text"
            raise RefusedError(Finding("POR008", "error", message, new.node.span))

    def _else(self, node: Stmt, lines: list[str]) -> Iterator[Addition]:
        """Yield an `else` branch for an `if` that has none."""
        if not isinstance(node, If):
            raise ValueError("only an `if` can have an `else`")
        if not node.then.span.text.startswith("{"):
            yield self.opens(self.before((node.then,), node), (node.then,), ["{"])
            lines = ["} else {", *_deeper(lines, self.indentation), "}"]
        else:
            lines = ["else {", *_deeper(lines, self.indentation), "}"]
        yield self.closes((node.then,), lines)

    def _instead(self, version: Versioned) -> list[Addition]:
        """Write `if (on && guards) { ported } else` before the user's statements."""
        check_twice(version, kept=_kept(version.written, version.ported))
        condition = self.tested(version)
        closed = _is_lone(version) or bool(version.before)
        before, after = (self.texts(statements, self.indentation) for statements in version.fallback)
        alone = len(version.written) == 1 and not (before or after)
        beside = self._beside(version) if alone and not closed else None
        start = beside or self.before(version.written, version.function.body)
        several = not alone or (start.above and beside is None)
        body = self.texts(version.ported, self.indentation)
        lead = [f"if ({condition}) {{", *body, "} else {" if several else "} else", *before]
        edits = [self.opens(start, version.written, lead)]
        if several:
            edits.append(self.closes(version.written, [*after, "}"]))
        return self._closed(version, start, edits) if closed else edits

    def _unless(self, flag: str, statements: Run) -> list[str]:
        """Return statements that run where the device is not in use."""
        lines = self.texts(statements)
        return [f"if (!{flag}) {{", *_deeper(lines, self.indentation), "}"] if lines else []

    def _beside(self, version: Versioned) -> Place | None:
        """Return the place of what one statement is preceded by where its pragmas share a conditional with other code:
        a build that leaves them out leaves out the port as well. Not for data that a hold may keep on the device: that
        build's own loop would not find them."""
        if any(isinstance(part, DataEnter) for stmt in version.ported for part in walk(stmt)):
            return None
        (stmt,), body = version.written, version.function.body
        place = place_beside(self.file, stmt.span.start, body.span.start)
        pragmas = [n for n in walk(body) if isinstance(n, Pragma) and place and n.span.start >= place.offset]
        left_out = any(n.left_out for n in pragmas if n.span.start < stmt.span.start)
        return None if place is None or left_out else replace(place, indent=self.indent((stmt,)))

    def _condition(self, version: Versioned) -> str:
        assert version.condition is not None
        return f"({self.patcher.printer.expr(version.condition)})"

    def _flag(self, function: str) -> str:
        while True:
            number = self.flags[function] = self.flags.get(function, 0) + 1
            name = f"{self.words.flag}{number if number > 1 else ''}"
            if name not in self.taken:
                return name

    def _check_place(self, version: Versioned) -> None:
        """Refuse what stands inside parentheses: a macro's arguments may hold no `#ifdef`."""
        start = version.written[0].span.start
        text = self.file.text[version.function.body.span.start : start]
        if _depth(text) > 0:
            message = "the loop stands inside parentheses (a macro's arguments?), where nothing can be added"
            raise RefusedError(Finding("POR008", "error", message, version.written[0].span))

    # --- text

    def texts(self, statements: Sequence[Stmt], indent: str = "") -> list[str]:
        """Return printed statements as lines behind `indent`."""
        printed = (join_lines(self.patcher.printer.stmt(s), self.indentation) for s in statements)
        return [indent + indented(text, indent) for text in printed]

    def before(self, run: Run, owner: Stmt) -> Place:
        """Return the place before the statements `run`."""
        place = place_before(self.file, run[0].span, run[-1].span.end, owner.span.start)
        return replace(place, indent=self.indent(run))

    def after(self, run: Run) -> Place:
        """Return the place after the statements `run`."""
        return replace(place_after(self.file, run[-1].span.end), indent=self.indent(run))

    def indent(self, run: Run) -> str:
        """Return how deep `run` stands; a pragma may stand anywhere."""
        model = next((stmt for stmt in run if not isinstance(stmt, Pragma)), None)
        if model is not None:
            return indent_at(self.file, model.span.start)
        following = range(run[-1].span.end_line + 1, self.file.line_count)
        code = (n for n in following if not self.file.line(n).lstrip().startswith(("#", "//", "/*")))
        return indent_at(self.file, self.file.offset(next(code, run[0].span.line)))

    def between(self, lower: int, stmt: Stmt, *, early: bool) -> Place:
        """Return a place between the code before `stmt` and `stmt`."""
        return place_between(self.file, lower, stmt.span.start, self.indent((stmt,)), early=early)

    def opens(self, place: Place, run: Run, lines: Sequence[str]) -> Addition:
        """Return lines that stand before the statements `run`."""
        return Addition(place, tuple(lines), run[0].span.start, run[-1].span.end, closes=False)

    def closes(self, run: Run, lines: Sequence[str]) -> Addition:
        """Return lines that stand behind the statements `run`."""
        return Addition(self.after(run), tuple(lines), run[0].span.start, run[-1].span.end, closes=True)


@dataclass(frozen=True, slots=True)
class _Additions:
    """The additions inside one home that is not written twice."""

    pen: _Pen
    flag: str
    version: Versioned

    def edits(self) -> list[Addition]:
        """Return them in source order; raises _NeedsCopyError where a declaration would have to change."""
        return list(self._run(self.version.written, self.version.ported, self.version.function.body))

    def _run(self, old: Run, new: Run, owner: Stmt) -> Iterator[Addition]:
        """Yield the additions that make `new` of the consecutive statements `old`."""
        pairs = [*aligned(old, new), (len(old), len(new))]
        old_start = new_start = 0
        for i, j in pairs:
            gone, come = old[old_start:i], new[new_start:j]
            after = old[i] if i < len(old) else None
            if gone or come:
                yield from self._gap(gone, come, old[old_start - 1] if old_start else None, after, owner)
            if after is not None:
                yield from self._pair(after, new[j], owner)
            old_start, new_start = i + 1, j + 1

    def _gap(self, gone: Run, come: Run, before: Stmt | None, after: Stmt | None, owner: Stmt) -> Iterator[Addition]:
        declared, body = self._come(come)
        if gone:
            yield from self._replaced(gone, declared, body, owner)
            return
        lines = [*declared, *self._guarded(body)]
        yield self._between(_early(come), lines, before, after, owner)

    def _between(self, early: bool, lines: list[str], before: Stmt | None, after: Stmt | None, owner: Stmt) -> Addition:
        """Return statements that stand between two others, behind the first rather than before the second (`early`)."""
        if isinstance(before, Pragma):
            early = False
        lower = owner.span.start if before is None else before.span.end
        if after is not None:
            place = self.pen.between(lower, after, early=early)
            run, closes = ((before,), True) if early and before is not None else ((after,), False)
            return Addition(place, tuple(lines), run[0].span.start, run[-1].span.end, closes)
        # the home's own run need not reach the end of the function's body, which stands for what is around it
        around = owner is self.version.function.body or not isinstance(owner, Block)
        if before is not None and around:
            return self.pen.closes((before,), lines)
        file = owner.span.file
        indent = indent_at(file, owner.span.start) + self.pen.indentation
        indent = indent if before is None else indent_at(file, before.span.start)
        place = place_between(file, lower, owner.span.end - 1, indent, early=True)
        start = owner.span.end if before is None else before.span.start
        return Addition(place, tuple(lines), start, owner.span.end, closes=True)

    def _replaced(self, gone: Run, declared: list[str], body: list[str], owner: Stmt) -> Iterator[Addition]:
        if any(isinstance(stmt, DeclStmt) for stmt in gone):
            raise _NeedsCopyError
        place = self.pen.before(gone, owner)
        several = len(gone) > 1 or place.above
        if body:
            lead = [*declared, *self._guarded(body)]
            otherwise = "else {" if several else "else"
            lead = [*lead, otherwise] if _is_one_line(body) else [*lead[:-1], f"}} {otherwise}"]
        else:
            lead = [*declared, f"if (!{self.flag}) {{" if several else f"if (!{self.flag})"]
        yield self.pen.opens(place, gone, lead)
        if several:
            yield self.pen.closes(gone, ["}"])

    def _come(self, come: Run) -> tuple[list[str], list[str]]:
        """Return what `come` declares, and what it does, as lines."""
        declared: list[str] = []
        body: list[str] = []
        for stmt in come:
            if isinstance(stmt, DeclStmt):
                declared += self._declarations(stmt)
                body += self._assignments(stmt)
            elif isinstance(stmt, DeviceAlloc | DataEnter):
                declaration, assignment = self.pen.words.declared(stmt, self.pen.patcher.printer.expr)
                declared.append(declaration)
                body.append(wrapped(assignment))
            else:
                body += self.pen.texts([stmt])
        return declared, body

    def _declarations(self, stmt: DeclStmt) -> Iterator[str]:
        """Yield declarations of the port's own variables; they get their values where the device is in use."""
        for declaration in stmt.declarations:
            symbol = declaration.symbol
            const = isinstance(symbol.type, Scalar | Pointer) and getattr(symbol.type, "const", False)
            if not isinstance(symbol.type, Scalar | Pointer) or const or symbol.storage != "local":
                raise _NeedsCopyError
            yield f"{self.pen.patcher.printer.type(symbol.type, symbol.name)} = 0;"

    def _assignments(self, stmt: DeclStmt) -> Iterator[str]:
        for declaration in stmt.declarations:
            if declaration.init is not None:
                yield f"{declaration.symbol.name} = {self.pen.patcher.printer.slot(declaration, declaration.init)};"

    def _guarded(self, body: list[str]) -> list[str]:
        """Return statements that run where the device is in use."""
        if not body:
            return []
        inner = _deeper(body, self.pen.indentation)
        return [f"if ({self.flag})", *inner] if _is_one_line(body) else [f"if ({self.flag}) {{", *inner, "}"]

    # --- two statements that stand for each other

    def _pair(self, old: Stmt, new: Stmt, owner: Stmt) -> Iterator[Addition]:
        if old is new or same(old, new):
            return
        match old, new:
            case _ if is_replaced(old, new):
                declared, body = self._come((new,))
                yield from self._replaced((old,), declared, body, owner)
            case Block(), Block():
                yield from self._run(old.statements, new.statements, old)
            case For(), For():
                yield from self._body(old.body, new.body, old)
            case While(), While():
                yield from self._body(old.body, new.body, old)
            case If(), If():
                yield from self._branches(old, new)
            case Switch(), Switch():
                for one, other in zip(old.cases, new.cases, strict=True):
                    yield from self._run(one.body, other.body, _as_owner(one))

    def _branches(self, old: If, new: If) -> Iterator[Addition]:
        added = old.other is None and new.other is not None
        yield from self._body(old.then, new.then, old, closed=added)
        if new.other is None:
            if old.other is not None:
                raise _NeedsCopyError
        elif old.other is not None:
            yield from self._body(old.other, new.other, old)
        else:
            declared, body = self._come(_statements(new.other))
            if declared:
                raise _NeedsCopyError
            lines = [f"else if ({self.flag}) {{", *_deeper(body, self.pen.indentation), "}"]
            yield self.pen.closes((old.then,), lines)

    def _body(self, old: Stmt, new: Stmt, owner: Stmt, *, closed: bool = False) -> Iterator[Addition]:
        """Yield the additions in a body; one without braces gets them where something is added."""
        if isinstance(old, Block) and old.span.text.startswith("{"):
            if not (isinstance(new, Block) and new.span == old.span):
                raise _NeedsCopyError
            yield from self._pair(old, new, owner)
            return
        inner = list(self._run((old,), _statements(new) if _is_made(new) else (new,), owner))
        if not inner and not closed:
            return
        yield self.pen.opens(self.pen.before((old,), owner), (old,), ["{"])
        yield from inner
        yield self.pen.closes((old,), ["}"])


def _cut(version: Versioned) -> RefusedError:
    message = "a preprocessor conditional starts or ends inside the region: nothing can be added to it"
    return RefusedError(Finding("POR008", "error", message, version.written[0].span))


def _early(come: Run) -> bool:
    """Whether statements belong to what is before them: they end the life of something."""
    first = come[0]
    return isinstance(first, DeviceFree | DataExit) or (isinstance(first, Copy) and not first.to_device)


def _is_made(body: Stmt) -> bool:
    """Whether a body is a rewritten run, and no block of the user's."""
    return isinstance(body, Block) and not body.span.text.startswith("{")


def _as_owner(case: Case) -> Stmt:
    return case.body[0] if case.body else Block(span=case.span, statements=())


def _statements(stmt: Stmt) -> Run:
    return stmt.statements if isinstance(stmt, Block) else (stmt,)


def _is_one_line(body: Sequence[str]) -> bool:
    return len(body) == 1 and "\n" not in body[0] and body[0].endswith(";")


def _deeper(lines: Sequence[str], unit: str) -> list[str]:
    return [unit + indented(line, unit) for line in lines]


def _kept(written: Run, ported: Run) -> bool:
    """Whether a statement of the user's is still there in the port."""
    return bool(aligned(written, ported))


def _is_lone(version: Versioned) -> bool:
    """Whether the statements are the unbraced body of a loop or branch."""
    return _is_body(version.function, version.written[0])


def _is_body(function: Function, stmt: Stmt) -> bool:
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


def _depth(text: str) -> int:
    return sum((t.text in ("(", "[")) - (t.text in (")", "]")) for t in tokens(text) if t.kind == "other")
