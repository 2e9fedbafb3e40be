"""The functions with which threads combine values."""

from __future__ import annotations

import pytest

from tests.emit.examples import saxpy
from warpsmith.emit.device.sharing import sharing_names, sharing_texts
from warpsmith.emit.words import Support
from warpsmith.tree.memory.shared_values import column_function, warp_function
from warpsmith.tree.types import DOUBLE, FLOAT, INT, UNSIGNED_LONG, Scalar


@pytest.mark.parametrize(
    ("op", "type", "combined"),
    [
        ("+", DOUBLE, "value = value + other;"),
        ("max", FLOAT, "value = fmaxf(value, other);"),
        ("min", INT, "value = other < value ? other : value;"),
        ("^", UNSIGNED_LONG, "value = value ^ other;"),
    ],
)
def test_values_are_combined_by_shuffles(op: str, type: Scalar, combined: str) -> None:
    (text,) = sharing_texts({warp_function(op, type): "ws_warp_x"})
    made = " ".join(text.split())
    assert f"{type.name} ws_warp_x({type.name} value, int width)" in made and combined in made
    assert made.endswith("return __shfl_sync(0xffffffff, value, 0); }")


def test_columns_combine_values_in_shared_memory() -> None:
    (text,) = sharing_texts({column_function("min", DOUBLE): "ws_column_x"})
    made = " ".join(text.split())
    assert "__shared__ double of_thread[16][32];" in made and "value = fmin(value, other);" in made
    assert made.count("__syncthreads();") == 2


def test_a_kernel_without_one_needs_none() -> None:
    assert sharing_names(saxpy().ported.kernels, Support("ws")) == {}
