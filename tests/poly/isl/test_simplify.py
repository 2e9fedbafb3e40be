"""Choices in host expressions, said shorter: each has its value, as all small numbers show."""

from __future__ import annotations

import random
from itertools import product
from pathlib import Path

import pytest

from warpsmith.front.load import FrontOptions, load_program
from warpsmith.poly.isl.simplify import simplify
from warpsmith.tree.nodes import Binary, Cast, Conditional, Expr, Literal, Name, Return, Unary
from warpsmith.tree.printing.printer import print_expr
from warpsmith.tree.walk import peel, walk

_NAMES = ("n", "m")


def _read(texts: list[str], folder: Path, head: str = "int n, int m, const int *a") -> list[Expr]:
    path = folder / "a.c"
    path.write_text("".join(f"long long f{k}({head}) {{ return {text}; }}\n" for k, text in enumerate(texts)))
    (unit,) = load_program([str(path)], FrontOptions()).program.units
    returned = [next(part for part in walk(function) if isinstance(part, Return)) for function in unit.functions]
    return [stmt.value for stmt in returned if stmt.value is not None]


def _value(expr: Expr, known: dict[str, int]) -> int:
    match peel(expr):
        case Literal(value=int() as value):
            return value
        case Name(symbol=symbol):
            return known[symbol.name]
        case Cast(operand=operand):
            return _value(operand, known)
        case Unary(op=op, operand=operand):
            inner = _value(operand, known)
            return -inner if op == "-" else int(not inner)
        case Conditional(condition=condition, then=then, other=other):
            return _value(then if _value(condition, known) else other, known)
        case Binary(op=op, left=left, right=right):
            return _operate(op, _value(left, known), _value(right, known))
        case other:
            raise AssertionError(other)


def _operate(op: str, left: int, right: int) -> int:
    found = {
        "+": left + right, "-": left - right, "*": left * right, "<": left < right, "<=": left <= right,
        ">": left > right, ">=": left >= right, "==": left == right, "!=": left != right,
        "&&": bool(left and right), "||": bool(left or right),
    }  # fmt: skip
    return int(found[op])


CASES = {
    "n < (n >= 1 ? n : 0) ? n : (n >= 1 ? n : 0)": "n",
    "n >= 1 ? (n > 0 ? n : m) : 0": "n >= 1 ? n : 0",
    "n == 0 ? 0 : n": "n",
    "n >= 1 && n >= 0 ? n : 0": "n >= 1 ? n : 0",
    "(n >= 1 ? n : 0) < (n >= 1 ? n : 0) ? m : n": "n",
    "n > m ? (m < n ? n : m) : m": "n > m ? n : m",
    "a[n] >= 1 ? a[n] : 0": "a[n] >= 1 ? a[n] : 0",
    "n < (a[0] ? n : 0) ? n : m": "n < (a[0] ? n : 0) ? n : m",
    "n != 0 ? m : 0": "n != 0 ? m : 0",
}


def test_what_a_person_would_write(tmp_path: Path) -> None:
    found = [print_expr(simplify(expr)) for expr in _read([*CASES], tmp_path)]
    assert dict(zip(CASES, found, strict=True)) == CASES


def test_what_has_no_sign_is_compared_as_c_compares_it(tmp_path: Path) -> None:
    text = "n - 1 < n ? m : 0u"
    (expr,) = _read([text], tmp_path, "unsigned n, unsigned m")
    assert print_expr(simplify(expr)) == text


def _random_text(choose: random.Random, depth: int) -> str:
    if depth == 0 or choose.random() < 0.2:
        return choose.choice(("n", "m", "0", "1", "3", "(long long)n", "(long long)m - 1"))
    kind = choose.randrange(6)
    one, other = (_random_text(choose, depth - 1) for _ in range(2))
    if kind == 0:
        return f"((long long)({one}) {choose.choice('+-')} ({other}))"
    tests = [
        f"({_random_text(choose, depth - 1)}) {choose.choice(('<', '<=', '>', '>=', '==', '!='))} "
        f"({_random_text(choose, max(0, depth - 2))})"
        for _ in range(choose.choice((1, 1, 2)))
    ]
    return f"({choose.choice((' && ', ' || ')).join(tests)} ? ({one}) : ({other}))"


def _check(seeds: range, folder: Path) -> int:
    """Return how many random expressions got shorter; each has its value for all small numbers."""
    choose = [random.Random(seed) for seed in seeds]
    shorter = 0
    for expr in _read([_random_text(one, 3) for one in choose], folder):
        made = simplify(expr)
        shorter += made is not expr
        for values in product(range(-4, 5), repeat=2):
            known = dict(zip(_NAMES, values, strict=True))
            assert _value(made, known) == _value(expr, known), (print_expr(expr), print_expr(made), known)
    return shorter


def test_random_expressions_keep_their_value(tmp_path: Path) -> None:
    assert _check(range(150), tmp_path) > 20


@pytest.mark.slow
def test_many_random_expressions_keep_their_value(tmp_path: Path) -> None:
    assert sum(_check(range(first, first + 500), tmp_path) for first in range(1000, 5000, 500)) > 500
