"""Calls in device code: functions, methods, operators, constructors, lambdas, and what is built in.

    v.norm(x)        Call(norm, &v, x)               a method gets its object's address
    a + b            Call(operator+, a, b)           an overloaded operator is a call
    vec3(1, 2, 3)    Call(vec3, 1, 2, 3)             a constructor is a function that returns the object
    f(i)             Call(lambda@12, n, &sum, i)     a lambda gets what it has captured, then its arguments
    swap(a, b)       Call(swap, &a, &b)              a parameter that is a reference gets an address
    f(1)             Call(f, 1, 7)                   an argument that is left out stands there

Invariant: a function that is called and has a text is in the program under the key of the call's symbol.
"""

from __future__ import annotations

from typing import Final

import msgspec.structs

from warpsmith.base.source import Span
from warpsmith.front.c.context import Context
from warpsmith.front.clang import kinds
from warpsmith.front.clang.wire import INITIALIZER, VIRTUAL
from warpsmith.front.cxx.objects import again, dereference, is_alike, is_lvalue
from warpsmith.front.device.builders import BASE_ELSEWHERE, DeviceExpressionBuilder
from warpsmith.front.device.defaults import is_made, value_from_nothing
from warpsmith.front.device.lambdas import Lambda, lambda_at
from warpsmith.tree.nodes import Assign, Call, Cast, Conditional, Expr, InitList, Literal, Name, Unary
from warpsmith.tree.types import Array, FunctionType, Pointer, Record, Scalar, Symbol, Type

__all__ = ["DeviceCalls", "address_of", "bind", "constructor_symbol"]

_CONFIGURES: Final = "cudaConfigureCall"
_SMALL: Final = frozenset({kinds.UNEXPOSED_EXPR, kinds.PAREN})


def constructor_symbol(context: Context, row: int) -> Symbol:
    """Return the symbol of a constructor as the function that returns the object."""
    symbol = context.symbol(row)
    type, owner = symbol.type, context.detail(row)[2]
    if not isinstance(type, FunctionType) or owner < 0:
        return symbol
    result = context.types.of(owner)
    parameters = type.parameters[1:] if type.method else type.parameters
    return msgspec.structs.replace(symbol, type=FunctionType(result, parameters))


def bind(value: Expr, reference: Pointer) -> Expr:
    """Return what a reference of this type holds: the address of what `value` names or, where that is of another type,
    of a temporary that holds the converted value (C++17 [dcl.init.ref] 5.4). One to what may change is never bound to
    a copy of a variable, whatever is known of the variable's type."""
    changes = not getattr(reference.to, "const", False) and is_lvalue(value)
    if changes or is_alike(value.type, reference.to):
        return address_of(value)
    return address_of(Cast(span=value.span, type=reference.to, operand=value))


def address_of(value: Expr) -> Expr:
    """Return the address of what a value names; of what is no variable, the address of one that holds it."""
    if isinstance(value, Unary) and value.op == "*":
        return value.operand
    if isinstance(value, Conditional) and is_lvalue(value.then) and is_lvalue(value.other):
        then, other = address_of(value.then), address_of(value.other)
        return msgspec.structs.replace(value, type=Pointer(value.type), then=then, other=other)
    return Unary(span=value.span, type=Pointer(value.type), op="&", operand=value)


