"""Names of types and functions in Brook+."""

from __future__ import annotations

import pytest

from warpsmith.base.errors import InputError
from warpsmith.targets.brook.names import FUNCTIONS, RESERVED, type_name
from warpsmith.tree.types import BOOL, CHAR, DOUBLE, FLOAT, INT, LONG, UNSIGNED, Pointer


def test_numbers_have_the_types_that_brook_has() -> None:
    assert [type_name(one, None, "x") for one in (FLOAT, DOUBLE, INT, UNSIGNED, BOOL)] == [
        "float", "double", "int", "uint", "bool"
    ]  # fmt: skip


@pytest.mark.parametrize("type", [CHAR, LONG, Pointer(FLOAT)])
def test_others_are_refused(type: object) -> None:
    with pytest.raises(InputError, match="and Brook"):
        type_name(type, None, "x")  # type: ignore[arg-type]


def test_only_what_means_the_same_has_a_name() -> None:
    assert FUNCTIONS["sqrtf"] == "sqrt" and FUNCTIONS["fminf"] == "min" and FUNCTIONS["__sinf"] == "sin"
    assert not {"sinf", "exp2f", "fmodf", "rsqrtf"} & FUNCTIONS.keys() and {"out", "min", "kernel"} <= RESERVED
