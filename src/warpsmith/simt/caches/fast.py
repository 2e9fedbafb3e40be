"""The caches, compiled (compiled/caches.c): requests of a launch go in, what is counted comes out.

The machine returns after so many turns, so that Ctrl-C and time limits are heard. Without a C compiler the reference
runs.
"""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Final

import numpy as np

from warpsmith.simt.caches.model import CacheCounts, CacheGeometry, OrderedRequests
from warpsmith.simt.caches.reference import simulate_caches
from warpsmith.simt.clocks.build import compiled_library
from warpsmith.simt.engine.words import Array

__all__ = ["PACKAGE", "declare", "library", "run_caches"]

PACKAGE: Final = "warpsmith.simt.caches"
_REQUESTS: Final = 1 << 20
"""Requests that are served between two looks."""


def run_caches(geometry: CacheGeometry, requests: OrderedRequests, arrays: int) -> Array:
    """Return what is counted of a launch [arrays, CacheCounts], as the reference does."""
    compiled = library()
    if compiled is None:
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
    counts = np.zeros((arrays, len(CacheCounts)), "<i8")
    machine = compiled.ws_begin(shape.ctypes.data, places.ctypes.data, counts.ctypes.data)
    if not machine:
        raise MemoryError
    turns = max(1, _REQUESTS // (given.units * given.resident))
    try:
        while compiled.ws_advance(machine, turns):
            pass
    finally:
        compiled.ws_end(machine)
    return counts


@cache
def library() -> ctypes.CDLL | None:
    """Return the compiled caches, None where they cannot be compiled."""
    found = compiled_library(PACKAGE, "caches.c")
    return None if found is None else declare(found)


def declare(found: ctypes.CDLL) -> ctypes.CDLL:
    """Return the library with the types of its functions."""
    pointer = ctypes.c_void_p
    found.ws_begin.argtypes, found.ws_begin.restype = [pointer] * 3, pointer
    found.ws_advance.argtypes, found.ws_advance.restype = [pointer, ctypes.c_int64], ctypes.c_int
    found.ws_end.argtypes, found.ws_end.restype = [pointer], None
    return found
