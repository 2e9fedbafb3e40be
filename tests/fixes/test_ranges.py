"""How large an integer expression can be, from the text alone."""

from __future__ import annotations

import pytest

from tests.fixes.places import site, trees
from warpsmith.fixes.ranges import Ranges
from warpsmith.fixes.site import Trees
from warpsmith.tree.nodes import Expr, Index

BLOCK = (32, 8, 1)
FOUND: dict[str, tuple[int, int] | None] = {
    "7": (7, 7), "threadIdx.x": (0, 31), "threadIdx.y": (0, 7), "blockDim.x": (32, 32), "blockIdx.x": None,
    "threadIdx.x + threadIdx.y * 32": (0, 255), "threadIdx.x - 31": None, "(int)threadIdx.x - 31": (-31, 0),
    "i": (0, 31), "moved": None, "taken": None, "n": None, "SIZE + 1": (17, 17), "i / 8": (0, 3), "i % 5": (0, 4),
    "i % 100": (0, 31), "n % 8": None, "n & 15": None, "i & 64": (0, 31), "i >> 2": (0, 7), "i >> n": None,
    "i << 2": None, "-i": None, "i / n": None, "deep": (2, 33), "i * -2": None, "2147483647 + i": None,
    "(char)(i + 100)": None, "(char)i": (0, 31),
}  # fmt: skip
LOOPS: dict[str, tuple[int, int] | None] = {
    "for (int j = 0; j < 32; j += 8) out[j] = 1;": (0, 24),
    "for (int j = 0; j <= 8; j++) out[j] = 1;": (0, 8),
    "for (int j = i; j < 40; ++j) out[j] = 1;": (0, 39),
    "for (int j = i; j < 40; j += 8) out[j] = 1;": (0, 39),
    "for (int j = 5; j < 5; j++) out[j] = 1;": None,
    "for (int j = 0; j < n; j++) out[j] = 1;": None,
    "for (int j = 9; j > 0; j--) out[j] = 1;": None,
    "for (int j = 0; j < 9; j++) { out[j] = 1; j++; }": None,
    "for (int j = 0; j < 9; j += n) out[j] = 1;": None,
    "for (int j = 0, l = 2; j < 9; j++) out[j] = l;": None,
    "for (int j = 0; j < 9 && out[2]; j++) out[j] = 1;": None,
}
HEAD = """enum { SIZE = 16 };
__global__ void k(int *out, int n)
{
    int i = threadIdx.x, deep = i + 2, moved = 3, taken = 4;
    moved = n; int *p = &taken; *p = 5;
"""
BODY = "".join(f"    out[{number}] = {text};\n" for number, text in enumerate(FOUND))
TEXT = HEAD + BODY + "".join(f"    {{ {loop} }}\n" for loop in LOOPS) + "}\n"


@pytest.fixture(scope="module")
def known() -> Trees:
    return trees(TEXT)


def of(known: Trees, text: str, block: tuple[int, int, int] | None = BLOCK) -> tuple[int, int] | None:
    one = site(known, text, f"] = {text};")
    assert isinstance(one.node, Expr)
    found = Ranges.of(one, block).of_expression(one.node)
    return None if found is None else (found.least, found.most)


@pytest.mark.parametrize("text", FOUND)
def test_the_range_of_an_expression(text: str, known: Trees) -> None:
    assert of(known, text) == FOUND[text]


@pytest.mark.parametrize("loop", LOOPS)
def test_the_range_of_a_counter(loop: str, known: Trees) -> None:
    one = site(known, "out[j]", loop)
    assert isinstance(one.node, Index)
    found = Ranges.of(one, BLOCK).of_expression(one.node.index)
    assert (None if found is None else (found.least, found.most)) == LOOPS[loop]


def test_without_a_block_nothing_is_known_of_a_thread(known: Trees) -> None:
    assert of(known, "threadIdx.x", None) is None and of(known, "7", None) == (7, 7)
