"""Numbers of host code: what types hold."""

from __future__ import annotations

import numpy as np
import pytest

from warpsmith.base.errors import InputError
from warpsmith.base.source import SourceFile, Span
from warpsmith.flows.streams.values import HostBytes, HostPointer, dtype_of, fit
from warpsmith.front.brook.kinds import TYPE_NAMES
from warpsmith.tree.types import DOUBLE, FLOAT, INT, UNSIGNED, VOID, Array, Pointer

HERE = Span(SourceFile("k.br", "x"), 0, 1)


def test_numbers_are_what_their_type_holds() -> None:
    assert fit(0.1, FLOAT, HERE) == float(np.float32(0.1)) and fit(0.1, DOUBLE, HERE) == 0.1
    assert fit((1 << 31) + 5, INT, HERE) == 5 - (1 << 31) and fit(-1, UNSIGNED, HERE) == (1 << 32) - 1
    assert fit(-2.75, INT, HERE) == -2 and fit(3, VOID, HERE) is None


def test_memory_has_a_type_once_a_pointer_has_it() -> None:
    found = fit(HostBytes(40), Pointer(FLOAT), HERE, "p")
    assert isinstance(found, HostPointer) and len(found.array.data) == 10 and found.array.name == "p"
    assert dtype_of(Array(TYPE_NAMES["float4"], None), HERE) == np.dtype("f4")


@pytest.mark.parametrize(
    ("value", "type"), [(HostBytes(1), INT), (1.0, Pointer(FLOAT)), (float("nan"), INT), (float("inf"), INT)]
)
def test_what_does_not_fit_is_told(value: object, type: object) -> None:
    with pytest.raises(InputError):
        fit(value, type, HERE)  # type: ignore[arg-type]


def test_arrays_have_numbers_that_kernels_have() -> None:
    with pytest.raises(InputError):
        dtype_of(Pointer(FLOAT), HERE)
