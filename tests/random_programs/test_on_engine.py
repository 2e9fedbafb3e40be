"""Kernels of random ports, run as machine code of warps, do what the functions do that they come from.

As many as you like on demand, each at forty sizes and widths of a warp:
`WARPSMITH_PROGRAMS=2000 pytest -m slow tests/random_programs/test_on_engine.py -k many`.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.random_programs.nests import Access, Affine, Loop, Nest, Statement
from tests.random_programs.on_engine import Compared, compare_ports
from tests.random_programs.seeded import DYNAMIC, REGISTERS, STATIC
from tests.random_programs.strategies import gather

PROGRAMS = int(os.environ.get("WARPSMITH_PROGRAMS", "64"))
BATCH = 16


def _compared(nests: int, sizes: int, folder: Path) -> Compared:
    compared = Compared()
    for batch in gather(nests, BATCH):
        compare_ports(batch, folder, sizes, compared)
    return compared


@pytest.mark.slow
def test_kernels_do_what_functions_do(tmp_path: Path) -> None:
    compared = _compared(BATCH, 4, tmp_path)
    assert not compared.wrong, compared.wrong[:3]
    assert compared.launches >= BATCH, compared.left


@pytest.mark.slow
def test_loops_whose_order_counts_are_no_kernels_is_no_kernel(tmp_path: Path) -> None:
    compared = Compared()
    compare_ports([SHIFTED, LAST], tmp_path, 6, compared)
    assert not compared.wrong and not compared.launches


@pytest.mark.slow
def test_many_kernels_do_what_functions_do(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    compared = _compared(PROGRAMS, 40, tmp_path)
    with capsys.disabled():
        print(f"\n{compared.nests} nests, {compared.launches} launches, {compared.lanes:,} instructions of lanes")
    assert not compared.wrong, compared.wrong[:3]
    assert compared.launches >= 5 * PROGRAMS, compared.left


IN_KERNELS = (
    "flow dependences dropped", "anti dependences dropped", "output dependences dropped",
    "private though not written first", "launch one thread short", "threads unguarded",
)  # fmt: skip
"""Bugs that show in what kernels do; others are in guards and copies, or make loops that stay on the host."""
_OWN, _NEXT = (Access("X", (Affine(shift, (("i", 1),)),)) for shift in (0, 1))
SHIFTED = Nest(
    "shifted", (Loop("i", "int", Affine(0), Affine(0, (("n", 1),)), False, 1),),
    (Statement(_OWN, (_NEXT,), None, False, 1),), "", _OWN, True, "int", True, 0,
)  # fmt: skip
"""X[i] = X[i + 1]: with nothing but an anti dependence, which is rare among random ones."""
_FIRST = Access("X", (Affine(0),))
LAST = Nest(
    "last", (Loop("i", "int", Affine(1), Affine(0, (("n", 1),)), False, -1),),
    (Statement(_FIRST, (Access("Y", _OWN.subscripts),), None, False, 1),), "", _FIRST, True, "int", True, 0,
)  # fmt: skip
"""X[0] = Y[i] from the end to the beginning: with nothing but an output dependence."""


@pytest.mark.slow
@pytest.mark.parametrize("bug", IN_KERNELS)
def test_wrong_ports_are_seen(bug: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    seed = STATIC.get(bug) or DYNAMIC[bug]
    seed(monkeypatch)
    own = Compared()
    compare_ports([SHIFTED, LAST], tmp_path, 6, own)
    assert own.wrong or _compared(4 * BATCH, 6, tmp_path).wrong


@pytest.mark.slow
@pytest.mark.parametrize("bug", REGISTERS)
def test_wrong_registers_are_seen(bug: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    REGISTERS[bug](monkeypatch)
    assert _compared(8 * BATCH, 6, tmp_path).wrong
