"""Rooms of blocks that are resident together: where they are, how much they may take, when barriers open."""

from __future__ import annotations

import pytest

from tests.simt.engine.agree import ALL, QUICKLY, agree
from tests.simt.engine.cooperative import KERNELS, grid_case
from warpsmith.simt.choose import EngineChoice, execute
from warpsmith.simt.engine import resident
from warpsmith.simt.engine.engine import Checks, run
from warpsmith.simt.engine.host.machine_code import LinkedCode, link
from warpsmith.simt.engine.words import Stop
from warpsmith.simt.memory import LaunchMemory

JACOBI, SHARED = KERNELS["two arrays in turn"], KERNELS["shared memory stays"]


def test_rooms_that_take_too_much_are_left_to_the_interpreter(monkeypatch: pytest.MonkeyPatch) -> None:
    case = grid_case(SHARED)
    memory, launch = case.placed(checks=True)
    monkeypatch.setattr(resident, "MOST_BYTES", 1000)
    made = run(case.module, "k", launch, memory, ALL)
    assert made.stop is Stop.ROOM and made.counts.totals.lane_instructions == 0
    done = execute(case.module, "k", launch, memory, EngineChoice("compiled"))
    assert done.outcome.complete and "more memory together" in done.note


def test_rooms_take_more_where_blocks_are_more_or_own_more() -> None:
    def taken(body: str, blocks: int) -> int:
        from warpsmith.simt.engine.compile import compile_kernel

        case = grid_case(body, blocks=blocks)
        _, launch = case.placed(checks=True)
        function = case.module.function("k")
        assert function is not None
        code = compile_kernel(function, 32, Checks(resident=True))
        return resident.bytes_of_rooms(code, case.module, launch, LaunchMemory())

    assert taken(JACOBI, 12) == 4 * taken(JACOBI, 3)
    # 192 numbers, which of their bytes are known, and a cell for each
    assert taken(SHARED, 1) - taken(SHARED.replace("s[256]", "s[64]"), 1) >= 192 * (4 + 4 + 16)


@pytest.mark.slow
@pytest.mark.parametrize("epochs", [1, 2, 3])
def test_epochs_of_the_grid_begin_anew(epochs: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resident, "_EPOCHS", epochs)
    assert agree(grid_case(JACOBI, n=9)) == ""
    assert agree(grid_case(SHARED, n=9)) == ""
    wrong = "for (int round = 0; round < n; round++) { grid.sync(); } a[i] = 1; out[i] = a[(i + 40) % size];"
    assert "race" in agree(grid_case(wrong, n=5))


def test_more_threads_of_this_computer_are_not_used() -> None:
    case = grid_case(JACOBI)
    memory, launch = case.placed(checks=True)
    made = run(case.module, "k", launch, memory, ALL, workers=4)
    assert not made.why and "barriers of the grid" in made.alone


def test_blocks_that_are_counted_alone_do_not_end_by_themselves() -> None:
    from warpsmith.simt.selection import Selection

    case = grid_case(JACOBI)
    memory, launch = case.placed(checks=True)
    done = execute(case.module, "k", launch, memory, EngineChoice("compiled", selection=Selection((1,))))
    whole, _ = case.placed(checks=True)
    execute(case.module, "k", launch, whole, EngineChoice("interpreter"))
    assert done.outcome.complete
    assert [bytes(one.data) for one in memory.buffers] == [bytes(one.data) for one in whole.buffers]


def test_blocks_go_on_with_better_code_where_they_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    from warpsmith.simt.engine import compile as compile_module
    from warpsmith.simt.engine import launch as launch_module

    linked: list[bool] = []

    def note(*parts: str, quick: bool) -> LinkedCode:
        linked.append(quick)
        return link(*parts, quick=quick)

    monkeypatch.setattr(compile_module, "link", note)
    monkeypatch.setattr(launch_module, "_COST", -1e9)
    case = grid_case(KERNELS["loops that part lanes"].replace("round < 3", "round < 5"), blocks=5, threads=48)
    assert agree(case, QUICKLY) == ""
    assert linked == [True, False]
