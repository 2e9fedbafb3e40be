"""What functions give that no op of the kernel IR computes: those of the mathematics library, and fetches from
textures, which a launch answers. The interpreter asks lane by lane, machine code for all lanes of a warp."""

from __future__ import annotations

from warpsmith.simt.launch import Textures
from warpsmith.ssa.library import compute_lanewise, is_function
from warpsmith.ssa.nodes import Instruction, Text

__all__ = ["answer", "has_answer", "is_fetch"]


def answer(instruction: Instruction, operands: tuple[int, ...], textures: Textures | None) -> tuple[int, ...] | None:
    """Return the results of a `lanewise` op in one lane; None where nothing is known of it."""
    found = compute_lanewise(instruction, operands)
    if found is not None:
        return found
    detail = instruction.detail
    if textures is None or not isinstance(detail, Text) or not is_fetch(instruction):
        return None
    results: list[int] = []
    for number, value in enumerate(instruction.results):
        bits = textures(f"{detail.text} {number}", operands, value.type)
        if bits is None:
            return None
        results.append(bits)
    return tuple(results)


def is_fetch(instruction: Instruction) -> bool:
    """Whether an op fetches from a texture."""
    return isinstance(instruction.detail, Text) and instruction.detail.text.startswith("tex")


def has_answer(instruction: Instruction, textures: Textures | None) -> bool:
    """Whether there is an answer for a `lanewise` op, but perhaps for some numbers."""
    return is_function(instruction) or (textures is not None and is_fetch(instruction))
