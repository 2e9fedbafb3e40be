"""Expressions: how operators bind, subscripts, components, and where a mistake is told."""

from __future__ import annotations

import numpy as np
import pytest

from tests.front.brook.running import launch, module_of, wrong


def value(text: str, thread: int = 3) -> float:
    """Return what an expression of a = 7, b = 2 (floats), n = 6, m = 4 (ints) and x, the thread, is there."""
    head = "kernel void k(float g[], float h[][], float a, float b, int n, int m, out float o<>)"
    module = module_of(f"{head} {{ int x = instance().x; o = {text}; }}")
    arrays = {"g": np.arange(8, dtype="f4") * 10, "h": np.arange(32, dtype="f4"), "o": np.zeros(5, "f4")}
    numbers = {"a": 7.0, "b": 2.0, "n": 6, "m": 4, "h_width": 8}
    return float(launch(module, "k", arrays, numbers, (1, 5))["o"][thread])


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("a - b - 1", 4), ("a + b * 3", 13), ("(a + b) * 3", 27), ("n << 1 + 1", 24), ("n & 3 == 3", 0),
        ("n | 1 ^ 1", 6),
        ("n < 3 || m < 5 && n > 5", 1), ("n > 3 ? m : n > 1 ? 8 : 9", 4), ("-n * -2", 12), ("!n + 1", 1), ("~n & 7", 1),
        ("n / m + n % m", 3), ("(int)(a / b)", 3), ("(n, m)", 4), ("a * (float)n / 4", 10.5), ("n >= 6 == 1", 1),
        ("g[x]", 30), ("g[x + 0.75f]", 30), ("g[2.5f]", 20), ("h[2][x]", 19), ("h[float2(x, 1)]", 11),
        ("h[1.5f][x]", 11),
        ("float4(1, 2, 3, 4).z", 3), ("float4(float2(1, 2), a, b).wzyx.x", 2), ("float3(5).y", 5),
        ("float2(a).y", 7), ("dot(float2(a, b), float2(1, 10))", 27),
        ("fmod(a, b) + fmod(-a, b)", 0), ("fmod(7.5f, 2) * 8", 12), ("clamp(a, 0, b)", 2), ("lerp(a, b, 0.5f)", 4.5),
        ("min(n, m) + max(n, m) * 10", 64), ("min(a, n)", 6), ("abs(-n) + abs(-b)", 8), ("frac(a / 4)", 0.75),
        ("indexof(o).x * 2", 6), ("instance().x + instance().y", 3), ("floor(-1.5f)", -2), ("1e1f + .5 + 0x10", 26.5),
    ],
)  # fmt: skip
def test_an_expression_is_what_c_makes_of_it(text: str, wanted: float) -> None:
    assert value(text) == wanted


def test_subscripts_below_zero_are_rounded_down() -> None:
    assert [value("h[1][x - 2.5f]", thread) for thread in range(4)] == [5, 6, 7, 8]


@pytest.mark.parametrize(
    ("body", "place", "message"),
    [
        ("o = a +;", 8, "';' cannot stand here"),
        ("o = (a;", 7, "';' cannot stand here"),
        ("o = g;", 5, "'g' is a gather, which has no value without a subscript"),
        ("o = h[1];", 5, "this gather takes 2 subscripts, and here is 1"),
        ("g[0] = a;", 1, "'g' is a gather, which is not written"),
        ("o = a.y;", 7, "float has no component 'y'"),
        ("o = v.q;", 7, "float4 has no component 'q'"),
        ("o = b;", 5, "'b' is not declared"),
        ("o = sine(a);", 5, "there is no function 'sine' for kernels"),
        ("o = sin(a, a);", 5, "sin takes 1 argument, and here is 2"),
        ("o = 08x;", 5, "'08x' is no number"),
        ("o = 4294967296;", 5, "'4294967296' has more than 32 bits"),
        ("o = 1e99f;", 5, "'1e99f' is too large for float"),
        ("o = float4(a, a).x;", 5, "float4(…) takes 4 numbers, or one; these are 2"),
        ("o = indexof(v).x;", 13, "'v' is no stream of this kernel"),
        ("o = a[0];", 6, "float has no elements"),
        ("o = h[v.xy += 1];", 7, "this subscript changes something"),
        ('o = "a";', 5, "'\"a\"' cannot stand here"),
    ],
)
def test_a_mistake_is_told_at_its_place(body: str, place: int, message: str) -> None:
    head = "kernel void k(float a<>, float g[], float h[][], float4 v, out float o<>) { "
    (found,) = wrong(f"{head}{body} }}")
    assert (found[1] - len(head), found[2]) == (place, message)


def test_long_and_deep_expressions_have_a_bound() -> None:
    head = "kernel void k(float a<>, out float o<>) { o = "
    assert not wrong(head + "+".join(["a"] * 100) + "; }")
    for text in (
        "+".join(["a"] * 5000),
        "(" * 5000 + "a" + ")" * 5000,
        "-" * 5000 + "a",
        "a?" * 3000 + "a" + ":a" * 3000,
    ):
        assert len(wrong(head + text + "; }")) == 1
