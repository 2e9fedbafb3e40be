"""Operators: by the types that C gives them."""

from __future__ import annotations

from pathlib import Path

from tests.lower.harness import answers, code

VALUES: dict[str, list[int | float]] = {
    "oi[t] = (t - 4) / 2 * 10 + (t - 4) % 3": [-21, -10, -12, -1, 0, 1, 12, 10],
    "ou[t] = (unsigned)(t - 1) / 2u": [2147483647, 0, 0, 1, 1, 2, 2, 3],
    "oi[t] = (t - 4) >> 1": [-2, -2, -1, -1, 0, 0, 1, 1],
    "ou[t] = (unsigned)(t - 4) >> 31": [1, 1, 1, 1, 0, 0, 0, 0],
    "oi[t] = (t - 4 < 0u) + 2 * (t - 4 < 1)": [2, 2, 2, 2, 2, 0, 0, 0],
    "unsigned char c = 250; c += t; oi[t] = c": [250, 251, 252, 253, 254, 255, 0, 1],
    "int a = t; oi[t] = a++ + 10 * a": [10 + 11 * n for n in range(8)],
    "int a = t; oi[t] = --a * 2": [2 * (n - 1) for n in range(8)],
    "const int *p = in + t; oi[t] = p - in + (p >= in + 3)": [0, 1, 2, 4, 5, 6, 7, 8],
    "double *p = od; p += 3; ol[t] = (long long)(p - od) * t": [3 * n for n in range(8)],
    "oi[t] = ~t + !t": [0, -2, -3, -4, -5, -6, -7, -8],
    "of[t] = -(float)t": [-0.0, -1, -2, -3, -4, -5, -6, -7],
    "oi[t] = (t, 5)": [5] * 8,
    "struct B { int a : 3; unsigned b : 4; } x; x.a = t; x.b = t + 12; oi[t] = x.a * 100 + x.b": [
        12, 113, 214, 315, -400, -299, -198, -97,
    ],
    "int a[4] = {}; a[t & 3] += 5; a[t & 3] <<= 1; oi[t] = a[t & 3] + a[(t + 1) & 3]": [10] * 8,
}  # fmt: skip


def test_values(tmp_path: Path) -> None:
    assert answers(VALUES, tmp_path) == VALUES


def test_which_ops(tmp_path: Path) -> None:
    lines = {
        "oi[t] = in[0] + in[1]": "add [nsw]", "ou[t] = ou[1] + ou[2]": "= add %", "oi[t] = in[0] / in[1]": "sdiv",
        "ou[t] = ou[1] % ou[2]": "urem", "oi[t] = s < 2.0f": "folt", "oi[t] = s != 2.0f": "fune",
        "oi[t] = ou[1] < ou[2]": "ult", "oi[t] = in[0] >> 2": "ashr", "ou[t] = ou[1] >> 2": "lshr",
        "oi[n] = 1": "smulwide", "ou[ou[1]] = 1": "umulwide",
    }  # fmt: skip
    made = code(lines, tmp_path)
    assert {body: line in made[body][0] for body, line in lines.items()} == dict.fromkeys(lines, True)
