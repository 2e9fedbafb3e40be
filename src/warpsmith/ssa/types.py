"""The types of the kernel IR: bits without a sign, floating-point formats, predicates.

i1   a predicate             i8 i16 i32 i64 i128   integers; the op says whether they are signed
f16 bf16 f32 f64             IEEE formats (bf16: the upper half of an f32)
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

__all__ = ["BF16", "F16", "F32", "F64", "I1", "I8", "I16", "I32", "I64", "I128", "TYPES", "Kind", "Type", "integer"]

Kind = Literal["predicate", "integer", "float"]


class Type(Struct, frozen=True):
    """A type of a value in one lane; `bits` is its size (1 for a predicate)."""

    name: str
    kind: Kind
    bits: int

    @property
    def bytes(self) -> int:
        """Its size in memory."""
        return max(1, self.bits // 8)

    def __str__(self) -> str:
        return self.name


I1 = Type("i1", "predicate", 1)
I8 = Type("i8", "integer", 8)
I16 = Type("i16", "integer", 16)
I32 = Type("i32", "integer", 32)
I64 = Type("i64", "integer", 64)
I128 = Type("i128", "integer", 128)
F16 = Type("f16", "float", 16)
BF16 = Type("bf16", "float", 16)
F32 = Type("f32", "float", 32)
F64 = Type("f64", "float", 64)

TYPES = {type.name: type for type in (I1, I8, I16, I32, I64, I128, F16, BF16, F32, F64)}


def integer(bits: int) -> Type:
    """Return the integer type of `bits` bits; raises KeyError where there is none.

    >>> integer(32)
    Type(name='i32', kind='integer', bits=32)
    """
    return TYPES[f"i{bits}"]
