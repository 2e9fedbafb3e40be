"""Which part of the work a loop does: from times where they are known, else from the text; and what it rests on."""

from __future__ import annotations

from tests.poly.analysis import program_of
from tests.report.port.test_hottest import TEXT, entries
from warpsmith.offload.gain.shares import HostTimes
from warpsmith.report.port.hottest import hottest_loop, hottest_text
from warpsmith.report.port.moved import moved_json, moved_text, moved_work
from warpsmith.report.port.shares import TEXT as BASIS
from warpsmith.report.port.shares import basis_of, loop_shares


def test_times_go_before_text() -> None:
    program = program_of(TEXT)
    functions, listed = [function for _, function in program.functions()], entries(program, "light/i")
    by_text = {one.entry.id: one.share for one in loop_shares(functions, listed)}
    assert max(by_text, key=lambda name: by_text[name]) == "heavy/i#2/j"
    light = next(entry for entry in listed if entry.id == "light/i")
    times = HostTimes({light.span: 3.0}, 4.0, 16, "counts")
    by_time = {one.entry.id: one.share for one in loop_shares(functions, listed, times)}
    assert by_time == {"light/i": 0.75, "heavy/i": 0, "heavy/i#2": 0, "heavy/i#2/j": 0}
    assert {one.entry.id: one.depth for one in loop_shares(functions, listed)}["heavy/i#2/j"] == 1
    moved, hottest = moved_work(functions, listed, times), hottest_loop(functions, listed, times)
    assert moved is not None and hottest is not None
    told = "(estimated from the counts of a run; OpenMP loops on 16 threads)"
    assert moved_text(moved, ran=True) == f"75 % of the work runs on the device {told}"
    assert moved_json(moved)["basis"] == "estimate" and hottest.id == "light/i"
    assert hottest_text(hottest).startswith(", the hottest loop with it: light/i (line 2, 75 %)")


def test_the_basis_names_threads_only_where_there_are_some() -> None:
    assert basis_of(None) == BASIS
    assert basis_of(HostTimes({}, 1.0, 1, "sizes")) == "the sizes that were given"
    assert basis_of(HostTimes({}, 1.0, 16, "sizes")) == "the sizes that were given; OpenMP loops on 16 threads"
