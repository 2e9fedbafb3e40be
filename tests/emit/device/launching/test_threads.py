"""Numbers of a launch as text: widened where a difference might overflow, in parentheses where they are operands."""

from __future__ import annotations

import pytest

from warpsmith.base.source import SourceFile, Span
from warpsmith.emit.device.launching.threads import (
    MappedThread,
    is_int_name,
    is_zero,
    limit_text,
    literal_of,
    operand_text,
    tight_text,
    wide_text,
)
from warpsmith.tree.nodes import Binary, Block, Cast, Expr, For, Literal, Name
from warpsmith.tree.printing.printer import Printer
from warpsmith.tree.program import MappedLoop
from warpsmith.tree.types import INT, LONG_LONG, Scalar, Symbol

HERE = Span(SourceFile("none.c", ""), 0, 0)


def named(text: str, type: Scalar = INT) -> Name:
    return Name(span=HERE, type=type, symbol=Symbol(text, text, type, "parameter", HERE))


def number(value: int) -> Literal:
    return Literal(span=HERE, type=INT, text=str(value), value=value)


def minus(left: Expr, right: Expr) -> Binary:
    return Binary(span=HERE, type=INT, op="-", left=left, right=right)


def thread(count: Expr, lower: Expr, bound: Expr) -> MappedThread:
    loop = For(
        span=HERE, header=HERE, variable=named("i").symbol, lower=lower, bound=bound, relation="<", step=1,
        body=Block(span=HERE, statements=()), declares=True,
    )  # fmt: skip
    return MappedThread(MappedLoop(loop, "x", "f/i"), lower, count, None, strided=False, index="")


N, K = named("n"), named("k")


@pytest.mark.parametrize(
    ("count", "wide", "limit"),
    [
        (N, "n", "n"),
        (minus(N, K), "(long long)n - k", "(long long)n - k"),
        (minus(N, number(1)), "n - 1", "n - 1"),
        (minus(number(9), K), "9LL - k", "9LL - k"),
        (minus(named("m", LONG_LONG), K), "m - k", "m - k"),
    ],
)
def test_counts_are_computed_in_64_bits(count: Expr, wide: str, limit: str) -> None:
    # the user's loop computes n - 1 as it is
    made = thread(count, number(0), minus(N, number(1)))
    assert wide_text(made, Printer()) == wide
    assert limit_text(made, Printer()) == limit


def test_operands_have_parentheses_where_they_need_them() -> None:
    compared = Binary(span=HERE, type=INT, op="<", left=N, right=K)
    assert operand_text(minus(N, K), Printer()) == "n - k" and operand_text(compared, Printer()) == "(n < k)"
    shifted = Binary(span=HERE, type=INT, op="<<", left=N, right=K)
    assert tight_text(shifted, Printer()) == "(n << k)" and tight_text(N, Printer()) == "n"


def test_numbers_and_names_are_known() -> None:
    assert literal_of(number(4)) == 4 and literal_of(N) is None
    assert is_zero(number(0)) and not is_zero(number(1)) and not is_zero(N)
    assert is_int_name(N) and not is_int_name(named("m", LONG_LONG))
    assert not is_int_name(Cast(span=HERE, type=INT, operand=N))