class DeviceCalls:
    """Builds the calls of one function."""

    def __init__(self, expressions: DeviceExpressionBuilder) -> None:
        self.expressions = expressions
        self.context = expressions.context
        self.table = expressions.table
        self.lambdas: dict[int, Lambda] = {}

    def call(self, row: int, span: Span) -> Expr:
        """Return the expression of a call."""
        parts, callee = self.table.expressions(row), self.table.aux[row]
        if any(self._configures(part) for part in parts):
            return self.expressions.make_opaque(row, "a kernel launch in device code")
        if callee < 0:
            return self._indirect(row, span, parts)
        kind = self.context.dump.declared[callee][0]
        if kind == kinds.CONSTRUCTOR:
            return self._make_object(row, span, callee, parts)
        if kind == kinds.DESTRUCTOR:
            return self.expressions.make_opaque(row, "a destructor")
        given, arguments = self._parts(parts, callee)
        if kind in (kinds.CXX_METHOD, kinds.CONVERSION):
            return self._method(row, span, given, arguments)
        return self._plain(row, span, self.context.symbol(callee), [], arguments)

    def zero(self, row: int, span: Span) -> Expr:
        """Return the value of an object that is made from nothing: zeros."""
        type = self.expressions.type_of(row)
        if isinstance(type, Record) and is_made(self.context, type):
            return value_from_nothing(self.expressions, type, span)
        if isinstance(type, Record | Array):
            return InitList(span=span, type=type, items=())
        value = 0.0 if isinstance(type, Scalar) and type.kind == "float" else 0
        return Literal(span=span, type=type, text=repr(value), value=value)

    # --- what is called

    def _configures(self, part: int) -> bool:
        number = self.table.aux[part]
        called = self.table.kind[part] == kinds.CALL and number >= 0
        return called and self.context.dump.declared[number][1] == _CONFIGURES

    def _parts(self, parts: list[int], callee: int) -> tuple[int | None, list[int]]:
        """Return the row of a method's object (-1: `this`; None: there is none) and those of the arguments."""
        method = self.context.dump.declared[callee][0] in (kinds.CXX_METHOD, kinds.CONVERSION)
        method = method and self.context.detail(callee)[2] >= 0
        for number, part in enumerate(parts):
            inner = part
            while self.table.kind[inner] in _SMALL and self.table.expressions(inner):
                inner = self.table.expressions(inner)[0]
            if self.table.aux[inner] != callee:
                continue
            rest = parts[:number] + parts[number + 1 :]
            if self.table.kind[inner] == kinds.MEMBER_REF_EXPR:
                base = self.table.expressions(inner)
                return ((base[0] if base else -1) if method else None), rest
            if self.table.kind[inner] == kinds.DECL_REF:
                return (rest[0], rest[1:]) if method and rest else (None, rest)
        return None, parts

    def _indirect(self, row: int, span: Span, parts: list[int]) -> Expr:
        if not parts:
            return self.expressions.make_opaque(row, "a call without a function")
        function = self.expressions.build(parts[0])
        arguments = tuple(self.expressions.build(part) for part in parts[1:])
        if not isinstance(function.type, FunctionType | Pointer):
            return self.expressions.make_opaque(row, "a call of what is no function")
        return Call(span=span, type=self.expressions.type_of(row), function=function, arguments=arguments)

    def _method(self, row: int, span: Span, given: int | None, arguments: list[int]) -> Expr:
        callee = self.table.aux[row]
        declared, (_, _, owner, flags) = self.context.dump.declared[callee], self.context.detail(callee)
        if given is None or owner < 0:
            return self._plain(row, span, self.context.symbol(callee), [], arguments)
        lambda_row = self.context.lambda_of(given) if given >= 0 else None
        direct = (
            lambda_row is not None
            and given >= 0
            and self.table.kind[self.expressions.strip_casts(given)] == kinds.LAMBDA
        )
        if lambda_row is not None and (direct or lambda_row in self.context.only_called):
            return self._lambda(row, span, lambda_row, arguments)
        if flags & VIRTUAL:
            return self.expressions.make_opaque(row, "a virtual call")
        if given == -1:
            this = self.expressions.this
            if this is None:
                return self.expressions.make_opaque(row, "a method without its object")
            if self.context.types.moves(this.type, self.context.types.of(owner)):
                return self.expressions.make_opaque(row, BASE_ELSEWHERE)
            object = again(this)
        else:
            value = self.expressions.build(given)
            object = value if isinstance(value.type, Pointer) else address_of(value)
        if declared[1] == "operator=" and callee not in self.context.bodies and len(arguments) == 1:
            target = dereference(object, span, intact=False)
            other = self.expressions.build(arguments[0])
            return Assign(span=span, type=target.type, op="=", target=target, value=other)
        return self._plain(row, span, self.context.symbol(callee), [object], arguments)

    def _plain(self, row: int, span: Span, symbol: Symbol, first: list[Expr], rows: list[int]) -> Expr:
        type = symbol.type
        if not isinstance(type, FunctionType):
            return self.expressions.make_opaque(row, f"a call of {symbol.name}")
        wanted = type.parameters[len(first) :] if type.method else type.parameters
        arguments = [*first, *self._arguments(self.table.aux[row], rows, wanted)]
        function = Name(span=span, type=type, symbol=symbol)
        return self._result(row, span, Call(span=span, type=type.result, function=function, arguments=tuple(arguments)))

    def _result(self, row: int, span: Span, call: Call) -> Expr:
        if isinstance(call.type, Pointer) and call.type.reference:
            return dereference(call, span, intact=False)
        type = self.expressions.type_of(row)
        return call if isinstance(call.type, Record) and call.type.fields else msgspec.structs.replace(call, type=type)

    def _arguments(self, callee: int, rows: list[int], wanted: tuple[Type, ...]) -> list[Expr]:
        made: list[Expr] = []
        for number, row in enumerate(rows):
            value = self._build_default(callee, number, row) or self.expressions.build(row)
            type = wanted[number] if number < len(wanted) else None
            made.append(bind(value, type) if isinstance(type, Pointer) and type.reference else value)
        return made

    def _build_default(self, callee: int, number: int, row: int) -> Expr | None:
        """Return the default of a parameter whose argument is not written and is no constant."""
        if (
            self.table.kind[row] != kinds.UNEXPOSED_EXPR
            or self.table.children(row)
            or row in self.context.dump.constants
        ):
            return None
        body = self.context.bodies.get(callee)
        if body is None:
            return None
        parameters = [c for c in self.table.children(body[0]) if self.table.kind[c] == kinds.PARM_DECL]
        if number >= len(parameters):
            return None
        for part in self.table.expressions(parameters[number]):
            if self.table.flags[part] & INITIALIZER:
                return self.expressions.build(part)
        return None

    # --- objects

    def _make_object(self, row: int, span: Span, callee: int, parts: list[int]) -> Expr:
        symbol = constructor_symbol(self.context, callee)
        type = symbol.type
        if isinstance(type, FunctionType) and not type.parameters:
            parts = []  # what stands there are arguments of the class template
        if callee in self.context.bodies and isinstance(type, FunctionType):
            arguments = tuple(self._arguments(callee, parts, type.parameters))
            return Call(
                span=span, type=type.result, function=Name(span=span, type=type, symbol=symbol), arguments=arguments
            )
        if len(parts) == 1:
            value = self.expressions.build(parts[0])
            made = self.expressions.type_of(row)
            if isinstance(value.type, Record) and isinstance(made, Record) and value.type.tag == made.tag:
                return value
            if (
                isinstance(value.type, Record)
                and isinstance(made, Record)
                and self.context.types.is_base_at_start(value.type.tag, made.tag)
            ):
                start = Cast(span=span, type=Pointer(made), operand=address_of(value))
                return dereference(start, span, intact=False)  # the part of its base class
        if not parts:
            return self.zero(row, span)
        name = self.context.detail(callee)[0].rpartition("::")[0] or symbol.name
        return self.expressions.make_opaque(row, f"a constructor of {name} whose text is not seen")

    # --- lambdas

    def _lambda(self, row: int, span: Span, lambda_row: int, arguments: list[int]) -> Expr:
        made = self.lambdas.get(lambda_row)
        if made is None:
            found = lambda_at(self.expressions, lambda_row)
            if isinstance(found, str):
                return self.expressions.make_opaque(row, found)
            made = self.lambdas[lambda_row] = found
        captured: list[Expr] = []
        for number, parameter in made.captures:
            value = self._find_capture(number, span)
            held = parameter.type
            captured.append(bind(value, held) if isinstance(held, Pointer) and held.reference else value)
        type = made.symbol.type
        assert isinstance(type, FunctionType)
        wanted = type.parameters[len(captured) :]
        given = self._arguments(self.table.aux[row], arguments, wanted)
        function = Name(span=span, type=type, symbol=made.symbol)
        call = Call(span=span, type=type.result, function=function, arguments=(*captured, *given))
        return self._result(row, span, call)

    def _find_capture(self, number: int, span: Span) -> Expr:
        if number == -1:
            assert self.expressions.this is not None
            return again(self.expressions.this)
        return self.expressions.find_capture(number, span)
