"""Where a policy puts arrays, as JSON of the report's schema."""

from __future__ import annotations

import jsonschema

from tests.flows.placing.test_dpomap import PRODUCT, ported
from warpsmith.report.json_parts import schema
from warpsmith.report.placement.json import placement_json


def test_json_is_of_the_schema() -> None:
    whole = schema()
    part = {"$ref": "#/$defs/placement", "$defs": whole["$defs"]}
    found = ported(PRODUCT, "caicos").placement
    assert found is not None
    jsonschema.validate(placement_json(found), part)


def test_reasons_are_there_where_the_port_has_an_array_elsewhere() -> None:
    found = ported(PRODUCT, "caicos").placement
    assert found is not None
    (nest,) = found.nests
    made = placement_json(found)
    nests = made["nests"]
    assert isinstance(nests, list) and nests[0]["loop"] == nest.loop
    arrays = {one["array"]: one for one in nests[0]["arrays"]}
    assert {name: one["effect"] for name, one in arrays.items()} == dict.fromkeys("ABC", "removes redundant access")
    assert ["why" in arrays[name] for name in "ABC"] == [False, False, True]
