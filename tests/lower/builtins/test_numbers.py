"""Functions of floating-point numbers that are one op."""

from __future__ import annotations

import math
from pathlib import Path

from tests.lower.harness import answers, code

VALUES: dict[str, list[int | float]] = {
    "of[t] = sqrtf(t * t)": [0, 1, 2, 3, 4, 5, 6, 7],
    "of[t] = floorf((t - 4) * 0.5f)": [-2, -2, -1, -1, 0, 0, 1, 1],
    "of[t] = ceilf((t - 4) * 0.5f)": [-2, -1, -1, 0, 0, 1, 1, 2],
    "of[t] = truncf((t - 4) * 0.5f)": [-2, -1, -1, 0, 0, 0, 1, 1],
    "of[t] = rintf((t - 4) * 0.5f)": [-2, -2, -1, 0, 0, 0, 1, 2],
    "of[t] = fmaf(t, 2.0f, 1.0f)": [1, 3, 5, 7, 9, 11, 13, 15],
    "of[t] = copysignf(t, -1.0f)": [-0.0, -1, -2, -3, -4, -5, -6, -7],
    "of[t] = __saturatef((t - 2) * 0.5f)": [0, 0, 0, 0.5, 1, 1, 1, 1],
    "of[t] = fminf(t, 3.0f)": [0, 1, 2, 3, 3, 3, 3, 3],
    "oi[t] = __float2int_rd((t - 4) * 0.5f)": [-2, -2, -1, -1, 0, 0, 1, 1],
    "oi[t] = __float2int_ru((t - 4) * 0.5f)": [-2, -1, -1, 0, 0, 1, 1, 2],
    "oi[t] = __float2int_rn((t - 4) * 0.5f)": [-2, -2, -1, 0, 0, 0, 1, 2],
    "of[t] = __uint2float_rn(t - 1)": [4294967296.0, 0, 1, 2, 3, 4, 5, 6],
    "ol[t] = lrintf((t - 4) * 0.5f)": [-2, -2, -1, 0, 0, 0, 1, 2],
    "ol[t] = lrint(t - 4)": [-4, -3, -2, -1, 0, 1, 2, 3],
    "oi[t] = __float2int_rn(t)": [0, 1, 2, 3, 4, 5, 6, 7],
    "od[t] = fabs(t - 4.0)": [4, 3, 2, 1, 0, 1, 2, 3],
}


def test_values(tmp_path: Path) -> None:
    found = answers(VALUES, tmp_path)
    assert found == VALUES
    assert math.copysign(1, found["of[t] = copysignf(t, -1.0f)"][0]) == -1


def test_how_a_name_rounds_is_in_the_op(tmp_path: Path) -> None:
    lines = {
        "of[t] = __fadd_rz(s, 2.0f)": "fadd [zero]", "od[t] = __dmul_ru(s, 2.0)": "fmul [up]",
        "of[t] = __fdividef(s, 3.0f)": "fdiv [approximate]", "of[t] = __sinf(s)": "sin [approximate]",
        "of[t] = __fmaf_rd(s, s, s)": "ffma [down]", "oi[t] = __float2int_rz(s)": "ftosi [zero]",
        "of[t] = rsqrtf(s)": "rsqrt", "of[t] = __double2float_rd(od[t])": "ftrunc [down]",
    }  # fmt: skip
    made = code(lines, tmp_path)
    assert {body: line in made[body][0] for body, line in lines.items()} == dict.fromkeys(lines, True)
