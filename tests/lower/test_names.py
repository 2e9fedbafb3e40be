"""Names, members, elements, literals."""

from __future__ import annotations

from pathlib import Path

from tests.lower.harness import answers, code

BEFORE = """
struct Part { int k; float f[2]; };
struct Whole { char c; Part in; };
enum { FOUR = 4 };
const int SIX = 6;
__constant__ int sevens[3] = {7, 8, 9};
__device__ int counter;
int on_host;
"""
VALUES: dict[str, list[int | float]] = {
    "Whole o = {1, {2, {3, 4}}}; oi[t] = o.c + o.in.k + (int)o.in.f[t & 1]": [6, 7, 6, 7, 6, 7, 6, 7],
    "Whole o[2] = {{}, {5}}; Whole *p = &o[1]; oi[t] = p->c + (*p).in.k": [5] * 8,
    "oi[t] = FOUR + SIX + sevens[t % 3]": [17, 18, 19, 17, 18, 19, 17, 18],
    "oi[t] = threadIdx.x + 10 * blockDim.x + 100 * gridDim.y + warpSize": [212 + n for n in range(8)],
    "dim3 d = blockDim; oi[t] = d.x + d.y": [9] * 8,
    "int a[2][3] = {{1, 2, 3}, {4, 5, 6}}; oi[t] = a[t & 1][t % 3]": [1, 5, 3, 4, 2, 6, 1, 5],
    "int a[3] = {t}; oi[t] = a[0] + a[1]": [0, 1, 2, 3, 4, 5, 6, 7],
    "oi[t] = sizeof(Whole) + 'a'": [113] * 8,
    "oi[t] = 1[in] == in[1]": [1] * 8,
    "Part i = {t, {1, 2}}, j; j = i; oi[t] = j.k + (int)j.f[1]": [2 + n for n in range(8)],
}


def test_values(tmp_path: Path) -> None:
    assert answers(VALUES, tmp_path, BEFORE) == VALUES


def test_what_is_not_the_devices_is_said(tmp_path: Path) -> None:
    bodies = ["oi[t] = on_host", "counter = t", 'const char *c = "text"; oi[t] = c != 0']
    made = code(bodies, tmp_path, BEFORE)
    assert any("on_host, which is no variable of the device" in message for message in made[bodies[0]][1])
    assert "unmodeled" in made[bodies[0]][0]
    assert "address [@counter]" in made[bodies[1]][0] and made[bodies[1]][1] == [] == made[bodies[2]][1]
    assert "the address of" in made[bodies[2]][0]
