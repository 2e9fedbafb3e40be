"""A function of a library is called, in a process of its own: numbers and arrays go in, what the arrays hold comes out.

The process loads this module alone, so that a call takes as long as it takes to start Python.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Mapping

import msgspec

__all__ = ["CALLED", "FunctionCall", "main"]

CALLED = "ws_called_function"
"""The variable of a library that leads to the function."""


class FunctionCall(msgspec.Struct, frozen=True):
    """`variable` leads to the function; `given`: each argument, a number or the name of an array; `kinds`: how each is
    passed (i32, f64, address)."""

    library: str
    variable: str
    given: tuple[int | float | str, ...]
    kinds: tuple[str, ...]
    arrays: Mapping[str, bytes]


def _number(value: float, kind: str) -> object:
    if kind[0] == "f":
        return (ctypes.c_float if kind == "f32" else ctypes.c_double)(value)
    return (ctypes.c_int32 if kind == "i32" else ctypes.c_int64)(int(value))


def main() -> None:
    """Call one function: the process."""
    call = msgspec.json.decode(sys.stdin.buffer.read(), type=FunctionCall)
    held = {name: ctypes.create_string_buffer(data, len(data)) for name, data in call.arrays.items()}
    pairs = zip(call.given, call.kinds, strict=True)
    arguments = [held[one] if isinstance(one, str) else _number(one, kind) for one, kind in pairs]
    place = ctypes.c_void_p.in_dll(ctypes.CDLL(call.library), call.variable).value
    assert place is not None
    ctypes.CFUNCTYPE(None)(place)(*arguments)
    sys.stdout.buffer.write(msgspec.json.encode({name: data.raw for name, data in held.items()}))
