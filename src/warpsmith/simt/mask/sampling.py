"""The sampler: an image at a place between 0 and 1, bilinear, wrapped around, in f32.

    x = u * width - 0.5      i = floor x      a = x - i          and y, j, b likewise of v and the height
    row(j)  = texel(i, j) * (1 - a) + texel(i + 1, j) * a        indices modulo the size
    result  = row(j) * (1 - b) + row(j + 1) * b                  a channel is its byte / 255

A place that is no number, or 2^31 texels away, is texel 0 with a = 0.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from warpsmith.simt.mask.resources import BoundView
from warpsmith.simt.mask.values import Floats, Words, to_words

__all__ = ["sample"]

_HALF, _ONE, _MOST = np.float32(0.5), np.float32(1), np.float32(2147483648.0)
Indices = npt.NDArray[np.int64]


def sample(bound: BoundView, u: Floats, v: Floats) -> tuple[Words, Indices]:
    """Return the four channels at places, [channel, lane], and the four texels that each is made of, [texel, lane]."""
    with np.errstate(all="ignore"):
        i, a = _split(u, bound.width)
        j, b = _split(v, bound.height)
        right, below = (i + 1) % bound.width, (j + 1) % bound.height
        texels = np.stack([j * bound.width + i, j * bound.width + right, below * bound.width + i,
                           below * bound.width + right])  # fmt: skip
        channels = [_blend((bound.words[texels] >> np.uint32(8 * n)) & np.uint32(255), a, b) for n in range(4)]
        return to_words(np.stack(channels)), texels


def _split(place: Floats, size: int) -> tuple[Indices, Floats]:
    """Return the texel below a place, and how far it is to the next one."""
    x = place * np.float32(size) - _HALF
    low = np.floor(x)
    near = np.abs(low) < _MOST
    index = np.where(near, low, 0).astype(np.int64) % size
    return index, np.where(near, x - low, np.float32(0))


def _blend(texels: Words, a: Floats, b: Floats) -> Floats:
    corner = texels.astype(np.float32) / np.float32(255)
    upper = corner[0] * (_ONE - a) + corner[1] * a
    lower = corner[2] * (_ONE - a) + corner[3] * a
    blended: Floats = upper * (_ONE - b) + lower * b
    return blended
