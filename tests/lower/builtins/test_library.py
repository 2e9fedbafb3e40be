"""Functions of the mathematics library: pure, lane by lane, by their name."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from tests.lower.harness import answers, code

VALUES = {
    "of[t] = powf(2.0f, t)": [2.0**t for t in range(8)],
    "of[t] = __powf(2, t)": [2.0**t for t in range(8)],
    "of[t] = ldexpf(3.0f, t)": [3.0 * 2.0**t for t in range(8)],
    "of[t] = expf(t)": [math.exp(t) for t in range(8)],
    "od[t] = log(t + 1.0)": [math.log(t + 1) for t in range(8)],
    "float c; sincosf(t, &of[t], &c)": [math.sin(t) for t in range(8)],
    "float a; sincosf(t, &a, &of[t])": [math.cos(t) for t in range(8)],
    "float a; sincos((float)t, &a, &of[t])": [math.cos(t) for t in range(8)],
    "double a, b; sincos((double)t, &a, &b); of[t] = b": [math.cos(t) for t in range(8)],
    "int k; of[t] = frexpf(t, &k)": [math.frexp(t)[0] for t in range(8)],
    "int k; float m = frexpf(t, &k); oi[t] = k + (m > 4)": [math.frexp(t)[1] for t in range(8)],
    "float w; float r = modff(t + 0.25f, &w); of[t] = w + 10 * r": [t + 2.5 for t in range(8)],
}


def test_values(tmp_path: Path) -> None:

    found = answers(VALUES, tmp_path)
    for body, wanted in VALUES.items():
        assert found[body] == pytest.approx(wanted, rel=1e-6, abs=1e-7), body


def test_each_is_known_by_its_name_alone(tmp_path: Path) -> None:
    made = code(["of[t] = erff(s)", "of[t] = __powf(s, s)", "od[t] = tgamma(od[t])"], tmp_path)
    assert ["erf" in made["of[t] = erff(s)"][0], "lanewise" in made["of[t] = __powf(s, s)"][0]] == [True, True]
    assert all(not told and "call" not in text for text, told in made.values())


def test_integers_become_numbers_but_for_exponents(tmp_path: Path) -> None:
    made = code(["of[t] = __powf(2, t)", "of[t] = ldexpf(s, t)"], tmp_path)
    assert "sitof" in made["of[t] = __powf(2, t)"][0] and "sitof" not in made["of[t] = ldexpf(s, t)"][0]
