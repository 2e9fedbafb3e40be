"""Vectors of OpenCL: loaded, stored, taken apart, multiplied, measured."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.lower.opencl_answers import answers_cl

VALUES: dict[str, list[int | float]] = {
    "oi[g] = vload4(g, in).w": [(n * 37 + 11) % 101 for n in range(3, 35, 4)],
    "oi[g] = vload3(g, in).z": [(n * 37 + 11) % 101 for n in range(2, 26, 3)],
    "if (g < 4) vstore2((int2)(g, 9), g, oi); else if (g > 90) oi[g] = 1": [0, 9, 1, 9, 2, 9, 3, 9],
    "oi[g] = shuffle((int4)(5, 6, 7, 8), (uint4)(3, g, 1, 0)).y": [5, 6, 7, 8, 5, 6, 7, 8],
    "oi[g] = shuffle2((int2)(5, 6), (int2)(7, 8), (uint2)(g, 0)).x": [5, 6, 7, 8, 5, 6, 7, 8],
    "of[g] = dot((float3)(1, 2, g), (float3)(4, 5, 6))": [14 + 6 * n for n in range(8)],
    "of[g] = cross((float4)(1, 0, 0, 9), (float4)(0, g, 0, 9)).z": [0, 1, 2, 3, 4, 5, 6, 7],
    "of[g] = length((float2)(3 * g, 4 * g))": [5 * n for n in range(8)],
    "of[g] = distance((float2)(1, 1), (float2)(1, g))": [1, 0, 1, 2, 3, 4, 5, 6],
    "of[g] = normalize((float2)(0, g + 1)).y": [1] * 8,
    "oi[g] = as_int((short2)(g, 1))": [65536 + n for n in range(8)],
    "oi[g] = as_uchar4(0x01020304 + g).x": [4, 5, 6, 7, 8, 9, 10, 11],
    "of[g] = 0; half h[2]; vstore_half(g * 0.5f, 1, h); of[g] = vload_half(1, h)": [n * 0.5 for n in range(8)],
}


def test_values(tmp_path: Path) -> None:
    found = answers_cl(VALUES, tmp_path)
    for body, wanted in VALUES.items():
        assert found[body] == pytest.approx(wanted, rel=1e-6), body
