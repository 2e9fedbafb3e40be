"""Numbers as C writes them: their values, and how a value that came out of a macro is written."""

from __future__ import annotations

import math
import re
import struct

from msgspec.structs import replace

from warpsmith.base.source import Span
from warpsmith.front.clang import kinds
from warpsmith.tree.nodes import Expr, Literal, MacroUse, Name
from warpsmith.tree.types import Scalar, Symbol, Type

__all__ = ["float_value", "integer_value", "is_written", "number_text", "variable_or_value", "written_value"]

_SUFFIX = re.compile(r"[uUlLzZ]*$")
_FLOAT_SUFFIX = re.compile(r"[fFlLhH]$")


def is_written(kind: int, text: str) -> bool:
    """Whether the text of a literal's row is that: what stands for a parameter of a template has the parameter's
    name."""
    match kind:
        case kinds.CXX_BOOL:
            return text in ("true", "false")
        case kinds.INTEGER | kinds.FLOATING:
            return text[:1].isdigit() or text[:1] == "."
        case _:
            return True


def written_value(kind: int, text: str, type: Type) -> int | float | None:
    """Return the value of a literal from its text; None where it has no exact one, or is none."""
    match kind:
        case kinds.CXX_BOOL:
            return int(text == "true")
        case kinds.FLOATING:
            return float_value(text, type)
        case _:
            return integer_value(text)


def integer_value(text: str) -> int | None:
    """Return the value of an integer constant; None where it is not written as one."""
    digits = _SUFFIX.sub("", text.replace("'", ""))
    try:
        if digits[:2] in ("0x", "0X", "0b", "0B"):
            return int(digits, 0)
        return int(digits, 8) if digits.startswith("0") and len(digits) > 1 else int(digits)
    except ValueError:
        return None


def float_value(text: str, type: Type) -> float | None:
    """Return the value of a floating constant, rounded to `float` where that is its type."""
    hexadecimal = text[:2] in ("0x", "0X")
    # of hexadecimal digits f is one, but not in the exponent, which is decimal
    digits = re.sub(r"(?<=\d)[fFlL]$", "", text) if hexadecimal and "p" in text.lower() else _FLOAT_SUFFIX.sub("", text)
    try:
        value = float.fromhex(digits) if hexadecimal else float(digits)
        if isinstance(type, Scalar) and type.bits == 32:
            value = float(struct.unpack("f", struct.pack("f", value))[0])
    except (ValueError, OverflowError):
        return None
    return value


def number_text(value: int | float, type: Type) -> str | None:
    """Return C text of `type` with exactly `value`; None where there is none (a long double, an infinity)."""
    if not isinstance(type, Scalar):
        return None
    if isinstance(value, int):
        unsigned = "u" if type.kind == "unsigned" and type.bits >= 32 else ""
        return f"{value}{unsigned}{'ll' if 'long long' in type.name else 'l' if 'long' in type.name else ''}"
    if not math.isfinite(value) or type.bits > 64:
        return None
    return f"{value!r}{'f' if type.bits == 32 else ''}"


def variable_or_value(symbol: Symbol, span: Span, *, own: bool) -> Expr:
    """Return the use of a variable; of one that has a value for good (`constexpr int n = 8;`) that value: the user's
    text keeps its name, a kernel has the number. Enumerators have a name everywhere."""
    value, type = symbol.value, symbol.type
    if symbol.storage == "enumerator" or value is None or value < 0 or not isinstance(type, Scalar):
        return Name(span=span, intact=own, type=type, symbol=symbol)
    plain = replace(type, const=False)
    text = number_text(value, plain)
    assert text is not None
    literal = Literal(span=span, type=plain, text=text, value=value)
    return MacroUse(span=span, intact=True, type=plain, name="", expansion=literal) if own else literal
