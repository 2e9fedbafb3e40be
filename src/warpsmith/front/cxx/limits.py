"""Members of std::numeric_limits as the numbers that they are.

    std::numeric_limits<float>::max()         3.4028234663852886e+38f
    std::numeric_limits<int>::lowest()        -2147483647 - 1
    std::numeric_limits<double>::infinity()   None: no number that is written in digits

The user's text keeps its words; a kernel has the number. Numbers of IEEE 754 and of two's complement, whose widths are
those of the type at hand.
"""

from __future__ import annotations

import re
import sys
from typing import Final

from msgspec.structs import replace

from warpsmith.base.source import Span
from warpsmith.front.c.literals import number_text
from warpsmith.front.cxx.objects import before
from warpsmith.tree.nodes import Binary, Expr, Literal, MacroUse, Unary
from warpsmith.tree.types import DOUBLE, FLOAT, INT, Scalar, Type, integer_range, is_float, is_integer

__all__ = ["find_limit"]

_MEMBER: Final = re.compile(r"std::numeric_limits<[\w ]+>::(min|max|lowest|epsilon)")
_FLOAT_MAX: Final = float.fromhex("0x1.fffffep+127")


def find_limit(full: str, type: Type, span: Span, *, own: bool) -> Expr | None:
    """Return the number that a member function of this qualified name gives; None for any other."""
    found = _MEMBER.fullmatch(full)
    if found is None or not isinstance(type, Scalar):
        return None
    plain, place = replace(type, const=False), before(span)
    number = _integer(found[1], plain, place) if is_integer(plain) else _float(found[1], plain, place)
    return number and MacroUse(span=span, intact=own, type=plain, name="", expansion=number)


def _integer(name: str, type: Scalar, place: Span) -> Expr | None:
    if type.bits < INT.bits or name == "epsilon":
        return None  # a literal of such a type has no spelling
    low, high = integer_range(type)
    if name == "max" or low == 0:
        return _literal(high if name == "max" else low, type, place)
    most = Unary(span=place, type=type, op="-", operand=_literal(-(low + 1), type, place))
    return Binary(span=place, type=type, op="-", left=most, right=_literal(1, type, place))


def _float(name: str, type: Scalar, place: Span) -> Expr | None:
    if not is_float(type) or type.bits not in (FLOAT.bits, DOUBLE.bits):
        return None
    single, info = type.bits == FLOAT.bits, sys.float_info
    values = {
        "max": _FLOAT_MAX if single else info.max,
        "min": 2.0**-126 if single else info.min,
        "epsilon": 2.0**-23 if single else info.epsilon,
    }
    if name == "lowest":
        return Unary(span=place, type=type, op="-", operand=_literal(values["max"], type, place))
    return _literal(values[name], type, place)


def _literal(value: float, type: Scalar, place: Span) -> Literal:
    text = number_text(value, type)
    assert text is not None
    return Literal(span=place, type=type, text=text, value=value)
