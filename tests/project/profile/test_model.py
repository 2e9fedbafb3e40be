"""Counters of a run become loops: rows of threads and processes are added up, times are kept in their bounds."""

from __future__ import annotations

import struct
from array import array
from pathlib import Path

from warpsmith.project.profile.model import CountedLoop, LoopProfile, profile_of, read_counters

PLACES = [CountedLoop("a.c", 3, 5), CountedLoop("a.c", 4, 9, around=0)]


def counters(folder: Path, name: str, rows: list[int], *, mark: int = 0x7773, ticks: int = 100) -> Path:
    """Write a file as an instrumented program does: a head of 64 bytes, then four numbers a loop."""
    path = folder / name
    path.write_bytes(struct.pack("<qq", mark, ticks).ljust(64, b"\0") + array("q", rows).tobytes())
    return path


def test_threads_and_processes_are_added_up(tmp_path: Path) -> None:
    first = counters(tmp_path, "1", [1, 10, 400, 100, 10, 30, 300, 300, 1, 5, 200, 50, 5, 5, 100, 100])
    other = counters(tmp_path, "2", [2, 2, 1000, 1000, 0, 0, 0, 0], ticks=1000)
    outer, inner = read_counters([first, other], PLACES)
    assert (outer.file, outer.line, outer.column) == ("a.c", 3, 5)
    assert (outer.entries, outer.iterations, outer.seconds, outer.self_seconds) == (4, 17, 7.0, 2.5)
    assert (inner.entries, inner.iterations, inner.seconds, inner.self_seconds) == (15, 35, 4.0, 4.0)


def test_what_is_sampled_is_no_longer_than_what_is_around_it(tmp_path: Path) -> None:
    path = counters(tmp_path, "1", [1, 1, 100, -5, 1, 1, 300, 250])
    outer, inner = read_counters([path], PLACES)
    assert (outer.seconds, outer.self_seconds) == (1.0, 0.0) and (inner.seconds, inner.self_seconds) == (1.0, 1.0)


def test_files_that_are_not_ready_are_left_out(tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.write_bytes(b"")
    paths = [counters(tmp_path, "1", [1] * 8, mark=0), counters(tmp_path, "2", [1] * 8, ticks=0), empty]
    assert [loop.entries for loop in read_counters(paths, PLACES)] == [0, 0]
    assert read_counters(paths, []) == []


def test_loops_of_a_line_are_added_up_and_kept_apart() -> None:
    one = LoopProfile("a.c", 3, 1, 10, 4.0, 8, 1.0, 5)
    other = LoopProfile("a.c", 3, 10, 30, 3.0, 16, 2.0, 20)
    found = profile_of([one, other], 6.0, 3)
    line = found.loops["a.c", 3]
    assert (line.entries, line.iterations, line.seconds, line.bytes, line.self_seconds) == (11, 40, 4.0, 16, 2.0)
    assert line.column == 5 and found.status == 3
    assert found.at("a.c", 3, 20) == other and found.at("a.c", 3, 99) == line and found.at("a.c", 4, 5) is None


def test_shares_of_loops_that_threads_run_at_the_same_time_are_shares_of_all_their_time() -> None:
    loops = [LoopProfile("a.c", line, 1, 9, 4.0, 0, self_seconds=3.0, column=5) for line in (1, 2, 3)]
    assert profile_of(loops, 5.0).busy_seconds == 9.0
    assert profile_of(loops[:1], 5.0).busy_seconds == 5.0
