"""What is known of functions, and of fetches where a launch answers them."""

from __future__ import annotations

from warpsmith.simt.library import answer, has_answer, is_fetch
from warpsmith.ssa.nodes import Constant, Instruction, Text, Value
from warpsmith.ssa.types import F32, I32, Type


def _op(text: str, *results: Type) -> Instruction:
    return Instruction("lanewise", (Constant(F32, 0x40400000),), tuple(Value(t) for t in results), Text(text))


def _textures(name: str, operands: tuple[int, ...], type: Type) -> int:
    return len(name) + operands[0] + type.bits


def test_functions_have_answers() -> None:
    whole = _op("lroundf", I32)
    assert has_answer(whole, None) and answer(whole, (0x40400000,), None) == (3,)
    assert not has_answer(_op("__vmaxs4", I32), _textures) and answer(_op("__vmaxs4", I32), (1,), _textures) is None


def test_fetches_have_answers_where_a_launch_has_textures() -> None:
    fetch = _op("tex2D", F32, F32)
    assert is_fetch(fetch) and has_answer(fetch, _textures) and not has_answer(fetch, None)
    assert answer(fetch, (5,), None) is None
    assert answer(fetch, (5,), _textures) == (7 + 5 + 32, 7 + 5 + 32)
