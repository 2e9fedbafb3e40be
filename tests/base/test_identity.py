"""A key that is equal only to a key of the very same object."""

from __future__ import annotations

from warpsmith.base.identity import Identity


def test_equal_objects_are_two_keys() -> None:
    one, other = [1, 2], [1, 2]
    assert Identity(one) == Identity(one) and hash(Identity(one)) == hash(Identity(one))
    assert Identity.__eq__(Identity(one), Identity(other)) is False
    memo = {Identity(one): "one", Identity(other): "other"}
    assert memo[Identity(one)] == "one" and memo[Identity(other)] == "other"


def test_a_key_is_no_object_and_keeps_its_object() -> None:
    value = [3]
    key = Identity(value)
    assert key.__eq__(value) is False and key.value is value
