"""Random stencils whose kernels have tiles with a halo: the kernels do what the functions do, bit for bit, under every
schedule.

`WARPSMITH_PROGRAMS=500 pytest -m slow tests/random_programs/test_halo.py -k many` runs as many functions.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.random_programs.halo_on_engine import Compared, compare_stencils, want_halos
from tests.random_programs.halo_programs import program, random_stencils
from tests.random_programs.seeded_halo import BUGS
from warpsmith.flows.port import PortOptions, port

BATCH = 12
MANY = int(os.environ.get("WARPSMITH_PROGRAMS", "60"))


def _compared(count: int, folder: Path, first: int = 0) -> Compared:
    compared = Compared()
    for number in range(-(-count // BATCH)):
        compare_stencils(random_stencils(first + number, min(count, BATCH)), folder, compared)
    return compared


def test_kernels_with_a_halo_do_what_functions_do(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    want_halos(monkeypatch)
    compared = _compared(3, tmp_path)
    assert not compared.wrong, compared.wrong[0]
    assert compared.kernels >= 2 and compared.launches == 7 * compared.kernels


@pytest.mark.slow
def test_many_kernels_with_a_halo_do_what_functions_do(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    want_halos(monkeypatch)
    compared = _compared(MANY, tmp_path)
    with capsys.disabled():
        print(f"\n{compared.kernels} kernels with a halo, {compared.launches} launches; without: {dict(compared.left)}")
    assert not compared.wrong, "\n\n".join(compared.wrong[:3])
    assert compared.kernels >= MANY // 2


@pytest.mark.slow
def test_ports_with_a_halo_pass_the_referee(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    want_halos(monkeypatch)
    path = tmp_path / "stencils.c"
    path.write_text(program(random_stencils(0, BATCH)))
    result = port([str(path)], PortOptions(steps=False))
    assert result.plan is not None and result.verification is not None
    assert result.verification.status == "pass", result.verification.reasons
    assert sum(bool(fragment.halos) for fragment in result.plan.fragments) >= BATCH // 2


@pytest.mark.slow
@pytest.mark.parametrize("bug", BUGS)
def test_wrong_tiles_are_seen(bug: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    want_halos(monkeypatch)
    BUGS[bug](monkeypatch)
    assert _compared(BATCH, tmp_path).wrong
