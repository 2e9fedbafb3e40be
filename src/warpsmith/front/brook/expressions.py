"""Expressions of Brook+ as trees, by precedence climbing: each operator takes what binds more tightly on its right.

    a[i], a[y][x], a[v]      an element of a gather: a float subscript is rounded down; of a vector x is along rows
    v.xyz, float4(v, 1.0f)   components, and vectors of parts         (int)f, (float4)v     conversions
    instance()               int4: where the thread is, x along rows  indexof(s)            the same as float4
    h[z][y][x]               layer by layer: then instance().z is the layer

Invariant: an expression has its own type, before it is converted to what its context needs.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Final, Protocol

from msgspec import Struct

from warpsmith.base.source import Span
from warpsmith.front.brook.cursor import BrookCursor, BrookScope, Gather, HostStream, Meaning, Variable
from warpsmith.front.brook.kinds import (
    HOST_TYPE_NAMES,
    TYPE_NAMES,
    element_of,
    find_lanes,
    is_number,
    lanes_of_kind,
    shown_type,
    vector_of,
)
from warpsmith.front.brook.operators import (
    ASSIGNMENTS,
    LEVELS,
    assign,
    call_builtin,
    choose,
    combine,
    converted,
    step,
)
from warpsmith.front.brook.tokens import BrookTextError, BrookWord
from warpsmith.front.c.literals import float_value, integer_value
from warpsmith.tree.nodes import Assign, Binary, Call, Cast, Expr, Index, InitList, Literal, Member, Name, Node, Unary
from warpsmith.tree.types import DOUBLE, FLOAT, INT, UNSIGNED, VOID, Array, Pointer, Record, Type, byte_size, is_float
from warpsmith.tree.walk import walk

__all__ = ["BrookArgument", "BrookExpressions", "Callables", "position"]

_INTEGER: Final = re.compile(r"(0[xX][0-9a-fA-F]+|\d+)[uU]?")
_FLOAT: Final = re.compile(r"(\d+\.\d*|\.\d+|\d+(?=[eE]))([eE][-+]?\d+)?[fF]?")

_NOTHING: Final = ("NULL", "stdout", "stderr")
"""Pointers of C's library that host code may name."""


class BrookArgument(Struct, frozen=True):
    """What stands in a call: a value, or a stream by its name (`named`)."""

    span: Span
    value: Expr | None = None
    named: Gather | HostStream | Variable | None = None


class Callables(Protocol):
    """Knows what can be called; `solid`: threads may lie in layers."""

    solid: bool

    def call(self, name: BrookWord, arguments: Sequence[BrookArgument], span: Span) -> Expr:
        """Return a call; raises BrookTextError where there is no such function, or its arguments do not fit."""
        ...


def position(axis: int, span: Span) -> Expr:
    """Return where the thread is along an axis."""
    number = Literal(span=span, type=UNSIGNED, text=str(axis), value=axis)
    return call_builtin("get_global_id", INT, (number,), span)


