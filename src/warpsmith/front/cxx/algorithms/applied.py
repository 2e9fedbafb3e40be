"""What the functions that algorithms are given return, over their arguments.

    [s](double x) { return s * x; }        s * a[at]            a lambda, there or in a variable
    std::plus<>()                          a[at] + b[at]        an operator of the library
    scale                                  scale(a[at])         a function of the program's that takes numbers

Invariant: a lambda stands in place of its call where it is one value without side effects, over its arguments and over
variables that keep the values that it captured.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from warpsmith.base.source import Span
from warpsmith.front.c.builders import ExpressionBuilder
from warpsmith.front.clang import kinds
from warpsmith.front.cxx.bodies import returned_value
from warpsmith.front.cxx.captures import captures_stay
from warpsmith.front.cxx.library import CxxLibrary
from warpsmith.tree.nodes import Assign, Binary, Call, Expr, Name, Unary, VerbatimExpr
from warpsmith.tree.types import FunctionType, Pointer, Record, Scalar, Type, common_type
from warpsmith.tree.walk import walk

__all__ = ["AppliedFunctions"]

_OPERATORS: Final = {"plus": "+", "minus": "-", "multiplies": "*", "divides": "/"}
_OBJECT: Final = re.compile(r"std::(plus|minus|multiplies|divides)<\s*(void|[\w ]*)\s*>")


class AppliedFunctions:
    """Builds the values of functions that are given to algorithms."""

    def __init__(self, expressions: ExpressionBuilder, library: CxxLibrary) -> None:
        self.expressions = expressions
        self.context = expressions.context
        self.table = expressions.table
        self.library = library

    def value(self, function: int, arguments: Sequence[Expr], site: Span) -> Expr | None:
        """Return what a function gives for arguments; None where it may do more than that."""
        while self.table.kind[function] in (kinds.CALL, kinds.UNEXPOSED_EXPR):
            below = self.table.expressions(function)  # a copy of a lambda in a variable
            if len(below) != 1:
                break
            (function,) = below
        lambda_row = self.context.lambda_of(function)
        if lambda_row is not None:
            return self._lambda(lambda_row, arguments, site)
        row = self.table.inner(function)
        if self.table.kind[row] == kinds.DECL_REF:
            return self._call(row, arguments, site)
        return self._operator(row, arguments, site)

    def keeps_captured(self, row: int) -> bool:
        """Whether what a lambda's body names is what it was when the lambda was made, be it where it is called."""
        at_once = row in self.context.only_called and row not in self.context.named_lambdas
        return self.context.captures_keep(row) or captures_stay(
            self.context, row, self.expressions.escaped, called_at_once=at_once
        )

    def _lambda(self, row: int, arguments: Sequence[Expr], site: Span) -> Expr | None:
        table, body = self.table, self.table.body(row)
        parameters = [table.aux[c] for c in table.children(row) if table.kind[c] == kinds.PARM_DECL]
        if body is None or len(parameters) != len(arguments) or not self.keeps_captured(row):
            return None
        bound: dict[int, Expr] = {}
        for parameter, argument in zip(parameters, arguments, strict=True):
            type = self.context.symbol(parameter).type
            wanted = type.to if isinstance(type, Pointer) and type.reference else type
            if not isinstance(wanted, Scalar) or not isinstance(argument.type, Scalar):
                return None
            bound[parameter] = self.library.convert(argument, wanted, site)
        result = self._result(row, body)
        there = self.expressions.elsewhere(site, 0, bound, self.expressions.this, -2 - row)
        made = returned_value(self.library, there, table.parts(body), result)
        return made if made is not None and not any(_is_effect(part) for part in walk(made)) else None

    def _result(self, row: int, body: int) -> Type | None:
        """Return the type that a lambda gives back, where its `return`s say that."""
        text = self.context.text(0).file.text
        if "->" in text[self.table.start[row] : self.table.start[body]]:
            return None
        rows = range(body, self.table.after[body])
        given = [self.table.expressions(r)[:1] for r in rows if self.table.kind[r] == kinds.RETURN]
        types = [self.context.types.of(self.table.type[one[0]]) for one in given if one]
        plain = [t for t in types if isinstance(t, Scalar)]
        if len(plain) != len(given) or not plain:
            return None
        return plain[0] if all((t.bits, t.kind) == (plain[0].bits, plain[0].kind) for t in plain) else None

    def _call(self, row: int, arguments: Sequence[Expr], site: Span) -> Expr | None:
        """Return the call of a function of the program's that takes and gives numbers."""
        number = self.table.aux[row]
        type = self.context.symbol(number).type if number >= 0 else None
        if not isinstance(type, FunctionType) or type.method or len(type.parameters) != len(arguments):
            return None
        if not all(isinstance(t, Scalar) for t in (type.result, *type.parameters, *(a.type for a in arguments))):
            return None
        given = [self.library.convert(a, t, site) for a, t in zip(arguments, type.parameters, strict=True)]
        name = Name(span=site, type=type, symbol=self.context.symbol(number))
        return Call(span=site, type=type.result, function=name, arguments=tuple(given))

    def _operator(self, row: int, arguments: Sequence[Expr], site: Span) -> Expr | None:
        """Return the value of an operator of the library: `std::plus<>()`."""
        made = self.context.types.of(self.table.type[row]) if self.table.type[row] >= 0 else None
        found = _OBJECT.fullmatch(made.tag) if isinstance(made, Record) else None
        if found is None or len(arguments) != 2 or not all(isinstance(a.type, Scalar) for a in arguments):
            return None
        left, right = arguments
        type = common_type(left.type, right.type)
        if found[2] not in ("", "void") and isinstance(type, Scalar) and found[2] != type.name:
            return None
        return Binary(span=site, type=type, op=_OPERATORS[found[1]], left=left, right=right)


def _is_effect(part: object) -> bool:
    return isinstance(part, Assign | VerbatimExpr) or (
        isinstance(part, Unary) and part.op in ("x++", "x--", "++x", "--x")
    )
