"""ARI004 and ARI005: products in place of pow, and the fast forms of functions.

powf(x, 2.0f)     x * x          expf(x)     __expf(x)          a / b     __fdividef(a, b)

Both change the last digits of results: never safe.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from warpsmith.analysis.rules.finding import KernelFinding
from warpsmith.analysis.uniformity.facts import KernelFacts
from warpsmith.base.fixes import Fix
from warpsmith.base.source import Edit, Span
from warpsmith.fixes.brackets import operator
from warpsmith.fixes.site import Site
from warpsmith.tree.nodes import Assign, Binary, Call, Expr, Index, Literal, Member, Name, Unary, VerbatimExpr
from warpsmith.tree.types import Scalar
from warpsmith.tree.walk import peel, walk

__all__ = ["multiply", "quicken"]

_FAST: Final = ("sin", "cos", "tan", "exp", "exp10", "log", "log2", "log10", "pow")
_LONGEST: Final = 24


def multiply(site: Site, facts: KernelFacts, finding: KernelFinding) -> Iterator[Fix]:
    """Yield the product, the root or the quotient that a power is."""
    del facts, finding
    call = site.node
    if not isinstance(call, Call) or _name(call) not in ("pow", "powf") or len(call.arguments) != 2:
        return
    base, exponent = peel(call.arguments[0]), peel(call.arguments[1])
    if not isinstance(exponent, Literal) or not isinstance(exponent.value, int | float) or not _is_repeatable(base):
        return
    text = _write_power(call, base, float(exponent.value), root="sqrt" if site.language == "opencl" else "")
    if text is not None:
        yield Fix(f"{text} in place of pow", (Edit(call.span, text),), False)


def _name(call: Call) -> str:
    callee = peel(call.function)
    name = callee.symbol.name if isinstance(callee, Name) else ""
    return name if name and re.match(rf"{re.escape(name)}\s*\(", call.span.text) else ""


def _is_repeatable(base: Expr) -> bool:
    """Whether an expression may be written twice: a variable or an element, short and without effects."""
    plain = isinstance(base, Name | Index | Member) and len(base.span.text) <= _LONGEST
    return plain and not any(isinstance(part, Call | Assign | Unary | VerbatimExpr) for part in walk(base))


def _write_power(call: Call, base: Expr, exponent: float, root: str) -> str | None:
    """Return what a power is, of the type that it has."""
    wide = isinstance(call.type, Scalar) and call.type.bits == 64
    x = base.span.text
    same = isinstance(base.type, Scalar) and isinstance(call.type, Scalar) and base.type.bits == call.type.bits
    if not same or not isinstance(base.type, Scalar) or base.type.kind != "float":
        return None
    match exponent:
        case 2.0:
            return f"({x} * {x})"
        case 3.0:
            return f"({x} * {x} * {x})"
        case 4.0:
            return f"(({x} * {x}) * ({x} * {x}))"
        case 0.5:
            return f"{root or ('sqrt' if wide else 'sqrtf')}({x})"
        case -1.0:
            return f"({'1.0' if wide else '1.0f'} / {x})"
        case _:
            return None


def quicken(site: Site, facts: KernelFacts, finding: KernelFinding) -> Iterator[Fix]:
    """Yield the fast form of a function of CUDA."""
    del facts, finding
    call = site.node
    if site.language != "cuda" or not isinstance(call, Call | Binary) or not isinstance(call.type, Scalar):
        return
    if isinstance(call, Binary):
        yield from _find_divided(call)
        return
    name = _name(call)
    if call.type.bits == 32 and name.removesuffix("f") in _FAST:
        end = call.span.start + len(name)
        fast = f"__{name.removesuffix('f')}f"
        yield Fix(f"{fast} in place of {name}", (Edit(Span(site.file, call.span.start, end), fast),), False)


def _find_divided(quotient: Binary) -> Iterator[Fix]:
    sign = operator(quotient)
    if quotient.op != "/" or sign is None or quotient.type != quotient.left.type:
        return
    span = quotient.span
    spaces = len(span.file.text[sign.end : quotient.right.span.start]) - len(
        span.file.text[sign.end : quotient.right.span.start].lstrip()
    )
    before = span.file.text[quotient.left.span.end : sign.start]
    comma = Span(span.file, sign.start - (len(before) - len(before.rstrip())), sign.end + spaces)
    edits = (
        Edit(Span(span.file, span.start, span.start), "__fdividef("),
        Edit(comma, ", "),
        Edit(Span(span.file, span.end, span.end), ")"),
    )
    yield Fix("__fdividef in place of a division", edits, False)
