"""The classic algorithms of tests/cases: one launch a level, a pass or a merge step, and the same result."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.sampling import one_in
from warpsmith.flows.port import PortOptions, port
from warpsmith.flows.porting.sources import sources_of
from warpsmith.run.emulated.build import build_emulated, schedule_environment
from warpsmith.run.emulated.counts import read_counts
from warpsmith.run.native.tools import run_limited
from warpsmith.run.referee.reference import runtime_files

CASES = Path(__file__).parent / "cases"
# passes of a network of 2^6 elements: 1 + 2 + … + 6
LAUNCHES = [
    ("classic_bitonic_index.c", 21),
    ("classic_walsh_unsigned.c", 6),
    ("classic_batcher.c", 15),
    ("classic_fft_table.c", 5),
    ("classic_bitonic_pointers.c", 28),
    ("classic_walsh_nested.c", 6),
    ("classic_bitonic_macros.c", 21),
    ("classic_walsh_flat.c", 6),
    ("classic_fft_struct.c", 5),
    ("classic_sieve.c", 8),
    ("classic_sieve_function.c", 7),
]


@pytest.mark.parametrize(("name", "launches"), one_in(4, LAUNCHES))
def test_the_inner_loops_are_one_launch_each(name: str, launches: int, tmp_path: Path) -> None:
    subprocess.run(["cc", "-O1", "-w", "-o", tmp_path / "original", CASES / name, "-lm"], check=True)
    expected = run_limited([str(tmp_path / "original")], tmp_path).stdout
    result = port([str(CASES / name)], PortOptions(verify=False))
    assert result.ported is not None and result.plan is not None
    sources = sources_of(result.ported.program, result.files, captured=False)
    built = build_emulated(sources, tmp_path / "build", extra_files=runtime_files())
    assert built.finding is None, built.finding
    counts = tmp_path / "counts"
    environment = schedule_environment(0, tmp_path / "reports", counts)
    assert run_limited([*built.command], tmp_path, environment=environment).stdout == expected
    found = sorted(read_counts(counts).launches.values())
    # the kernels that fill or sum up run once
    assert found[-1] == launches, found
    assert all(count <= 2 for count in found[:-1]), found
