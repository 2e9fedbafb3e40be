"""Counts read back from a survey's JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from warpsmith.base.errors import InputError, UsageError
from warpsmith.offload.plan import LoopCount
from warpsmith.report.survey.counts import read_counts


def write(tmp_path: Path, *loops: dict[str, object]) -> str:
    path = tmp_path / "counts.json"
    path.write_text(json.dumps({"survey": {"root": str(tmp_path)}, "loops": list(loops)}))
    return str(path)


def loop(line: int, measured: Mapping[str, float] | None) -> dict[str, object]:
    weight = {"share": 0.5, **({"measured": measured} if measured is not None else {})}
    return {"span": {"file": "a.c", "line": line, "column": 5}, "weight": weight}


def test_entries_and_iterations_by_place(tmp_path: Path) -> None:
    counted = loop(3, {"entries": 4, "iterations": 100})
    found = read_counts(write(tmp_path, counted, loop(5, {"entries": 0, "iterations": 0}), loop(7, None)))
    path = str((tmp_path / "a.c").resolve())
    assert found == {(path, 3, 5): LoopCount(4, 100), (path, 5, 5): LoopCount(0, 0)}
    assert [count.trips for count in found.values()] == [25, 0]


def test_a_report_without_a_run_is_refused(tmp_path: Path) -> None:
    never = {"entries": 0, "iterations": 0}
    for measured in (None, never):
        with pytest.raises(UsageError, match="no report of a counted run"):
            read_counts(write(tmp_path, loop(7, measured)))
    (tmp_path / "counts.json").write_text("loops")
    with pytest.raises(UsageError, match="no report of a counted run"):
        read_counts(str(tmp_path / "counts.json"))


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="No such file"):
        read_counts(str(tmp_path / "none.json"))
