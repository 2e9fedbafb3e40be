"""Expressions of the tree from the worker's rows.

    i < N            Binary(<, Name i, MacroUse(N, Literal 100))     a macro use that is one whole expression
    a PLUS_ONE       VerbatimExpr                                    one that is not: its parent is boxed
    p.u (a union)    VerbatimExpr(reason="a union member")           what the tree does not model

A node is intact: its span is exactly its text. What stands inside a macro's expansion is not: it has the span of the
macro use. A part that cannot be modelled inside an expansion boxes the whole use, because it has no text of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from warpsmith.base.source import Span
from warpsmith.front import kinds
from warpsmith.front.context import Context, FileText
from warpsmith.front.literals import float_value, integer_value, number_text
from warpsmith.front.node_table import MacroRange
from warpsmith.front.scan import bare
from warpsmith.front.types_of import decayed
from warpsmith.front.writes import Knowledge
from warpsmith.tree.nodes import (
    Assign,
    Binary,
    Call,
    Cast,
    Conditional,
    Expr,
    Index,
    InitList,
    Literal,
    MacroUse,
    Member,
    Name,
    SizeOf,
    Unary,
    VerbatimExpr,
)
from warpsmith.tree.types import Array, FunctionType, Opaque, Pointer, Record, Type

__all__ = ["MAX_DEPTH", "CannotModelError", "Expressions"]

MAX_DEPTH: Final = 150
"""How deep our tree may be: recursive walks over it must stay far from the interpreter's own limit."""

_TOO_DEEP = f"an expression or statement nested more than {MAX_DEPTH} deep"
_BROKEN_MACRO = "a macro that is not one whole expression"
_UNKNOWN_FORM = "an expression form that is not modelled"
_REASONS = {
    kinds.COMPOUND_LITERAL: "a compound literal",
    kinds.STATEMENT_EXPR: "a statement expression",
    kinds.GENERIC: "a _Generic selection",
    kinds.IMAGINARY: "a complex constant",
    kinds.ADDRESS_OF_LABEL: "the address of a label",
}


class CannotModelError(Exception):
    """A part of a macro's expansion is not modelled; the macro use is boxed as a whole."""


