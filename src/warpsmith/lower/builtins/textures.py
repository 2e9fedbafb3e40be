"""Fetches from textures: what they give depends on the texture, which no thread changes, and on the place alone."""

from __future__ import annotations

from typing import Final

from warpsmith.lower.builtins.rows import Rule, needs, place_argument
from warpsmith.lower.frame import Frame, Result
from warpsmith.lower.layout import is_object, pieces, value_type
from warpsmith.lower.places import Place, store_pieces
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
        if isinstance(frame.decayed(texture.type), tree.Pointer):
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


def _fill(frame: Frame, place: Place, type: tree.Type, operands: tuple[Operand, ...], detail: Text) -> None:
    """Write to an object numbers each of which depends on the operands."""
    types = tuple(piece.type for piece in pieces(type) for _ in range(piece.count))
    store_pieces(frame.builder, place, type, frame.builder.emit_many("lanewise", operands, types, detail))


TEXTURES: Final[dict[str, Rule]] = {name: _fetch(name) for name in _FETCHES}
