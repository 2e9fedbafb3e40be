"""The profile as text and as JSON: columns add up, and both say the same."""

from __future__ import annotations

import json

from tests.report.history.samples import listing, small
from warpsmith.report.history.json import history_json
from warpsmith.report.history.profile_text import profile_json, profile_text


def test_lines_that_lost_most_come_first_and_the_last_is_their_sum() -> None:
    table, _, rest = profile_text(listing("two_halves")).partition("\n\n")
    head, *rows, last = table.splitlines()
    assert head.split() == [
        "line",
        "lost",
        "share",
        "masked",
        "off",
        "memory",
        "result",
        "ready",
        "active",
        "instruction",
    ]
    assert rows[0].split() == ["6", "16", "25.0", "%", "16", "0", "0", "0", "16", "mul.u32", "r1.x,", "r0.x,", "u(2)"]
    assert last.split() == ["all", "64", "100.0", "%", "64", "0", "0", "0", "192"]
    lost = [int(row.split()[1].replace(",", "")) for row in rows]
    assert lost == sorted(lost, reverse=True) and sum(lost) == 64
    assert rest.endswith("4             64  100.0 %  br_push r0.y, ELSE, CONVERGE")
    assert "unfilled" not in rest


def test_json_has_what_the_text_says() -> None:
    plain = json.loads(history_json(small(), ()))
    found = json.loads(history_json(small(), (), profile=True))
    profile = found.pop("profile")
    assert found == plain and profile == profile_json(small())
    assert profile["lost"] == sum(line["lost"] for line in profile["lines"])
    for line in profile["lines"]:
        assert line["lost"] == line["masked"] + line["memory"] + line["dependency"] + line["ready"]
    held = found["lane_clocks"]
    assert profile["lost"] + profile["unfilled"] == held["masked"] + held["stalled"] + held["ready"]
    assert profile["parted"] == [
        {"line": 3, "instruction": "mask_nz lane_id", "masked": sum(line["masked"] for line in profile["lines"])}
    ]
