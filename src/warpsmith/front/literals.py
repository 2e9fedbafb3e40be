"""Numbers as C writes them: their values, and how a value that came out of a macro is written."""

from __future__ import annotations

import math
import re
import struct

from warpsmith.tree.types import Scalar, Type

__all__ = ["float_value", "integer_value", "number_text"]

_SUFFIX = re.compile(r"[uUlLzZ]*$")
_FLOAT_SUFFIX = re.compile(r"[fFlL]$")


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
    digits = re.sub(r"[lL]$", "", text) if hexadecimal else _FLOAT_SUFFIX.sub("", text)
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
