"""Expressions of device code as text."""

from __future__ import annotations

import pytest

from tests.front.test_kernels import boxes, functions, lines, load
from warpsmith.front.device.expressions import MOST_NESTED
from warpsmith.tree.nodes import Cast, Literal, SizeOf
from warpsmith.tree.types import Scalar
from warpsmith.tree.walk import walk

HEAD = """
#define IDX(i, j) ((i) * n + (j))
struct Inner { int k; };
struct Outer : Inner { union { int u; float w; }; int bits : 3; Inner *next; };
enum { FOUR = 4 };
const int SIX = 6;
template <class T> constexpr T PI = T(3.5);
struct Named { static constexpr int SIZE = 9; };
__global__ void k(int *a, float *f, Outer o, int n, unsigned u) { %s; }
"""


@pytest.mark.parametrize(
    ("text", "made"),
    [
        ("a[IDX(1, 2)] = SIX + FOUR", "a[1 * n + 2] = 6 + FOUR"),
        ("a[0] = o.k + o.next->k + o.u + o.bits", "a[0] = o.k + o.next->k + o.u + o.bits"),
        ("f[0] = PI<float>", "f[0] = 3.5f"),
        ("a[0] = Named::SIZE", "a[0] = 9"),
        ("a[0] = static_cast<int>(f[0])", "a[0] = (int)f[0]"),
        ("a[0] = reinterpret_cast<int &>(f[0])", "a[0] = *(int *)&f[0]"),
        ("a[0] = n ? 'a' : true", "a[0] = n ? 97 : 1"),
        ("2[a] = 3", "a[2] = 3"),
        ("a = nullptr", "a = nullptr"),
        ("a[0] = -n + !n + ~n", "a[0] = -n + !n + ~n"),
        ("a[0] += sizeof(Outer)", "a[0] += sizeof(Outer)"),
        ("n++, --n", "n++, --n"),
        ("*(a + 1) = *f", "*(a + 1) = *f"),
    ],
)
def test_expressions_as_they_are_written(text: str, made: str) -> None:
    unit = load(HEAD % text)
    assert not boxes(unit)
    assert list(lines(functions(unit)["k"])) == [made]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("a = new int[3]", "new"),
        ("a[0] = ({ int t = n; t++; t; })", "a statement expression"),
    ],
)
def test_what_is_not_modelled_is_a_box(text: str, reason: str) -> None:
    found = boxes(load(HEAD % text))
    assert found == [reason]


def test_types_are_those_before_the_conversion() -> None:
    unit = load(HEAD % "f[0] = n + 1u; a[0] = (short)u + 'c' + sizeof(o)")
    kernel = functions(unit)["k"]
    sums = [n for n in walk(kernel.body) if isinstance(n, Literal | Cast | SizeOf)]
    names = [n.type.name for n in sums if isinstance(n.type, Scalar)]
    assert "unsigned int" in names and "short" in names and "unsigned long" in names


def test_depth_has_a_limit_that_is_said() -> None:
    deep = "a[0] = " + "-(" * (MOST_NESTED + 5) + "n" + ")" * (MOST_NESTED + 5)
    unit = load(HEAD % deep)
    assert any("nested more than" in reason for reason in boxes(unit))
    assert [f.rule for f in unit.findings] == ["INP003"]
    assert not boxes(load(HEAD % ("a[0] = " + "-(" * 100 + "n" + ")" * 100)))