class BrookExpressions:
    """Reads expressions at a cursor. `host`: of host code, which has pointers and texts; `kinds`: names of types."""

    def __init__(self, cursor: BrookCursor, scope: BrookScope, callables: Callables, *, host: bool = False) -> None:
        self.cursor, self.scope, self.callables, self.host = cursor, scope, callables, host
        self.kinds: Mapping[str, Type] = HOST_TYPE_NAMES if host else TYPE_NAMES

    def expression(self) -> Expr:
        """Read an expression with commas."""
        first = self.cursor.word
        left = self.assignment()
        while self.cursor.accepts(","):
            self.cursor.count_operator()
            right = self.assignment()
            left = Binary(span=self.cursor.since(first), type=right.type, op=",", left=left, right=right)
        return left

    def assignment(self) -> Expr:
        """Read an expression without a comma."""
        cursor, first = self.cursor, self.cursor.word
        cursor.enter()
        cursor.count_operator()
        left = self.binary(1)
        if cursor.accepts("?"):
            self.check_number(left, "a condition")
            then = self.assignment()
            cursor.expect(":", "between the two values of '?'")
            other = self.assignment()
            left = choose(left, then, other, cursor.since(first))
        elif cursor.stands(*ASSIGNMENTS):
            self.check_writable(first, left)
            op = cursor.take().text
            value = self.assignment()
            left = assign(op, left, value, cursor.since(first))
        cursor.leave()
        return left

    def check_number(self, value: Expr, what: str) -> Expr:
        """Return a value that has to be one number."""
        if is_number(value.type) or isinstance(value.type, Pointer):
            return value
        raise BrookTextError(value.span, f"{what} is one number, and this is {shown_type(value.type)}")

    def check_writable(self, first: BrookWord, target: Expr) -> None:
        """Raise BrookTextError where a name must not be written."""
        meaning = self.scope.find(first.text) if first.kind == "word" else None
        if isinstance(meaning, Variable) and not meaning.writable:
            raise BrookTextError(target.span, f"'{first.text}' is an in stream, which is not written", "use a variable")
        if isinstance(meaning, Gather) and not meaning.writable:
            helps = f"declare it as an out stream: out {shown_type(meaning.element)} {first.text}[]"
            raise BrookTextError(target.span, f"'{first.text}' is a gather, which is not written", helps)

    def binary(self, least: int) -> Expr:
        """Read operators that bind as tightly as `least`, or more."""
        cursor, first = self.cursor, self.cursor.word
        left = self.unary()
        while cursor.word.kind == "sign" and LEVELS.get(cursor.word.text, 0) >= least:
            cursor.count_operator()
            op = cursor.take().text
            right = self.binary(LEVELS[op] + 1)
            left = combine(op, left, right, cursor.since(first))
        return left

    # --- one operand

    def unary(self) -> Expr:
        """Read an operand with what stands before it."""
        cursor, first = self.cursor, self.cursor.word
        if cursor.stands("-", "+", "!", "~", "++", "--") or (self.host and cursor.stands("&", "*")):
            cursor.enter()
            op = cursor.take().text
            operand = self.unary()
            cursor.leave()
            return self._prefixed(op, operand, first)
        if cursor.stands("(") and cursor.ahead().text in (*self.kinds, "const") and cursor.ahead().kind == "word":
            cursor.take()
            type = self.type_name()
            cursor.expect(")", "behind the type of a conversion")
            cursor.enter()
            operand = self.unary()
            cursor.leave()
            return self.cast(type, operand, cursor.since(first))
        return self.postfix()

    def _prefixed(self, op: str, operand: Expr, first: BrookWord) -> Expr:
        span = self.cursor.since(first)
        if op in ("++", "--"):
            return step(f"{op}x", operand, span)
        if op == "&":
            return Unary(span=span, type=Pointer(operand.type), op="&", operand=operand)
        if op == "*":
            if not isinstance(operand.type, Pointer):
                raise BrookTextError(operand.span, f"'*' takes a pointer, and this is {shown_type(operand.type)}")
            return Unary(span=span, type=operand.type.to, op="*", operand=operand)
        return step(op, operand, span)

    def type_name(self) -> Type:
        """Read a type, of host code a pointer as well."""
        cursor = self.cursor
        cursor.accepts("const")
        word = cursor.expect_name("a type: float, int, float4 …")
        type = self.kinds.get(word.text)
        if type is None:
            raise BrookTextError(word.span, f"'{word.text}' is no type of Brook+", "float, int, uint, double, float4 …")
        if word.text == "unsigned":
            cursor.accepts("int")
        while self.host and cursor.accepts("*"):
            type = Pointer(type)
        return type

    def cast(self, type: Type, operand: Expr, span: Span) -> Expr:
        """Return `(type)operand`."""
        if isinstance(type, Record) and isinstance(operand.type, Record):
            if type.lanes != operand.type.lanes:
                message = f"{shown_type(operand.type)} has not as many numbers as {shown_type(type)}"
                raise BrookTextError(span, message, "take components: v.xy")
            if type == operand.type:
                return operand
            name = f"convert_{type.tag}"
            return call_builtin(name, type, (operand,), span)
        if not isinstance(type, Pointer) and type != VOID:
            converted(operand, type, "the result")
        return Cast(span=span, type=type, operand=operand)

    def postfix(self) -> Expr:
        """Read an operand with what stands behind it."""
        cursor, first = self.cursor, self.cursor.word
        value = self.primary()
        while True:
            if cursor.stands(".", "[", "++", "--"):
                cursor.count_operator()
            if cursor.accepts("."):
                value = self._component(value, first)
            elif cursor.stands("["):
                value = self._host_element(value, first)
            elif cursor.stands("++", "--"):
                self.check_writable(first, value)
                value = step(f"x{cursor.take().text}", value, cursor.since(first))
            else:
                return value

    def _component(self, value: Expr, first: BrookWord) -> Expr:
        word = self.cursor.expect_name("a component: x, y, z, w")
        if is_number(value.type) and word.text in ("x", "r"):
            return value
        if not isinstance(value.type, Record):
            raise BrookTextError(word.span, f"{shown_type(value.type)} has no component {word.shown}", "expected x")
        lanes = find_lanes(word.text, value.type.lanes)
        if not lanes:
            helps = f"expected some of {'xyzw'[: value.type.lanes]}"
            raise BrookTextError(word.span, f"{shown_type(value.type)} has no component {word.shown}", helps)
        type = vector_of(element_of(value.type), len(lanes))
        field = "s" + "".join(map(str, lanes))
        return Member(span=self.cursor.since(first), type=type, base=value, field=field, arrow=False)

    def _host_element(self, value: Expr, first: BrookWord) -> Expr:
        if not isinstance(value.type, Pointer | Array):
            message = f"{shown_type(value.type)} has no elements"
            helps = "of a vector take components: v.x; what is read at any place is a parameter `float v[]`"
            raise BrookTextError(self.cursor.word.span, message, helps)
        index = self._subscript()
        of = value.type.to if isinstance(value.type, Pointer) else value.type.of
        return Index(span=self.cursor.since(first), type=of, base=value, index=index)

    def primary(self) -> Expr:
        """Read a number, a name, a call, or what stands in parentheses."""
        cursor, word = self.cursor, self.cursor.word
        if word.kind == "number":
            return self._number(cursor.take())
        if word.kind == "text" and self.host:
            return Literal(span=cursor.take().span, type=Pointer(VOID), text=word.text, value=None)
        if cursor.stands("("):
            cursor.take()
            cursor.enter()
            value = self.expression()
            cursor.leave()
            cursor.expect(")", "to close the parenthesis")
            return value
        if word.kind != "word":
            raise cursor.unexpected("an expression")
        return self._named(cursor.take())

    def _number(self, word: BrookWord) -> Expr:
        type: Type
        if _INTEGER.fullmatch(word.text):
            whole = integer_value(word.text) or 0
            if whole >= 1 << 32:
                raise BrookTextError(word.span, f"{word.shown} has more than 32 bits")
            type = UNSIGNED if word.text[-1] in "uU" or whole >= 1 << 31 else INT
            return Literal(span=word.span, type=type, text=word.text, value=whole)
        if not _FLOAT.fullmatch(word.text):
            raise BrookTextError(word.span, f"{word.shown} is no number", "for example 3, 0x1F, 0.5f, 1e-3f")
        type = DOUBLE if self.host and word.text[-1] not in "fF" else FLOAT
        value = float_value(word.text, type)
        if value is None or math.isinf(value):
            raise BrookTextError(word.span, f"{word.shown} is too large for {shown_type(type)}")
        return Literal(span=word.span, type=type, text=word.text, value=value)

    # --- names and calls

    def _named(self, word: BrookWord) -> Expr:
        cursor = self.cursor
        bare = word.text == "indexof" and not self.host and cursor.word.kind == "word"
        if cursor.stands("(") or bare:
            return self._call(word)
        meaning = self.scope.find(word.text)
        match meaning:
            case Variable():
                name = Name(span=word.span, type=meaning.symbol.type, symbol=meaning.symbol)
                if meaning.reference and isinstance(meaning.symbol.type, Pointer):
                    return Unary(span=word.span, type=meaning.symbol.type.to, op="*", operand=name)
                return name
            case Gather():
                return self._element(word, meaning)
            case HostStream():
                helps = "streamWrite(s, array) brings its elements into an array"
                raise BrookTextError(word.span, f"'{word.text}' is a stream, which has no value here", helps)
            case None if self.host and word.text in _NOTHING:
                return Literal(span=word.span, type=Pointer(VOID), text=word.text, value=0)
            case None:
                near = self.scope.near(word.text)
                raise BrookTextError(word.span, f"'{word.text}' is not declared", *filter(None, (near,)))

    def _call(self, word: BrookWord) -> Expr:
        if word.text in self.kinds:
            return self._vector(word)
        if word.text == "sizeof" and self.host:
            return self._size(word)
        if word.text in ("indexof", "instance") and not self.host:
            return self._place(word)
        arguments = self._arguments()
        return self.callables.call(word, arguments, self.cursor.since(word))

    def _place(self, word: BrookWord) -> Expr:
        cursor = self.cursor
        wrapped = cursor.accepts("(")
        if word.text == "indexof":
            stream = cursor.expect_name("the name of a stream")
            meaning = self.scope.find(stream.text)
            if not (isinstance(meaning, Variable) and meaning.stream):
                raise BrookTextError(stream.span, f"{stream.shown} is no stream of this kernel", "name one with <>")
        if wrapped:
            cursor.expect(")", f"behind what {word.text} takes")
        span, type = cursor.since(word), "int4" if word.text == "instance" else "float4"
        zero = Literal(span=span, type=INT, text="0", value=0)
        layer = position(2, span) if self.callables.solid else zero
        return InitList(span=span, type=TYPE_NAMES[type], items=(position(0, span), position(1, span), layer, zero))

    def _size(self, word: BrookWord) -> Expr:
        self.cursor.take()
        type = self.type_name()
        self.cursor.expect(")", "behind the type of sizeof")
        span = self.cursor.since(word)
        return Literal(span=span, type=INT, text=span.text, value=byte_size(type) or 1)

    def _vector(self, word: BrookWord) -> Expr:
        type, items = self.kinds[word.text], self._arguments()
        values = [one.value for one in items if one.value is not None]
        span = self.cursor.since(word)
        if len(values) < len(items) or not values:
            raise BrookTextError(span, f"{word.text}(…) takes numbers", f"{lanes_of_kind(type)} of them, or one")
        if not isinstance(type, Record):
            if len(values) != 1:
                raise BrookTextError(span, f"{word.text}(…) takes one number")
            return self.cast(type, values[0], span)
        for one in values:
            if isinstance(one.type, Record) and element_of(one.type) != element_of(type):
                wanted = shown_type(vector_of(element_of(type), one.type.lanes))
                message = f"{shown_type(one.type)} is no part of {word.text}"
                raise BrookTextError(one.span, message, f"convert it: ({wanted})v")
        count = sum(lanes_of_kind(one.type) for one in values)
        if count != type.lanes and not (len(values) == 1 and is_number(values[0].type)):
            raise BrookTextError(span, f"{word.text}(…) takes {type.lanes} numbers, or one; these are {count}")
        return InitList(span=span, type=type, items=tuple(values))

    def _arguments(self) -> list[BrookArgument]:
        cursor = self.cursor
        cursor.expect("(", "before the arguments")
        found: list[BrookArgument] = []
        while not cursor.stands(")"):
            if found:
                cursor.expect(",", "or ')' behind an argument")
            found.append(self._argument())
        cursor.take()
        return found

    def _argument(self) -> BrookArgument:
        cursor = self.cursor
        word = cursor.word
        meaning: Meaning | None = self.scope.find(word.text) if word.kind == "word" else None
        if meaning is not None and cursor.ahead().text in (",", ")"):
            if isinstance(meaning, Variable):
                return BrookArgument(word.span, self.assignment(), meaning)
            cursor.take()
            return BrookArgument(word.span, None, meaning)
        value = self.assignment()
        return BrookArgument(value.span, value)

    # --- elements of gathers

    def _element(self, word: BrookWord, gather: Gather) -> Expr:
        if not self.cursor.stands("["):
            helps = f"{word.text}{('[i]', '[y][x]', '[z][y][x]')[gather.axes - 1]}"
            raise BrookTextError(word.span, f"'{word.text}' is a gather, which has no value without a subscript", helps)
        subscripts = [self._subscript()]
        while len(subscripts) < gather.axes and self.cursor.stands("["):
            subscripts.append(self._subscript())
        span = self.cursor.since(word)
        places = self._places(subscripts, gather.axes, span)
        index = places[-1]
        if gather.sizes:
            # [z][y][x]: (z * height + y) * width + x
            index = places[0]
            for size, place in zip(reversed(gather.sizes), places[1:], strict=True):
                length = Name(span=span, type=INT, symbol=size)
                row = Binary(span=span, type=INT, op="*", left=index, right=length)
                index = Binary(span=span, type=INT, op="+", left=row, right=place)
        base = Name(span=word.span, type=gather.pointer.type, symbol=gather.pointer)
        return Index(span=span, type=gather.element, base=base, index=index)

    def _subscript(self) -> Expr:
        cursor = self.cursor
        cursor.take()
        cursor.enter()
        value = self.expression()
        cursor.leave()
        cursor.expect("]", "behind a subscript")
        return value

    def _places(self, subscripts: list[Expr], axes: int, span: Span) -> list[Expr]:
        """Return whole numbers for the subscripts, that along rows last."""
        first = subscripts[0]
        if len(subscripts) == 1 and isinstance(first.type, Record) and first.type.lanes >= axes:
            if any(map(_changes, walk(first))):
                raise BrookTextError(first.span, "this subscript changes something", "put it into a variable before")
            element = element_of(first.type)
            subscripts = [
                Member(span=first.span, type=element, base=first, field=f"s{lane}", arrow=False)
                for lane in reversed(range(axes))
            ]
        if len(subscripts) != axes:
            message = f"this gather takes {axes} subscripts, and here is {len(subscripts)}"
            raise BrookTextError(span, message, "g[y][x], or g[v] with x along rows in v.x")
        return [self._whole(one) for one in subscripts]

    def _whole(self, value: Expr) -> Expr:
        if not is_number(value.type):
            raise BrookTextError(value.span, f"a subscript is one number, and this is {shown_type(value.type)}")
        if is_float(value.type):
            single = value if byte_size(value.type) == 4 else Cast(span=value.span, type=FLOAT, operand=value)
            return call_builtin("__float2int_rd", INT, (single,), value.span)
        return value if value.type == INT else Cast(span=value.span, type=INT, operand=value)


def _changes(node: Node) -> bool:
    """Whether evaluating a node twice may differ from doing so once."""
    match node:
        case Assign():
            return True
        case Unary():
            return node.op in ("++x", "--x", "x++", "x--")
        case Call(function=Name(symbol=symbol)):
            return not symbol.key.startswith("brook:")
        case _:
            return False
