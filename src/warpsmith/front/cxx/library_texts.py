"""Calls of C++'s library that keep no address, with the values that they evaluate: output, clocks, strings.

    std::cout << "at " << t << std::endl;           evaluates t, writes output
    double s = duration<double>(end - start).count();       reads end and start
    std::cout << grid;                              None: `operator<<` is the program's, and may do anything
    stream << x        of a `std::ostream &`        None: it may write into a buffer of the program's own

Invariant: what has an answer calls nothing but functions of the lists below, which the standard says read what they are
given, by value or by a reference to const, and write to nothing of the program's but the stream.
"""

from __future__ import annotations

import re
from typing import Final

from warpsmith.base.source import SourceFile, Span
from warpsmith.front.c.builders import ExpressionBuilder
from warpsmith.front.clang import kinds
from warpsmith.front.cxx.objects import before
from warpsmith.tree.library_texts import CLOCK, OUTPUT, VALUE
from warpsmith.tree.nodes import Call, Expr, Literal, MacroUse, Name
from warpsmith.tree.types import FunctionType, Opaque, Pointer, Record, Scalar, Symbol, Type

__all__ = ["LibraryTexts", "is_time"]

_OUTPUT: Final = re.compile(
    r"std::basic_ostream::(operator<<|put|write|flush)|std::operator<<|std::(endl|ends|flush)"
    r"|std::ios_base::(precision|width|setf|unsetf|flags)|std::basic_ios::fill"
)
_CLOCK: Final = re.compile(r"std::chrono::(_V2::)?(system|steady|high_resolution)_clock::now")
_VALUE: Final = re.compile(
    r"std::(setw|setprecision|setfill)|std::chrono::(operator[-+*/]|duration_cast|time_point_cast)"
    r"|std::chrono::(duration|time_point)::(count|time_since_epoch|duration|time_point)"
    r"|std::(__cxx11::)?(basic_string::(size|length|empty)|to_string)|std::isnormal"
)
_MANIPULATORS: Final = frozenset({
    "endl", "ends", "flush", "fixed", "scientific", "hexfloat", "defaultfloat", "hex", "dec", "oct", "left", "right",
    "internal", "boolalpha", "noboolalpha", "showpoint", "noshowpoint", "showpos", "noshowpos",
})  # fmt: skip
_STREAMS: Final = frozenset({"cout", "cerr", "clog"})
_OBJECTS: Final = ("std::chrono::", "std::basic_string<char>", "std::basic_ofstream<char>")
_THROUGH: Final = frozenset({kinds.UNEXPOSED_EXPR, kinds.PAREN, kinds.FUNCTIONAL_CAST, kinds.STATIC_CAST})


def is_time(type: Type) -> bool:
    """Whether a type is a time or a duration of the library: a number in a class, copied as bytes."""
    return isinstance(type, Record) and type.tag.startswith(("std::chrono::time_point<", "std::chrono::duration<"))


