"""What a computation begins with, from texts: numbers, and arrays by name; do they fit a function of C?"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping

from msgspec import Struct

from warpsmith.base.errors import UsageError
from warpsmith.base.findings import Finding
from warpsmith.kernels.arguments import Array, make_argument
from warpsmith.tree.nodes import Function
from warpsmith.tree.types import Array as ArrayType
from warpsmith.tree.types import Pointer, Scalar, Type

__all__ = ["TravelInputs", "check_inputs", "make_inputs", "usage_error"]


class TravelInputs(Struct, frozen=True, eq=False):
    """What a computation begins with: numbers, and arrays by name."""

    numbers: Mapping[str, int | float]
    arrays: Mapping[str, Array]


def make_inputs(values: tuple[str, ...]) -> TravelInputs:
    """Return numbers and arrays from texts; raises UsageError."""
    numbers: dict[str, int | float] = {}
    arrays: dict[str, Array] = {}
    for name, _, value in (one.partition("=") for one in values):
        number = _number(value)
        if number is not None:
            numbers[name] = number
            continue
        array = make_argument(name, value, {n: v for n, v in numbers.items() if isinstance(v, int)}).array
        if array is None:
            raise usage_error(f"--arg {name}: a function of C has no memory of a block", f"--arg '{name}=zeros:f32[n]'")
        arrays[name] = array
    return TravelInputs(numbers, arrays)


def _number(text: str) -> int | float | None:
    for type in (int, float):
        with contextlib.suppress(ValueError):
            return type(text)
    return None


def check_inputs(function: Function, inputs: TravelInputs) -> None:
    """Raise UsageError where a parameter has no value, or one of another type, and where a value has no parameter."""
    parameters = {one.name: one.type for one in function.parameters}
    given, called = {**inputs.numbers, **inputs.arrays}, function.symbol.name
    for name in given:
        if name not in parameters:
            raise usage_error(f"--arg {name}: {called} has no such parameter", f"it has {', '.join(parameters)}")
    lacking = [f"--arg '{name}={_example(type)}'" for name, type in parameters.items() if name not in given]
    if lacking:
        raise usage_error(f"{called} needs values of all its parameters", f"for example {' '.join(lacking)}")
    for name, type in parameters.items():
        held = inputs.arrays.get(name)
        fits = _takes(type, inputs.numbers[name]) if held is None else _element(type) == _element_of(held)
        if not fits:
            raise usage_error(f"--arg {name}: {called} takes another type there", f"--arg '{name}={_example(type)}'")


def _element_of(array: Array) -> str:
    return f"{array.dtype.kind}{8 * array.dtype.itemsize}"


def _takes(type: Type, number: float) -> bool:
    if not isinstance(type, Scalar):
        return False
    return type.kind == "float" or (isinstance(number, int) and -(1 << type.bits - 1) <= number < 1 << type.bits)


def _example(type: Type) -> str:
    if isinstance(type, Scalar):
        return "0.5" if type.kind == "float" else "64"
    return f"zeros:{_element(type) or 'f32'}[64]"


def _element(type: Type) -> str:
    """Return the elements of an array as arguments name them, "" where they are no numbers."""
    while isinstance(type, Pointer | ArrayType):
        type = type.to if isinstance(type, Pointer) else type.of
    letters = {"float": "f", "signed": "i", "unsigned": "u"}
    return f"{letters[type.kind]}{type.bits}" if isinstance(type, Scalar) and type.kind in letters else ""


def usage_error(message: str, *helps: str) -> UsageError:
    """Return an error of the command line, to be raised."""
    return UsageError(Finding("INP000", "error", message, help=helps))
