"""Expressions of the tree from the worker's rows.

    i < N            Binary(<, Name i, MacroUse(N, Literal 100))     a macro use that is one whole expression
    a PLUS_ONE       VerbatimExpr                                    one that is not: its parent is opaque
    p.u = 1          VerbatimExpr(reason="a union member")           what the tree does not model; see unions.py

A node is intact: its span is exactly its text. What stands inside a macro's expansion is not: it has the span of the
macro use. A part that cannot be modelled inside an expansion makes the whole use opaque: it has no text of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

import msgspec.structs

from warpsmith.base.source import Span
from warpsmith.front.c.context import Context, FileText, find_asserted, only_tests
from warpsmith.front.c.counted.writes import Knowledge
from warpsmith.front.c.literals import is_written, number_text, variable_or_value, written_value
from warpsmith.front.c.scan import bare
from warpsmith.front.c.types_of import decay_type
from warpsmith.front.c.unions import holder_of, read_member, written_place
from warpsmith.front.c.whole import is_whole
from warpsmith.front.clang import kinds
from warpsmith.front.clang.node_table import MacroRange
from warpsmith.front.clang.wire import Declared
from warpsmith.front.cxx.calls import CxxCalls
from warpsmith.front.cxx.classes.members import item_of
from warpsmith.front.cxx.doing import lambda_effects
from warpsmith.front.cxx.objects import again, before, dereference, is_lvalue, member_of
from warpsmith.tree.library_texts import is_assertion, make_assertion
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
    replace,
)
from warpsmith.tree.types import BOOL, VOID, Array, FunctionType, Opaque, Pointer, Record, Scalar, Symbol, Type

__all__ = ["MAX_DEPTH", "CannotModelError", "Expressions"]

MAX_DEPTH: Final = 150
"""How deep our tree may be: recursive walks over it must stay far from the interpreter's own limit."""

_TOO_DEEP = f"an expression or statement nested more than {MAX_DEPTH} deep"
_BROKEN_MACRO = "a macro that is not one whole expression"
_UNKNOWN_FORM = "an expression form that is not modelled"
_UNKNOWN_NAME = "a name of C++ that is no variable"
_ANYTHING = frozenset({_UNKNOWN_FORM, _UNKNOWN_NAME})
_REASONS = {
    kinds.THROW: "throw",
    kinds.DYNAMIC_CAST: "dynamic_cast",
    kinds.COMPOUND_LITERAL: "a compound literal",
    kinds.STATEMENT_EXPR: "a statement expression",
    kinds.GENERIC: "a _Generic selection",
    kinds.IMAGINARY: "a complex constant",
    kinds.ADDRESS_OF_LABEL: "the address of a label",
}
_NAMED = kinds.FUNCTIONS | {kinds.VAR_DECL, kinds.PARM_DECL, kinds.ENUM_CONSTANT}


class CannotModelError(Exception):
    """A part of a macro's expansion is not modelled; the macro use is opaque as a whole."""


