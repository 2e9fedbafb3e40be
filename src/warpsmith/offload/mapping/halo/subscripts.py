"""Subscripts as polynomials of counters, and how far one is from another along the counters.

    i on y, j on x:   A[i - 1][j + 1]        one away from A[i][j] along each
                      A[(i - 1) * n + j]     n is what a step of i adds: -n is one step back
                      A[i + di][j]           away by the counter of a loop inside

Invariant: the value of an expression that is read is that of the polynomial, in 64 bits: its parts have types in which
nothing wraps around but modulo 2^64. A polynomial with each counter moved by its distance, plus the rest, is the
polynomial that was split; so is what is written of it again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from typing import Final

from msgspec import Struct

from warpsmith.base.source import Span
from warpsmith.offload.expressions import binary, name, number, wide
from warpsmith.poly.isl.polynomial import ZERO, Monomial, Polynomial, atom, constant
from warpsmith.tree.nodes import Binary, Cast, Expr, Literal, Name, Unary
from warpsmith.tree.types import INT, LONG_LONG, Scalar, Symbol, Type, is_integer
from warpsmith.tree.walk import peel

__all__ = [
    "SplitSubscript",
    "is_counter",
    "is_narrow",
    "read_subscript",
    "split_distance",
    "split_subscript",
    "write_subscript",
]

_OPERATIONS: Final = ("+", "-", "*")


class SplitSubscript(Struct, frozen=True):
    """A subscript as the sum of its counters times their `steps`, a `rest` without counters, and what counters of loops
    inside add (`inner`)."""

    steps: Mapping[str, Polynomial]
    rest: Polynomial
    inner: Mapping[str, Polynomial]


def read_subscript(expr: Expr) -> Polynomial | None:
    """Return an expression as a polynomial of the variables in it, by their keys; None where it is none for certain."""
    expr = peel(expr)
    if not _is_exact(expr.type):
        return None
    match expr:
        case Literal(value=int() as value):
            return constant(value)
        case Name(symbol=symbol):
            return atom(symbol.key) if symbol.value is None else constant(symbol.value)
        case Cast(operand=operand, type=Scalar(bits=bits)):
            inner = peel(operand).type
            fits = isinstance(inner, Scalar) and inner.bits <= bits
            return read_subscript(operand) if fits else None
        case Unary(op="+" | "-" as op, operand=operand):
            inside = read_subscript(operand)
            return inside if inside is None or op == "+" else -inside
        case Binary(op=op, left=left, right=right) if op in _OPERATIONS:
            one, other = read_subscript(left), read_subscript(right)
            if one is None or other is None:
                return None
            return one + other if op == "+" else one - other if op == "-" else one * other
        case _:
            return None


def _is_exact(type: Type) -> bool:
    """Whether a value of a type is what it would be in 64 bits: signed numbers do not wrap around."""
    if not isinstance(type, Scalar) or not is_integer(type):
        return False
    return type.bits >= INT.bits if type.kind == "signed" else type.bits == LONG_LONG.bits


def is_narrow(expr: Expr) -> bool:
    """Whether a subscript is computed in an int."""
    return peel(expr).type == INT


def split_subscript(
    value: Polynomial, counters: frozenset[str], inner: frozenset[str], known: frozenset[str]
) -> SplitSubscript | None:
    """Return a subscript taken apart; None where it has other variables than counters, counters of loops inside and
    known ones, or where what a counter adds hangs on another one."""
    if not value.atoms() <= counters | inner | known:
        return None
    found: dict[str, Polynomial] = {}
    rest = value
    for one in sorted(value.atoms() & (counters | inner)):
        step = rest.coefficient(one)
        if step is None or not step.atoms() <= known:
            return None
        found[one] = step
        rest = rest.drop_name(one)
    return SplitSubscript(
        {one: step for one, step in found.items() if one in counters},
        rest,
        {one: step for one, step in found.items() if one in inner},
    )


def split_distance(value: Polynomial, steps: Mapping[str, Polynomial]) -> tuple[dict[str, int], Polynomial]:
    """Return by how many steps of each counter a value is made up, and what is left then: nothing, where it is a whole
    number of steps. Two values that are steps apart leave the same."""
    distances: dict[str, int] = {}
    order = sorted(steps, key=lambda one: _rank(steps[one]), reverse=True)
    for place, counter in enumerate(order):
        step = steps[counter]
        leading = _leading(step)
        have, unit = value.terms.get(leading, 0), step.terms[leading]
        last = place == len(order) - 1 or _leading(steps[order[place + 1]]) != leading
        # a larger step is taken as often as comes nearest, so that what smaller ones do is little either way
        count = have // unit if last else (2 * have + unit) // (2 * unit)
        distances[counter] = count
        value = value - step.scale(count)
    return distances, value


def _leading(step: Polynomial) -> Monomial:
    return max(step.terms, key=lambda monomial: (len(monomial), monomial))


def _rank(step: Polynomial) -> tuple[int, Monomial, int]:
    leading = _leading(step)
    return len(leading), leading, abs(step.terms[leading])


def is_counter(split: SplitSubscript, rest: Polynomial) -> bool:
    """Whether a subscript is one of its counters as it is, moved by its distance."""
    return len(split.steps) == 1 and rest == ZERO and all(step.number == 1 for step in split.steps.values())


def write_subscript(
    split: SplitSubscript, rest: Polynomial, at: Mapping[str, Expr], symbols: Mapping[str, Symbol], span: Span
) -> Expr:
    """Return the subscript with `at` in place of its counters: one of them as it is where it is nothing else, a sum in
    64 bits otherwise. `symbols`: the variables by their keys."""
    if is_counter(split, rest):
        (counter,) = split.steps
        return at[counter]
    terms = [_times(wide(at[counter]), step, symbols, span) for counter, step in split.steps.items()]
    if rest != ZERO:
        terms.append(_sum(rest, symbols, span))
    return reduce(lambda left, right: binary("+", left, right), terms)


def _times(value: Expr, step: Polynomial, symbols: Mapping[str, Symbol], span: Span) -> Expr:
    return value if step.number == 1 else binary("*", value, _sum(step, symbols, span))


def _sum(value: Polynomial, symbols: Mapping[str, Symbol], span: Span) -> Expr:
    ordered: Sequence[tuple[Monomial, int]] = sorted(value.terms.items(), key=lambda term: (-len(term[0]), term[0]))
    result: Expr | None = None
    for monomial, factor in ordered:
        parts: list[Expr] = [wide(name(symbols[key], span)) for key in monomial]
        if not parts or abs(factor) != 1:
            parts.append(number(abs(factor), span))
        product = reduce(lambda left, right: binary("*", left, right), parts)
        if result is None:
            result = product if factor > 0 else Unary(span=span, type=LONG_LONG, op="-", operand=product)
        else:
            result = binary("+" if factor > 0 else "-", result, product)
    return number(0, span) if result is None else result
