"""Calls: what parameters get, what comes back, and what is not known."""

from __future__ import annotations

from pathlib import Path

from tests.lower.harness import answers, code

BEFORE = """
struct Two { int a, b; };
__device__ bool is_odd(int n) { return n & 1; }
__device__ Two paired(int a, int b) { Two t = {a, b}; return t; }
__device__ int summed(Two t) { t.a += 1; return t.a + t.b; }
__device__ void added(int *p, int n) { *p += n; }
__device__ int doubled(bool b) { return b + b; }
__device__ long long widened(short s) { return s; }
__device__ void elsewhere(int *p, int n);
"""
VALUES: dict[str, list[int | float]] = {
    "oi[t] = is_odd(t)": [0, 1, 0, 1, 0, 1, 0, 1],
    "oi[t] = paired(t, 2).a + paired(1, t).b": [2 * t for t in range(8)],
    "Two p = {t, 1}; oi[t] = summed(p) * 100 + p.a": [(t + 2) * 100 + t for t in range(8)],
    "int k = 5; added(&k, t); oi[t] = k": [5 + t for t in range(8)],
    "oi[t] = doubled(t & 4)": [0, 0, 0, 0, 2, 2, 2, 2],
    "ol[t] = widened(t + 32766)": [32766, 32767, *(t - 32770 for t in range(2, 8))],
}


def test_scalars_and_objects_are_handed_over(tmp_path: Path) -> None:
    wanted = VALUES | {"ol[t] = widened(t + 32766)": [32766, 32767, -32768, -32767, -32766, -32765, -32764, -32763]}
    assert answers(VALUES, tmp_path, BEFORE) == wanted


def test_what_is_not_here_may_do_anything(tmp_path: Path) -> None:
    bodies = ["elsewhere(oi, t)", "oi[t] = __builtin_popcount(t)", "int (*f)(bool) = doubled; oi[t] = f(t)"]
    made = list(code(bodies, tmp_path, BEFORE).values())
    text, told = made[0]
    assert "unmodeled" in text and any("elsewhere, whose text is not here" in message for message in told)
    assert "popcount" in made[1][0] and made[1][1] == []
    assert any("function" in message for message in made[2][1]) and "unmodeled" in made[2][0]