class Expressions:
    """Builds the expressions of one file of a unit."""

    def __init__(self, context: Context, text: FileText, knowledge: Knowledge | None = None) -> None:
        self.context = context
        self.knowledge = knowledge
        self.table = context.table
        self.text = text
        self.depth = 0
        self.inside: MacroRange | None = None
        # of C++: the method's object, and, where a function's body stands in place of its call, that call's place, what
        # its parameters are, and which calls are being replaced
        self.this: Expr | None = None
        self.home: Expr | None = None
        self.site: Span | None = None
        self.bound: Mapping[int, Expr] = {}
        self.open: tuple[int, ...] = ()
        self.placed: dict[int, Expr] = {}
        self.cxx = CxxCalls(self)
        self._calls: dict[tuple[int, bool], Expr] = {}
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
            kinds.STATEMENT_EXPR: self._statement,
            kinds.CAST: self._cast,
            kinds.SIZEOF: self._sizeof,
            kinds.INIT_LIST: self._list,
            kinds.UNEXPOSED_EXPR: self._build_unexposed,
        }
        if context.cxx:
            self._makers |= {
                kinds.THIS: self._this,
                **dict.fromkeys((kinds.NULLPTR, kinds.GNU_NULL), self._null),
                kinds.NEW: self.cxx.memory.make,
                kinds.DELETE: self.cxx.memory.delete,
                kinds.LAMBDA: self._lambda,
                kinds.STATIC_CAST: self._cast,
                kinds.REINTERPRET_CAST: self._cast,
                kinds.CONST_CAST: self._cast,
                kinds.FUNCTIONAL_CAST: self._functional_cast,
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
            return self.make_opaque(-row, _BROKEN_MACRO, (start, end))
        start, end = self._range(row)
        if self.depth > MAX_DEPTH:
            self.context.too_deep.append(Span(self.text.file, start, end))
            return self.make_opaque(row, _TOO_DEEP)
        if self.site is not None:
            return self._make(row, self.site)
        if self.inside is not None:
            return self._make(row, Span(self.text.file, self.inside.start, self.inside.end))
        use = self.context.use_of(row, self.text)
        if use is not None and (start, end) == (use.start, use.end):
            return self._macro_use(row, use)
        if not is_whole(self.context, self.text, row, (start, end)):
            return self.make_opaque(row, _BROKEN_MACRO)
        return self._make(row, Span(self.text.file, start, end))

    def _make(self, row: int, span: Span) -> Expr:
        if row in self.placed:
            return again(self.placed[row])
        maker = self._makers.get(self.table.kind[row])
        if maker is None:
            return self.make_opaque(row, _REASONS.get(self.table.kind[row], _UNKNOWN_FORM))
        if self.table.kind[row] == kinds.CALL and self.own and self.context.cxx and not self.placed:
            return self._make_once(row, span, maker)
        return maker(row, span)

    def _make_once(self, row: int, span: Span, maker: Callable[[int, Span], Expr]) -> Expr:
        """Return a call, which is asked for again at every call around it."""
        key = row, row in self.cxx.alone
        if key not in self._calls:
            self._calls[key] = maker(row, span)
        return again(self._calls[key])

    @property
    def own(self) -> bool:
        """Whether what is built has its own text: it stands in no macro, and in no body in place of a call."""
        return self.inside is None and self.site is None

    @property
    def escaped(self) -> frozenset[str]:
        """The keys of the variables whose address is taken."""
        return self.knowledge.escaped if self.knowledge is not None else frozenset()

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
            opaque = self.make_opaque(row, f"{reason} in the macro {use.name}")
            tests = only_tests(self.context, row)
            return msgspec.structs.replace(opaque, writes=(), calls=False, kept=()) if tests else opaque
        finally:
            self.inside = None
        return MacroUse(span=span, intact=True, type=expansion.type, name=use.name, expansion=expansion)

    # --- opaque code

    def make_opaque(self, row: int, reason: str, place: tuple[int, int] | None = None) -> VerbatimExpr:
        """Return a row as text, with `reason`; `place`: where the text is, if not where clang says."""
        if not self.own:
            raise CannotModelError(reason)
        start, end = place or self._range(row)
        span = Span(self.text.file, start, end)
        named = (*self.context.variables(row), *self.own_object(row))
        # A form that we do not know (`new`, a conversion of C++) may run any code.
        calls = self.context.may_call(row) or reason in _ANYTHING
        type = self.context.types.of(self.table.type[row]) if self.table.type[row] >= 0 else Opaque("")
        return VerbatimExpr(
            span=span, intact=True, type=type, text=span.text, reads=named, writes=named, calls=calls,
            reason=reason, kept=None if self.knowledge is None else self.knowledge.find_kept(named),
        )  # fmt: skip

    # --- the forms

    def _name(self, row: int, span: Span) -> Expr:
        number = self.table.aux[row]
        if number in self.bound:
            return again(self.bound[number])
        if self.context.cxx and self.context.dump.declared[number][0] not in _NAMED:
            made = [] if self.context.dump.declared[number][1] else self.table.expressions(row)  # a template's value
            return self.build(made[0]) if made else self.make_opaque(row, _UNKNOWN_NAME)
        symbol = self.context.symbol(number)
        if isinstance(symbol.type, Opaque) and ("&" in symbol.type.text or self.context.cxx):
            reason = "a C++ reference" if "&" in symbol.type.text else "a variable of an unusual type"
            return self.make_opaque(row, reason)
        if isinstance(symbol.type, Pointer) and symbol.type.reference:
            pointer = Name(span=before(span), type=symbol.type, symbol=symbol)
            return dereference(pointer, span, intact=self.own)
        return variable_or_value(symbol, span, own=self.own)

    def _number(self, row: int, span: Span) -> Expr:
        type, text, kind = self._clang_type(row), self._literal_text(row, span), self.table.kind[row]
        value: int | float | str | None = None
        if self.table.aux[row] >= 0:
            value = self.context.dump.values[self.table.aux[row]]
        plain = self.inside is None and not (self.site is not None and self.table.begins_in_macro(row))
        if plain and is_written(kind, text):
            value = written_value(kind, text, type) if value is None else value
        else:
            written = number_text(value, type) if isinstance(value, int | float) else None
            if written is None:
                return self.make_opaque(row, "a constant that has no exact text")
            text = written
            plain = False
        number = value if isinstance(value, int | float) else None
        literal = Literal(span=span, intact=self.own and plain, type=type, text=text, value=number)
        # a template's parameter: the user's text keeps its name, a kernel has the instance's value
        named = self.own and self.inside is None and bare(span.text) != text and not is_written(kind, bare(span.text))
        return MacroUse(span=span, intact=True, type=type, name="", expansion=literal) if named else literal

    def _literal_text(self, row: int, span: Span) -> str:
        if self.site is None:
            return span.text
        start, end = self._range(row)
        return self.text.file.text[start:end]

    def _string(self, row: int, span: Span) -> Expr:
        text = span.text
        if not self.own:
            text = str(self.context.dump.values[self.table.aux[row]])
            if not text.startswith('"'):
                return self.make_opaque(row, "a string of an unusual kind")
        return Literal(span=span, intact=self.own, type=self._clang_type(row), text=text, value=None)

    def _member(self, row: int, span: Span) -> Expr:
        parts = self.table.expressions(row)
        declared = self.context.dump.declared[self.table.aux[row]]
        if declared[10]:
            return self.make_opaque(row, "a bit-field")
        if self.context.cxx:
            return self._member_of_class(row, span, parts, declared)
        if len(parts) != 1:
            return self.make_opaque(row, "a member without its object")
        base = self.build(parts[0])
        holder = holder_of(base)
        if not isinstance(holder, Record) or holder.union:
            return read_member(self, row, span, base, declared[1])
        if not any(field.name == declared[1] for field in holder.fields):
            return self.make_opaque(row, "a member of an unnamed struct or union")
        return Member(
            span=span, intact=self.own, type=self._clang_type(row), base=base, field=declared[1],
            arrow=isinstance(base.type, Pointer | Array),
        )  # fmt: skip

    def _call(self, row: int, span: Span) -> Expr:
        parts = self.table.expressions(row)
        if not parts:
            return self.cxx.objects.make_from_nothing(row, self.make_opaque(row, "a call without a function"))
        if any(self.text.file.text.startswith("<<<", self._range(part)[0]) for part in parts):
            return self.make_opaque(row, "a kernel launch")
        made = self.cxx.call(row, span) if self.context.cxx else None
        if made is not None:
            return made
        function = self.build(parts[0])
        called = function.type.to if isinstance(function.type, Pointer) else function.type
        if not isinstance(called, FunctionType):
            return self.make_opaque(row, "an operator or a constructor of C++")
        if any(isinstance(p, Pointer) and p.reference for p in (called.result, *called.parameters)):
            return self.make_opaque(row, "a call through a pointer to a function with references")
        arguments = tuple(self.build(part) for part in parts[1:])
        intact = self.own
        return Call(span=span, intact=intact, type=self._clang_type(row), function=function, arguments=arguments)

    def _unary(self, row: int, span: Span) -> Expr:
        operator = kinds.UNARY_OPERATORS[self.table.aux[row]] if self.table.aux[row] < 14 else ""
        parts = self.table.expressions(row)
        if not operator or len(parts) != 1:
            return self.make_opaque(row, "an operator that is not modelled")
        operand = written_place(self, parts[0], self.build(parts[0]), operator)
        type = self._clang_type(row)
        if self.context.cxx and operator in ("x++", "x--", "++x", "--x", "&") and not is_lvalue(operand):
            return self.make_opaque(row, "an operator on the result of another one")
        if operator == "*" and isinstance(operand.type, Pointer | Array):
            type = operand.type.to if isinstance(operand.type, Pointer) else operand.type.of
        elif operator == "&":
            type = Pointer(operand.type)
        elif operator in ("x++", "x--", "++x", "--x"):
            type = operand.type
        return Unary(span=span, intact=self.own, type=type, op=operator, operand=operand)

    def _binary(self, row: int, span: Span) -> Expr:
        number = self.table.aux[row]
        operator = kinds.BINARY_OPERATORS[number] if number < len(kinds.BINARY_OPERATORS) else ""
        parts = self.table.expressions(row)
        if not operator or len(parts) != 2:
            return self.make_opaque(row, "an operator that is not modelled")
        left, right = self.build(parts[0]), self.build(parts[1])
        if operator == "," and is_assertion(right) and isinstance(left, Cast) and isinstance(left.operand, SizeOf):
            return right
        intact = self.own
        if self.context.cxx and kinds.FIRST_ASSIGNMENT <= number <= kinds.LAST_ASSIGNMENT and not is_lvalue(left):
            return self.make_opaque(row, "an assignment to the result of an operator")
        if kinds.FIRST_ASSIGNMENT <= number <= kinds.LAST_ASSIGNMENT:
            left = written_place(self, parts[0], left, operator)
            return Assign(span=span, intact=intact, type=left.type, op=operator, target=left, value=right)
        return Binary(
            span=span, intact=intact, type=self._arithmetic(row, operator, left, right), op=operator, left=left,
            right=right,
        )  # fmt: skip

    def _arithmetic(self, row: int, operator: str, left: Expr, right: Expr) -> Type:
        """Return the type of a binary expression; pointer sums keep the extents that clang's own type lacks."""
        if operator in ("+", "-"):
            pointers = [decay_type(e.type) for e in (left, right) if isinstance(e.type, Pointer | Array)]
            if len(pointers) == 1:
                return pointers[0]
        return right.type if operator == "," else self._clang_type(row)

    def _subscript(self, row: int, span: Span) -> Expr:
        parts = self.table.expressions(row)
        if len(parts) != 2:
            return self.make_opaque(row, "a subscript of C++")
        base, index = self.build(parts[0]), self.build(parts[1])
        if not isinstance(base.type, Pointer | Array):
            base, index = index, base
        if not isinstance(base.type, Pointer | Array):
            return self.make_opaque(row, "a subscript of what is not an array")
        type = base.type.to if isinstance(base.type, Pointer) else base.type.of
        return Index(span=span, intact=self.own, type=type, base=base, index=index)

    def _conditional(self, row: int, span: Span) -> Expr:
        parts = self.table.expressions(row)
        if (assertion := self._assertion(row, span)) is not None:
            return assertion
        if len(parts) != 3:
            return self.make_opaque(row, "the operator ?: without a middle operand")
        condition, then, other = (self.build(part) for part in parts)
        return Conditional(
            span=span, intact=self.own, type=self._clang_type(row), condition=condition, then=then,
            other=other,
        )  # fmt: skip

    def _statement(self, row: int, span: Span) -> Expr:
        return self._assertion(row, span) or self.make_opaque(row, _REASONS[kinds.STATEMENT_EXPR])

    def _assertion(self, row: int, span: Span) -> Expr | None:
        """Return the call of `assert` that a row of its expansion stands for; None where it is none."""
        asserted = None if self.own else find_asserted(self.context, row)
        condition = self.build(asserted) if asserted is not None else None
        if self.context.cxx and isinstance(condition, Cast) and condition.type == BOOL:
            condition = condition.operand
        if condition is None or not isinstance(condition.type, Scalar):
            return None
        return make_assertion(condition, span)

    def _cast(self, row: int, span: Span) -> Expr:
        parts = self.table.expressions(row)
        if not parts:
            return self.make_opaque(row, "a cast that is not modelled")
        type = self.context.cast_type(self.table.type[row], parts[:-1], self.build)
        return Cast(span=span, intact=self.own, type=type, operand=self.build(parts[-1]))

    def _functional_cast(self, row: int, span: Span) -> Expr:
        parts = self.table.expressions(row)
        if not isinstance(self._clang_type(row), Scalar) or len(parts) != 1:
            return self.cxx.objects.make_in_place(row, self.make_opaque(row, "an object that is made in an expression"))
        if self.table.kind[parts[0]] == kinds.INIT_LIST:
            parts = self.table.expressions(parts[0])
            if len(parts) != 1:
                return self.make_opaque(row, "an object that is made in an expression")
        return Cast(span=span, intact=self.own, type=self._clang_type(row), operand=self.build(parts[0]))

    def _sizeof(self, row: int, span: Span) -> Expr:
        value = self.context.dump.values[self.table.aux[row]] if self.table.aux[row] >= 0 else None
        type, constant = self._clang_type(row), value if isinstance(value, int) else None
        if self.own:
            named = tuple(self.context.variables(row)) if constant is not None else ()
            lengths = () if constant is not None else tuple(self.build(part) for part in self.table.expressions(row))
            return SizeOf(
                span=span, intact=True, type=type, text=span.text, value=constant, operands=lengths, named=named
            )
        if constant is None:
            return self.make_opaque(row, "the size of a variable length array")
        return SizeOf(span=span, type=type, text=f"{constant}ul", value=constant)

    def _list(self, row: int, span: Span) -> Expr:
        parts = self.table.expressions(row)
        if any(self._is_designated(part) for part in parts):
            return self.make_opaque(row, "a designated initializer")
        if self.context.cxx and not self.context.types.is_plain(self.table.type[row]):
            return self.make_opaque_object(row, "an object that is made from a list")
        items = tuple(self.build(part) for part in parts)
        return InitList(span=span, intact=self.own, type=self._clang_type(row), items=items)

    def _is_designated(self, row: int) -> bool:
        if self.table.kind[row] != kinds.UNEXPOSED_EXPR:
            return False
        named = any(self.table.kind[child] == kinds.MEMBER_REF for child in self.table.children(row))
        return named or self.text.file.text.startswith((".", "["), self._range(row)[0])

    def _build_unexposed(self, row: int, span: Span) -> Expr:
        children = self.table.children(row)
        text = span.text.lstrip()
        if self.inside is not None and self.inside.name == "offsetof" and self.table.aux[row] >= 0:
            value = self.context.dump.values[self.table.aux[row]]
            constant = value if isinstance(value, int) else None
            if constant is not None:
                return SizeOf(span=span, type=self._clang_type(row), text=span.text, value=constant)
        if text.startswith("__func__") or text.startswith("__FUNCTION__"):
            return Literal(span=span, intact=self.own, type=self._clang_type(row), text=text, value=None)
        if len(children) > 2:
            return self.make_opaque(row, "the operator ?: without a middle operand")
        return self.make_opaque(row, _UNKNOWN_FORM)

    # --- C++

    def own_object(self, row: int) -> tuple[Symbol, ...]:
        """Return `this` where a part of the row may mean a member of the method's object without naming it."""
        if not isinstance(self.this, Name):
            return ()
        below = self.table.kind[row : self.table.after[row]]
        meant = any(kind in (kinds.MEMBER_REF_EXPR, kinds.THIS, kinds.LAMBDA, kinds.CALL) for kind in below)
        return (self.this.symbol,) if meant else ()

    def this_at(self, span: Span) -> Expr:
        """Return the pointer `this` of the method, where it is not written."""
        assert self.this is not None
        if not isinstance(self.this, Name):
            return again(self.this)
        return Name(span=before(span), type=self.this.type, symbol=self.this.symbol)

    def _this(self, row: int, span: Span) -> Expr:
        if self.this is None:
            return self.make_opaque(row, "`this` where no method is seen")
        if isinstance(self.this, Name):
            return Name(span=span, intact=self.own, type=self.this.type, symbol=self.this.symbol)
        return again(self.this)

    def _null(self, row: int, span: Span) -> Expr:
        return Literal(span=span, intact=self.own, type=Pointer(VOID), text="nullptr", value=0)

    def _lambda(self, row: int, span: Span) -> Expr:
        return self.make_opaque_lambda(row, row)

    def _member_of_class(self, row: int, span: Span, parts: list[int], declared: Declared) -> Expr:
        if declared[0] != kinds.FIELD_DECL:
            return self.make_opaque(row, "a member of a class that is no field")
        if not parts and self.this is None:
            return self.make_opaque(row, "a member without its object")
        if len(parts) > 1:
            return self.make_opaque(row, "a member whose name is qualified")
        value = self.build(parts[0]) if parts else dereference(self.this_at(span), before(span), intact=False)
        if isinstance(value.type, Pointer | Array):
            value = dereference(value, before(value.span), intact=False)
        if isinstance(value.type, Record) and value.type.union:
            return self.make_opaque(row, "a union member")
        if (item := item_of(value, declared[1])) is not None:
            return item
        if self.site is not None and isinstance(value.type, Record) and self.is_closed(value.type.tag, declared[1]):
            # Written out where the call stands by its name, it would be an error.
            reason = f"the private member {declared[1]}"
            return self.cxx.open_member(value, declared[1], span) or self.make_opaque(row, reason)
        made = member_of(value, declared[1], span, intact=self.own)
        if made is None:
            return self.make_opaque(row, "a member that its class does not have itself")
        if isinstance(made.type, Pointer) and made.type.reference:
            return dereference(replace(made, span=before(span)), span, intact=self.own)
        return made

    def is_closed(self, tag: str, field: str) -> bool:
        """Whether a member is private, and the function that is being read is none of its class."""
        home = self.home.type.to if self.home is not None and isinstance(self.home.type, Pointer) else None
        return self.context.types.hides(tag, field) and not (isinstance(home, Record) and home.tag == tag)

    def site_of(self, row: int) -> Span:
        """Return the place of a call: where what stands in place of it, is."""
        if self.site is not None:
            return self.site
        if self.inside is not None:
            return Span(self.text.file, self.inside.start, self.inside.end)
        return Span(self.text.file, *self._range(row))

    def elsewhere(
        self, site: Span, number: int, bound: Mapping[int, Expr], this: Expr | None, callee: int
    ) -> Expressions:
        """Return a builder of expressions of another function's body, in place of a call at `site`."""
        made = Expressions(self.context, self.context.text(number), self.knowledge)
        made.site, made.bound, made.this, made.open = site, bound, this, (*self.open, callee)
        made.depth, made.home = self.depth, self.home if self.site is not None else self.this
        return made

    def try_expression(self, row: int) -> Expr | None:
        """Return the expression of a row; None where a part of it is not modelled."""
        try:
            return self.build(row)
        except CannotModelError:
            return None

    def make_opaque_object(self, row: int, reason: str) -> VerbatimExpr:
        """Return the making of an object as text."""
        opaque = self.make_opaque(row, reason)
        type = opaque.type
        if isinstance(type, Record) and opaque.text[:1] in ("", "{"):
            return replace(opaque, text=f"{type.spelling or type.tag}{opaque.text or '()'}")
        return opaque

    def make_opaque_lambda(self, row: int, lambda_row: int) -> VerbatimExpr:
        """Return the making or the call of a lambda as text, with what its body may do."""
        opaque = self.make_opaque(row, "a lambda" if row == lambda_row else "a call of a lambda")
        if row == lambda_row:
            kept = () if row in self.context.only_called else opaque.kept
            return msgspec.structs.replace(opaque, writes=(), calls=False, kept=kept, doing=lambda_effects(opaque))
        named = tuple(dict.fromkeys((*opaque.reads, *self.context.variables(lambda_row), *self.own_object(lambda_row))))
        return msgspec.structs.replace(opaque, reads=named, writes=named, calls=True)
