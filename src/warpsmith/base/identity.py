"""An object as the key of a memo: two keys are equal only if they hold one object.

Programs are large, and to compare two of them costs more than most answers about them.
"""

from __future__ import annotations

from typing import Generic, TypeVar

from msgspec import Struct

__all__ = ["Identity"]

T = TypeVar("T")


class Identity(Struct, Generic[T], frozen=True, eq=False):
    """Holds `value`, so that it lives as long as what is remembered of it."""

    value: T

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Identity) and self.value is other.value

    def __hash__(self) -> int:
        return id(self.value)