class LibraryTexts:
    """Builds such calls of one file of a C++ unit."""

    def __init__(self, expressions: ExpressionBuilder) -> None:
        self.expressions = expressions
        self.context = expressions.context
        self.table = expressions.table

    def call(self, row: int, span: Span) -> Expr | None:
        """Return a call of functions of the lists with what it evaluates; None for any other."""
        if not self.expressions.own or self._kind(row) is None:
            return None
        found: list[Expr] = []
        names: set[str] = set()
        if not self._collect(row, found, names):
            return None
        type = self.context.types.of(self.table.type[row])
        type = type.to if isinstance(type, Pointer) and type.reference else type
        if not isinstance(type, Scalar | Record):
            return None
        name = next(name for name in (OUTPUT, CLOCK, VALUE) if name in names)
        found.sort(key=lambda part: part.span.start)
        arguments = _interleave(span, found)
        return None if arguments is None else _call(name, span, type, arguments)

    def _kind(self, row: int) -> str | None:
        """Return what a row does that calls a function of the lists."""
        callee = self.table.aux[row]
        if self.table.kind[row] != kinds.CALL or callee < 0 or not self.context.is_library(callee):
            return None
        full = _without_arguments(self.context.detail(callee)[0])
        lists = ((OUTPUT, _OUTPUT), (CLOCK, _CLOCK), (VALUE, _VALUE))
        return next((name for name, names in lists if names.fullmatch(full)), None)

    def _collect(self, row: int, found: list[Expr], names: set[str]) -> bool:
        """Add the values that a row evaluates; answer whether all of it is understood."""
        while self._is_passed_on(row):
            row = self.table.expressions(row)[0]
        kind = self._kind(row)
        if kind is not None:
            names.add(kind)
            parts = [part for part in self.table.expressions(row) if not self._is_callee(row, part)]
            return all(self._collect(part, found, names) for part in parts)
        if self.table.kind[row] == kinds.MEMBER_REF_EXPR:
            return all(self._collect(part, found, names) for part in self.table.expressions(row))
        if self.table.kind[row] == kinds.DECL_REF and self._is_object(row):
            return True
        return self._add_value(row, found)

    def _is_passed_on(self, row: int) -> bool:
        """Whether a row only makes an object of what stands below it, or converts it."""
        made = isinstance(self.context.types.of(self.table.type[row]), Record) if self.table.type[row] >= 0 else False
        only = self.table.kind[row] in _THROUGH and len(self.table.expressions(row)) == 1
        return only and (made or self._is_function(self.table.expressions(row)[0]))

    def _is_function(self, row: int) -> bool:
        while self.table.kind[row] in _THROUGH and len(self.table.expressions(row)) == 1:
            row = self.table.expressions(row)[0]
        number = self.table.aux[row]
        named = self.table.kind[row] == kinds.DECL_REF and number >= 0
        return named and self.context.dump.declared[number][0] in (*kinds.FUNCTIONS, kinds.FUNCTION_TEMPLATE)

    def _is_callee(self, row: int, part: int) -> bool:
        while self.table.kind[part] in _THROUGH and len(self.table.expressions(part)) == 1:
            part = self.table.expressions(part)[0]
        return self.table.kind[part] == kinds.DECL_REF and self.table.aux[part] == self.table.aux[row]

    def _is_object(self, row: int) -> bool:
        """Whether a name is the library's own: a stream, or a manipulator of one."""
        declared = self.context.dump.declared[self.table.aux[row]]
        return declared[9] and declared[1] in (_STREAMS if declared[0] == kinds.VAR_DECL else _MANIPULATORS)

    def _add_value(self, row: int, found: list[Expr]) -> bool:
        """Add a value of the program's: a number, a text, an object of the library that holds a value."""
        inner = self.table.inner(row)
        if self.table.kind[inner] == kinds.STRING:
            return True
        if self.table.kind[inner] == kinds.DECL_REF:
            symbol = self.context.symbol(self.table.aux[inner])
            if isinstance(symbol.type, Record):
                return self._add_object(inner, symbol, found)
        made = self.expressions.build(row)
        text = isinstance(made.type, Pointer) and isinstance(made.type.to, Scalar) and not made.type.reference
        if not made.intact or not (text or (isinstance(made.type, Scalar) and made.type.kind != "void")):
            return False
        found.append(made)
        return True

    def _add_object(self, row: int, symbol: Symbol, found: list[Expr]) -> bool:
        type = symbol.type
        if not isinstance(type, Record) or not type.tag.startswith(_OBJECTS) or symbol.storage != "local":
            return False
        found.append(self.expressions.build(row))
        return True


def _interleave(span: Span, values: list[Expr]) -> tuple[Expr, ...] | None:
    """Return values with the text of `span` between them; None where they do not stand one after the other."""
    made: list[Expr] = []
    position = span.start
    for value in values:
        if value.span.file is not span.file or value.span.start < position:
            return None
        made.append(_text(span.file, position, value.span.start))
        made.append(value)
        position = value.span.end
    if position > span.end:
        return None
    return (*made, _text(span.file, position, span.end))


def _text(file: SourceFile, start: int, end: int) -> Literal:
    span = Span(file, start, end)
    return Literal(span=span, intact=True, type=Opaque(""), text=span.text, value=None)


def _call(name: str, span: Span, type: Type, arguments: tuple[Expr, ...]) -> Expr:
    signature = FunctionType(type, ())
    function = Name(span=before(span), type=signature, symbol=Symbol(name, name, signature, "function"))
    call = Call(span=before(span), type=type, function=function, arguments=arguments)
    return MacroUse(span=span, intact=True, type=type, name="", expansion=call)


def _without_arguments(full: str) -> str:
    """Return a qualified name without template arguments; the name of an operator stays."""
    head, operator, tail = full.partition("operator")
    depth, kept = 0, ""
    for letter in head:
        depth -= letter == ">"
        kept += letter if depth == 0 and letter not in "<>" else ""
        depth += letter == "<"
    return kept + operator + tail
