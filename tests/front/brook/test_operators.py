"""Operators with their types: what C means by them, and what is refused."""

from __future__ import annotations

import pytest

from tests.front.brook.running import wrong

HEAD = "kernel void k(float a<>, int n, float4 v, int4 w, float2 p, out float o<>, out float4 q<>, out int r<>) { "


def said(body: str) -> tuple[int, str]:
    """Return where in a body something is wrong, and what."""
    ((_, column, message, _),) = wrong(f"{HEAD}{body} }}")
    return column - len(HEAD), message


@pytest.mark.parametrize(
    ("body", "column", "message"),
    [
        ("r = a % 2;", 5, "'%' takes integers, and this is float"),
        ("r = n & a;", 9, "'&' takes integers, and this is float"),
        ("q = v + p;", 5, "'+' of float4 and float2"),
        ("q = v + w;", 5, "'+' of float4 and int4"),
        ("w += 1.5f;", 6, "'+' of int4 and float"),
        ("r = v < v;", 5, "'<' takes numbers, not vectors"),
        ("r = !v;", 6, "'!' takes a number, and this is float4"),
        ("r = ~a;", 6, "'~' takes integers, and this is float"),
        ("o = v;", 5, "what is assigned to is float, and this is float4"),
        ("q = p;", 5, "what is assigned to is float4, and this is float2"),
        ("q = n ? v : p;", 13, "the other value is float4, and this is float2"),
        ("1 = a;", 1, "this cannot be assigned to"),
        ("v.xx = p;", 1, "this cannot be assigned to"),
        ("(a + 1.0f)++;", 2, "'++' takes a variable"),
        ("a += 1.0f;", 1, "'a' is an in stream, which is not written"),
        ("if (v) o = 1;", 5, "a condition is one number, and this is float4"),
    ],
)
def test_what_loses_numbers_is_refused_at_its_place(body: str, column: int, message: str) -> None:
    assert said(body) == (column, message)


@pytest.mark.parametrize(
    "body", ["q = v * 2;", "q = 1;", "w <<= 1;", "q.zw = v.xy;", "o = n ? a : 1;", "r = a > 1 && n;", "q = -v;", "r++;"]
)
def test_what_c_means_is_read(body: str) -> None:
    assert not wrong(f"{HEAD}{body} }}")
