"""Predicted times, for people and machines."""

from __future__ import annotations

import jsonschema
from msgspec.structs import replace

from tests.machine.time.works import axpy
from warpsmith.analysis.counts.predicted import BlockChoice, PredictedTime
from warpsmith.machine.devices import device
from warpsmith.machine.occupancy import occupancy
from warpsmith.machine.time.predict import predict
from warpsmith.report.analysis.predicted import predicted_json, predicted_rows, seconds_text, what_if_lines
from warpsmith.report.json_parts import schema

LACKING = PredictedTime((32, 1, 1), None, lacks=("the grid (--grid)",))


def _predicted(block: int) -> PredictedTime:
    work = axpy(1 << 22, block)
    held = occupancy(device("v100"), block, 16)
    return PredictedTime((block, 1, 1), (work.blocks, 1, 1), predict(device("v100"), work), work, True, 4, (), held)


def _validate(document: object) -> None:
    whole = schema()
    jsonschema.validate(document, {"$ref": "#/$defs/predicted", "$defs": whole["$defs"]})


def test_times_have_three_digits() -> None:
    texts = [seconds_text(s) for s in (2.0, 0.5, 0.0123, 1e-3, 12e-6, 5e-10, 0.0)]
    assert texts == ["2.00 s", "500 ms", "12.3 ms", "1.00 ms", "12.0 us", "0.500 ns", "0.00 ns"]


def test_rows_say_what_decides_and_what_it_rests_on() -> None:
    rows = list(predicted_rows(_predicted(256)))
    assert all(row[0].startswith("predicted") for row in rows)
    assert "the bandwidth of memory; counts are exact" in rows[0][3]
    assert [row[0] for row in rows if row[1] == "?"] == []
    assert any("ridge" in row[2] for row in rows)


def test_what_is_lacking_is_said_and_no_time_is() -> None:
    assert list(predicted_rows(LACKING)) == [("predicted time", "none", "", "it lacks the grid (--grid)")]
    assert "seconds" not in predicted_json(LACKING, None)
    _validate(predicted_json(LACKING, BlockChoice(why="it lacks the grid (--grid)")))


def test_times_of_both_ways_are_upper_limits() -> None:
    found = replace(_predicted(256), exact=False, forks=("what is loaded in line 3",))
    (first, *_) = predicted_rows(found)
    assert first[1].startswith("up to ") and first[3].endswith("all go both ways: what is loaded in line 3")
    lines = list(what_if_lines("axpy (v100)", BlockChoice((found,), ties=1), found))
    assert lines[1][1].startswith("up to ")
    document = predicted_json(found, None)
    _validate(document)
    assert document["at_most"] == ["what is loaded in line 3"] and "at_most" not in predicted_json(
        _predicted(256), None
    )


def test_other_blocks_as_a_table_and_as_json() -> None:
    now, other = _predicted(256), _predicted(128)
    choice = BlockChoice((other, now), ties=2)
    lines = list(what_if_lines("axpy (v100)", choice, now))
    assert [line[0].strip() for line in lines[1:]] == ["128 (a tie)", "256 (as launched) (a tie)"]
    document = predicted_json(now, choice)
    _validate(document)
    assert document["label"] == "predicted" and document["exact"] is True
