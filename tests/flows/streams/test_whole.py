"""Bounds of whole numbers in kernels, against all threads that a stream of some elements has."""

from __future__ import annotations

import pytest

from warpsmith.base.source import SourceFile
from warpsmith.flows.streams.whole import WholeRange, whole_of
from warpsmith.front.brook.read import read_brook
from warpsmith.tree.nodes import Function, VarDecl
from warpsmith.tree.walk import walk

MOST = 1 << 28


def bounds(text: str, before: str = "") -> WholeRange | None:
    """Return the bounds of an expression of a kernel whose constant `w` is a power of two."""
    body = f"int x = instance().x; {before} float y = {text}; o = y;"
    source = f"kernel void k(float a<>, out float o<>, int w, int m) {{ {body} }}"
    read = read_brook(SourceFile("k.br", source))
    assert not read.findings, read.findings
    functions = [one for unit in read.program.units for one in unit.items if isinstance(one, Function)]
    function = next(one for one in functions if len(one.parameters) == 4)
    (made,) = [n.init for n in walk(function.body) if isinstance(n, VarDecl) and n.symbol.name == "y"]
    assert made is not None
    return whole_of(function, made, function.parameters[2])


@pytest.mark.parametrize(
    ("text", "least", "most"),
    [
        ("7.0f", 7, 7),
        ("x", 0, MOST),
        ("-x", -MOST, 0),
        ("x - 4", -4, MOST - 4),
        ("instance().y * 3", 0, 3 * MOST),
        ("instance().z", 0, 0),
        ("x % 8", 0, 7),
        ("x / w", 0, MOST),
        ("x % w", 0, MOST),
        ("x & 12", 0, 12),
        ("(x & 5) | 8", 0, 15),
        ("x >> 3", 0, MOST),
        ("x < 3", 0, 1),
        ("(x < 3) ? 5 : (x & 3) - 9", -9, 5),
        ("floor((float)(x & 3) + 0.0f)", 0, 3),
    ],
)
def test_ends(text: str, least: int, most: int) -> None:
    found = bounds(text)
    assert found is not None and (found.least, found.most) == (least, most)


@pytest.mark.parametrize(
    "text",
    [
        "0.5f",
        "a",
        "m",
        "(int)a",
        "x * x",
        "x * 9",
        "(float)x * 2.0f",
        "(x - 4) / 2",
        "(x - 4) % 2",
        "x & m",
        "x / m",
        "x % (x - 1)",
    ],
)
def test_what_is_not_seen(text: str) -> None:
    assert bounds(text) is None


def test_a_variable_that_is_changed_has_no_bounds() -> None:
    assert bounds("z", "int z = x & 3;") == WholeRange(0, 3)
    assert bounds("z", "int z = x & 3; z = z - 9;") is None
    assert bounds("z", "int z = x & 3; z--;") is None
    assert bounds("z", "int z = 0; while (z < 9) { z += 2; }") is None


def test_an_int_that_a_float_rounds_stays_inside() -> None:
    found = bounds("(float)(x + 3)")
    assert found is not None and found.most >= MOST + 3 and found.least <= 3


def test_numbers_without_a_sign_have_no_bounds_below_zero() -> None:
    assert bounds("(uint)(x - 4)") is None
    assert bounds("(uint)3 - (uint)x") is None
