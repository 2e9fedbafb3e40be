"""Where a thread is in its launch, of `thread_id`: its number in the whole launch, block after block.

    block = thread_id / threads of a block        tid.x = rest mod ntid.x,  tid.y = rest / ntid.x mod ntid.y …

Sizes are words that come with the launch. A kernel that asks for x only is launched in one dimension, where
ctaid.x * ntid.x + tid.x is `thread_id`; one that asks for y in two.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from warpsmith.ssa.nodes import Function, Instruction, Operand, Query, Value
from warpsmith.targets.mask.code import LaneNumber, LaunchWord, MaskCode, Word

__all__ = ["dimensions_of", "find_thread_numbers", "write_places"]

_AXES = "xyz"


def dimensions_of(function: Function) -> int:
    """Return how many dimensions a launch of the kernel has."""
    asked = [i.detail.register[-1] for _, i in function.instructions() if isinstance(i.detail, Query)]
    return max((_AXES.index(one) + 1 for one in asked if one in _AXES), default=1)


def write_places(code: MaskCode, dimensions: int) -> Mapping[str, Word]:
    """Write what threads are told of their place; what nobody reads is taken out later."""
    axes = _AXES[:dimensions]
    found: dict[str, Word] = {"laneid": LaneNumber("lane_id")}
    for name in ("ntid", "nctaid"):
        found.update({f"{name}.{axis}": code.load_word(LaunchWord(f"{name}.{axis}")) for axis in axes})
    threads: Word = found["ntid.x"]
    for axis in axes[1:]:
        threads = code.compute("mul.u32", threads, found[f"ntid.{axis}"])
    block = code.compute("div.u32", LaneNumber("thread_id"), threads)
    thread = code.compute("sub.u32", LaneNumber("thread_id"), code.compute("mul.u32", block, threads))
    found.update(_split(code, thread, [(f"tid.{axis}", found[f"ntid.{axis}"]) for axis in axes]))
    found.update(_split(code, block, [(f"ctaid.{axis}", found[f"nctaid.{axis}"]) for axis in axes]))
    return found


def _split(code: MaskCode, number: Word, sizes: list[tuple[str, Word]]) -> Iterator[tuple[str, Word]]:
    for name, size in sizes[:-1]:
        rest = code.compute("div.u32", number, size)
        yield name, code.compute("sub.u32", number, code.compute("mul.u32", rest, size))
        number = rest
    yield sizes[-1][0], number


def find_thread_numbers(function: Function) -> frozenset[Value]:
    """Return the values that are ctaid.x * ntid.x + tid.x."""
    made = {i.results[0]: i for _, i in function.instructions() if len(i.results) == 1}
    return frozenset(value for value, i in made.items() if _is_thread(i, made))


def _is_thread(i: Instruction, made: Mapping[Value, Instruction]) -> bool:
    def queried(operand: Operand) -> str:
        detail = made[operand].detail if isinstance(operand, Value) and operand in made else None
        return detail.register if isinstance(detail, Query) else ""

    if i.op != "add":
        return False
    for one, other in (i.operands, i.operands[::-1]):
        product = made.get(one) if isinstance(one, Value) else None
        if product is not None and product.op == "mul" and queried(other) == "tid.x":
            return {queried(factor) for factor in product.operands} == {"ctaid.x", "ntid.x"}
    return False
