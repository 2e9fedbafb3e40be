"""The file in which the emulation counts launches and copies."""

from __future__ import annotations

from pathlib import Path

from warpsmith.run.emulated.counts import RunCounts, read_counts
from warpsmith.run.verification import Copies


def test_lines_of_one_name_are_added_up(tmp_path: Path) -> None:
    path = tmp_path / "counts"
    path.write_text(
        "launch 3 scale\nlaunch 2 void sum<float, 4>(float*)\nlaunch 1 scale\nwrite 2 scale\n"
        "to_device 2 800\nto_device 1 8\nto_host 4 16\nsomething else\n"
    )
    found = read_counts(path)
    assert found.launches == {"scale": 4, "void sum<float, 4>(float*)": 2}
    assert found.writes == {"scale": 2}
    assert found.copies == Copies(3, 808, 4, 16)


def test_a_run_without_the_file_counted_nothing(tmp_path: Path) -> None:
    assert read_counts(tmp_path / "none") == RunCounts()
    assert read_counts(tmp_path) == RunCounts({}, {}, Copies(0, 0, 0, 0))
