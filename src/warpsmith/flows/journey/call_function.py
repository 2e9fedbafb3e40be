"""A function of a library is called, in a process of its own: numbers and arrays go in, what the arrays hold comes out.

The process loads this module alone, so that a call takes as long as it takes to start Python.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Mapping

import msgspec

__all__ = ["FunctionCall", "main"]


class FunctionCall(msgspec.Struct, frozen=True):
    """`given`: each argument, a number or the name of an array; `bits` of each number."""

    library: str
    function: str
    given: tuple[int | str, ...]
    bits: tuple[int, ...]
    arrays: Mapping[str, bytes]


def main() -> None:
    """Call one function: the process."""
    call = msgspec.json.decode(sys.stdin.buffer.read(), type=FunctionCall)
    held = {name: ctypes.create_string_buffer(data, len(data)) for name, data in call.arrays.items()}
    types = {32: ctypes.c_int32, 64: ctypes.c_int64}
    pairs = zip(call.given, call.bits, strict=True)
    arguments = [held[one] if isinstance(one, str) else types[bits](one) for one, bits in pairs]
    getattr(ctypes.CDLL(call.library), call.function)(*arguments)
    sys.stdout.buffer.write(msgspec.json.encode({name: data.raw for name, data in held.items()}))
