"""Elements by a rule: against numpy, and against the C library itself."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

from warpsmith.kernels.elements import elements_of, libc_random


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("n-1-i", [7, 6, 5, 4, 3, 2, 1, 0]),
        ("i%2*n", [0, 8, 0, 8, 0, 8, 0, 8]),
        ("(i >= n/2) * n", [0, 0, 0, 0, 8, 8, 8, 8]),
        ("-i // 2 + 9", [9, 8, 8, 7, 7, 6, 6, 5]),
        ("4", [4] * 8),
    ],
)
def test_each_element_is_what_the_rule_says(text: str, wanted: list[int]) -> None:
    assert elements_of(text, 8, np.dtype("<i4"), {"n": 8}).tolist() == wanted


def test_floats_divide_as_floats() -> None:
    assert elements_of("3*i/2 + 0.5", 4, np.dtype("<f4"), {}).tolist() == [0.5, 2.0, 3.5, 5.0]


@pytest.mark.parametrize("text", ["i/0", "i%(i-3)", "f(i)", "i if i else 2", "300*i", "i.x", "0.5*i"])
def test_what_is_no_rule_or_does_not_fit_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"zero|expression|fit"):
        elements_of(text, 8, np.dtype("u1"), {})


def test_a_name_that_nothing_gives_is_named() -> None:
    with pytest.raises(KeyError, match="m"):
        elements_of("i*m", 8, np.dtype("<i4"), {"n": 8})


@pytest.mark.parametrize("seed", [1, 0, 7, 2**31 - 1, 4_000_000_000])
def test_random_is_that_of_the_c_library(seed: int) -> None:
    library = ctypes.CDLL("libc.so.6")
    library.srandom(ctypes.c_uint(seed))
    assert [library.random() % 6400 for _ in range(500)] == libc_random(500, 6400, seed).tolist()
