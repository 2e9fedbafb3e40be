"""Statements: control flow, declarations, and where a mistake is told."""

from __future__ import annotations

import numpy as np
import pytest

from tests.front.brook.running import launch, module_of, wrong


def run(body: str) -> list[int]:
    """Return what threads 0 to 7 write to o."""
    text = f"kernel void k(int n, out int o<>) {{ int x = instance().x; {body} }}"
    return [int(one) for one in launch(module_of(text), "k", {"o": np.zeros(8, "i4")}, {"n": 5}, (1, 8))["o"]]


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        ("if (x < 3) o = 1; else if (x < 5) o = 2; else o = 3;", [1, 1, 1, 2, 2, 3, 3, 3]),
        ("int s = 0; for (int i = 0; i < x; i++) s += i; o = s;", [0, 0, 1, 3, 6, 10, 15, 21]),
        ("int s = 0; for (;;) { if (s >= x) break; s += 2; } o = s;", [0, 2, 2, 4, 4, 6, 6, 8]),
        (
            "int s = 0, i; for (i = 0; i < x; i++) { if (i % 2 == 0) continue; s += i; } o = s;",
            [0, 0, 1, 1, 4, 4, 9, 9],
        ),
        ("int s = x; while (s > 3) s -= 3; o = s;", [0, 1, 2, 3, 1, 2, 3, 1]),
        ("int s = x; do s -= 3; while (s > 0); o = s;", [-3, -2, -1, 0, -2, -1, 0, -2]),
        ("o = 9; if (x > n) return; o = x;", [0, 1, 2, 3, 4, 5, 9, 9]),
        ("int y = 1; { int y = x; o = y; } o += y;", [1, 2, 3, 4, 5, 6, 7, 8]),
        ("int2 v = {x, 2}; o = v.x * v.y;", [0, 2, 4, 6, 8, 10, 12, 14]),
        ("int m = n; m++; o = m--; o += m; ;", [11] * 8),
    ],
)
def test_a_statement_does_what_c_says(body: str, wanted: list[int]) -> None:
    assert run(body) == wanted


@pytest.mark.parametrize(
    ("body", "place", "message", "expected"),
    [
        ("o = 1", 7, "'}' cannot stand here", "expected ';' behind the statement"),
        ("break;", 1, "'break' stands in no loop", ""),
        ("goto a;", 1, "'goto' is not read here", "expected if, for, while, do, break, continue, return"),
        (
            "int a[4];",
            5,
            "'a' is an array, and threads of kernels have none",
            "use float4, or give the array as a gather",
        ),
        ("float s<4>;", 7, "'s' is declared as a stream in a kernel", "kernels get their streams as parameters"),
        ("int a; int a;", 12, "'a' is declared twice", "give one of them another name"),
        ("foo a;", 1, "'foo' is no type of Brook+", "float, int, uint, double, float4 …"),
        ("return 1;", 8, "this function returns nothing", "write to an out stream"),
        ("for (int i = 0; i < 3) o = i;", 22, "')' cannot stand here", "expected ';' behind the condition of 'for'"),
        ("if o = 1;", 4, "'o' cannot stand here", "expected '(' behind 'if'"),
        ("void a;", 6, "'a' has no type", "void is the result of functions only"),
        ("int4 v = {1, 2.0f, n, v2};", 23, "'v2' is not declared", ""),
    ],
)
def test_a_mistake_is_told_with_what_was_expected(body: str, place: int, message: str, expected: str) -> None:
    head = "kernel void k(int n, out int o<>) { "
    (found,) = wrong(f"{head}{body} }}")
    assert (found[1] - len(head), found[2], found[3]) == (place, message, expected)
