"""A kernel with the exponent in place of a parameter that is a power of two.

    x / p          (x >> e)                              x is not negative
    x % p          (x & ((1 << e) - 1))                  x is not negative
    floor(x / p)   (float)((int)x >> e)                  x is a float that holds a whole number
    fmod(x, p)     (float)((int)x & ((1 << e) - 1))      the same, and it is not negative
    p              (1 << e)                              everywhere else

Invariant: what is written has the value of what it replaces, for each e from 0 to 30. A quotient of floats by 2^e is
exact but for numbers near the smallest, so that its floor is that of the shift.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from warpsmith.base.source import Edit, Span
from warpsmith.flows.streams.values import host_error
from warpsmith.flows.streams.whole import WholeRange, whole_of
from warpsmith.tree.nodes import Assign, Binary, Call, Cast, Expr, Function, Literal, Name, Node, Unary
from warpsmith.tree.types import Scalar, Symbol, is_float
from warpsmith.tree.walk import children, walk

__all__ = ["shifted", "wrapped"]

_SIMPLE: Final = (Name, Literal, Call)
_EXACT: Final = 1 << 30
"""Floats up to here become ints and back without loss, but for what they were rounded to before."""


def shifted(function: Function, parameter: Symbol, exponent: str) -> tuple[Edit, ...]:
    """Return the edits of a kernel's body that put `exponent` in place of a parameter; raises InputError where it is
    written, or a quotient or remainder would be another one."""
    for node in walk(function.body):
        target = _changed(node)
        if isinstance(target, Name) and target.symbol == parameter:
            raise host_error(target.span, f"'{parameter.name}' is changed, and an exponent would be another one")
    found = {(one.span.start, one.span.end): one for one in _Shifts(function, parameter, exponent).of(function.body)}
    return tuple(found[place] for place in sorted(found))


def _changed(node: Node) -> Expr | None:
    """Return what a node changes, or takes the address of."""
    match node:
        case Assign(target=target):
            return target
        case Unary(op="&" | "++x" | "--x" | "x++" | "x--", operand=operand):
            return operand
    return None


def wrapped(expr: Expr, text: str) -> str:
    """Return the text of an operand, in brackets where an operator may stand in it."""
    return text if isinstance(expr, _SIMPLE) and not text.startswith("-") else f"({text})"


class _Shifts:
    """Writes the uses of one parameter."""

    def __init__(self, function: Function, parameter: Symbol, exponent: str) -> None:
        self.function, self.parameter, self.exponent = function, parameter, exponent

    def of(self, node: Node) -> Iterator[Edit]:
        """Yield the edits below a node."""
        text = self._written(node) if isinstance(node, Expr) else None
        if text is not None:
            yield Edit(node.span, text)
            return
        for below in children(node):
            yield from self.of(below)

    def _written(self, node: Expr) -> str | None:
        """Return what stands in place of an expression; None where it stays, or only parts of it change."""
        match node:
            case Name(symbol=self.parameter):
                return self._power(node)
            case Binary(op="/" | "%", left=left, right=Name(symbol=self.parameter)) if not is_float(node.type):
                return self._of_ints(node, left)
            case Call(function=Name(symbol=Symbol(name="floor")), arguments=(Binary(op="/") as quotient,)):
                return self._floor(quotient)
            case Call(function=Name(symbol=Symbol(name="fmod")), arguments=(left, Name(symbol=self.parameter))):
                return self._remainder(left)
        return None

    def _power(self, name: Name) -> str:
        if name.span.text != self.parameter.name:
            raise host_error(name.span, f"'{name.span.text}' stands for '{self.parameter.name}': write its name here")
        type = self.parameter.type
        assert isinstance(type, Scalar)
        power = f"(1 << {self.exponent})"
        return power if type.name == "int" else f"(({type.name}){power})"

    def _of_ints(self, node: Binary, left: Expr) -> str | None:
        if left.type != node.type or (isinstance(left, Cast) and left.span == left.operand.span):
            return None
        if not (isinstance(left.type, Scalar) and left.type.kind == "unsigned"):
            self._check_sign(node.op, left)
        text = wrapped(left, self._text(left))
        return f"({text} >> {self.exponent})" if node.op == "/" else f"({text} & ((1 << {self.exponent}) - 1))"

    def _check_sign(self, op: str, left: Expr) -> None:
        known = whole_of(self.function, left, self.parameter)
        if known is not None and known.least >= 0:
            return
        seen = "-3 / 2 is -1, and -3 >> 1 is -2" if op == "/" else "-3 % 2 is -1, and -3 & 1 is 1"
        where = f"'{left.span.text}' may be negative" if known is None else f"'{left.span.text}' can be {known.least}"
        raise host_error(left.span, f"{where}: {seen}", "leave the parameter as it is, or write the shift yourself")

    def _floor(self, quotient: Binary) -> str | None:
        right, left = quotient.right, quotient.left
        if not (isinstance(right, Name) and right.symbol == self.parameter) or self._whole(left) is None:
            return None
        return f"(float)((int){wrapped(left, self._text(left))} >> {self.exponent})"

    def _remainder(self, left: Expr) -> str | None:
        known = self._whole(left)
        if known is None or known.least < 0:
            return None
        return f"(float)((int){wrapped(left, self._text(left))} & ((1 << {self.exponent}) - 1))"

    def _whole(self, expr: Expr) -> WholeRange | None:
        """Return between what a float lies that holds a whole number, all of which are ints."""
        if not (isinstance(expr.type, Scalar) and expr.type.name == "float"):
            return None
        known = whole_of(self.function, expr, self.parameter)
        return known if known is not None and -_EXACT <= known.least <= known.most <= _EXACT else None

    def _text(self, node: Expr) -> str:
        """Return the text of an expression with its own uses of the parameter written anew."""
        return spliced(node.span, tuple(self.of(node)))


def spliced(span: Span, edits: tuple[Edit, ...]) -> str:
    """Return the text of a span with edits inside it."""
    text, at = [], span.start
    for edit in sorted({(one.span.start, one.span.end): one for one in edits}.values(), key=lambda one: one.span.start):
        text += [span.file.text[at : edit.span.start], edit.text]
        at = edit.span.end
    return "".join([*text, span.file.text[at : span.end]])
