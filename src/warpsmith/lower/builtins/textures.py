"""Fetches from textures: what they give depends on the texture, which no thread changes, and on the place alone."""

from __future__ import annotations

from typing import Final

from warpsmith.lower.builtins.rows import Rule, lanewise, needs, nothing, place_argument
from warpsmith.lower.frame import Frame, Result
from warpsmith.lower.layout import is_object, lanes_of, pieces, value_type
from warpsmith.lower.places import MemoryPlace, store_pieces
from warpsmith.ssa.nodes import Operand, Text
from warpsmith.tree import nodes
from warpsmith.tree import types as tree

__all__ = ["TEXTURES"]

_FETCHES: Final = (
    "tex1Dfetch", "tex1D", "tex2D", "tex3D", "texCubemap", "tex1DLayered", "tex2DLayered", "texCubemapLayered",
    "tex1DLod", "tex2DLod", "tex3DLod", "tex2Dgather",
)  # fmt: skip


def _fetch(name: str) -> Rule:
    """Return the rule of a fetch: a number, or the numbers of a small vector."""

    def rule(frame: Frame, e: nodes.Call) -> Result:
        pointer = None
        texture, *coordinates = needs(e, 2)
        if isinstance(frame.decay(texture.type), tree.Pointer):
            # the form that writes what it fetches through a pointer
            pointer, texture, *coordinates = needs(e, 3)
        # a texture that is a variable of the file is no number
        named = is_object(texture.type)
        detail = Text(f"{name} of {texture.span.text}" if named else name)
        operands = tuple(frame.scalar(part) for part in ([] if named else [texture]) + coordinates)
        if pointer is not None:
            place, type = place_argument(frame, pointer)
            _fill(frame, place, type, operands, detail)
            return None
        if not is_object(e.type):
            return frame.builder.emit("lanewise", operands, value_type(e.type), detail)
        made = frame.temporary(e.type)
        _fill(frame, made, e.type, operands, detail)
        return made

    return rule


def _fill(frame: Frame, place: MemoryPlace, type: tree.Type, operands: tuple[Operand, ...], detail: Text) -> None:
    """Write to an object numbers each of which depends on the operands."""
    types = tuple(piece.type for piece in pieces(type) for _ in range(piece.count))
    store_pieces(frame.builder, place, type, frame.builder.emit_many("lanewise", operands, types, detail))


# --- images of OpenCL


def _read(name: str) -> Rule:
    """Return the rule of read_imagef and its kin: four numbers, of the image, the sampler and the place."""

    def rule(frame: Frame, e: nodes.Call) -> Result:
        operands: list[Operand] = []
        for argument in needs(e, 2):
            operands += frame.lanes(argument) if lanes_of(argument.type) else [frame.scalar(argument)]
        types = (frame.lane_types(e.type)[1],) * lanes_of(e.type) if lanes_of(e.type) else (value_type(e.type),)
        found = frame.builder.emit_many("lanewise", tuple(operands), types, Text(name))
        return tuple(found) if lanes_of(e.type) else found[0]

    return rule


_READS: Final = ("read_imagef", "read_imagei", "read_imageui", "read_imageh")
_SIZES: Final = tuple(
    f"get_image_{what}"
    for what in ("width", "height", "depth", "dim", "array_size", "channel_data_type", "channel_order")
)

TEXTURES: Final[dict[str, Rule]] = {
    **{name: _fetch(name) for name in _FETCHES},
    **{name: _read(name) for name in _READS},
    **{name: lanewise(name) for name in _SIZES},
    # what is written to an image nobody reads in the same launch (OpenCL C 3.0, 6.15.15.6)
    **{f"write_image{kind}": nothing for kind in ("f", "i", "ui", "h")},
}
