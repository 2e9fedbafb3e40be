"""Textures of a launch: what a fetch at a place gives (CUDA C++ Programming Guide, Texture Fetching).

    texels        T[0] T[1] T[2] T[3]        at coordinates 0 to 1, 1 to 2 …; normalized ones are multiplied by the size
    nearest       T[floor x]
    linear        (1 - a) T[i] + a T[i + 1]  where i + a is x - 0.5, and a has 8 bits behind the point
    outside       the texel at the edge (clamp), 0 (border), or, of normalized ones, around again (wrap, mirror)

A fetch by an integer (`tex1Dfetch`) knows nothing of all that, and gives 0 outside. GPUs round the sums of a linear
filter in a way of their own: here they are rounded once.

Limits: one level of detail; no layers, no cubes, no gathers, no surfaces: such a fetch has no answer.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any, Final, Literal, get_args

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from warpsmith.simt.launch import Textures
from warpsmith.ssa.semantics.patterns import number_of, pattern_of, to_signed
from warpsmith.ssa.types import F32, I32, Type

__all__ = ["OUTSIDE", "Outside", "Texture", "fetches"]

Outside = Literal["clamp", "border", "wrap", "mirror"]
OUTSIDE: Final[tuple[Outside, ...]] = get_args(Outside)

_AXES: Final[Mapping[str, int]] = {"tex1D": 1, "tex2D": 2, "tex3D": 3, "tex1DLod": 1, "tex2DLod": 2, "tex3DLod": 3}
"""Fetches by floats, and how many coordinates say where; what comes behind them is a level of detail."""
_FAR: Final = 2**40


class Texture(Struct, frozen=True):
    """`texels`: an array [depth, height, width, channels]; `axes`: how many of the sizes count, from the width on."""

    texels: npt.NDArray[Any]
    axes: int
    linear: bool = False
    outside: Outside = "clamp"
    normalized: bool = False

    def size(self, axis: int) -> int:
        """Return how many texels there are along an axis, 0 for x."""
        size: int = self.texels.shape[2 - axis]
        return size

    def texel(self, places: Sequence[int | None], channel: int) -> float | int:
        """Return a number of the texel at places along x, y and z; None: outside, where it is 0."""
        if None in places or channel >= self.texels.shape[3]:
            return 0
        x, y, z = (*places, 0, 0)[:3]
        found: float | int = self.texels[z, y, x, channel].item()
        return found

    def place(self, axis: int, at: int) -> int | None:
        """Return the texel along an axis that stands for number `at`, None where it is 0."""
        size = self.size(axis)
        how = self.outside if self.normalized or self.outside == "border" else "clamp"
        match how:
            case "border":
                return at if 0 <= at < size else None
            case "clamp":
                return min(max(at, 0), size - 1)
            case "wrap":
                return at % size
            case "mirror":
                again = at % (2 * size)
                return min(again, 2 * size - 1 - again)

    def fetch(self, coordinates: Sequence[float], channel: int) -> float | int:
        """Return a number at a place, as floats say it."""
        scaled = [self._scale(axis, at) for axis, at in enumerate(coordinates)]
        if not self.linear:
            return self.texel([self.place(axis, math.floor(at)) for axis, at in enumerate(scaled)], channel)
        lower = [math.floor(at - 0.5) for at in scaled]
        parts = [round((at - 0.5 - low) * 256) / 256 for at, low in zip(scaled, lower, strict=True)]
        total = 0.0
        for upper in product((0, 1), repeat=len(scaled)):
            weight = math.prod(part if up else 1 - part for up, part in zip(upper, parts, strict=True))
            places = [self.place(axis, low + up) for axis, (low, up) in enumerate(zip(lower, upper, strict=True))]
            total += weight * self.texel(places, channel)
        return total

    def _scale(self, axis: int, at: float) -> float:
        """Return a coordinate in texels, one that is far away a finite one."""
        if math.isnan(at):
            return 0.0
        return max(-_FAR, min(_FAR, at * self.size(axis) if self.normalized else at))


def fetches(textures: Mapping[int, Texture]) -> Textures:
    """Return what fetches of a launch give, for textures by the numbers that kernels get for them."""

    def fetch(name: str, operands: tuple[int, ...], type: Type) -> int | None:
        function, _, channel = name.partition(" ")
        texture = textures.get(operands[0]) if operands else None
        if texture is None or not channel.isdecimal():
            return None
        if function == "tex1Dfetch":
            at = to_signed(operands[1], I32)
            inside = 0 <= at < texture.size(0)
            return _as_result(texture, texture.texel([at], int(channel)) if inside else 0, type)
        axes = _AXES.get(function)
        if axes != texture.axes:
            return None
        where = [number_of(bits, F32) for bits in operands[1 : 1 + axes]]
        if texture.linear and type.kind != "float":
            return None
        return _as_result(texture, texture.fetch(where, int(channel)), type)

    return fetch


def _as_result(texture: Texture, found: float | int, type: Type) -> int:
    """Return a number as a fetch gives it: whole numbers are parts of the largest one where a float is read."""
    if type.kind != "float":
        return int(found) & ((1 << type.bits) - 1)
    kind = texture.texels.dtype
    if kind.kind in "iu":
        found = max(found / np.iinfo(kind).max, -1.0)
    return pattern_of(float(found), type)
