"""Functions of integers give what CUDA says."""

from __future__ import annotations

from pathlib import Path

from tests.lower.harness import answers, code

VALUES: dict[str, list[int | float]] = {
    "oi[t] = __popc(t - 1)": [32, 0, 1, 1, 2, 1, 2, 2],
    "oi[t] = __popcll(t - 1)": [64, 0, 1, 1, 2, 1, 2, 2],
    "oi[t] = __clz(t)": [32, 31, 30, 30, 29, 29, 29, 29],
    "oi[t] = __clzll(t)": [64, 63, 62, 62, 61, 61, 61, 61],
    "oi[t] = __ffs(t)": [0, 1, 2, 1, 3, 1, 2, 1],
    "oi[t] = __ffsll((long long)t << 32)": [0, 33, 34, 33, 35, 33, 34, 33],
    "ou[t] = __brev(t)": [0, 0x80000000, 0x40000000, 0xC0000000, 0x20000000, 0xA0000000, 0x60000000, 0xE0000000],
    "oi[t] = __mulhi(t - 4, 1 << 30)": [-1, -1, -1, -1, 0, 0, 0, 0],
    "ou[t] = __umulhi(t - 4, 2u)": [1, 1, 1, 1, 0, 0, 0, 0],
    "oi[t] = __mul24(t - 1, 3)": [-3, 0, 3, 6, 9, 12, 15, 18],
    "oi[t] = __sad(t, 4, 10)": [14, 13, 12, 11, 10, 11, 12, 13],
    "ou[t] = __byte_perm(0x33221100, 0x77665544, 0x7410 + t)": [
        0x77441100, 0x77441111, 0x77441122, 0x77441133, 0x77441144, 0x77441155, 0x77441166, 0x77441177,
    ],
    "ou[t] = __funnelshift_l(0x80000000, 1, t)": [1, 3, 6, 12, 24, 48, 96, 192],
    "oi[t] = min(t, 3) + 10 * max(t, 5)": [50, 51, 52, 53, 53, 53, 63, 73],
    "ou[t] = umin(t - 1, 5)": [5, 0, 1, 2, 3, 4, 5, 5],
    "oi[t] = abs(t - 4)": [4, 3, 2, 1, 0, 1, 2, 3],
    "oi[t] = __float_as_int((float)t)": [
        0, 0x3F800000, 0x40000000, 0x40400000, 0x40800000, 0x40A00000, 0x40C00000, 0x40E00000,
    ],
    "of[t] = __int_as_float(0x3f800000 + (t << 23))": [1, 2, 4, 8, 16, 32, 64, 128],
    "oi[t] = __double2hiint((double)t)": [
        0, 0x3FF00000, 0x40000000, 0x40080000, 0x40100000, 0x40140000, 0x40180000, 0x401C0000,
    ],
    "od[t] = __hiloint2double(0x3ff00000 + (t << 20), 0)": [1, 2, 4, 8, 16, 32, 64, 128],
    "oi[t] = __dp4a(0x01020304, t, 100)": [100 + 4 * t for t in range(8)],
}  # fmt: skip


def test_values(tmp_path: Path) -> None:
    assert answers(VALUES, tmp_path) == VALUES


def test_one_op_each(tmp_path: Path) -> None:
    made = code(["oi[t] = max(t, n)", "ou[t] = max(ou[t], 3u)", "of[t] = max(s, 2.0f)"], tmp_path)
    assert ["smax" in text or "umax" in text or "fmax" in text for text, _ in made.values()] == [True] * 3
    ops = [next(op for op in ("smax", "umax", "fmax") if f"= {op}" in text) for text, _ in made.values()]
    assert ops == ["smax", "umax", "fmax"]
