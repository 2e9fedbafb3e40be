"""Values that must lie in one register."""

from __future__ import annotations

from warpsmith.targets.r600.groups import gather
from warpsmith.targets.r600.operations import Export, NumberWord, Operation, PlaceWord, Values, operations_below


def test_what_is_in_a_register_already_is_not_copied() -> None:
    v = Values()
    fetch = v.fetch(0, 0, (PlaceWord("y"), PlaceWord("x")), whole=False)
    groups = gather(
        operations_below([Export(0, (v.fetched(fetch, "y"), NumberWord(0), None, NumberWord(0x3F800000)))]), v
    )
    assert not groups.operations and not groups.pins
    assert groups.fetches[fetch].swizzle == "yx" and groups.fetches[fetch].home is None
    assert groups.exports[0].swizzle == "y0_1" and groups.exports[0].home is fetch


def test_operations_are_bound_to_components_and_others_are_copied() -> None:
    v = Values()
    one = v.operation("ADD", (PlaceWord("x"), PlaceWord("y")))
    groups = gather(operations_below([Export(0, (one, PlaceWord("x"), one, NumberWord(7)))]), v)
    swizzle, values = groups.exports[0].swizzle, groups.exports[0].values
    assert swizzle == "xyxw" and values[0] is one and values[2] is one
    assert [value.name for value in values[1::2] if isinstance(value, Operation)] == ["MOV", "MOV"]
    assert groups.pins[one] == (0, "x") and len(groups.operations) == 3


def test_a_value_of_two_groups_is_copied_for_one() -> None:
    v = Values()
    one = v.operation("ADD", (PlaceWord("x"), PlaceWord("y")))
    fetch = v.fetch(0, 0, (one, NumberWord(0)), whole=False)
    groups = gather(operations_below([Export(0, (one, v.fetched(fetch, "x"), None, None))]), v)
    assert groups.pins[one][0] == 0
    copy = groups.fetches[fetch].values[0]
    assert isinstance(copy, Operation) and copy.name == "MOV" and groups.fetches[fetch].swizzle == "x0"
