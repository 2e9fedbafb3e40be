"""Types of Brook+: numbers of 32 bits, double, and short vectors of them. Streams are no types of expressions.

float float2 float3 float4    int int2 int3 int4    uint uint2 uint3 uint4    double double2    bool    void

A vector lies in memory as its numbers one behind the other: a float3 has 12 bytes.
"""

from __future__ import annotations

from typing import Final

from warpsmith.tree.types import BOOL, CHAR, DOUBLE, FLOAT, INT, LONG, UNSIGNED, VOID, Field, Record, Scalar, Type

__all__ = [
    "HOST_TYPE_NAMES",
    "TYPE_NAMES",
    "element_of",
    "find_lanes",
    "is_number",
    "lanes_of_kind",
    "shown_type",
    "vector_of",
]

_LETTERS: Final = ("xyzw", "rgba")
_ELEMENTS: Final = {"float": (FLOAT, 4), "int": (INT, 4), "uint": (UNSIGNED, 4), "double": (DOUBLE, 2)}


def _make_vector(element: Scalar, name: str, lanes: int) -> Record:
    each = element.bits // 8
    fields = tuple(Field(f"s{lane}", element, lane * each) for lane in range(lanes))
    alignment = each * lanes if lanes in (2, 4) else each
    return Record(f"{name}{lanes}", each * lanes, fields, spelling=f"{name}{lanes}", alignment=alignment, lanes=lanes)


TYPE_NAMES: Final[dict[str, Type]] = {
    "void": VOID, "bool": BOOL, "unsigned": UNSIGNED, **{name: element for name, (element, _) in _ELEMENTS.items()},
    **{f"{name}{lanes}": _make_vector(element, name, lanes)
       for name, (element, most) in _ELEMENTS.items() for lanes in range(2, most + 1)},
}  # fmt: skip
HOST_TYPE_NAMES: Final[dict[str, Type]] = {
    **TYPE_NAMES, "char": CHAR, "short": Scalar("short", 16, "signed"), "long": LONG,
    "size_t": Scalar("unsigned long", 64, "unsigned"),
}  # fmt: skip
"""Types of host code."""


def vector_of(element: Type, lanes: int) -> Type:
    """Return a vector, or the number itself where there is one lane."""
    if lanes == 1:
        return element
    name = next(name for name, (one, _) in _ELEMENTS.items() if one == element)
    return TYPE_NAMES.get(f"{name}{lanes}") or _make_vector(_ELEMENTS[name][0], name, lanes)


def lanes_of_kind(type: Type) -> int:
    """Return how many numbers a value of a type has; 0 where it is none."""
    if isinstance(type, Record):
        return type.lanes
    return int(is_number(type))


def is_number(type: Type) -> bool:
    """Whether a type is that of one number."""
    return isinstance(type, Scalar) and type.kind != "void"


def element_of(type: Type) -> Type:
    """Return the type of each number of a value."""
    return type.fields[0].type if isinstance(type, Record) and type.lanes else type


def find_lanes(name: str, lanes: int) -> tuple[int, ...]:
    """Return the lanes that a component names, `xy` or `rgb`; nothing where it names none."""
    letters = next((row for row in _LETTERS if all(letter in row for letter in name)), "")
    found = tuple(letters.index(letter) for letter in name) if letters else ()
    return found if 0 < len(found) <= 4 and all(lane < lanes for lane in found) else ()


def shown_type(type: Type) -> str:
    """Return a type as a message has it."""
    found = next((name for name, known in TYPE_NAMES.items() if known == type), "")
    return found or getattr(type, "spelling", "") or getattr(type, "text", "") or getattr(type, "name", "a pointer")
