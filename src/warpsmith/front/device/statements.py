"""Statements of device code from the worker's rows, to be read: every loop is a While with its form.

    #pragma unroll 4                       Pragma, While(for, DeclStmt i = 0, i < n, i++, Block)
    for (int i = 0; i < n; i++) { … }
    asm volatile("…" : "=r"(x) : "r"(y))   Verbatim: writes x, reads y
    asm volatile("bar.sync 0;")            a call (assembly.py)
    return x;  of a constructor            returns the object

Nothing here depends on how a text is written: what a macro makes has the span of its use.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final

from warpsmith.base.source import Span
from warpsmith.front.c.cases import has_case, labels_before
from warpsmith.front.c.context import Context, FileText
from warpsmith.front.clang import kinds
from warpsmith.front.clang.wire import INITIALIZER
from warpsmith.front.cxx.objects import again
from warpsmith.front.device.assembly import call_of, meetings, template_of
from warpsmith.front.device.calls import bind
from warpsmith.front.device.closures import is_closure
from warpsmith.front.device.defaults import make_object
from warpsmith.front.device.expressions import MOST_NESTED, DeviceExpressions
from warpsmith.front.device.loops import for_parts, range_for
from warpsmith.tree.nodes import (
    Block,
    Break,
    Case,
    Continue,
    DeclStmt,
    Empty,
    Expr,
    ExprStmt,
    If,
    Name,
    Pragma,
    Return,
    Stmt,
    Switch,
    VarDecl,
    Verbatim,
    While,
)
from warpsmith.tree.types import Pointer, Symbol, Type

__all__ = ["DeviceStatements"]

_REASONS: Final = {
    kinds.INDIRECT_GOTO: "a computed goto",
    kinds.TRY: "try",
    kinds.CASE: "a case label inside another statement",
    kinds.DEFAULT: "a case label inside another statement",
}
_UNKNOWN: Final = "a statement that is not modelled"
_LEAVES: Final = frozenset({
    kinds.GOTO, kinds.INDIRECT_GOTO, kinds.LABEL, kinds.BREAK, kinds.CONTINUE, kinds.RETURN, kinds.CASE, kinds.DEFAULT,
})  # fmt: skip
_LABEL: Final = re.compile(r"(\w+)\s*:")
_GOTO: Final = re.compile(r"goto\s+(\w+)$")
_STRING: Final = re.compile(r'"(?:\\.|[^"\\])*"')


class DeviceStatements:
    """Builds the body of one function; `object` is what a constructor makes and returns."""

    def __init__(self, context: Context, text: FileText, expressions: DeviceExpressions | None = None) -> None:
        self.context = context
        self.table = context.table
        self.text = text
        self.expressions = expressions or DeviceExpressions(context, text)
        self.result: Type | None = None
        self.object: Expr | None = None
        self._makers: dict[int, Callable[[int, Span], Stmt]] = {
            kinds.COMPOUND: self._block,
            kinds.DECL_STMT: self._declaration,
            kinds.IF: self._if,
            kinds.FOR: self._for,
            kinds.WHILE: self._while,
            kinds.DO: self._do,
            kinds.SWITCH: self._switch,
            kinds.BREAK: lambda _, span: Break(span=span),
            kinds.CONTINUE: lambda _, span: Continue(span=span),
            kinds.NULL_STMT: lambda _, span: Empty(span=span),
            kinds.RETURN: self._return,
            kinds.UNEXPOSED_STMT: self._build_attributed,
            kinds.LABEL: self._label,
            kinds.GOTO: self._goto,
            kinds.ASM: self._asm,
            kinds.RANGE_FOR: lambda row, span: range_for(self, row, span),
        }

    def build(self, row: int) -> Stmt:
        """Return the statement of a row."""
        span, kind = self.expressions.span(row), self.table.kind[row]
        self.expressions.depth += 1
        before, self.expressions.around = self.expressions.around, span
        try:
            if self.expressions.depth > MOST_NESTED:
                self.context.too_deep.append(span)
                return self.make_opaque(row, f"an expression or statement nested more than {MOST_NESTED} deep")
            if kinds.UNEXPOSED_EXPR <= kind <= kinds.LAST_EXPR:
                return ExprStmt(span=span, expr=self.expressions.build(row))
            maker = self._makers.get(kind)
            return maker(row, span) if maker is not None else self.make_opaque(row, _REASONS.get(kind, _UNKNOWN))
        finally:
            self.expressions.depth -= 1
            self.expressions.around = before

    def make_opaque(self, row: int, reason: str) -> Verbatim:
        """Return a statement as text."""
        span, named = self.expressions.span(row), tuple(self.context.variables(row))
        below = {self.table.kind[node] for node in range(row, self.table.after[row])}
        return Verbatim(
            span=span, text=span.text, reads=named, writes=named, calls=self.context.may_call(row),
            control=bool(below & _LEAVES), reason=reason,
        )  # fmt: skip

    # --- blocks

    def _block(self, row: int, span: Span) -> Stmt:
        statements: list[Stmt] = []
        ending: list[Stmt] = []
        position = span.start
        written = not self.table.begins_in_macro(row)
        for child in self.table.parts(row):
            place = self.expressions.span(self._bare(child))
            if written:
                statements += self._pragmas(position, place.start)
                position = max(position, place.end)
            statements.append(self.build(child))
            ending += self._ends(child, span)
        return Block(span=span, statements=(*statements, *reversed(ending)))

    def _bare(self, row: int) -> int:
        """Return a statement without the attributes that a pragma has given it: those begin at the pragma."""
        while self.table.kind[row] == kinds.UNEXPOSED_STMT and self.table.parts(row):
            row = self.table.parts(row)[-1]
        return row

    def _pragmas(self, start: int, end: int) -> list[Stmt]:
        lines = [line for line in self.text.scan.lines(start, end) if line.word == "pragma"]
        spans = [Span(self.text.file, line.start, line.end) for line in lines]
        return [Pragma(span=span, text=span.text) for span in spans]

    def _attach_pragmas(self, start: int, row: int) -> Stmt:
        """Return the body of a loop or branch with the pragmas that stand before it."""
        made = self.build(row)
        lines = self._pragmas(start, made.span.start) if self.table.kind[row] != kinds.COMPOUND else []
        return Block(span=made.span, statements=(*lines, made)) if lines else made

    def _ends(self, row: int, block: Span) -> list[Stmt]:
        """Return what the end of a block does with the objects that a statement makes: their destructors."""
        made: list[Stmt] = []
        for child in self.table.children(row) if self.table.kind[row] == kinds.DECL_STMT else ():
            if self.table.kind[child] == kinds.VAR_DECL and self.context.types.ends(self.table.type[child]):
                symbol = self.context.symbol(self.table.aux[child])
                place = Span(block.file, max(block.start, block.end - 1), block.end)
                made.append(Verbatim(
                    span=place, text="", reads=(symbol,), writes=(symbol,), calls=True, control=False,
                    reason=f"the destructor of {symbol.name}",
                ))  # fmt: skip
        return made

    # --- simple statements

    def _declaration(self, row: int, span: Span) -> Stmt:
        rows = [c for c in self.table.children(row) if self.table.kind[c] == kinds.VAR_DECL]
        declared = [self.variable(c) for c in rows]
        made = [s for c, one in zip(rows, declared, strict=True) for s in self._make_from_nothing(c, one)]
        whole = DeclStmt(span=span, declarations=tuple(declared)) if declared else Empty(span=span)
        return Block(span=span, statements=(whole, *made)) if made else whole

    def _make_from_nothing(self, row: int, one: VarDecl) -> Iterator[Stmt]:
        """Yield what gives an object values that is declared without any."""
        inits = [c for c in self.table.expressions(row) if self.table.flags[c] & INITIALIZER]
        if one.init is None and inits and not one.symbol.space and not is_closure(one.symbol.type):
            yield from make_object(
                self.expressions, Name(span=one.span, type=one.symbol.type, symbol=one.symbol), one.span
            )

    def variable(self, row: int) -> VarDecl:
        """Return one variable with what it is made from."""
        symbol = self.context.symbol(self.table.aux[row])
        inits = [c for c in self.table.expressions(row) if self.table.flags[c] & INITIALIZER]
        init = self.expressions.build(inits[0]) if inits and not self._makes_nothing(inits[0]) else None
        if init is not None and isinstance(symbol.type, Pointer) and symbol.type.reference:
            init = bind(init, symbol.type)
        return VarDecl(span=self.expressions.span(row), symbol=symbol, init=init)

    def _makes_nothing(self, row: int) -> bool:
        """Whether an initializer is the constructor that an object without one has, and that has no text; or a lambda,
        which is handed over where it is called."""
        row = self.expressions.strip_casts(row)
        if self.table.kind[row] == kinds.LAMBDA:
            return row in self.context.only_called
        called = self.table.kind[row] == kinds.CALL and self.table.aux[row] >= 0 and not self.table.expressions(row)
        number = self.table.aux[row]
        return (
            called and self.context.dump.declared[number][0] == kinds.CONSTRUCTOR and number not in self.context.bodies
        )

    def _return(self, row: int, span: Span) -> Stmt:
        parts = self.table.expressions(row)
        if self.object is not None:
            return Return(span=span, value=again(self.object))
        value = self.expressions.build(parts[0]) if parts else None
        if value is not None and isinstance(self.result, Pointer) and self.result.reference:
            value = bind(value, self.result)
        return Return(span=span, value=value)

    def _build_attributed(self, row: int, span: Span) -> Stmt:
        bare = self._bare(row)
        return self.build(bare) if bare != row else self.make_opaque(row, _UNKNOWN)

    def _label(self, row: int, span: Span) -> Stmt:
        parts = self.table.parts(row)
        inner = [self.build(part) for part in parts]
        end = inner[0].span.start if inner else span.end
        mark = Span(span.file, span.start, max(span.start, min(end, span.end)))
        named = "" if self.table.begins_in_macro(row) else _LABEL.match(span.text)
        label = Verbatim(
            span=mark, text=mark.text, reads=(), writes=(), calls=False, control=True, reason="a label",
            marks=named[1] if named else "",
        )  # fmt: skip
        return Block(span=span, statements=(label, *inner))

    def _goto(self, row: int, span: Span) -> Stmt:
        named = "" if self.table.begins_in_macro(row) else _GOTO.match(span.text)
        return Verbatim(
            span=span, text=span.text, reads=(), writes=(), calls=False, control=True, reason="goto",
            goes=named[1] if named else "",
        )  # fmt: skip

    def _asm(self, row: int, span: Span) -> Stmt:
        """Return inline assembly; its operands are those of its text, outputs first."""
        text = _STRING.sub(lambda found: '"' + "_" * (len(found.group()) - 2) + '"', span.text)
        sections = text[text.find("(") + 1 :].split(":") if not self.table.begins_in_macro(row) else []
        start = span.start + len(span.text) - len(":".join(sections[1:]))
        outputs = (start, start + len(sections[1])) if len(sections) > 1 else (span.end, span.end)
        if sections and not "".join(sections[1:2]).strip():
            meeting = self._meeting(row, span)
            if meeting is not None:
                return meeting
        reads: dict[Symbol, None] = {}
        writes: dict[Symbol, None] = {}
        for part in self.table.expressions(row):
            place = self.expressions.span(part)
            named = dict.fromkeys(self.context.variables(part))
            reads |= named
            writes |= named if not sections or outputs[0] <= place.start < outputs[1] else {}
        clobbers = '"memory"' in span.text or not sections
        return Verbatim(
            span=span, text=span.text, reads=tuple(reads), writes=tuple(writes), calls=clobbers,
            control=False, reason="inline assembly",
        )  # fmt: skip

    def _meeting(self, row: int, span: Span) -> Stmt | None:
        """Return inline assembly that only makes threads meet or orders memory, None where it does more."""
        template = template_of(span.text)
        found = meetings(template) if template is not None else None
        if found is None:
            return None
        operands = [self.expressions.build(part) for part in self.table.expressions(row)] if found else []
        calls = [call_of(one, span, operands) for one in found]
        made = [ExprStmt(span=span, expr=call) for call in calls if call is not None]
        if len(made) != len(found):
            return None
        return made[0] if len(made) == 1 else Block(span=span, statements=tuple(made))

    # --- branches

    def _if(self, row: int, span: Span) -> Stmt:
        parts = self.table.parts(row)
        first = self._declare_before(row, span)
        if parts and self.table.kind[parts[0]] >= kinds.UNEXPOSED_STMT:
            first.insert(0, self.build(parts.pop(0)))
        if len(parts) not in (2, 3) or self.table.kind[parts[0]] > kinds.LAST_EXPR:
            return self.make_opaque(row, _UNKNOWN)
        condition = self.expressions.build(parts[0])
        then = self._attach_pragmas(condition.span.end, parts[1])
        other = self._attach_pragmas(then.span.end, parts[2]) if len(parts) == 3 else None
        made = If(span=span, condition=condition, then=then, other=other)
        return Block(span=span, statements=(*first, made)) if first else made

    def _switch(self, row: int, span: Span) -> Stmt:
        parts, before = self.table.parts(row), self._declare_before(row, span)
        if ";" in self.header(row, span, "switch").text:
            return self.make_opaque(row, "a switch with a statement in its head")  # clang's interface does not show it
        if len(parts) != 2 or self.table.kind[parts[1]] != kinds.COMPOUND:
            return self.make_opaque(row, "a switch that is not a plain list of cases")
        cases: list[tuple[list[Expr | None], list[Stmt], Span]] = []
        for child in self.table.parts(parts[1]):
            labels, first = labels_before(self.table, child, self.expressions.build, macros=True)
            if labels:
                cases.append((labels, [], self.expressions.span(child)))
            elif not cases:
                if self.table.kind[child] == kinds.DECL_STMT and not self.table.expressions(child):
                    continue
                return self.make_opaque(row, "a switch with statements before its first case")
            if has_case(self.table, first):
                return self.make_opaque(row, "a case label inside another statement")
            cases[-1][1].append(self.build(first))
        built = tuple(Case(span=place, labels=tuple(labels), body=tuple(body)) for labels, body, place in cases)
        made = Switch(span=span, value=self.expressions.build(parts[0]), cases=built)
        return Block(span=span, statements=(*before, made)) if before else made

    def _declare_before(self, row: int, span: Span) -> list[Stmt]:
        """Return the declaration in a condition, which stands before the statement then."""
        variables = [self.variable(c) for c in self.table.children(row) if self.table.kind[c] == kinds.VAR_DECL]
        return [DeclStmt(span=span, declarations=tuple(variables))] if variables else []

    # --- loops

    def _for(self, row: int, span: Span) -> Stmt:
        found = for_parts(self, row, span)
        if found is None:
            return self.make_opaque(row, "a for loop whose parts are not distinguished")
        first, test, last, body = found
        init = self.build(first) if first is not None else None
        condition = self.expressions.build(test) if test is not None else None
        advance = self.expressions.build(last) if last is not None else None
        header = self.header(row, span, "for")
        return While(
            span=span, form="for", init=init, condition=condition, advance=advance,
            body=self._attach_pragmas(header.end, body), header=header, reason="",
        )  # fmt: skip

    def header(self, row: int, span: Span, word: str) -> Span:
        """Return the text of a loop's header."""
        scan = self.text.scan
        closing = None
        if span.file is self.text.file and not self.table.begins_in_macro(row) and span.text.startswith(word):
            closing = scan.closing(scan.skip(span.start + len(word)))
        return Span(span.file, span.start, closing + 1 if closing is not None else span.start + len(word))

    def _while(self, row: int, span: Span) -> Stmt:
        parts = self.table.parts(row)
        if len(parts) != 2:
            return self.make_opaque(row, _UNKNOWN)
        header = self.header(row, span, "while")
        before = self._declare_before(row, span)
        if before:
            return self._while_declares(before, self.expressions.build(parts[0]), (parts[1], header), span)
        return While(
            span=span, form="while", init=None, condition=self.expressions.build(parts[0]), advance=None,
            body=self._attach_pragmas(header.end, parts[1]), header=header, reason="",
        )  # fmt: skip

    def _while_declares(self, before: list[Stmt], condition: Expr, rest: tuple[int, Span], span: Span) -> Stmt:
        """Return `while (T x = e) body` as `for (;;) { T x = e; if (x) body else break; }`."""
        body, header = rest
        test = If(
            span=header, condition=condition, then=self._attach_pragmas(header.end, body), other=Break(span=header)
        )
        return While(
            span=span, form="while", init=None, condition=None, advance=None,
            body=Block(span=span, statements=(*before, test)), header=header, reason="",
        )  # fmt: skip

    def _do(self, row: int, span: Span) -> Stmt:
        parts = self.table.parts(row)
        if len(parts) != 2:
            return self.make_opaque(row, _UNKNOWN)
        return While(
            span=span, form="do", init=None, condition=self.expressions.build(parts[1]), advance=None,
            body=self.build(parts[0]), header=Span(span.file, span.start, span.start + len("do")), reason="",
        )  # fmt: skip
