"""Random loops over time steps whose kernels do several steps a launch: they do what the functions do, bit for bit,
under every schedule.

`WARPSMITH_PROGRAMS=200 pytest -m slow tests/random_programs/test_time.py -k many` runs as many functions.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.random_programs.seeded_time import BUGS
from tests.random_programs.time_on_engine import TimeTiled, compare_time_loops, steps_of, text_of
from tests.random_programs.time_programs import random_time_loops
from warpsmith.flows.port import PortOptions, port

BATCH = 8
MANY = int(os.environ.get("WARPSMITH_PROGRAMS", "40"))


def _compared(count: int, folder: Path, first: int = 0) -> TimeTiled:
    tiled = TimeTiled()
    for number in range(-(-count // BATCH)):
        compare_time_loops(random_time_loops(first + number, min(count, BATCH)), folder, tiled)
    return tiled


@pytest.mark.slow
def test_several_steps_a_launch_do_what_functions_do(tmp_path: Path) -> None:
    tiled = _compared(2, tmp_path)
    assert not tiled.wrong, tiled.wrong[0]
    assert tiled.kernels == 2 and tiled.runs == 14


@pytest.mark.slow
def test_many_loops_of_several_steps_a_launch_do_what_functions_do(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tiled = _compared(MANY, tmp_path)
    with capsys.disabled():
        print(f"\n{tiled.kernels} kernels of several steps, {tiled.runs} runs; without: {dict(tiled.left)}")
    assert not tiled.wrong, "\n\n".join(tiled.wrong[:3])
    assert tiled.kernels >= MANY // 2


@pytest.mark.slow
def test_ports_of_several_steps_a_launch_pass_the_referee(tmp_path: Path) -> None:
    loops = random_time_loops(0, BATCH)
    path = tmp_path / "loops.c"
    path.write_text(text_of(loops))
    chosen = tuple(step for one in loops for step in steps_of(one))
    result = port([str(path)], PortOptions(steps=False, chosen=chosen))
    assert result.plan is not None and result.verification is not None
    assert result.verification.status == "pass", result.verification.reasons
    assert sum(fragment.iterations > 0 for fragment in result.plan.fragments) == BATCH


@pytest.mark.slow
@pytest.mark.parametrize("bug", BUGS)
def test_wrong_steps_are_seen(bug: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    BUGS[bug](monkeypatch)
    assert _compared(BATCH, tmp_path).wrong
