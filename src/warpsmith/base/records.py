"""Operations on records (msgspec structs): their fields, and equality by some of them."""

from __future__ import annotations

from operator import attrgetter
from typing import ClassVar

from msgspec import NODEFAULT, Struct

__all__ = ["Partial", "default_of", "field_names", "field_texts"]


class Partial(Struct, frozen=True, eq=False):
    """A record that is equal to another of its class where the fields in `compared` are; the others only tell more."""

    compared: ClassVar[attrgetter[object]]

    def __eq__(self, other: object) -> bool:
        return self is other or (type(other) is type(self) and self.compared(self) == self.compared(other))

    # the one of Struct asks for identity here
    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(self.compared(self))


def field_names(record: object) -> tuple[str, ...]:
    """Return the names of a record's fields (or of a class of records) in order; () where it is no record."""
    found: tuple[str, ...] = getattr(record, "__struct_fields__", ())
    return found


def field_texts(kind: type[Struct]) -> dict[str, str]:
    """Return the fields of a class in order, with their types as they are written."""
    texts: dict[str, str] = {}
    for cls in reversed(kind.__mro__):
        texts.update({name: str(text) for name, text in vars(cls).get("__annotations__", {}).items()})
    return {name: texts[name] for name in kind.__struct_fields__}


def default_of(kind: object, name: str) -> object:
    """Return the value that a field of a record, or of a class of records, has where it is not given; None where it
    must be given."""
    defaults: tuple[object, ...] = getattr(kind, "__struct_defaults__", ())
    position = field_names(kind).index(name) - (len(field_names(kind)) - len(defaults))
    return defaults[position] if position >= 0 and defaults[position] is not NODEFAULT else None
