"""Indivisible updates for which CUDA has no function."""

from __future__ import annotations

import pytest

from tests.emit.examples import saxpy
from warpsmith.emit.device.atomics import atomic_names, atomic_texts
from warpsmith.emit.words import Support
from warpsmith.offload.values.updates import atomic_function
from warpsmith.tree.types import DOUBLE, FLOAT, INT, LONG, LONG_LONG, UNSIGNED_LONG, Scalar


def text(op: str, type: Scalar) -> str:
    (made,) = atomic_texts({atomic_function(op, type): "ws_atomic"})
    return " ".join(made.split())


@pytest.mark.parametrize(
    ("op", "type", "call"),
    [
        # of the same bits, by the name that CUDA has
        ("+", LONG_LONG, "atomicAdd((unsigned long long *)place, (unsigned long long)value);"),
        ("min", LONG, "atomicMin((long long *)place, (long long)value);"),
        ("max", UNSIGNED_LONG, "atomicMax((unsigned long long *)place, (unsigned long long)value);"),
        ("&", LONG, "atomicAnd((unsigned long long *)place, (unsigned long long)value);"),
        ("^", UNSIGNED_LONG, "atomicXor((unsigned long long *)place, (unsigned long long)value);"),
    ],
)
def test_integers_of_64_bits(op: str, type: Scalar, call: str) -> None:
    assert call in text(op, type) and "atomicCAS" not in text(op, type)


@pytest.mark.parametrize(
    ("op", "type", "word", "conversions"),
    [
        ("*", INT, "unsigned int", ("(int)expected", "combined")),
        ("*", LONG, "unsigned long long", ("(long)expected", "combined")),
        ("max", FLOAT, "unsigned int", ("__uint_as_float(expected)", "__float_as_uint(combined)")),
        ("min", DOUBLE, "unsigned long long", ("__longlong_as_double(expected)", "__double_as_longlong(combined)")),
    ],
)
def test_all_else_is_compared_and_swapped(op: str, type: Scalar, word: str, conversions: tuple[str, str]) -> None:
    made = text(op, type)
    assert f"{word} expected, seen = 0;" in made and f"atomicCAS(({word} *)place, expected, ({word})" in made
    assert conversions[0] in made and conversions[1] in made
    assert made.endswith("while (seen != expected); }")


def test_a_kernel_without_one_needs_none() -> None:
    assert atomic_names(saxpy().ported.kernels, Support("ws")) == {}
