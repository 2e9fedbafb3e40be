"""Functions of numbers that OpenCL has and C has not."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.lower.opencl_answers import answers_cl

VALUES: dict[str, list[int | float]] = {
    "ou[g] = rotate(0x80000001u, (uint)g)": [0x80000001, 3, 6, 12, 24, 48, 96, 192],
    "oi[g] = hadd(g, 4) + 10 * rhadd(g, 4)": [22, 32, 33, 43, 44, 54, 55, 65],
    "ou[g] = upsample((ushort)g, (ushort)7)": [(n << 16) + 7 for n in range(8)],
    "oi[g] = clz((uchar)g)": [8, 7, 6, 6, 5, 5, 5, 5],
    "oi[g] = popcount(g - 1)": [32, 0, 1, 1, 2, 1, 2, 2],
    "oi[g] = add_sat((char)(g + 124), (char)2)": [126, 127, 127, 127, -126, -125, -124, -123],
    "oi[g] = sub_sat((uchar)g, (uchar)3)": [0, 0, 0, 0, 1, 2, 3, 4],
    "oi[g] = mul_hi(g - 4, 1 << 30)": [-1, -1, -1, -1, 0, 0, 0, 0],
    "oi[g] = mad_sat(g, 1 << 29, 5)": [*(5 + (n << 29) for n in range(4)), *[2147483647] * 4],
    "ou[g] = abs_diff(g, 4)": [4, 3, 2, 1, 0, 1, 2, 3],
    "oi[g] = clamp(g, 2, 5)": [2, 2, 2, 3, 4, 5, 5, 5],
    "of[g] = mix(1.0f, 3.0f, g * 0.5f)": [1 + n for n in range(8)],
    "of[g] = step(3.0f, (float)g)": [0, 0, 0, 1, 1, 1, 1, 1],
    "of[g] = smoothstep(0.0f, 4.0f, (float)g)": [0, 0.15625, 0.5, 0.84375, 1, 1, 1, 1],
    "of[g] = sign(g - 4.0f)": [-1, -1, -1, -1, 0, 1, 1, 1],
    "of[g] = maxmag((float)g, -3.0f) + 100 * minmag((float)g, -3.0f)": [-3, 97, 197, -297, -296, -295, -294, -293],
    "float w; of[g] = fract(g * 0.75f, &w) + 10 * w": [0, 0.75, 10.5, 20.25, 30, 30.75, 40.5, 50.25],
}


def test_values(tmp_path: Path) -> None:
    found = answers_cl(VALUES, tmp_path)
    for body, wanted in VALUES.items():
        assert found[body] == pytest.approx(wanted, rel=1e-6), body
