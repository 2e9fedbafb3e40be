"""The sampler against the definition in exact arithmetic."""

from __future__ import annotations

import math

import numpy as np

from warpsmith.simt.mask.resources import image
from warpsmith.simt.mask.sampling import sample
from warpsmith.simt.mask.values import floats

PIXELS = np.random.default_rng(2).integers(0, 256, (5, 7, 4))
IMAGE = image(PIXELS)


def sampled(u: float, v: float) -> tuple[list[float], list[int]]:
    channels, texels = sample(IMAGE, np.array([u], np.float32), np.array([v], np.float32))
    return [float(one) for one in floats(channels)[:, 0]], texels[:, 0].tolist()


def defined(u: float, v: float) -> list[float]:
    x, y = float(np.float32(u)) * 7 - 0.5, float(np.float32(v)) * 5 - 0.5
    i, j = math.floor(x), math.floor(y)
    total = np.zeros(4)
    for right in (0, 1):
        for below in (0, 1):
            weight = (x - i if right else 1 - x + i) * (y - j if below else 1 - y + j)
            total += weight * PIXELS[(j + below) % 5, (i + right) % 7] / 255
    return list(total)


def test_places_inside_and_far_outside() -> None:
    made = np.random.default_rng(4)
    for u, v in made.uniform(-3, 3, (200, 2)):
        assert np.allclose(sampled(u, v)[0], defined(u, v), atol=3e-6)


def test_the_middle_of_a_texel_is_the_texel_and_the_edge_wraps_around() -> None:
    assert np.allclose(sampled(2.5 / 7, 3.5 / 5)[0], PIXELS[3, 2] / 255, atol=1e-6)
    assert sampled(2.5 / 7, 3.5 / 5)[1][0] == 3 * 7 + 2
    assert sampled(0.0, 0.5 / 5)[1] == [6, 0, 13, 7]


def test_a_place_that_is_nowhere_is_the_first_texel() -> None:
    for place in (math.nan, math.inf, -math.inf, 1e30):
        assert sampled(place, 0.5 / 5)[1] == [0, 1, 7, 8]
