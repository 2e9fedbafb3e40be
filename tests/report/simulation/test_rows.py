"""From what a run left to the rows of its report, in words of the kernel's own variables."""

from __future__ import annotations

from tests.flows.ptx import file, kernel
from warpsmith.flows.simulate import SimulateOptions, simulate
from warpsmith.report.simulation.model import SimulationReport

OWN = "ld.param.u64 %rd1, [a]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2;\n"


def run(body: str, *, block: tuple[int, int, int] = (8, 1, 1), grid: int = 1, elements: int = 8) -> SimulationReport:
    made = file(kernel(body=f".shared .align 4 .b32 s[8];\n{OWN}{body}"))
    given = (f"a=zeros:i32[{elements}]", "n=3")
    return simulate(made, SimulateOptions("", block, (grid, 1, 1), given, timeline=True))


def said(found: SimulationReport) -> list[tuple[str, str, int]]:
    return [(one.check, one.finding.message, one.times) for one in found.mistakes]


def test_accesses_of_a_line_are_one_row() -> None:
    (load, store) = run("ld.global.u32 %r2, [%rd3];\nst.global.u32 [%rd1], %r2;", block=(64, 1, 1), elements=64).memory
    assert (load.kind, load.variable, load.requests, load.lanes, load.sectors, load.ideal) == ("load", "a", 2, 64, 8, 8)
    assert (store.kind, store.requests, store.sectors, store.ideal) == ("store", 2, 2, 2)
    (atomic,) = run("atom.global.add.u32 %r2, [%rd1], 1;").memory
    assert (atomic.kind, atomic.bank_conflicts) == ("atomic", 0)


def test_shared_memory_has_conflicts_and_no_sectors() -> None:
    (row,) = run("st.shared.u32 [s], %r1;").memory
    assert (row.space, row.variable, row.sectors, row.ideal, row.bank_conflicts) == ("shared", "s", 0, 0, 0)


def test_branches_have_the_slots_that_were_lost() -> None:
    body = "setp.lt.u32 %p1, %r1, 2;\n@%p1 bra L;\nadd.u32 %r2, %r1, 1;\nadd.u32 %r2, %r2, 1;\nL: "
    (row,) = run(body).branches
    assert (row.op, row.visits, row.divergences) == ("bra", 1, 1) and row.lost_lane_slots >= 4
    (same,) = run(body.replace("%r1, 2", "%r1, 99")).branches
    assert (same.visits, same.divergences, same.lost_lane_slots) == (1, 0, 0)


def test_a_race_is_told_once_with_both_threads_and_the_element() -> None:
    ((check, message, times),) = said(run("st.global.u32 [%rd1+4], %r1;"))
    assert (check, times) == ("race", 1)
    assert message == (
        "data race on a[1]: block 0 thread 0 writes and block 0 thread 6 writes, no barrier stands between them"
    )
    ((_, blocks, _),) = said(run("st.global.u32 [%rd3], %r1;", block=(1, 1, 1), grid=2))
    assert "block 0 thread 0 writes and block 1 thread 0 writes, nothing orders threads of different" in blocks
    planes = said(run("st.global.u32 [%rd1+4], %r1;", block=(2, 2, 1)))[0][1]
    assert "block 0 thread (1, 1, 0) writes and block 0 thread (0, 0, 0) writes" in planes


def test_what_is_out_of_bounds_is_said_in_elements() -> None:
    ((check, message, _),) = said(run("st.global.u32 [%rd3+8], %r1;"))
    assert check == "oob"
    assert message == "out of bounds: a[8]: a has 8 elements of 4 bytes (block 0 thread 6)"
    assert "s[8]: s has 8 elements of 4 bytes" in said(run("st.shared.u32 [s+32], 1;", block=(1, 1, 1)))[0][1]


def test_reads_of_what_nobody_has_written_are_one_a_place() -> None:
    body = "mov.u32 %r3, s; shl.b32 %r4, %r1, 2; add.u32 %r3, %r3, %r4;\nld.shared.u32 %r2, [%r3];"
    ((check, message, times),) = said(run(body))
    assert (check, times) == ("uninit", 8)
    assert message == "uninitialized read: s[6] is read before anything was written there (block 0 thread 6)"


def test_warps_with_the_same_steps_stand_side_by_side() -> None:
    found = run("add.u32 %r2, %r1, 1;", block=(96, 1, 1))
    (group,) = found.timeline
    (column,) = group.columns
    assert column.warps == ((0, 0), (0, 1), (0, 2)) and set(column.masks) == {0xFFFFFFFF}
    assert [step.first for step in group.steps] == sorted(step.first for step in group.steps)
    part = run("add.u32 %r2, %r1, 1;", block=(40, 1, 1)).timeline
    assert [column.masks[0] for column in part[0].columns] == [0xFFFFFFFF, 0xFF]
