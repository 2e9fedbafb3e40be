"""The caches, compiled (compiled/caches.c): requests of a launch go in, what is counted comes out.

The machine returns after so many turns, so that Ctrl-C and time limits are heard. Without a C compiler the reference
runs.
"""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Final

import numpy as np

from warpsmith.simt.caches.model import CacheGeometry, Columns, OrderedRequests
from warpsmith.simt.caches.reference import simulate_caches
from warpsmith.simt.engine.words import Array
from warpsmith.simt.native import compiled_library

__all__ = ["run_caches"]

_REQUESTS: Final = 1 << 20
"""Requests that are served between two looks."""


def run_caches(geometry: CacheGeometry, requests: OrderedRequests, arrays: int) -> Array:
    """Return what is counted of a launch [arrays, Columns], as the reference does."""
    library = _library()
    if library is None:
        return simulate_caches(geometry, requests, arrays)
    given = geometry
    shape = np.array([given.units, given.resident, given.first_sets, given.first_ways, given.second_sets,
                      given.second_ways, requests.blocks], "<i8")  # fmt: skip
    columns = [
        np.ascontiguousarray(requests.starts, "<i8"),
        np.ascontiguousarray(requests.kinds, "<i4"),
        np.ascontiguousarray(requests.arrays, "<i4"),
        np.ascontiguousarray(requests.places, "<i8"),
        np.ascontiguousarray(requests.sectors, "<i8"),
    ]
    places = np.array([column.ctypes.data for column in columns], "<u8")
    counts = np.zeros((arrays, len(Columns)), "<i8")
    machine = library.ws_begin(shape.ctypes.data, places.ctypes.data, counts.ctypes.data)
    if not machine:
        raise MemoryError
    turns = max(1, _REQUESTS // (given.units * given.resident))
    try:
        while library.ws_advance(machine, turns):
            pass
    finally:
        library.ws_end(machine)
    return counts


@cache
def _library() -> ctypes.CDLL | None:
    found = compiled_library("warpsmith.simt.caches", "caches.c")
    if found is not None:
        pointer = ctypes.c_void_p
        found.ws_begin.argtypes, found.ws_begin.restype = [pointer] * 3, pointer
        found.ws_advance.argtypes, found.ws_advance.restype = [pointer, ctypes.c_int64], ctypes.c_int
        found.ws_end.argtypes, found.ws_end.restype = [pointer], None
    return found