class Expressions:
    """Builds the expressions of one file of a unit."""

    def __init__(self, context: Context, text: FileText, knowledge: Knowledge | None = None) -> None:
        self.context = context
        self.knowledge = knowledge
        self.table = context.table
        self.text = text
        self.depth = 0
        self.inside: MacroRange | None = None
        self._makers: dict[int, Callable[[int, Span], Expr]] = {
            kinds.DECL_REF: self._name,
            kinds.MEMBER_REF_EXPR: self._member,
            kinds.CALL: self._call,
            kinds.INTEGER: self._number,
            kinds.FLOATING: self._number,
            kinds.CHARACTER: self._number,
            kinds.CXX_BOOL: self._number,
            kinds.STRING: self._string,
            kinds.UNARY: self._unary,
            kinds.SUBSCRIPT: self._subscript,
            kinds.BINARY: self._binary,
            kinds.COMPOUND_ASSIGN: self._binary,
            kinds.CONDITIONAL: self._conditional,
            kinds.CAST: self._cast,
            kinds.SIZEOF: self._sizeof,
            kinds.INIT_LIST: self._list,
            kinds.UNEXPOSED_EXPR: self._unexposed,
        }

    def build(self, row: int) -> Expr:
        """Return the expression of a row."""
        self.depth += 1
        try:
            return self._build(row)
        finally:
            self.depth -= 1

    def _build(self, row: int) -> Expr:
        start, end = self._range(row)
        row = self._strip(row)
        if row < 0:
            return self._box(-row, _BROKEN_MACRO, (start, end))
        start, end = self._range(row)
        if self.depth > MAX_DEPTH:
            self.context.too_deep.append(Span(self.text.file, start, end))
            return self._box(row, _TOO_DEEP)
        if self.inside is not None:
            return self._make(row, Span(self.text.file, self.inside.start, self.inside.end))
        use = self.context.use_of(row, self.text)
        if use is not None and (start, end) == (use.start, use.end):
            return self._macro_use(row, use)
        if not self._is_whole(row, start, end):
            return self._box(row, _BROKEN_MACRO)
        return self._make(row, Span(self.text.file, start, end))

    def _make(self, row: int, span: Span) -> Expr:
        maker = self._makers.get(self.table.kind[row])
        if maker is not None:
            return maker(row, span)
        return self._box(row, _REASONS.get(self.table.kind[row], _UNKNOWN_FORM))

    def _range(self, row: int) -> tuple[int, int]:
        return self.table.range(row, self.text.uses)

    def _strip(self, row: int) -> int:
        """Return the row below parentheses and implicit conversions; negative where a macro splits parentheses."""
        table = self.table
        while True:
            kind, below = table.kind[row], table.children(row)
            if kind == kinds.PAREN and len(below) == 1:
                if self.inside is None and table.begins_in_macro(row):
                    use = self.text.uses.at(table.start[row])
                    if use is None or self._range(row)[1] != use.end:
                        return -row
                row = below[0]
            elif (kind == kinds.UNEXPOSED_EXPR and len(below) == 1 and self._is_conversion(row, below[0])) or (
                kind == kinds.UNARY and kinds.UNARY_OPERATORS[table.aux[row]] == "ext"
            ):
                row = below[0]
            else:
                return row

    def _is_conversion(self, row: int, child: int) -> bool:
        """Whether an unnamed expression with one child is an implicit conversion of it."""
        table = self.table
        if not kinds.UNEXPOSED_EXPR <= table.kind[child] <= kinds.LAST_EXPR:
            return False
        if self._range(row) == self._range(child) and not table.begins_in_macro(row):
            return True
        if not table.begins_in_macro(row):
            return False
        operand = self._clang_type(child)
        inner = operand.of if isinstance(operand, Array) else operand.to if isinstance(operand, Pointer) else operand
        return not (isinstance(inner, Record) and "va_list" in inner.tag)

    def _clang_type(self, row: int) -> Type:
        if self.table.kind[row] == kinds.DECL_REF:
            return self.context.symbol(self.table.aux[row]).type
        return self.context.types.of(self.table.type[row])

    # --- macros

    def _macro_use(self, row: int, use: MacroRange) -> Expr:
        self.inside = use
        span = Span(self.text.file, use.start, use.end)
        try:
            expansion = self._make(row, span)
        except CannotModelError as reason:
            self.inside = None
            return self._box(row, f"{reason} in the macro {use.name}")
        finally:
            self.inside = None
        return MacroUse(span=span, intact=True, type=expansion.type, name=use.name, expansion=expansion)

    def _is_whole(self, row: int, start: int, end: int) -> bool:
        """Whether the text around the parts of a row is what the row's form writes, so that no macro hides some of it.

        Only asked where a part begins or ends in a macro: elsewhere the parser has seen the same text as we.
        """
        table = self.table
        parts = table.expressions(row)
        if self.table.kind[row] in (kinds.CAST, kinds.SIZEOF):
            parts = parts[-1:]
            if table.kind[row] == kinds.SIZEOF:
                return not table.begins_in_macro(row)
        if not table.begins_in_macro(row) and not any(table.flags[part] for part in parts):
            return True
        ranges = [self._range(part) for part in parts]
        gaps, position = [], start
        for first, last in [*ranges, (end, end)]:
            if first < position:
                return False
            gaps.append(bare(self.text.file.text[position:first]).replace("(", "").replace(")", ""))
            position = last
        return self._fits(row, gaps)

    def _fits(self, row: int, gaps: list[str]) -> bool:
        kind, aux = self.table.kind[row], self.table.aux[row]
        match kind:
            case kinds.BINARY | kinds.COMPOUND_ASSIGN:
                return gaps == ["", kinds.BINARY_OPERATORS[aux], ""]
            case kinds.UNARY:
                operator = kinds.UNARY_OPERATORS[aux].replace("x", "")
                return gaps == (["", operator] if aux in (1, 2) else [operator, ""])
            case kinds.SUBSCRIPT:
                return gaps == ["", "[", "]"]
            case kinds.CALL:
                return gaps == (["", "", *[","] * (len(gaps) - 3), ""] if len(gaps) > 2 else ["", ""])
            case kinds.MEMBER_REF_EXPR:
                name = self.context.dump.declared[aux][1]
                return len(gaps) == 2 and gaps[0] == "" and gaps[1] in (f".{name}", f"->{name}")
            case kinds.CONDITIONAL:
                return gaps == ["", "?", ":", ""]
            case kinds.CAST:
                return not self.table.begins_in_macro(row) and gaps[-1] == ""
            case kinds.INIT_LIST:
                return not self.table.begins_in_macro(row)
            case _:
                return not self.table.begins_in_macro(row)

    # --- boxes

    def _box(self, row: int, reason: str, place: tuple[int, int] | None = None) -> VerbatimExpr:
        if self.inside is not None:
            raise CannotModelError(reason)
        start, end = place or self._range(row)
        span = Span(self.text.file, start, end)
        named = tuple(self.context.variables(row))
        # A form that we do not know (`new`, a conversion of C++) may run any code.
        calls = self.context.may_call(row) or reason == _UNKNOWN_FORM
        return VerbatimExpr(
            span=span, intact=True, type=self._box_type(row), text=span.text, reads=named, writes=named, calls=calls,
            reason=reason, kept=None if self.knowledge is None else self.knowledge.kept(named),
        )  # fmt: skip

    def _box_type(self, row: int) -> Type:
        number = self.table.type[row]
        return self.context.types.of(number) if number >= 0 else Opaque("")

    def box(self, row: int, reason: str) -> VerbatimExpr:
        """Return a row as text, with `reason`."""
        return self._box(row, reason)

    # --- the forms

    def _name(self, row: int, span: Span) -> Expr:
        symbol = self.context.symbol(self.table.aux[row])
        if isinstance(symbol.type, Opaque) and "&" in symbol.type.text:
            return self._box(row, "a C++ reference")
        return Name(span=span, intact=self.inside is None, type=symbol.type, symbol=symbol)

    def _number(self, row: int, span: Span) -> Expr:
        type, text = self._clang_type(row), span.text
        value: int | float | str | None = None
        if self.table.aux[row] >= 0:
            value = self.context.dump.values[self.table.aux[row]]
        if self.inside is None:
            if value is None:
                value = float_value(text, type) if self.table.kind[row] == kinds.FLOATING else integer_value(text)
        else:
            written = number_text(value, type) if isinstance(value, int | float) else None
            if written is None:
                return self._box(row, "a constant that has no exact text")
            text = written
        number = value if isinstance(value, int | float) else None
        return Literal(span=span, intact=self.inside is None, type=type, text=text, value=number)

    def _string(self, row: int, span: Span) -> Expr:
        text = span.text
        if self.inside is not None:
            text = str(self.context.dump.values[self.table.aux[row]])
            if not text.startswith('"'):
                return self._box(row, "a string of an unusual kind")
        return Literal(span=span, intact=self.inside is None, type=self._clang_type(row), text=text, value=None)

    def _member(self, row: int, span: Span) -> Expr:
        parts = self.table.expressions(row)
        declared = self.context.dump.declared[self.table.aux[row]]
        if len(parts) != 1:
            return self._box(row, "a member without its object")
        if declared[10]:
            return self._box(row, "a bit-field")
        base = self.build(parts[0])
        holder = base.type.to if isinstance(base.type, Pointer) else base.type
        holder = holder.of if isinstance(holder, Array) else holder
        if not isinstance(holder, Record) or holder.union:
            return self._box(row, "a union member")
        if not any(field.name == declared[1] for field in holder.fields):
            return self._box(row, "a member of an unnamed struct or union")
        return Member(
            span=span, intact=self.inside is None, type=self._clang_type(row), base=base, field=declared[1],
            arrow=isinstance(base.type, Pointer | Array),
        )  # fmt: skip

    def _call(self, row: int, span: Span) -> Expr:
        parts = self.table.expressions(row)
        if not parts:
            return self._box(row, "a call without a function")
        if any(self.text.file.text.startswith("<<<", self._range(part)[0]) for part in parts):
            return self._box(row, "a kernel launch")
        function = self.build(parts[0])
        called = function.type.to if isinstance(function.type, Pointer) else function.type
        if not isinstance(called, FunctionType):
            return self._box(row, "an operator or a constructor of C++")
        arguments = tuple(self.build(part) for part in parts[1:])
        intact = self.inside is None
        return Call(span=span, intact=intact, type=self._clang_type(row), function=function, arguments=arguments)

    def _unary(self, row: int, span: Span) -> Expr:
        operator = kinds.UNARY_OPERATORS[self.table.aux[row]] if self.table.aux[row] < 14 else ""
        parts = self.table.expressions(row)
        if not operator or len(parts) != 1:
            return self._box(row, "an operator that is not modelled")
        operand = self.build(parts[0])
        type = self._clang_type(row)
        if operator == "*" and isinstance(operand.type, Pointer | Array):
            type = operand.type.to if isinstance(operand.type, Pointer) else operand.type.of
        elif operator == "&":
            type = Pointer(operand.type)
        elif operator in ("x++", "x--", "++x", "--x"):
            type = operand.type
        return Unary(span=span, intact=self.inside is None, type=type, op=operator, operand=operand)

    def _binary(self, row: int, span: Span) -> Expr:
        number = self.table.aux[row]
        operator = kinds.BINARY_OPERATORS[number] if number < len(kinds.BINARY_OPERATORS) else ""
        parts = self.table.expressions(row)
        if not operator or len(parts) != 2:
            return self._box(row, "an operator that is not modelled")
        left, right = self.build(parts[0]), self.build(parts[1])
        intact = self.inside is None
        if kinds.FIRST_ASSIGNMENT <= number <= kinds.LAST_ASSIGNMENT:
            return Assign(span=span, intact=intact, type=left.type, op=operator, target=left, value=right)
        return Binary(
            span=span, intact=intact, type=self._arithmetic(row, operator, left, right), op=operator, left=left,
            right=right,
        )  # fmt: skip

    def _arithmetic(self, row: int, operator: str, left: Expr, right: Expr) -> Type:
        """Return the type of a binary expression; pointer sums keep the extents that clang's own type lacks."""
        if operator in ("+", "-"):
            pointers = [decayed(e.type) for e in (left, right) if isinstance(e.type, Pointer | Array)]
            if len(pointers) == 1:
                return pointers[0]
        return right.type if operator == "," else self._clang_type(row)

    def _subscript(self, row: int, span: Span) -> Expr:
        parts = self.table.expressions(row)
        if len(parts) != 2:
            return self._box(row, "a subscript of C++")
        base, index = self.build(parts[0]), self.build(parts[1])
        if not isinstance(base.type, Pointer | Array):
            base, index = index, base
        if not isinstance(base.type, Pointer | Array):
            return self._box(row, "a subscript of what is not an array")
        type = base.type.to if isinstance(base.type, Pointer) else base.type.of
        return Index(span=span, intact=self.inside is None, type=type, base=base, index=index)

    def _conditional(self, row: int, span: Span) -> Expr:
        parts = self.table.expressions(row)
        if len(parts) != 3:
            return self._box(row, "the operator ?: without a middle operand")
        condition, then, other = (self.build(part) for part in parts)
        return Conditional(
            span=span, intact=self.inside is None, type=self._clang_type(row), condition=condition, then=then,
            other=other,
        )  # fmt: skip

    def _cast(self, row: int, span: Span) -> Expr:
        parts = self.table.expressions(row)
        if not parts:
            return self._box(row, "a cast that is not modelled")
        type = self.context.cast_type(self.table.type[row], parts[:-1], self.build)
        return Cast(span=span, intact=self.inside is None, type=type, operand=self.build(parts[-1]))

    def _sizeof(self, row: int, span: Span) -> Expr:
        value = self.context.dump.values[self.table.aux[row]] if self.table.aux[row] >= 0 else None
        type, constant = self._clang_type(row), value if isinstance(value, int) else None
        if self.inside is None:
            return SizeOf(span=span, intact=True, type=type, text=span.text, value=constant)
        if constant is None:
            return self._box(row, "the size of a variable length array")
        return SizeOf(span=span, type=type, text=f"{constant}ul", value=constant)

    def _list(self, row: int, span: Span) -> Expr:
        parts = self.table.expressions(row)
        if any(self._is_designated(part) for part in parts):
            return self._box(row, "a designated initializer")
        items = tuple(self.build(part) for part in parts)
        return InitList(span=span, intact=self.inside is None, type=self._clang_type(row), items=items)

    def _is_designated(self, row: int) -> bool:
        if self.table.kind[row] != kinds.UNEXPOSED_EXPR:
            return False
        named = any(self.table.kind[child] == kinds.MEMBER_REF for child in self.table.children(row))
        return named or self.text.file.text.startswith((".", "["), self._range(row)[0])

    def _unexposed(self, row: int, span: Span) -> Expr:
        children = self.table.children(row)
        text = span.text.lstrip()
        if self.inside is not None and self.inside.name == "offsetof" and self.table.aux[row] >= 0:
            value = self.context.dump.values[self.table.aux[row]]
            constant = value if isinstance(value, int) else None
            if constant is not None:
                return SizeOf(span=span, type=self._clang_type(row), text=span.text, value=constant)
        if text.startswith("__func__") or text.startswith("__FUNCTION__"):
            return Literal(span=span, intact=self.inside is None, type=self._clang_type(row), text=text, value=None)
        if len(children) > 2:
            return self._box(row, "the operator ?: without a middle operand")
        return self._box(row, _UNKNOWN_FORM)
