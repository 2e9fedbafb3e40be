"""Functions that Python answers, and fetches from textures: the same as in the interpreter."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from tests.simt.engine.agree import Case, agree
from tests.simt.engine.test_instructions import NOTHING, Shape, check, op_case
from warpsmith.simt.engine.ops.functions import FUNCTIONS
from warpsmith.ssa.library import _FUNCTIONS
from warpsmith.ssa.nodes import Text
from warpsmith.ssa.types import BF16, F16, F32, F64, I32, Type

__all__ = ["fetch_case"]

FETCH: Shape = ("lanewise", (F32, F16, I32), (F32, I32), Text("tex2D"))


def _textures(name: str, operands: tuple[int, ...], type: Type) -> int:
    return hash((name, operands)) & ((1 << type.bits) - 1)


def fetch_case() -> Case:
    """Return fetches that a launch answers."""
    case = op_case(FETCH, 0)
    return replace(case, launch=replace(case.launch, textures=_textures))


@pytest.mark.parametrize(
    "shape",
    [
        ("lanewise", (F32, F32), (F32,), Text("hypot")),
        ("lanewise", (F64, I32), (F64,), Text("ldexp")),
        ("lanewise", (F16,), (I32,), Text("frexp exponent")),
    ],
    ids=lambda shape: shape[3].text,
)
def test_a_function_is_answered_as_in_the_interpreter(shape: Shape) -> None:
    # numbers that have no answer end the launch, and the interpreter stops at the same
    assert agree(op_case(shape, 0), NOTHING) in ("", "a function that has no result here")


def test_fetches_from_textures_are_answered_as_in_the_interpreter() -> None:
    assert agree(fetch_case(), NOTHING) == ""


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted({*_FUNCTIONS, "nextafter"} - {*FUNCTIONS}))
def test_each_function_is_answered(name: str) -> None:
    for type in (F16, BF16, F32, F64):
        for given in ((type,), (type, type), (type, I32), (type,) * 3):
            agree(op_case(("lanewise", given, (type,), Text(name)), 0), NOTHING)


def test_a_function_of_all_numbers_is_answered() -> None:
    check(("lanewise", (BF16, BF16), (BF16,), Text("fdim")), 0)
