"""The compiled machine, compiled/machine.c, as a library of this computer (simt/native.py)."""

from __future__ import annotations

import ctypes
from functools import cache

from warpsmith.simt.native import compiled_library

__all__ = ["library"]


@cache
def library(width: int) -> ctypes.CDLL | None:
    """Return the compiled machine for waves of so many lanes, None where it cannot be compiled."""
    found = compiled_library("warpsmith.simt.clocks", "machine.c", (f"-DWS_WIDTH={width}",))
    if found is None:
        return None
    pointer = ctypes.c_void_p
    found.ws_begin.argtypes, found.ws_begin.restype = [pointer] * 4, pointer
    found.ws_advance.argtypes, found.ws_advance.restype = [pointer, ctypes.c_int64, ctypes.c_int64], ctypes.c_int
    found.ws_totals.argtypes, found.ws_totals.restype = [pointer, pointer], None
    found.ws_threads.argtypes, found.ws_threads.restype = [pointer], pointer
    found.ws_rows.argtypes, found.ws_rows.restype = [pointer, ctypes.c_int], pointer
    found.ws_end.argtypes, found.ws_end.restype = [pointer], None
    return found
