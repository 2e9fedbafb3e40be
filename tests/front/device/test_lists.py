"""Initializer lists as the aggregate that they make."""

from __future__ import annotations

import pytest

from tests.front.test_kernels import boxes, functions, lines, load

HEAD = """
struct Pair { int a, b; };
struct Deep { Pair p; int c[2]; };
union Either { int i; float f; };
__device__ Pair two();
__global__ void k(int *a, Pair q) { %s }
"""


@pytest.mark.parametrize(
    ("text", "made"),
    [
        ("int m[2][2] = {1, 2, 3, 4};", "m = {{1, 2}, {3, 4}}"),
        ("int m[2][2] = {1, 2, 3};", "m = {{1, 2}, {3}}"),
        ("int m[2][2] = {{1}, {2}};", "m = {{1}, {2}}"),
        ("int m[] = {1, 2};", "m = {1, 2}"),
        ("int m[3] = {};", "m = {}"),
        ("Pair p = {.b = 1};", "p = {0, 1}"),
        ("Deep d = {1, 2, 3, 4};", "d = {{1, 2}, {3, 4}}"),
        ("Deep d = {q, {3}};", "d = {q, {3}}"),
        ("Deep d = {{1}, 3};", "d = {{1}, {3}}"),
        ("Pair ps[2] = {q, 1, 2};", "ps = {q, {1, 2}}"),
        ("Either e = {3};", "e = {3}"),
        ("int s = {4};", "s = 4"),
        ('char t[4] = "abc";', 't = "abc"'),
        ('char t[4] = {"abc"};', 't = "abc"'),
    ],
)
def test_items_stand_where_they_belong(text: str, made: str) -> None:
    unit = load(HEAD % text)
    assert not boxes(unit)
    assert list(lines(functions(unit)["k"])) == [made]


def test_designators_of_elements_are_not_understood() -> None:
    unit = load("__kernel void k(__global int *a) { int m[3] = {[1] = 5}; a[0] = m[1]; }", name="k.cl")
    assert boxes(unit) == ["a designated initializer"]
    text = "typedef struct { int a, b; } P; __kernel void k(__global int *a) { P p = {.b = 5, .a = 1}; a[0] = p.a; }"
    unit = load(text, name="k.cl")
    assert next(lines(unit.function("k"))) == "p = {1, 5}"
