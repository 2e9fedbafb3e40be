"""Statements of the tree from the worker's rows.

Spans reach to the statement's `;`. What stands between the statements of a block as preprocessor lines becomes nodes
of its own: a pragma is a `Pragma`; any other line is a `Verbatim` without effects, which keeps a rewriting from
swallowing it. Inside a loop, a line of a conditional is a `Pragma` that says nothing, since a port is of the build at
hand, and no other is built from it (emit/host/build_macros.py); where another compiler takes another branch
(`#ifdef __clang__`), it may touch everything that this names: no port knows of that one. A loop that has no plain text
of its own (its header is a macro, a conditional splits it) stays a loop, with its whole text as a `Verbatim` body.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from warpsmith.base.c_text import words_anywhere
from warpsmith.base.source import Span
from warpsmith.front.c.cases import has_case, labels_before
from warpsmith.front.c.context import Context, FileText
from warpsmith.front.c.counted.canonical import recognize
from warpsmith.front.c.counted.dead import without_dead
from warpsmith.front.c.counted.writes import Knowledge
from warpsmith.front.c.declarations import Declarations
from warpsmith.front.c.expressions import MAX_DEPTH, Expressions
from warpsmith.front.c.jumps.nest import leave_loops, nest_jumps
from warpsmith.front.c.jumps.words import label_name, make_goto
from warpsmith.front.c.macro_statements import expand_statement
from warpsmith.front.c.pragma_lines import macro_pragmas, pragma_line
from warpsmith.front.c.scan import CONDITIONALS, ScannedDirective, bare
from warpsmith.front.clang import kinds
from warpsmith.front.clang.wire import ELSEWHERE
from warpsmith.front.cxx.objects import address, before, is_lvalue
from warpsmith.front.cxx.statements import LEAVES_OBJECTS, CxxStatements
from warpsmith.tree.nodes import (
    Block,
    Break,
    Case,
    Cast,
    Continue,
    DeclStmt,
    Empty,
    Expr,
    ExprStmt,
    For,
    If,
    Pragma,
    Return,
    Stmt,
    Switch,
    Verbatim,
    While,
)
from warpsmith.tree.types import Pointer, Symbol, Type

__all__ = ["Statements"]

_LOOPS: Final = {kinds.FOR: "for", kinds.WHILE: "while", kinds.DO: "do", kinds.RANGE_FOR: "for"}
_LABELS = frozenset({kinds.LABEL, kinds.CASE, kinds.DEFAULT})
_WITH_BODIES = frozenset({kinds.FOR, kinds.WHILE, kinds.IF})
_WITH_SEMICOLON = frozenset(
    {kinds.BREAK, kinds.CONTINUE, kinds.RETURN, kinds.GOTO, kinds.INDIRECT_GOTO, kinds.DO, kinds.ASM}
)
_REASONS = {
    kinds.GOTO: "goto",
    kinds.INDIRECT_GOTO: "a computed goto",
    kinds.LABEL: "a label",
    kinds.ASM: "inline assembly",
    kinds.TRY: "try",
    kinds.CASE: "a case label inside another statement",
    kinds.DEFAULT: "a case label inside another statement",
}
_LEAVES = frozenset({
    kinds.GOTO, kinds.INDIRECT_GOTO, kinds.LABEL, kinds.BREAK, kinds.CONTINUE, kinds.RETURN, kinds.CASE, kinds.DEFAULT,
    kinds.ASM, kinds.THROW, kinds.TRY,
})  # fmt: skip
_UNKNOWN_FORM = "a statement that is not modelled"
_MACRO_STATEMENT = "a macro that makes statements"
_MACRO_CONTROL = "a macro that makes control flow"
_CONDITIONAL = "a preprocessor conditional inside the loop"


class Statements:
    """Builds the statements of one function; `visible` has declaration rows by name, for text that clang skipped."""

    def __init__(self, context: Context, text: FileText, knowledge: Knowledge, visible: dict[str, list[int]]) -> None:
        self.context = context
        self.table = context.table
        self.text = text
        self.knowledge = knowledge
        self.visible = visible
        self.expressions = Expressions(context, text, knowledge)
        self.declarations = Declarations(context, text, self.expressions)
        self.loops_around = 0
        # how many gotos of the function lead to each label, where gotos are written as branches
        self.jumps: Mapping[str, int] = {}
        self._in_header = False
        self._spans: dict[int, Span] = {}
        self._makers: dict[int, Callable[[int, Span], Stmt]] = {
            kinds.COMPOUND: self._block,
            kinds.DECL_STMT: self._declaration,
            kinds.IF: self._if,
            kinds.FOR: self._for,
            kinds.WHILE: self._while,
            kinds.DO: self._do,
            kinds.SWITCH: self._switch,
            kinds.BREAK: lambda _, span: Break(span=span, intact=True),
            kinds.CONTINUE: lambda _, span: Continue(span=span, intact=True),
            kinds.NULL_STMT: lambda _, span: Empty(span=span, intact=True),
            kinds.RETURN: self._return,
            kinds.GOTO: lambda _, span: make_goto(span),
        }
        # of C++: what a function returns, and the statements that C does not have
        self.result: Type | None = None
        self.cxx = CxxStatements(self)
        if context.cxx:
            self._makers[kinds.RANGE_FOR] = self.cxx.range_for
            self._makers[kinds.FOR] = lambda row, span: self.cxx.iterator_for(row, span) or self._for(row, span)

    def build(self, row: int) -> Stmt:
        """Return the statement of a row."""
        self.expressions.depth += 1
        try:
            return self._build(row)
        finally:
            self.expressions.depth -= 1

    def _build(self, row: int) -> Stmt:
        table, kind = self.table, self.table.kind[row]
        span = self.span(row)
        if self.expressions.depth > MAX_DEPTH:
            self.context.too_deep.append(span)
            return self.make_opaque(row, f"an expression or statement nested more than {MAX_DEPTH} deep")
        if self._includes_text(row):
            return self.make_opaque(row, "an #include inside a function")
        if self._own_conditional(row, span):
            return self.make_opaque(
                row, _CONDITIONAL if kind in _LOOPS else "a preprocessor conditional inside the statement"
            )
        if kinds.UNEXPOSED_EXPR <= kind <= kinds.LAST_EXPR:
            return self._expression(row, span)
        if table.begins_in_macro(row) and kind != kinds.DECL_STMT:
            made = expand_statement(self, self.declarations.variable, row, span)
            return made or self.make_opaque(row, self._macro_reason(row))
        maker = self._makers.get(kind)
        unusual = self.cxx.unusual(row, span) if self.context.cxx else ""
        if unusual:
            return self.make_opaque(row, unusual)
        if maker is not None and self._is_plain(row, span):
            return maker(row, span)
        return self.make_opaque(row, _REASONS.get(kind, _MACRO_STATEMENT if maker else _UNKNOWN_FORM))

    # --- places

    def span(self, row: int) -> Span:
        """Return the span of a statement, its semicolon included."""
        # From the innermost last part outwards: `else if` chains may be long.
        chain = [row]
        while chain[-1] not in self._spans and self._ends_with_part(chain[-1]):
            chain.append(self.table.parts(chain[-1])[-1])
        for link, inner in zip(reversed(chain), [None, *reversed(chain)], strict=False):
            if link not in self._spans:
                start, end = self._own_range(link)
                last = self._spans[inner].end if inner is not None else end
                self._spans[link] = Span(self.text.file, start, max(end, last))
        return self._spans[row]

    def _ends_with_part(self, row: int) -> bool:
        """Whether a statement ends where its last part ends."""
        kind = self.table.kind[row]
        if kind < kinds.UNEXPOSED_STMT or kind in (kinds.COMPOUND, kinds.NULL_STMT, kinds.DECL_STMT):
            return False
        return kind not in _WITH_SEMICOLON and bool(self.table.parts(row))

    def _own_range(self, row: int) -> tuple[int, int]:
        kind = self.table.kind[row]
        start, end = self.table.range(row, self.text.uses)
        lacks = kind == kinds.DECL_STMT and self.text.file.text[end - 1 : end] != ";"
        if lacks or kind in _WITH_SEMICOLON or kind <= kinds.LAST_EXPR:
            end = self.text.scan.after_semicolon(end) or end
        return start, end

    def _includes_text(self, row: int) -> bool:
        flags, table = self.table.flags, self.table
        if self.table.kind[row] == kinds.COMPOUND:
            return any(flags[child] & ELSEWHERE for child in table.children(row))
        return bool(flags[row] & ELSEWHERE)

    def _own_conditional(self, row: int, span: Span) -> bool:
        """Whether a preprocessor conditional stands in the statement, but in no block or statement inside it: one
        around pragmas alone belongs to the branch or body behind it."""
        kind = self.table.kind[row]
        if kind == kinds.COMPOUND or not self.text.scan.conditional(span.start, span.end):
            return False
        position = span.start
        parts = self.table.parts(row)
        bodies = parts[1:] if kind == kinds.IF else parts[-1:]
        for part in parts:
            if self.table.kind[part] >= kinds.UNEXPOSED_STMT or (kind in _WITH_BODIES and part in bodies):
                inner = self.span(part)
                if self.text.scan.conditional(position, inner.start) and not (
                    kind in _WITH_BODIES and self._only_pragmas(position, inner.start)
                ):
                    return True
                position = max(position, inner.end)
        return self.text.scan.conditional(position, span.end)

    def _only_pragmas(self, start: int, end: int) -> bool:
        """Whether the conditionals in [start, end) are whole, hold pragmas alone, and nothing stands behind the first
        of them but pragmas."""
        lines = self.text.scan.lines(start, end)
        first = next(number for number, line in enumerate(lines) if line.word in CONDITIONALS)
        ends = (*(line.start for line in lines[first + 1 :]), end)
        between = (self.text.file.text[a.end : b] for a, b in zip(lines[first:], ends, strict=True))
        conditionals = (line for line in lines if line.word in CONDITIONALS)
        return not any(map(bare, between)) and all(
            self.text.scan.is_empty_conditional(line, start, end) for line in conditionals
        )

    def _is_plain(self, row: int, span: Span) -> bool:
        """Whether the parts of a statement stand one after the other in its text: no macro made several of them."""
        position, text = span.start, span.text
        for part in self.table.parts(row):
            kind = self.table.kind[part]
            start, end = self.table.range(part, self.text.uses)
            if start < position and self.table.kind[row] not in (kinds.COMPOUND, kinds.DECL_STMT):
                return False
            position = max(position, end if kind < kinds.UNEXPOSED_STMT else self.span(part).end)
        if self.table.kind[row] == kinds.COMPOUND:
            return text.startswith("{") and text.endswith("}")
        return position <= span.end

    # --- opaque code

    def make_opaque(self, row: int, reason: str) -> Stmt:
        """Return a statement as text; a loop stays a loop."""
        span = self.span(row)
        named = self._find_named(row, span)
        below = {self.table.kind[node] for node in range(row, self.table.after[row])}
        opaque: Stmt = Verbatim(
            span=span, intact=True, text=span.text, reads=named, writes=named,
            calls=self.context.may_call(row)
            or reason in (_UNKNOWN_FORM, LEAVES_OBJECTS)
            or self.text.scan.conditional(span.start, span.end),
            control=bool(below & _LEAVES) or reason == _CONDITIONAL, reason=reason,
            kept=self.knowledge.find_kept(named),
        )  # fmt: skip
        # Loops inside of what is not modelled are loops of the program all the same.
        inner = self.cxx.list_loops(row, reason) if self.context.cxx else ()
        match _LOOPS.get(self.table.kind[row]):
            case "for" | "while" | "do" as form:
                if inner:
                    opaque = Block(span=span, intact=True, statements=(opaque, *inner))
                return While(
                    span=span, intact=True, form=form, init=None, condition=None, advance=None, body=opaque,
                    header=self._first_line(span), reason=reason,
                )  # fmt: skip
            case _:
                return Block(span=span, intact=True, statements=(opaque, *inner)) if inner else opaque

    def _first_line(self, span: Span) -> Span:
        line_end = span.text.find("\n")
        return span if line_end < 0 else Span(span.file, span.start, span.start + len(span.text[:line_end].rstrip()))

    def _find_named(self, row: int, span: Span) -> tuple[Symbol, ...]:
        """Return the variables that an opaque statement names, in text that clang skipped as well."""
        named = dict.fromkeys((*self.context.variables(row), *self.expressions.own_object(row)))
        if self.text.scan.conditional(span.start, span.end):
            named.update(dict.fromkeys(self._visible(span.text)))
        return tuple(named)

    def _visible(self, text: str) -> list[Symbol]:
        words = dict.fromkeys(words_anywhere(text))
        return [self.context.symbol(row) for word in words for row in self.visible.get(word, ())]

    def _macro_reason(self, row: int) -> str:
        kind = self.table.kind[row]
        use = self.context.use_of(row, self.text)
        name = f" {use.name}" if use is not None else ""
        if kind in _LOOPS:
            return f"its header is the macro{name}"
        below = {self.table.kind[node] for node in range(row, self.table.after[row])}
        return _MACRO_CONTROL if below & (_LEAVES | {kinds.IF, kinds.SWITCH} | set(_LOOPS)) else _MACRO_STATEMENT

    # --- simple statements

    def _expression(self, row: int, span: Span) -> Stmt:
        start, end = self.table.range(row, self.text.uses)
        if not span.text.endswith(";"):
            return self.make_opaque(row, _MACRO_STATEMENT)
        use = self.context.use_of(row, self.text)
        if use is not None and end < use.end:
            return self.make_opaque(row, _MACRO_STATEMENT)
        if self.context.cxx:
            made = self.cxx.expression(row, Span(span.file, start, span.end))
            if made is not None:
                return made
            self.expressions.cxx.stands_alone(row)
        expr = self.expressions.build(row)
        return ExprStmt(span=Span(span.file, start, span.end), intact=True, expr=expr)

    def _declaration(self, row: int, span: Span) -> Stmt:
        # outside of loops it is no kernel's: device code has it from `type_texts`
        made = self.declarations.statement(row, span, types=self.loops_around > 0 and not self._in_header)
        return made if isinstance(made, DeclStmt) else self.make_opaque(row, made)

    def _return(self, row: int, span: Span) -> Stmt:
        parts = self.table.expressions(row)
        if self.context.cxx and parts:
            computed = self.cxx.values.returned(row, span)
            if computed is not None:
                return computed
            self.expressions.cxx.stands_alone(parts[0])
        value = self.expressions.build(parts[0]) if parts else None
        if value is not None and isinstance(self.result, Pointer) and self.result.reference:
            if not is_lvalue(value):
                return self.make_opaque(row, "a return of a reference to a value")
            value = Cast(span=before(value.span), type=self.result, operand=address(value))
        return Return(span=span, intact=True, value=value)

    # --- blocks

    def _block(self, row: int, span: Span) -> Stmt:
        return self.block(row, span)

    def block(self, row: int, span: Span) -> Block:
        """Return a compound statement with the preprocessor lines between its statements."""
        groups = self._groups(row)
        statements: list[Stmt] = []
        position = span.start
        ending: list[Stmt] = []
        for group in groups:
            first = self.span(group[0])
            statements += self._lines(position, first.start, span)
            statements += self._group(group)
            ending += self.cxx.ends(group, span) if self.context.cxx else ()
            position = max(position, first.end, self.span(group[-1]).end)
        statements += self._lines(position, span.end, span)
        statements += ending
        if self.jumps and not self.loops_around:
            statements = leave_loops(statements, self.jumps)
        return Block(span=span, intact=True, statements=tuple(statements))

    def _groups(self, row: int) -> list[list[int]]:
        """Return the rows of a block's statements; those whose text overlaps (one macro made them) together."""
        groups: list[list[int]] = []
        reached = -1
        for child in self.table.parts(row):
            span = self.span(child)
            if groups and span.start < reached:
                # `INC(x);` where the macro has its own semicolon: clang sees an empty statement after it.
                if self.table.kind[child] != kinds.NULL_STMT:
                    groups[-1].append(child)
            else:
                groups.append([child])
            reached = max(reached, span.end)
        return groups

    def _group(self, rows: list[int]) -> list[Stmt]:
        if len(rows) == 1:
            declared_by = (
                self.cxx.values.declared(rows[0], self.span(rows[0])) if self._may_be_computed(rows[0]) else None
            )
            return list(declared_by) if declared_by is not None else self._split_labels(rows[0])
        first, last = self.span(rows[0]), self.span(rows[-1])
        declared = self.declarations.declared_and_set(rows, Span(first.file, first.start, max(first.end, last.end)))
        if declared is not None:
            return [declared]
        every = (s for row in rows for s in (*self.context.variables(row), *self.expressions.own_object(row)))
        named = tuple(dict.fromkeys(every))
        below = {self.table.kind[node] for row in rows for node in range(row, self.table.after[row])}
        span = Span(first.file, first.start, max(first.end, last.end))
        return [Verbatim(
            span=span, intact=True, text=span.text, reads=named, writes=named,
            calls=any(self.context.may_call(row) for row in rows), control=bool(below & _LEAVES),
            reason=_MACRO_CONTROL if below & _LEAVES else _MACRO_STATEMENT, kept=self.knowledge.find_kept(named),
        )]  # fmt: skip

    def _may_be_computed(self, row: int) -> bool:
        plain = (
            self.context.cxx and self.table.kind[row] == kinds.DECL_STMT and not self.cxx.unusual(row, self.span(row))
        )
        return plain and not self._includes_text(row) and not self._own_conditional(row, self.span(row))

    def _split_labels(self, row: int) -> list[Stmt]:
        """Return a statement; a label before it stands alone, so that what it marks keeps its own node."""
        parts = self.table.parts(row)
        if self.table.kind[row] != kinds.LABEL or not parts or self.table.begins_in_macro(row):
            return [self.build(row)]
        span, inner = self.span(row), self.span(parts[-1])
        if self.text.scan.conditional(span.start, inner.start):
            return [self.build(row)]
        lines = self._lines(span.start, inner.start, span)
        ahead = (lines[0].span.start if lines else inner.start) - span.start
        label = Span(span.file, span.start, span.start + len(span.text[:ahead].rstrip()))
        mark = Verbatim(
            span=label, intact=True, text=label.text, reads=(), writes=(), calls=False, control=True, reason="a label",
            marks=label_name(label),
        )  # fmt: skip
        return [mark, *lines, *self._split_labels(parts[-1])]

    def _lines(self, start: int, end: int, block: Span) -> list[Stmt]:
        made: list[Stmt] = [self._line(line, block) for line in self.text.scan.lines(start, end)]
        made += macro_pragmas(self.context, self.text, start, end)
        return sorted(made, key=lambda line: line.span.start)

    def _attach_pragmas(self, start: int, stmt: Stmt) -> Stmt:
        """Return the unbraced body of a loop or branch together with the pragmas between `start` and it; of those in
        conditionals, with what the build at hand has, and what other builds keep on a device."""
        conditionals = [line for line in self.text.scan.lines(start, stmt.span.start) if line.word in CONDITIONALS]
        pragmas = [line for line in self._lines(start, stmt.span.start, stmt.span) if isinstance(line, Pragma)]
        starts = [line.start for line in conditionals] + [line.span.start for line in pragmas]
        if not starts:
            return stmt
        own = {line.start for line in conditionals}
        kept = (line for line in pragmas if line.span.start not in own and not _is_of_another_build(line))
        span = Span(stmt.span.file, min(starts), stmt.span.end)
        return Block(span=span, intact=True, statements=(*kept, stmt))

    def _line(self, line: ScannedDirective, block: Span) -> Stmt:
        span = Span(self.text.file, line.start, line.end)
        if line.word == "pragma":
            return pragma_line(self.context, self.text, span)
        touched: tuple[Symbol, ...] = ()
        kept: tuple[Symbol, ...] = ()
        conditional, text = bool(self.loops_around) and line.word in CONDITIONALS, ""
        if conditional and self.text.scan.is_empty_conditional(line, block.start, block.end):
            return Pragma(span=span, intact=True, text=span.text)
        if conditional:
            # What another configuration of the program does here is not parsed. What the build at hand does is in the
            # tree, and a port of it is built as it was, but for what compilers define: that may touch all it names.
            asked = self.text.scan.asked_names(line, block.start, block.end)
            if asked is not None and not any(name.startswith("_") and name != "_OPENMP" for name in asked):
                return Pragma(span=span, text=span.text, choice=True)
            text = self.text.skipped_code(line.start, self.text.scan.end_of_conditional(line, block.end))
            touched = tuple(dict.fromkeys(self._visible(text)))
            kept = touched if "&" in text.replace("&&", "") else self.knowledge.find_kept(touched)
        return Verbatim(
            span=span, intact=True, text=span.text, reads=touched, writes=touched, calls=bool(text.strip()),
            control=bool(text.strip()),
            reason=_CONDITIONAL if conditional else "a preprocessor line among the statements", kept=kept,
        )  # fmt: skip

    # --- branches

    def _if(self, row: int, span: Span) -> Stmt:
        parts = self.table.parts(row)
        if len(parts) not in (2, 3):
            return self.make_opaque(row, _UNKNOWN_FORM)
        ends = [self.table.range(parts[0], self.text.uses)[1], self.span(parts[1]).end]
        other = self._attach_pragmas(ends[1], self.build(parts[2])) if len(parts) == 3 else None
        then = self._attach_pragmas(ends[0], self.build(parts[1]))
        computed = self.cxx.values.tested(row, span, then, other) if self.context.cxx else None
        if computed is not None:
            return computed
        condition = self.expressions.build(parts[0])
        branch = If(span=span, intact=True, condition=condition, then=then, other=other)
        below = {self.table.kind[node] for node in range(row, self.table.after[row])}
        fixed = below & _LABELS or self.text.scan.conditional(span.start, span.end)
        return branch if fixed else without_dead(branch)

    def _switch(self, row: int, span: Span) -> Stmt:
        parts = self.table.parts(row)
        body = parts[-1]
        unusual = len(parts) != 2 or self.table.kind[body] != kinds.COMPOUND or self.table.begins_in_macro(body)
        inner = self.span(body)
        # what a switch does in its head before it chooses, clang's interface does not show
        unusual = unusual or ";" in self.text.file.text[span.start : inner.start]
        if unusual or self.text.scan.conditional(inner.start, inner.end):
            return self.make_opaque(row, "a switch that is not a plain list of cases")
        cases: list[tuple[list[Expr | None], list[int], int]] = []
        for child in self.table.parts(body):
            labels, first = labels_before(self.table, child, self.expressions.build, macros=False)
            if labels:
                cases.append((labels, [], self.span(child).start))
            elif not cases:
                return self.make_opaque(row, "a switch with statements before its first case")
            if has_case(self.table, first):
                return self.make_opaque(row, "a case label inside another statement")
            cases[-1][1].append(first)
        ends = [*(start for _, _, start in cases[1:]), inner.end]
        built = tuple(self._case(*case, end) for case, end in zip(cases, ends, strict=True))
        return Switch(span=span, intact=True, value=self.expressions.build(parts[0]), cases=built)

    def _case(self, labels: list[Expr | None], rows: list[int], start: int, end: int) -> Case:
        """Return a case with the preprocessor lines between its statements; it has [start, end) for itself."""
        body: list[Stmt] = []
        position, own = start, Span(self.text.file, start, end)
        for row in rows:
            span = self.span(row)
            body += self._lines(position, max(position, span.start), own)
            body += self._group([row])
            position = max(position, span.end)
        body += self._lines(position, end, own)
        end = body[-1].span.end if body else start
        return Case(span=Span(self.text.file, start, end), intact=True, labels=tuple(labels), body=tuple(body))

    # --- loops

    def _body(self, row: int) -> Stmt:
        self.loops_around += 1
        body = self.build(row)
        self.loops_around -= 1
        return nest_jumps(body, self.jumps) if self.jumps else body

    def _for(self, row: int, span: Span) -> Stmt:
        header = self.text.scan.for_header(span.start)
        parts = self.table.parts(row)
        if header is None or not parts:
            return self.make_opaque(row, "its header is not written out")
        init: Stmt | None = None
        condition: Expr | None = None
        advance: Expr | None = None
        for part in parts[:-1]:
            start = self.table.range(part, self.text.uses)[0]
            if start < header.first or (self.table.kind[part] == kinds.DECL_STMT):
                init = self._init(part, header.first)
            elif start < header.second:
                condition = self.expressions.build(part)
            else:
                advance = self.expressions.build(part)
        head = Span(span.file, span.start, header.closing + 1)
        body = self._attach_pragmas(head.end, self._body(parts[-1]))
        counted = recognize(init, condition, advance, body, self.knowledge)
        if isinstance(counted, str):
            if self.text.scan.conditional(head.end, span.end):
                counted = _CONDITIONAL
            return While(
                span=span, intact=True, form="for", init=init, condition=condition, advance=advance, body=body,
                header=head, reason=counted,
            )  # fmt: skip
        return For(
            span=span, intact=True, variable=counted.variable, declares=counted.declares, lower=counted.lower,
            relation=counted.relation, bound=counted.bound, step=counted.step, body=body, header=head,
        )  # fmt: skip

    def _init(self, row: int, semicolon: int) -> Stmt:
        if self.table.kind[row] == kinds.DECL_STMT:
            self._in_header = True
            try:
                return self.build(row)
            finally:
                self._in_header = False
        expr = self.expressions.build(row)
        start = self.table.range(row, self.text.uses)[0]
        return ExprStmt(span=Span(self.text.file, start, semicolon + 1), intact=True, expr=expr)

    def _while(self, row: int, span: Span) -> Stmt:
        parts = self.table.parts(row)
        opening = self.text.scan.skip(span.start + len("while"))
        closing = self.text.scan.closing(opening)
        if len(parts) != 2 or closing is None or not span.text.startswith("while"):
            return self.make_opaque(row, "its header is not written out")
        head = Span(span.file, span.start, closing + 1)
        condition, body = self.expressions.build(parts[0]), self._attach_pragmas(head.end, self._body(parts[1]))
        return While(
            span=span, intact=True, form="while", init=None, condition=condition, advance=None, body=body, header=head,
            reason="only running a while loop tells how often it runs",
        )  # fmt: skip

    def _do(self, row: int, span: Span) -> Stmt:
        parts = self.table.parts(row)
        if len(parts) != 2 or not span.text.startswith("do"):
            return self.make_opaque(row, "its header is not written out")
        body, condition = self._body(parts[0]), self.expressions.build(parts[1])
        return While(
            span=span, intact=True, form="do", init=None, condition=condition, advance=None, body=body,
            header=Span(span.file, span.start, span.start + len("do")),
            reason="only running a do loop tells how often it runs",
        )  # fmt: skip


def _is_of_another_build(pragma: Pragma) -> bool:
    """Whether the build at hand leaves out a pragma that keeps nothing on a device."""
    said = pragma.directive
    return pragma.left_out and not (said is not None and (said.family == "acc" or "target" in said.words))
