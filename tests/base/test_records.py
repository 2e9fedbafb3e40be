"""Records: equality by some fields, and what a class of records says of its fields."""

from __future__ import annotations

import operator
from operator import attrgetter

from msgspec import Struct
from msgspec.structs import replace

from warpsmith.base.records import Partial, default_of, field_names, field_texts


class _Named(Partial, frozen=True, eq=False):
    compared = attrgetter("name", "size")
    name: str
    size: int = 0
    note: str = ""


class _Other(Partial, frozen=True, eq=False):
    compared = attrgetter("name", "size")
    name: str
    size: int = 0


class _Base(Struct, frozen=True):
    first: int


class _Derived(_Base, frozen=True):
    second: tuple[_Named, ...]
    third: int = 3


def test_only_the_named_fields_count_for_equality() -> None:
    one, same = _Named("a", 1, "this"), _Named("a", 1, "that")
    assert one == same and hash(one) == hash(same) and len({one, same}) == 1
    # Struct brings a comparison of its own for the negation
    assert not operator.ne(one, same)
    assert one != _Named("a", 2, "this") and one != _Named("b", 1, "this")


def test_records_of_two_classes_differ() -> None:
    assert _Named("a", 1) != _Other("a", 1)
    assert not operator.eq(_Named("a", 1), _Other("a", 1))
    assert _Named("a") != "a"


def test_a_copy_with_another_note_is_equal() -> None:
    one = _Named("a", 1)
    assert replace(one, note="new") == one and replace(one, note="new").note == "new"


def test_fields_come_in_order_those_of_the_base_first() -> None:
    assert field_names(_Derived) == field_names(_Derived(1, ())) == ("first", "second", "third")
    assert field_texts(_Derived) == {"first": "int", "second": "tuple[_Named, ...]", "third": "int"}
    assert field_names("no record") == ()


def test_a_field_that_must_be_given_has_no_default() -> None:
    assert default_of(_Derived, "third") == 3
    assert default_of(_Derived, "second") is None and default_of(_Derived, "first") is None
    assert default_of(_Named("a"), "size") == 0
