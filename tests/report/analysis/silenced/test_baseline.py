"""A baseline: which findings it knows, which of its entries are stale, and files that are none."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.report.analysis.samples import TEXT, reported
from warpsmith.base.errors import UsageError
from warpsmith.base.source import SourceFile
from warpsmith.report.analysis.model import Reported
from warpsmith.report.analysis.silenced.baseline import BaselineEntry, baseline_text, entry_of, name_in, read_baseline


def at(folder: Path, name: str, rule: str = "MEM001", line: int | None = 3) -> Reported:
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).touch()
    return reported(rule, line, file=SourceFile(str(folder / name), TEXT))


def written(folder: Path, *found: Reported) -> Path:
    path = folder / "b.json"
    path.write_text(baseline_text(entry_of(one, str(path)) for one in found))
    return path


def test_a_file_lists_each_finding_once_sorted_by_file(tmp_path: Path) -> None:
    path = written(tmp_path, at(tmp_path, "z.cu"), at(tmp_path, "src/a.cu"), at(tmp_path, "z.cu"))
    assert [row["file"] for row in json.loads(path.read_text())["findings"]] == ["src/a.cu", "z.cu"]
    assert path.read_text().count("\n") == 4
    assert json.loads(baseline_text([])) == {"schema": "warpsmith-baseline/1", "findings": []}


def test_it_knows_a_finding_of_its_file_alone(tmp_path: Path) -> None:
    known = at(tmp_path, "a.cu")
    baseline = read_baseline(str(written(tmp_path, known)))
    assert baseline.knows(known)
    assert not baseline.knows(at(tmp_path, "copy.cu")) and not baseline.knows(at(tmp_path, "a.cu", "MEM002"))
    without = at(tmp_path, "a.cu", line=None)
    assert entry_of(without, str(tmp_path / "b.json")).file == "a.cu"


def test_a_file_that_has_gone_may_have_been_moved(tmp_path: Path) -> None:
    gone = at(tmp_path, "a.cu")
    path = written(tmp_path, gone)
    (tmp_path / "a.cu").unlink()
    baseline = read_baseline(str(path))
    moved = at(tmp_path, "moved.cu")
    assert baseline.moved and baseline.knows(moved)
    assert baseline.stale([moved], [str(tmp_path / "moved.cu")]) == ()
    assert len(baseline.stale([], [])) == 1


def test_entries_of_files_that_were_read_and_do_not_have_them_are_stale(tmp_path: Path) -> None:
    one, two = at(tmp_path, "a.cu"), at(tmp_path, "b.cu")
    baseline = read_baseline(str(written(tmp_path, one, two)))
    assert baseline.stale([one, two], [str(tmp_path / "a.cu")]) == ()
    assert [entry.file for entry in baseline.stale([], [str(tmp_path / "a.cu")])] == ["a.cu"]
    # a finding elsewhere shows that its file was read
    other = at(tmp_path, "b.cu", "MEM002")
    assert [entry.file for entry in baseline.stale([other], [])] == ["b.cu"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is not a baseline"),
        ("[]", "is not a baseline"),
        ('{"schema": "other/1", "findings": []}', "its schema is 'other/1'"),
        ('{"schema": "warpsmith-baseline/1", "findings": [{"file": "a"}]}', "KeyError 'rule'"),
        ('{"schema": "warpsmith-baseline/1"}', "KeyError 'findings'"),
    ],
)
def test_a_file_that_is_no_baseline(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "b.json"
    path.write_text(text)
    with pytest.raises(UsageError, match="BAS002") as error:
        read_baseline(str(path))
    assert said in str(error.value)
    with pytest.raises(UsageError, match="cannot be read: no such file"):
        read_baseline(str(tmp_path / "none.json"))


def test_names_count_from_the_baselines_folder() -> None:
    assert name_in("ci/b.json", "src/k.cu") == "../src/k.cu" and name_in("b.json", "src/k.cu") == "src/k.cu"
    assert BaselineEntry("a", "r", "k", "f", "m") < BaselineEntry("b", "a", "a", "a", "a")
