"""Brackets where another operator could take part of an expression, and the sign between two operands."""

from __future__ import annotations

import pytest

from tests.fixes.places import site, trees
from warpsmith.fixes.brackets import brackets, operator
from warpsmith.fixes.site import Trees
from warpsmith.tree.nodes import Binary, Expr

LINES = {
    "out[i % 8] = 1;": False,
    "out[0] = i % 9;": False,
    "int r = i % 10;": False,
    "out[1] = (i % 11) + 1;": False,
    "out[2] = i % 12 + 1;": True,
    "out[3] = f(i % 13, 1);": False,
    "out[4] = f(2, i % 14);": False,
    "out[5] = -(i % 15);": False,
    "out[6] += i % 16;": False,
    "if (i % 17) out[7] = 1;": False,
    "out[8] = i % 18 == 0;": True,
    "out[9] = i > 2 ? i % 19 : 1;": True,
}
TEXT = "__device__ int f(int a, int b) { return a; }\n__global__ void k(int *out, int i)\n{\n"
TEXT += "".join(f"    {one}\n" for one in LINES)
TEXT += "    out[20] = i /* why */ % 20;\n    out[21] = (i) % (21);\n    out[22] = i\n        % 22;\n}\n"


@pytest.fixture(scope="module")
def known() -> Trees:
    return trees(TEXT)


@pytest.mark.parametrize("line", LINES)
def test_where_something_could_take_a_part_of_it(line: str, known: Trees) -> None:
    part = next(word for n in range(8, 23) if (word := f"i % {n}") in line)
    one = site(known, part)
    assert isinstance(one.node, Expr)
    front, behind = brackets(one, one.node)
    assert bool(front) == bool(behind) == LINES[line]
    assert [edit.text for edit in (*front, *behind)] == (["(", ")"] if LINES[line] else [])
    if front:
        assert (front[0].span.start, behind[0].span.start) == (one.node.span.start, one.node.span.end)


@pytest.mark.parametrize(
    ("text", "found"), [("i % 12", True), ("i /* why */ % 20", False), ("(i) % (21)", True), ("i\n        % 22", True)]
)
def test_the_sign_between_two_operands(text: str, found: bool, known: Trees) -> None:
    node = site(known, text).node
    assert isinstance(node, Binary)
    sign = operator(node)
    assert (sign is not None) == found and (sign is None or sign.text == "%")
