"""Calls of the standard library as what they do: members of containers, std::min and its like.

    v[i]              Index(v.data(), i)                      std::vector, std::array
    v.at(i)           the same, with a test of i in the subscript
    v.size()          the member `size()`
    std::max(a, b)    a < b ? b : a                           exactly what it returns, for NaN and -0 as well
    std::sqrt(x)      sqrtf(x) of a float

Invariant: an expression stands in place of a call only where evaluating it is evaluating the call.
"""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace as with_type

from warpsmith.base.source import Span
from warpsmith.front.c.builders import ExpressionBuilder
from warpsmith.front.c.types_of import is_std_array
from warpsmith.front.cxx.objects import (
    INCREMENTS,
    again,
    before,
    behind,
    dereference,
    is_lvalue,
    is_pure,
    member_of,
)
from warpsmith.tree.containers import DATA, OWNED, SIZE, is_check, is_container, is_owner, make_check
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
    Name,
    Unary,
    VerbatimExpr,
    replace,
)
from warpsmith.tree.types import (
    BOOL,
    DOUBLE,
    FLOAT,
    INT,
    LONG,
    SIZE_T,
    Array,
    FunctionType,
    Pointer,
    Scalar,
    Symbol,
    Type,
    is_float,
    is_integer,
)
from warpsmith.tree.walk import walk

__all__ = ["NATIVE", "CxxLibrary"]

_MATH: Final = frozenset({
    "sqrt", "cbrt", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "asin", "acos",
    "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "erf", "erfc", "tgamma", "lgamma", "floor", "ceil",
    "trunc", "round", "rint", "nearbyint", "fabs", "pow", "atan2", "hypot", "fmod", "fmin", "fmax", "fdim", "copysign",
    "fma", "remainder",
})  # fmt: skip
# of one number, which it takes as it is
_TESTS: Final = frozenset({"isnan", "isinf", "isfinite", "signbit"})
_MOST_COPIES: Final = 60


