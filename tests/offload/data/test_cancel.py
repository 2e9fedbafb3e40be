"""Sums in which terms cancel out: each has its value, as all small numbers show."""

from __future__ import annotations

import random
from itertools import product
from pathlib import Path

from tests.poly.isl.test_simplify import _read, _value
from warpsmith.offload.data.cancel import cancel_terms
from warpsmith.tree.nodes import Expr
from warpsmith.tree.printing.printer import print_expr
from warpsmith.tree.types import LONG_LONG
from warpsmith.tree.walk import walk

CASES = {
    "(long long)n + m - (long long)n": "(long long)m",
    "(long long)n + m - n": "(long long)m",
    "(long long)n * m + m + 1 - ((long long)m + 1)": "(long long)n * m",
    "(long long)n * m + m - (long long)n - m": "(long long)n * m - (long long)n",
    "(long long)n - n": "0LL",
    "m + ((long long)n + 0)": "m + (long long)n",
    "(long long)n - (m - (long long)m)": "(long long)n",
    "n >= 1 ? (long long)n + 1 - (long long)n : 0": "n >= 1 ? (long long)1 : 0",
    # what is computed with 32 bits, and what does not cancel
    "n + m - n": "n + m - n",
    "(long long)(n + m) - n": "(long long)(n + m) - n",
    "(long long)n + m + n": "(long long)n + m + n",
    "0 - (long long)n": "0 - (long long)n",
    "(long long)n - n - m": "0LL - m",
}


def test_what_a_person_would_write(tmp_path: Path) -> None:
    found = [print_expr(cancel_terms(expr)) for expr in _read([*CASES], tmp_path)]
    assert dict(zip(CASES, found, strict=True)) == CASES


def test_what_has_no_sign_stays(tmp_path: Path) -> None:
    text = "(unsigned long long)n + m - (unsigned long long)n"
    (expr,) = _read([text], tmp_path)
    assert print_expr(cancel_terms(expr)) == text


def _random_sum(choose: random.Random, depth: int) -> str:
    if depth == 0 or choose.random() < 0.2:
        return choose.choice(("n", "m", "0", "1", "(long long)n", "(long long)m", "(long long)n * m"))
    one, other = (_random_sum(choose, depth - 1) for _ in range(2))
    if choose.random() < 0.15:
        return f"((long long)({one}) < {other} ? (long long)({other}) : {one})"
    return f"((long long)({one}) {choose.choice('+-')} ({other}))"


def test_random_sums_keep_their_value_and_are_computed_with_64_bits(tmp_path: Path) -> None:
    texts = [_random_sum(random.Random(seed), 4) for seed in range(200)]
    shorter = 0
    for expr in _read(texts, tmp_path):
        made = cancel_terms(expr)
        shorter += _length(made) < _length(expr)
        assert expr.type != LONG_LONG or made.type == LONG_LONG
        for values in product(range(-4, 5), repeat=2):
            known = dict(zip(("n", "m"), values, strict=True))
            assert _value(made, known) == _value(expr, known), (print_expr(expr), print_expr(made), known)
    assert shorter > 50


def _length(expr: Expr) -> int:
    return sum(1 for _ in walk(expr))
