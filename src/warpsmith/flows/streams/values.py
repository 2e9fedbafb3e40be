"""What host code computes with: numbers as C has them, pointers into arrays, streams.

int       wraps at 32 bits, as compilers have it     float     rounded at every step     pointer   an array and a place
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from warpsmith.base.errors import InputError
from warpsmith.base.findings import Finding
from warpsmith.base.source import Span
from warpsmith.tree.types import Array, Pointer, Record, Scalar, Type

__all__ = [
    "HostArray",
    "HostBytes",
    "HostPointer",
    "HostValue",
    "Numbers",
    "StreamValue",
    "dtype_of",
    "fit",
    "host_error",
]

Numbers = npt.NDArray[Any]

_KINDS: Final = {("float", 32): "<f4", ("float", 64): "<f8", ("signed", 32): "<i4", ("unsigned", 32): "<u4"}


class HostArray(Struct):
    """Memory of host code by the name of the variable that it was made for; `known`: it was written."""

    name: str
    data: Numbers


class HostBytes(Struct, frozen=True):
    """Memory that no type was given to yet."""

    count: int


class HostPointer(Struct, frozen=True):
    """Element `at` of an array."""

    array: HostArray
    at: int = 0


class StreamValue(Struct):
    """A stream: `data` [rows, width, numbers of an element], layer by layer; `axes` that it was declared with, and of
    three axes how many rows a layer has (`layer`); `known`: something wrote it."""

    name: str
    element: Type
    data: Numbers
    axes: int
    known: bool = False
    layer: int = 1

    @property
    def extents(self) -> tuple[int, int, int]:
        """Layers, rows of each, and elements of a row."""
        rows, width, _ = self.data.shape
        return (rows // self.layer, self.layer, width) if self.axes > 2 else (1, rows, width)

    @property
    def shape(self) -> str:
        """The extents that it was declared with, as a message has them."""
        return "x".join(map(str, self.extents[-self.axes :]))


HostValue = int | float | HostPointer | HostBytes | StreamValue | None


def host_error(span: Span, message: str, *helps: str) -> InputError:
    """Return the error that host code cannot go on."""
    return InputError(Finding("BRK002", "error", message, span, helps))


def dtype_of(type: Type, span: Span) -> np.dtype[Any]:
    """Return how the numbers of a type lie in memory; raises InputError."""
    if isinstance(type, Array):
        return dtype_of(type.of, span)
    element = type.fields[0].type if isinstance(type, Record) and type.lanes else type
    found = _KINDS.get((element.kind, element.bits)) if isinstance(element, Scalar) else None
    if found is None:
        raise host_error(span, "host code has arrays of float, double, int and uint here")
    return np.dtype(found)


def fit(value: HostValue, type: Type, span: Span, name: str = "memory") -> HostValue:
    """Return a value as something of a type holds it; raises InputError where it cannot."""
    match type:
        case Scalar(kind="void"):
            return None
        case Scalar():
            if not isinstance(value, int | float):
                raise host_error(span, "this is no number")
            return _fit_number(value, type, span)
        case Pointer():
            if isinstance(value, HostBytes):
                dtype = dtype_of(type.to, span)
                return HostPointer(HostArray(name, np.zeros(value.count // dtype.itemsize, dtype)))
            if isinstance(value, HostPointer) or value == 0:
                return value
            raise host_error(span, "this is no pointer")
        case _:
            return value


def _fit_number(value: int | float, type: Scalar, span: Span) -> int | float:
    if type.kind == "float":
        with np.errstate(over="ignore"):
            return float(np.float32(value)) if type.bits == 32 else float(value)
    if type.kind == "bool":
        return int(value != 0)
    if value != value or value in (float("inf"), float("-inf")):
        raise host_error(span, f"{value} is no integer")
    whole = int(value) & ((1 << type.bits) - 1)
    return whole - (1 << type.bits) if type.kind == "signed" and whole >> (type.bits - 1) else whole
