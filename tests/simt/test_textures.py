"""What fetches from textures give: by hand, and by a sum over all texels."""

from __future__ import annotations

import math
import random
import struct

import numpy as np
import pytest

from warpsmith.simt.textures import Outside, Texture, fetches
from warpsmith.ssa.semantics.patterns import number_of, pattern_of
from warpsmith.ssa.types import F32, I8, I32, Type

LINE = np.array([10.0, 20.0, 40.0, 80.0], "<f4").reshape(1, 1, 4, 1)


def _bits(*numbers: float) -> tuple[int, ...]:
    return (7, *(pattern_of(number, F32) for number in numbers))


def _fetched(texture: Texture, name: str, *at: float, type: Type = F32) -> float:
    bits = fetches({7: texture})(name, _bits(*at), type)
    assert bits is not None
    return number_of(bits, type) if type.kind == "float" else bits


@pytest.mark.parametrize(
    ("outside", "normalized", "at", "expected"),
    [
        ("clamp", False, 1.99, 20), ("clamp", False, 2.0, 40), ("clamp", False, -3, 10), ("clamp", False, 1e30, 80),
        ("border", False, -0.5, 0), ("border", False, 3.5, 80), ("border", False, 4.0, 0), ("wrap", True, 1.3, 20),
        ("wrap", True, -0.1, 80), ("mirror", True, 1.1, 80), ("mirror", True, -0.3, 20), ("clamp", True, 0.6, 40),
        # coordinates that are not normalized do not go around
        ("wrap", False, 5.5, 80), ("clamp", False, math.nan, 10), ("clamp", False, -math.inf, 10),
    ],
)  # fmt: skip
def test_the_nearest_texel(outside: Outside, normalized: bool, at: float, expected: float) -> None:
    assert _fetched(Texture(LINE, 1, False, outside, normalized), "tex1D 0", at) == expected


def test_a_line_between_texels() -> None:
    assert _fetched(Texture(LINE, 1, linear=True), "tex1D 0", 1.0) == 15
    assert _fetched(Texture(LINE, 1, linear=True), "tex1D 0", 0.2) == 10
    assert _fetched(Texture(LINE, 1, linear=True, outside="border"), "tex1D 0", 0.0) == 5
    # of the part behind the point 8 bits count
    assert _fetched(Texture(LINE, 1, linear=True), "tex1D 0", 1.5 + 1 / 2000) == 20
    assert _fetched(Texture(LINE, 1, linear=True), "tex1D 0", 1.5 + 1 / 500) == 20 + 20 / 256


@pytest.mark.parametrize("seed", range(20))
def test_planes_and_spaces_are_sums_over_all_texels(seed: int) -> None:
    chosen = random.Random(seed)
    axes = chosen.choice((2, 3))
    shape = (chosen.randint(1, 4) if axes == 3 else 1, chosen.randint(1, 5), chosen.randint(1, 5), 2)
    texels = np.array([chosen.randint(-9, 9) for _ in range(math.prod(shape))], "<f4").reshape(shape)
    sizes = shape[2::-1][:axes]
    at = [chosen.randint(0, 16 * size) / 16 for size in sizes]
    expected = 0.0
    for z, y, x in np.ndindex(*shape[:3]):
        weight = 1.0
        for size, where, texel in zip(sizes, at, (x, y, z), strict=False):
            inside = min(max(where - 0.5, 0), size - 1)
            weight *= max(0.0, 1 - abs(inside - texel))
        expected += weight * float(texels[z, y, x, 1])
    assert _fetched(Texture(texels, axes, linear=True), f"tex{axes}D 1", *at) == pytest.approx(expected, abs=1e-5)


def test_whole_numbers_are_read_as_they_are_or_as_parts_of_the_largest() -> None:
    texture = Texture(np.array([0, 51, 255], "u1").reshape(1, 1, 3, 1), 1)
    assert _fetched(texture, "tex1D 0", 1.5) == pytest.approx(0.2)
    assert _fetched(texture, "tex1D 0", 2.5, type=I8) == 255
    signed = Texture(np.array([-128, -1], "i1").reshape(1, 1, 2, 1), 1)
    assert _fetched(signed, "tex1D 0", 0.5) == -1
    assert _fetched(signed, "tex1D 0", 1.5, type=I32) == 2**32 - 1


def test_fetches_by_integers_and_what_has_no_answer() -> None:
    fetch = fetches({7: Texture(LINE, 1)})
    found = [fetch("tex1Dfetch 0", (7, at % 2**32), F32) for at in (-1, 0, 3, 4)]
    assert found == [pattern_of(number, F32) for number in (0.0, 10.0, 80.0, 0.0)]
    assert fetch("tex1D 0", (8, 0), F32) is None
    assert fetch("tex2D 0", _bits(1, 1), F32) is None
    assert fetch("texCubemap 0", _bits(1, 1, 1), F32) is None
    assert fetches({7: Texture(LINE, 1, linear=True)})("tex1D 0", _bits(1), I32) is None
    assert struct.pack("<I", fetch("tex1D 0", _bits(0.5), F32) or 0) == struct.pack("<f", 10)
