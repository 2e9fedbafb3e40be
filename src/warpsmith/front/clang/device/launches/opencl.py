"""Launches in the words of OpenCL: what `clEnqueueNDRangeKernel` gets, where the values of variables are known.

    k = clCreateKernel(program, "add", &err);                    k: the number of "add" in `HostPlaces.kernels`
    size_t local[2] = {16, 8}, global[2] = {64, 64};
    clEnqueueNDRangeKernel(q, k, 2, NULL, global, local, …);     block (16, 8, 1), grid (4, 8, 1)
    clEnqueueNDRangeKernel(q, k, 1, NULL, &n, NULL, …);          no block: the run time chooses one

A block counts work-items of a group, a grid groups. Source: The OpenCL API, "Executing Kernels". Runs in the worker
process only.
"""

from __future__ import annotations

from typing import Final

from warpsmith.front.clang import kinds
from warpsmith.front.clang.device.launches.numbers import UNKNOWN, Numbers, only
from warpsmith.front.clang.device.launches.places import HostPlaces, Place, Shape, Values
from warpsmith.front.clang.libclang import Cursor

__all__ = ["ENQUEUES", "Enqueue", "read_enqueue"]

ENQUEUES: Final = "clEnqueueNDRangeKernel"
Enqueue = tuple[Numbers, Shape, Shape]
"""The kernels that may be launched, by their numbers; the grid and the block."""

_CASTS: Final = frozenset({kinds.UNEXPOSED_EXPR, kinds.PAREN, kinds.CAST, kinds.STATIC_CAST})
_ONE: Final[Numbers] = frozenset({1})
_NOTHING: Final[Shape] = (UNKNOWN,) * 3


def read_enqueue(reader: HostPlaces, parts: list[Cursor], known: Values) -> Enqueue:
    """Return what a call launches; `parts`: the function and its arguments (queue, kernel, dimensions, offsets, sizes
    of the whole, sizes of a group, …)."""
    kernels = reader.value(parts[2], known)
    dimensions = only(reader.value(parts[3], known))
    if dimensions is None or not 1 <= dimensions <= len(_NOTHING):
        return kernels, _NOTHING, _NOTHING
    whole, group = (_sizes(reader, part, dimensions, known) for part in parts[5:7])
    x, y, z = (_divide(*pair) for pair in zip(whole, group, strict=True))
    return kernels, (x, y, z), group


def _sizes(reader: HostPlaces, argument: Cursor, dimensions: int, known: Values) -> Shape:
    """Return the numbers that an argument points to; of the dimensions that are not there they are 1."""
    found = [_element(reader, argument, axis, known) if axis < dimensions else _ONE for axis in range(3)]
    x, y, z = found
    return x, y, z


def _element(reader: HostPlaces, argument: Cursor, number: int, known: Values) -> Numbers:
    while argument.kind in _CASTS:
        parts = reader.expressions(argument)
        if len(parts) != 1:
            return UNKNOWN
        argument = parts[0]
    place: Place | None = None
    if argument.kind == kinds.UNARY and int(reader.library.getCursorUnaryOperatorKind(argument)) == kinds.ADDRESS_OF:
        (named,) = reader.expressions(argument)
        place = reader.place(named, known) if number == 0 else None
    elif reader.type(argument).kind == kinds.T_CONSTANT_ARRAY:
        base = reader.place(argument, known)
        place = (base[0], f"{base[1]}[{number}]") if base is not None else None
    return reader.read(place, reader.root(argument), known) if place is not None else UNKNOWN


def _divide(whole: Numbers, group: Numbers) -> Numbers:
    """Return the number of groups, where each has all of its work-items."""
    total, size = only(whole), only(group)
    return frozenset({total // size}) if total and size and size > 0 and total % size == 0 else UNKNOWN