class CxxLibrary:
    """Builds the calls of the standard library of one file of a C++ unit."""

    def __init__(self, expressions: ExpressionBuilder) -> None:
        self.expressions = expressions
        self.context = expressions.context
        self.table = expressions.table

    def container(self, span: Span, name: str, value: Expr, rows: list[int]) -> Expr | None:
        """Return a member function of std::vector or std::array as the tree has it; None for any other."""
        own = self.expressions.own
        field = OWNED if is_owner(value.type) else DATA
        data = value if is_std_array(value.type) else member_of(value, field, behind(value.span), intact=False)
        if data is None:
            return None
        type = data.type
        element = type.to if isinstance(type, Pointer) else type.of if isinstance(type, Array) else None
        if element is None:
            return None
        if name == "operator[]" and len(rows) == 1:
            index = self.expressions.build(rows[0])
            return Index(span=span, intact=own, type=element, base=data, index=index)
        if name == "at" and len(rows) == 1 and (is_container(value.type) or isinstance(type, Array)):
            return self._at(span, (value, data), element, rows[0])
        if field == OWNED:
            return MacroUse(span=span, intact=own, type=type, name="", expansion=data) if name == "get" else None
        made = self._call_getter(span, name, (value, data), element) if not rows else None
        return made and MacroUse(span=span, intact=own, type=made.type, name="", expansion=made)

    def _at(self, span: Span, container: tuple[Expr, Expr], element: Type, row: int) -> Expr | None:
        """Return the element at an index that is tested first."""
        value, data = container
        index = self.expressions.build(row)
        if not is_integer(index.type) or not is_pure(index) or not self.is_repeated(value):
            return None
        size = self._size(again(value), data, behind(span))
        check = make_check(data, index, size, span)
        return Index(span=span, intact=self.expressions.own, type=element, base=data, index=check)

    def _call_getter(self, span: Span, name: str, container: tuple[Expr, Expr], element: Type) -> Expr | None:
        """Return what a member function without arguments gives."""
        value, data = container
        match name:
            case "data":
                return _first(data, element, span) if isinstance(data.type, Array) else data
            case "size":
                return self._size(value, data, span)
            case "front":
                return _at(data, _number(0, span), element)
            case "back":
                size = self._size(value, data, span)
                last = Binary(span=span, type=SIZE_T, op="-", left=size, right=_number(1, span))
                return _at(data, last, element)
            case "empty":
                size = self._size(value, data, span)
                return Binary(span=span, type=BOOL, op="==", left=size, right=_number(0, span))
            case _:
                return None

    def _size(self, value: Expr, data: Expr, span: Span) -> Expr:
        if isinstance(data.type, Array):
            return Cast(span=span, type=SIZE_T, operand=_number(data.type.count or 0, span))
        size = member_of(value, SIZE, span, intact=False)
        assert size is not None
        return size

    # --- the standard library

    def standard(self, row: int, span: Span, name: str, rows: list[int]) -> Expr | None:
        """Return a call of a function of namespace std."""
        type = self.context.types.of(self.table.type[row])
        type = type.to if isinstance(type, Pointer) and type.reference else type
        if name in ("size", "ssize", "data", "empty") and len(rows) == 1:
            return self._of_container(row, span, name, rows[0])
        if not isinstance(type, Scalar):
            return None if self._is_plain_call(row) else self.expressions.make_opaque(row, f"a call of std::{name}")
        if (name in ("min", "max") and len(rows) == 2) or (name == "clamp" and len(rows) == 3):
            given = [self.convert(self.expressions.build(r), type, before(span)) for r in rows]
            chosen = self._extreme(name, span, type, given) if name != "clamp" else self._clamp(span, type, given)
            return chosen or self.expressions.make_opaque(
                row, f"a call of std::{name} whose arguments have side effects"
            )
        if name == "abs" and len(rows) == 1:
            made = self._absolute(span, type, rows[0])
        elif name in _MATH and is_float(type):
            made = self._math(name, span, type, rows)
        elif name in _TESTS and len(rows) == 1 and (tested := self._test(name, span, rows[0])) is not None:
            made = tested
        else:
            return None if self._is_plain_call(row) else self.expressions.make_opaque(row, f"a call of std::{name}")
        if made is None:
            return self.expressions.make_opaque(row, f"a call of std::{name} whose arguments have side effects")
        return MacroUse(span=span, intact=self.expressions.own, type=made.type, name="", expansion=made)

    def _of_container(self, row: int, span: Span, name: str, given: int) -> Expr:
        """Return std::size(v) and its like: what the member of a container gives, or how long an array is."""
        value = self.expressions.build(given)
        value = dereference(value, before(span), intact=False) if isinstance(value.type, Pointer) else value
        made: Expr | None = None
        if isinstance(value.type, Array) and not is_std_array(value.type):
            if value.type.count is not None and is_pure(value) and name in ("size", "ssize"):
                made = Cast(span=span, type=SIZE_T, operand=_number(value.type.count, span))
        elif is_lvalue(value) and is_pure(value):
            made = self.container(span, name.replace("ssize", "size"), value, [])
        if made is None:
            return self.expressions.make_opaque(row, f"a call of std::{name}")
        made = self.convert(made, LONG, span) if name == "ssize" else made
        return MacroUse(span=span, intact=self.expressions.own, type=made.type, name="", expansion=made)

    def _is_plain_call(self, row: int) -> bool:
        """Whether a function takes and returns no reference and no object, so that its call is one as in C."""
        type = self.context.symbol(self.table.aux[row]).type
        parts = (type.result, *type.parameters) if isinstance(type, FunctionType) else (type,)
        return all(isinstance(t, Scalar) or (isinstance(t, Pointer) and not t.reference) for t in parts)

    def _clamp(self, span: Span, type: Scalar, given: list[Expr]) -> Expr | None:
        """std::clamp(v, low, high) is std::min(std::max(v, low), high), of a NaN as well."""
        value, low, high = given
        raised = self._extreme("max", before(span), type, [value, low])
        return raised and self._extreme("min", span, type, [replace(raised), high])  # no text is this one's own

    def _extreme(self, name: str, span: Span, type: Scalar, given: list[Expr]) -> Expr | None:
        a, b = given
        if not all(self.is_copied(e) for e in (a, b)):
            return None
        # std::max(a, b) is (a < b) ? b : a, std::min(a, b) is (b < a) ? b : a: of a NaN the first stays.
        low, high = (a, b) if name == "max" else (b, a)
        test = Binary(span=before(span), type=BOOL, op="<", left=low, right=high)
        plain = with_type(type, const=False)
        return Conditional(
            span=span, intact=self.expressions.own, type=plain, condition=test, then=again(b), other=again(a)
        )

    def is_copied(self, expr: Expr) -> bool:
        """Whether an expression may be evaluated twice, and is short enough for that."""
        return self.is_repeated(expr) and sum(1 for _ in walk(expr)) <= _MOST_COPIES

    def is_repeated(self, expr: Expr) -> bool:
        """Whether evaluating an expression several times is evaluating it once."""
        parts = list(walk(expr))
        calls = [part for part in parts if isinstance(part, Call) and not is_check(part)]
        pure = all(isinstance(c.function, Name) and c.function.symbol.name.rstrip("f") in _MATH_STEMS for c in calls)
        changes = (Assign, VerbatimExpr, InitList)
        if any(isinstance(p, changes) or (isinstance(p, Unary) and p.op in INCREMENTS) for p in parts):
            return False
        return pure

    def _absolute(self, span: Span, type: Scalar, row: int) -> Expr | None:
        value = self.convert(self.expressions.build(row), type, span)
        if is_float(type):
            return self._native("fabs", span, type, [value])
        if not self.is_copied(value) or not is_integer(type):
            return None
        zero = _number(0, span, type)
        test = Binary(span=span, type=BOOL, op="<", left=value, right=zero)
        negated = Unary(span=span, type=type, op="-", operand=again(value))
        return Conditional(
            span=span, type=with_type(type, const=False), condition=test, then=negated, other=again(value)
        )

    def _math(self, name: str, span: Span, type: Scalar, rows: list[int]) -> Expr | None:
        return self._native(name, span, type, [self.convert(self.expressions.build(r), type, span) for r in rows])

    def _test(self, name: str, span: Span, row: int) -> Expr | None:
        """Return a question about a float or double as C asks it: by the name of a function for all types."""
        value = self.expressions.build(row)
        if not isinstance(value.type, Scalar) or not is_float(value.type) or value.type.bits > DOUBLE.bits:
            return None
        signature = FunctionType(BOOL, (with_type(value.type, const=False),))
        function = Name(span=before(span), type=signature, symbol=Symbol(name, name, signature, "function"))
        return Call(span=span, type=BOOL, function=function, arguments=(value,))

    def _native(self, name: str, span: Span, type: Scalar, arguments: list[Expr]) -> Expr | None:
        """Return a call of the C function of this name and type."""
        if type.bits not in (FLOAT.bits, DOUBLE.bits):
            return None
        plain = FLOAT if type.bits == FLOAT.bits else DOUBLE
        full = f"{name}f" if plain is FLOAT else name
        signature = FunctionType(plain, (plain,) * len(arguments))
        function = Name(span=span, type=signature, symbol=Symbol(full, full, signature, "function"))
        return Call(span=span, type=plain, function=function, arguments=tuple(arguments))

    def convert(self, value: Expr, type: Type, span: Span) -> Expr:
        """Return a value converted to a parameter's type."""
        have = value.type
        if isinstance(type, Scalar) and isinstance(have, Scalar) and have != type:
            return Cast(span=span, type=with_type(type, const=False), operand=value)
        return value


NATIVE: Final = _MATH | {f"{name}f" for name in _MATH}
"""The functions of C that those of namespace std become."""

_MATH_STEMS: Final = frozenset(name.rstrip("f") for name in _MATH)


def _number(value: int, span: Span, type: Scalar | None = None) -> Literal:
    return Literal(span=span, type=type or INT, text=str(value), value=value)


def _at(data: Expr, index: Expr, element: Type) -> Expr:
    return Index(span=behind(data.span), type=element, base=data, index=index)


def _first(data: Expr, element: Type, span: Span) -> Expr:
    return Unary(span=span, type=Pointer(element), op="&", operand=_at(data, _number(0, span), element))
