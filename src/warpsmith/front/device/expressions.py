"""Expressions of device code from the worker's rows: what a kernel computes, to be read and never to be printed.

    tile[threadIdx.x][0] = a[n]     Assign(=, Index(Index(tile, Member(threadIdx, x)), 0), Index(a, n))
    v.xyz, v.lo, v.s01              Member(Name v, "s012"), …        components of a vector of OpenCL, by their lanes
    IDX(i, j)                       what the macro stands for, with the span of its use

Invariant: an expression has the type that clang gives it, before it is converted to what its context needs. What is not
modelled is opaque, with a reason, in macros as well as outside of them.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

import msgspec.structs

from warpsmith.base.source import Span
from warpsmith.front.c.context import Context, FileText
from warpsmith.front.c.literals import number_text, written_value
from warpsmith.front.clang import kinds
from warpsmith.front.clang.wire import ELSEWHERE
from warpsmith.front.cxx.objects import again, dereference, is_lvalue
from warpsmith.front.device.builders import BASE_ELSEWHERE
from warpsmith.front.device.calls import DeviceCalls
from warpsmith.front.device.closures import closure
from warpsmith.front.device.lists import build_list
from warpsmith.front.device.swizzles import components_in, find_named_lanes
from warpsmith.front.device.temporaries import build_with_temporaries
from warpsmith.tree.nodes import (
    Assign,
    Binary,
    Cast,
    Conditional,
    Expr,
    Index,
    InitList,
    Literal,
    Member,
    Name,
    SizeOf,
    Unary,
    VerbatimExpr,
)
from warpsmith.tree.types import VOID, Array, FunctionType, Pointer, Record, Scalar, Symbol, Type

__all__ = ["MOST_NESTED", "DeviceExpressions"]

MOST_NESTED: Final = 150
_REASONS: Final = {
    kinds.NEW: "new",
    kinds.DELETE: "delete",
    kinds.THROW: "throw",
    kinds.DYNAMIC_CAST: "dynamic_cast",
    kinds.GENERIC: "a _Generic selection",
}
_UNKNOWN: Final = "an expression form that is not modelled"
_VARIABLES: Final = frozenset({kinds.VAR_DECL, kinds.PARM_DECL})
_NAMED: Final = kinds.FUNCTIONS | _VARIABLES | {kinds.ENUM_CONSTANT}


class DeviceExpressions:
    """Builds the expressions of one function; `this` is the pointer to a method's object, `bound` what stands for a
    variable that a lambda has captured."""

    def __init__(self, context: Context, text: FileText) -> None:
        self.context = context
        self.table = context.table
        self.text = text
        self.depth = 0
        self.this: Expr | None = None
        self.bound: dict[int, Expr] = {}
        self.around: Span | None = None
        self.calls = DeviceCalls(self)
        self._makers: dict[int, Callable[[int, Span], Expr]] = {
            kinds.DECL_REF: self._name,
            kinds.MEMBER_REF_EXPR: self._member,
            kinds.CALL: self.calls.call,
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
            kinds.STATIC_CAST: self._cast,
            kinds.REINTERPRET_CAST: self._cast,
            kinds.CONST_CAST: self._cast,
            kinds.FUNCTIONAL_CAST: self._cast,
            kinds.SIZEOF: self._sizeof,
            kinds.INIT_LIST: self._list,
            kinds.COMPOUND_LITERAL: self._compound_literal,
            kinds.THIS: self._this,
            kinds.LAMBDA: lambda row, span: closure(self, row, span),
            kinds.STATEMENT_EXPR: lambda row, span: build_with_temporaries(self, row, span),
            kinds.NULLPTR: self._null,
            kinds.GNU_NULL: self._null,
            kinds.UNEXPOSED_EXPR: self._build_unexposed,
        }

    # --- places and types

    def span(self, row: int) -> Span:
        """Return the text of a row; of what is written in another file, the text of what it stands in."""
        if self.table.flags[row] & ELSEWHERE and self.around is not None:
            return self.around
        start, end = self.table.range(row, self.text.uses)
        return Span(self.text.file, start, max(start, end))

    def type_of(self, row: int) -> Type:
        """Return clang's type of a row."""
        if self.table.kind[row] == kinds.DECL_REF and self.table.type[row] < 0:
            return self.context.symbol(self.table.aux[row]).type
        number = self.table.type[row]
        return self.context.types.of(number) if number >= 0 else VOID

    def build(self, row: int) -> Expr:
        """Return the expression of a row."""
        row = self.strip_casts(row)
        before, self.around = self.around, self.span(row)
        self.depth += 1
        try:
            if self.depth > MOST_NESTED:
                self.context.too_deep.append(self.around)
                return self.make_opaque(row, f"an expression or statement nested more than {MOST_NESTED} deep")
            kind = self.table.kind[row]
            maker = self._makers.get(kind)
            return maker(row, self.around) if maker else self.make_opaque(row, _REASONS.get(kind, _UNKNOWN))
        finally:
            self.depth -= 1
            self.around = before

    def strip_casts(self, row: int) -> int:
        """Return the row below parentheses and implicit conversions."""
        table = self.table
        while True:
            kind, below = table.kind[row], table.expressions(row)
            if len(below) != 1:
                return row
            extension = kind == kinds.UNARY and kinds.UNARY_OPERATORS[min(table.aux[row], 13)] == "ext"
            replaced = kind == kinds.DECL_REF and self._is_parameter(table.aux[row])
            conversion = kind == kinds.UNEXPOSED_EXPR and not (
                self._is_form(row, below[0]) or self._moves(row, below[0])
            )
            if not (kind == kinds.PAREN or extension or replaced or conversion):
                return row
            row = below[0]

    def _is_parameter(self, number: int) -> bool:
        """Whether a name is a parameter of a template: its part is the value that it has here."""
        kind, name, *_ = self.context.dump.declared[number]
        return kind == kinds.VALUE_PARAMETER or (not name and kind not in _NAMED and kind != kinds.UNEXPOSED_DECL)

    def _is_form(self, row: int, child: int) -> bool:
        """Whether an unnamed expression with one part is more than a conversion of it."""
        if self.context.cxx:
            return False
        return self._component(row, child) != ""

    def _moves(self, row: int, child: int) -> bool:
        """Whether a conversion is one to a base class that may stand elsewhere than at the start of the object."""
        if not self.context.cxx or self.table.type[row] == self.table.type[child]:
            return False
        return self.context.types.moves(self.type_of(child), self.type_of(row))

    def make_opaque(self, row: int, reason: str) -> VerbatimExpr:
        """Return a row as text, with `reason`."""
        span = self.span(row)
        named = tuple(self.context.variables(row))
        return VerbatimExpr(
            span=span, type=self.type_of(row), text=span.text, reads=named, writes=named,
            calls=self.context.may_call(row), reason=reason,
        )  # fmt: skip

    def make_unseen(self, span: Span, type: Type, reason: str) -> VerbatimExpr:
        """Return a value that is made by what is not seen."""
        return VerbatimExpr(span=span, type=type, text=span.text, reads=(), writes=(), calls=False, reason=reason)

    # --- names and numbers

    def _name(self, row: int, span: Span) -> Expr:
        number = self.table.aux[row]
        if number in self.bound:
            return again(self.bound[number])
        if self.context.dump.declared[number][0] not in _NAMED:
            return self.make_opaque(row, "a name that is no variable")
        symbol = self.context.symbol(number)
        value = self.context.dump.constants.get(row)
        if value is not None and not symbol.space:
            return self._constant(row, span, self.context.dump.values[value], symbol.type)
        return self.use(symbol, span)

    def find_capture(self, number: int, span: Span) -> Expr:
        """Return what a lambda captures under a name."""
        known = self.bound.get(number)
        return again(known) if known is not None else self.use(self.context.symbol(number), span)

    def hold_member(self, this: Name, field: str) -> Expr:
        """Return a member of the object that `this` points to; of a reference it is what that is bound to."""
        made = self.member_of(dereference(again(this), this.span, intact=False), field, this.span)
        assert made is not None
        reference = isinstance(made.type, Pointer) and made.type.reference
        return dereference(made, this.span, intact=False) if reference else made

    def use(self, symbol: Symbol, span: Span) -> Expr:
        """Return the use of a variable; of a reference it is what that is bound to."""
        name = Name(span=span, type=symbol.type, symbol=symbol)
        reference = isinstance(symbol.type, Pointer) and symbol.type.reference
        return dereference(name, span, intact=False) if reference else name

    def _constant(self, row: int, span: Span, value: int | float | str | None, type: Type) -> Expr:
        if isinstance(value, bool | str) or value is None:
            return self.make_opaque(row, "a constant that is not known")
        plain = msgspec.structs.replace(type, const=False) if isinstance(type, Scalar) else type
        if isinstance(plain, Scalar) and plain.kind == "float":
            value = float(value)
        return Literal(span=span, type=plain, text=number_text(value, plain) or repr(value), value=value)

    def _number(self, row: int, span: Span) -> Expr:
        type, known = self.type_of(row), self.table.aux[row]
        value: int | float | str | None = self.context.dump.values[known] if known >= 0 else None
        if value is None:
            value = written_value(self.table.kind[row], span.text, type)
        return self._constant(row, span, value, type)

    def _string(self, row: int, span: Span) -> Expr:
        return Literal(
            span=span, type=self.type_of(row), text=str(self.context.dump.values[self.table.aux[row]]), value=None
        )

    def _null(self, row: int, span: Span) -> Expr:
        return Literal(span=span, type=Pointer(VOID), text="nullptr", value=0)

    def _this(self, row: int, span: Span) -> Expr:
        return again(self.this) if self.this is not None else self.make_opaque(row, "`this` where no object is seen")

    def _sizeof(self, row: int, span: Span) -> Expr:
        value = self.context.dump.values[self.table.aux[row]] if self.table.aux[row] >= 0 else None
        return SizeOf(
            span=span, type=self.type_of(row), text=span.text, value=value if isinstance(value, int) else None
        )

    # --- members

    def _member(self, row: int, span: Span) -> Expr:
        declared = self.context.dump.declared[self.table.aux[row]]
        if declared[0] in (kinds.VAR_DECL, kinds.ENUM_CONSTANT):
            return self._name(row, span)
        if declared[0] != kinds.FIELD_DECL:
            return self.make_opaque(row, "a member of a class that is no field")
        parts = self.table.expressions(row)
        if parts:
            value = self.build(parts[-1])
            clang = self.type_of(parts[-1])
        elif self.this is not None:
            value, clang = again(self.this), self.this.type
        else:
            return self.make_opaque(row, "a member without its object")
        if isinstance(value.type, Pointer | Array):
            value = dereference(value, value.span, intact=False)
        if not declared[1] or "(" in declared[1]:
            return value  # an unnamed struct or union: its members are those of what it stands in
        made = self.member_of(value, declared[1], span, clang) or self._find_inherited(value, declared[1], span, clang)
        if made is None:
            return self.make_opaque(row, "a member that its class does not have itself")
        return dereference(made, span, intact=False) if isinstance(made.type, Pointer) and made.type.reference else made

    def member_of(self, value: Expr, field: str, span: Span, clang: Type | None = None) -> Member | None:
        """Return a field of an object; `clang` is what clang says of its type, where the tree's is not complete."""
        holder = value.type
        if isinstance(holder, Record) and not holder.fields and clang is not None:
            holder = clang.to if isinstance(clang, Pointer) else clang
            value = msgspec.structs.replace(value, type=holder)
        found = [f for f in holder.fields if f.name == field] if isinstance(holder, Record) else []
        if not found:
            return None
        if isinstance(value, Unary) and value.op == "*":
            return Member(span=span, type=found[0].type, base=value.operand, field=field, arrow=True)
        return Member(span=span, type=found[0].type, base=value, field=field, arrow=False)

    def _find_inherited(self, value: Expr, field: str, span: Span, clang: Type) -> Member | None:
        """Return a field of the only base class of an object, which stands at its start; clang has converted to it."""
        base = clang.to if isinstance(clang, Pointer) else clang
        holder = value.type
        if (
            not isinstance(base, Record)
            or not isinstance(holder, Record)
            or not self.context.types.is_base_at_start(holder.tag, base.tag)
        ):
            return None
        address = value.operand if isinstance(value, Unary) and value.op == "*" else None
        pointer = address or Unary(span=span, type=Pointer(holder), op="&", operand=value)
        start = Cast(span=span, type=Pointer(base), operand=pointer)
        return self.member_of(dereference(start, span, intact=False), field, span)

    # --- operators

    def _unary(self, row: int, span: Span) -> Expr:
        operator = kinds.UNARY_OPERATORS[self.table.aux[row]] if self.table.aux[row] < 13 else ""
        parts = self.table.expressions(row)
        if not operator or len(parts) != 1:
            return self.make_opaque(row, "an operator that is not modelled")
        operand = self.build(parts[0])
        if operator == "&" and isinstance(operand, Unary) and operand.op == "*":
            return operand.operand
        if operator in ("x++", "x--", "++x", "--x") and not is_lvalue(operand):
            return self.make_opaque(row, "an operator on what is no variable")
        return Unary(span=span, type=self.type_of(row), op=operator, operand=operand)

    def _binary(self, row: int, span: Span) -> Expr:
        number = self.table.aux[row]
        operator = kinds.BINARY_OPERATORS[number] if number < len(kinds.BINARY_OPERATORS) else ""
        parts = self.table.expressions(row)
        if not operator or len(parts) != 2:
            return self.make_opaque(row, "an operator that is not modelled")
        left, right = self.build(parts[0]), self.build(parts[1])
        if kinds.FIRST_ASSIGNMENT <= number <= kinds.LAST_ASSIGNMENT:
            if not is_lvalue(left):
                return self.make_opaque(row, "an assignment to what is no variable")
            return Assign(span=span, type=left.type, op=operator, target=left, value=right)
        return Binary(span=span, type=self.type_of(row), op=operator, left=left, right=right)

    def _subscript(self, row: int, span: Span) -> Expr:
        parts = self.table.expressions(row)
        if len(parts) != 2:
            return self.make_opaque(row, "a subscript of C++")
        base, index = self.build(parts[0]), self.build(parts[1])
        holds = [
            isinstance(e.type, Pointer | Array) or (isinstance(e.type, Record) and e.type.lanes) for e in (base, index)
        ]
        if not holds[0]:
            base, index = index, base
        if not any(holds):
            return self.make_opaque(row, "a subscript of what is not an array")
        return Index(span=span, type=self.type_of(row), base=base, index=index)

    def _conditional(self, row: int, span: Span) -> Expr:
        parts = self.table.expressions(row)
        if len(parts) != 3:
            return self.make_opaque(row, "the operator ?: without a middle operand")
        condition, then, other = (self.build(part) for part in parts)
        return Conditional(span=span, type=self.type_of(row), condition=condition, then=then, other=other)

    # --- conversions that are written

    def _cast(self, row: int, span: Span) -> Expr:
        parts = self.table.expressions(row)
        if not parts:
            return self.calls.zero(row, span)
        type, inner = self.type_of(row), self.strip_casts(parts[-1])
        if self.table.kind[inner] == kinds.INIT_LIST:
            values = self.table.expressions(inner)
            if not isinstance(type, Scalar | Pointer) or len(values) > 1:
                return self._list(inner, span)
            if not values:
                return self.calls.zero(row, span)
            inner = values[0]
        operand = self.build(inner)
        if self.context.types.moves(operand.type, type) or self.context.types.moves(type, operand.type):
            return self.make_opaque(row, BASE_ELSEWHERE)
        plain = isinstance(type, Record) and not type.lanes
        if plain and isinstance(operand.type, Record) and operand.type.tag == getattr(type, "tag", ""):
            return operand
        if plain or "&" in span.text[: max(0, self.span(inner).start - span.start)]:
            if not is_lvalue(operand) or isinstance(type, FunctionType):
                return self.make_opaque(row, "a conversion to an object")
            address = operand.operand if isinstance(operand, Unary) and operand.op == "*" else None
            pointer = address or Unary(span=span, type=Pointer(operand.type), op="&", operand=operand)
            return dereference(Cast(span=span, type=Pointer(type), operand=pointer), span, intact=False)
        return Cast(span=span, type=type, operand=operand)

    def _list(self, row: int, span: Span) -> Expr:
        return build_list(self, row, span)

    def _compound_literal(self, row: int, span: Span) -> Expr:
        parts = self.table.expressions(row)
        if not parts:
            return self.make_opaque(row, _UNKNOWN)
        type, made = self.type_of(row), self.build(parts[-1])
        if isinstance(made, InitList):
            return msgspec.structs.replace(made, type=type, span=span)
        vector = isinstance(type, Record) and type.lanes
        return InitList(span=span, type=type, items=(made,)) if vector else made

    # --- forms that clang's interface has no name for

    def _component(self, row: int, child: int) -> str:
        """Return the component of a vector that a row names, as written; "" where it names none; "?" where a macro
        hides which."""
        held, made = self.type_of(child), self.type_of(row)
        arrow = isinstance(held, Pointer)
        held = held.to if isinstance(held, Pointer) else held
        if not isinstance(held, Record) or not held.lanes or (arrow and isinstance(made, Pointer)):
            return ""
        if not self.table.begins_in_macro(row) and not self.table.begins_in_macro(child):
            end, last = self.span(child).end, self.span(row).end
            found = re.fullmatch(r"[\s)]*(?:\.|->)\s*(\w+)\s*", self.text.file.text[end:last])
            return found.group(1) if found else ""
        count = made.lanes if isinstance(made, Record) else 1
        if isinstance(made, Record) and made.lanes == held.lanes and not arrow:
            return ""
        named = components_in(self.context, self.span(row).text, count, held.lanes)
        return named or "?"

    def _build_unexposed(self, row: int, span: Span) -> Expr:
        children, dump = self.table.expressions(row), self.context.dump
        if not children:
            value = dump.constants.get(row)
            if value is not None:
                return self._constant(row, span, dump.values[value], self.type_of(row))
            return (
                self.calls.zero(row, span) if isinstance(self.type_of(row), Record) else self.make_opaque(row, _UNKNOWN)
            )
        if len(children) == 1 and self._moves(row, children[0]):
            return self.make_opaque(row, BASE_ELSEWHERE)
        component = self._component(row, children[0]) if len(children) == 1 else ""
        if not component:
            return self.make_opaque(row, "the operator ?: without a middle operand" if len(children) > 2 else _UNKNOWN)
        held = self.build(children[0])
        if isinstance(held.type, Pointer):
            held = dereference(held, held.span, intact=False)
        lanes = find_named_lanes(component, held.type.lanes) if isinstance(held.type, Record) else ()
        if not lanes:
            return self.make_opaque(row, "a component of a vector that a macro names")
        type = self.type_of(row)
        return Member(span=span, type=type, base=held, field="s" + "".join(f"{n:x}" for n in lanes), arrow=False)
