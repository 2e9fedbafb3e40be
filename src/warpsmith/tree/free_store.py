"""The `new` and `delete` of C++ as calls of functions whose names no user can write.

    new double[n]          new[](n, sizeof(double))         memory of its own, as malloc gives
    new double[n]()        new[]()(n, sizeof(double))       the same, all of it zero or as the initializer says
    new int(3)             new()(1, sizeof(int), 3)
    new Vec3[n]            new[]()(n, sizeof(Vec3))         where the constructors of Vec3 set its members, and no more
    delete[] p             delete[](p)

Only objects whose making and end touch nothing else are written so: numbers, pointers, structs of them.

Source: C++17 (ISO/IEC 14882:2017) 8.3.4, 8.3.5, and 21.6.2: a program may replace the functions that give the memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

__all__ = ["DEVICE_FREES", "DEVICE_MAKES", "FREES", "MAKES", "RELEASES", "is_replacement", "write"]

MAKES: Final = frozenset({"new", "new()", "new[]", "new[]()"})
"""The names of what gives memory: the number of objects, the size of one, and the values of the initializer."""

FREES: Final = frozenset({"delete", "delete[]"})
"""The names of what takes memory back: one pointer."""

DEVICE_MAKES: Final = frozenset({"omp_target_alloc", "acc_malloc"})
"""What gives memory of a device, by its number of bytes (OpenMP 5.2, 18.8.1; OpenACC 3.3, 3.2.18)."""

DEVICE_FREES: Final = frozenset({"omp_target_free", "acc_free"})
"""What takes that memory back: a pointer, and for OpenMP the device."""

RELEASES: Final = FREES | DEVICE_FREES | {"free"}
"""What ends the life of the block that its first argument points to, and does no more."""


def is_replacement(name: str) -> bool:
    """Whether a function has the name of one that gives memory to `new`, or takes it from `delete`."""
    return name.replace("[]", "").split() in (["operator", "new"], ["operator", "delete"])


def write(name: str, element: str, arguments: Sequence[str]) -> str:
    """Return the C++ text of a call; `element` is how the type of the objects is declared around the number of them."""
    if name in FREES:
        return f"{name} ({arguments[0]})"
    values = f"{{{', '.join(arguments[2:])}}}" if arguments[2:] else "()"
    return f"new {element}{values if name.endswith('()') else ''}"
