"""ARI003: literals and functions of type float, where the result is a float all the same.

x * 2.0 + 0.1     x * 2.0f + 0.1f          sqrt(x * x)     sqrtf(x * x)

It is safe for one operation on floats whose double result, rounded to float, is the float result (S. Figueroa, When is
double rounding innocuous?, SIGNUM 30(3), 1995: + - * / and the square root), and where no other operation can be fused
with it after the change. An explicit cast or a variable of type double is the author's word: nothing is proposed.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from typing import Final

from warpsmith.analysis.rules.finding import KernelFinding
from warpsmith.analysis.uniformity.facts import KernelFacts
from warpsmith.base.fixes import Fix
from warpsmith.base.source import Edit, Span
from warpsmith.fixes.site import Site
from warpsmith.ssa.nodes import Instruction, Value
from warpsmith.tree.nodes import Binary, Call, Conditional, Expr, Literal, Name, Unary
from warpsmith.tree.types import Scalar, Type
from warpsmith.tree.walk import peel

__all__ = ["narrow"]

_ARITHMETIC: Final = ("+", "-", "*", "/")
_FUNCTIONS: Final = frozenset((
    "sqrt", "cbrt", "exp", "exp2", "exp10", "expm1", "log", "log2", "log10", "log1p", "pow", "sin", "cos", "tan",
    "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh", "fabs", "floor", "ceil", "round", "trunc", "rint", "fmod",
    "fmin", "fmax", "fma", "hypot", "erf", "erfc", "rsqrt", "copysign",
))  # fmt: skip
# names that C++ has for float as well: the argument's type chooses
# a number without a suffix (C17 6.4.4.2)
_NUMBER: Final = re.compile(
    r"(?:[0-9]+\.[0-9]*|\.[0-9]+|[0-9]+(?=[eE]))(?:[eE][+-]?[0-9]+)?"
    r"|0[xX](?:[0-9a-fA-F]+\.?[0-9a-fA-F]*|\.[0-9a-fA-F]+)[pP][+-]?[0-9]+"
)
_OVERLOADED: Final = ("std::",)


class _DeliberateError(Exception):
    """Something in the expression is a double because the user says so, or cannot be changed by a token."""


def narrow(site: Site, facts: KernelFacts, finding: KernelFinding) -> Iterator[Fix]:
    """Yield the expression in float."""
    del finding
    root = site.node
    if not isinstance(root, Expr) or not _is_double(root.type):
        return
    try:
        edits = tuple(_edits(site, root, root))
    except _DeliberateError:
        return
    if not edits:
        return
    safe = not site.is_template and _is_exact(root) and not _may_fuse(facts, root)
    yield Fix("work in float", edits, safe)


def _is_double(type: Type) -> bool:
    return isinstance(type, Scalar) and type.kind == "float" and type.bits == 64


def _edits(site: Site, expr: Expr, root: Expr) -> Iterator[Edit]:
    """Yield what makes an expression a float; raises _DeliberateError where tokens do not."""
    if not _is_double(expr.type):
        return
    if expr is not root and expr.span.start == root.span.start and expr.span.end == root.span.end:
        # all of a macro's expansion has the text of its use
        raise _DeliberateError
    match expr:
        case Literal(value=float() | int() as value) if _NUMBER.fullmatch(expr.span.text) and _has_float(value):
            yield Edit(Span(site.file, expr.span.end, expr.span.end), "f")
        case Unary(op="-" | "+", operand=operand):
            yield from _edits(site, operand, root)
        case Binary(op=op, left=left, right=right) if op in _ARITHMETIC:
            yield from _edits(site, left, root)
            yield from _edits(site, right, root)
        case Conditional(then=then, other=other):
            yield from _edits(site, then, root)
            yield from _edits(site, other, root)
        case Call(function=function, arguments=arguments):
            yield from _rename_call(site, expr, peel(function))
            for argument in arguments:
                yield from _edits(site, argument, root)
        case _:
            raise _DeliberateError


def _rename_call(site: Site, call: Expr, callee: Expr) -> Iterator[Edit]:
    """Yield the name of the function for floats; of two functions with one name, its arguments choose."""
    name = callee.symbol.name if isinstance(callee, Name) else ""
    if name not in _FUNCTIONS:
        raise _DeliberateError
    text = call.span.text
    if site.language != "cuda" or text.startswith(_OVERLOADED):
        return
    if not re.match(rf"{name}\s*\(", text):
        raise _DeliberateError
    end = call.span.start + len(name)
    yield Edit(Span(site.file, end, end), "f")


def _has_float(value: float) -> bool:
    """Whether a number is in the range of float: neither too large, nor lost to zero."""
    try:
        held = struct.unpack("<f", struct.pack("<f", value))[0]
    except OverflowError:
        return False
    return held != 0 or value == 0


def _is_exact(root: Expr) -> bool:
    """Whether rounding the double result is rounding the result: one operation on floats."""
    match root:
        case Binary(op=op, left=left, right=right) if op in _ARITHMETIC:
            return _is_float_number(left) and _is_float_number(right)
        case Call(function=function, arguments=(argument,)):
            callee = peel(function)
            return isinstance(callee, Name) and callee.symbol.name == "sqrt" and _is_float_number(argument)
        case _:
            return False


def _is_float_number(expr: Expr) -> bool:
    """Whether an operand is a float, or a literal that float holds exactly."""
    bare = peel(expr)
    if isinstance(bare, Unary) and bare.op in ("-", "+"):
        bare = peel(bare.operand)
    if isinstance(bare, Literal) and isinstance(bare.value, float | int):
        return _has_float(bare.value) and struct.unpack("<f", struct.pack("<f", bare.value))[0] == bare.value
    return isinstance(bare.type, Scalar) and bare.type.kind == "float" and bare.type.bits == 32


_FUSES: Final = ("fadd", "fsub", "fmul", "fma")


def _may_fuse(facts: KernelFacts, root: Expr) -> bool:
    """Whether a compiler may fuse the operation, once it is a float one, with one before it or behind it; True where
    its instructions are not found."""
    mine = [i for _, i in facts.function.instructions() if _is_at(i, root.span) and i.op not in ("fext", "ftrunc")]
    rounded = [i for _, i in facts.function.instructions() if i.op == "ftrunc" and set(i.operands) & _results(mine)]
    if not rounded or not mine:
        return True
    results = _results(rounded)
    behind = any(i.op in _FUSES and set(i.operands) & results for _, i in facts.function.instructions())
    return behind or any(_comes_from_product(facts, value) for i in mine for value in i.operands)


def _results(found: list[Instruction]) -> set[object]:
    return {value for i in found for value in i.results}


def _comes_from_product(facts: KernelFacts, operand: object) -> bool:
    made = facts.warp_level.definitions.get(operand) if isinstance(operand, Value) else None
    if isinstance(made, Instruction) and made.op in ("fext", "fneg"):
        return any(_comes_from_product(facts, value) for value in made.operands)
    return isinstance(made, Instruction) and made.op in ("fmul", "fma")


def _is_at(i: Instruction, span: Span) -> bool:
    return i.span is not None and (i.span.start, i.span.end) == (span.start, span.end)
