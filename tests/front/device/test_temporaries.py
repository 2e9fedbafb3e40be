"""Statement expressions become the value that they compute, or stay what they are."""

from __future__ import annotations

import pytest

from tests.front.test_kernels import boxes, functions, lines, load

HEAD = """
#define LESS(x, y) ({ __typeof__(x) _x = (x); __typeof__(y) _y = (y); _x < _y ? _x : _y; })
__device__ int next();
__global__ void k(int *a, int n, double d) { %s }
"""


@pytest.mark.parametrize(
    ("text", "made"),
    [
        ("a[0] = LESS(n, 3);", "a[0] = n < 3 ? n : 3;"),
        ("a[0] = LESS(a[1] + n, LESS(n, 3));", "a[0] = a[1] + n < (n < 3 ? n : 3) ? a[1] + n : (n < 3 ? n : 3);"),
        ("a[0] = ({ int v = d; v + 1; });", "a[0] = (int)d + 1;"),
        ("a[0] = ({ int v = n, w = v * 2; v + w; });", "a[0] = n + n * 2;"),
        ("a[0] = ({ n; });", "a[0] = n;"),
        ("a[0] = ({ int *p = a + n; p[1]; });", "a[0] = (a + n)[1];"),
    ],
)
def test_values_stand_in_place(text: str, made: str) -> None:
    unit = load(HEAD % text)
    assert not boxes(unit)
    (line,) = lines(functions(unit)["k"])
    assert line.replace("(", "").replace(")", "") == made.rstrip(";").replace("(", "").replace(")", "")


@pytest.mark.parametrize(
    "text",
    [
        "a[0] = ({ int v = n; v *= v; v; });",
        "a[0] = ({ int v = n++; v; });",
        "a[0] = ({ int v = next(); v + v; });",
        "a[0] = ({ int v; v = 3; v; });",
        "a[0] = ({ for (int i = 0; i < n; i++) a[i] = 0; n; });",
        "a[0] = ({ static int v = 3; v; });",
        "a[0] = LESS(LESS(LESS(LESS(LESS(LESS(LESS(n, 1), 2), 3), 4), 5), 6), 7);",
    ],
)
def test_what_does_more_is_told(text: str) -> None:
    assert "a statement expression" in boxes(load(HEAD % text))
