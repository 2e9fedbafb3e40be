"""Verdicts on random nests against the brute-force oracle: nothing wrong, nearly everything found.

WARPSMITH_NESTS=3000 pytest tests/random_programs      more nests
pytest -m slow tests/random_programs                   as many as before a release
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.random_programs.oracle import touches
from tests.random_programs.strategies import gather
from tests.random_programs.survey import ROOM, SIZES, Mix, judge, load
from warpsmith.poly.analyze import analyze
from warpsmith.poly.facts import PolyOptions

NESTS = int(os.environ.get("WARPSMITH_NESTS", "25"))
MANY = max(400, NESTS)
BATCH = 25


@pytest.mark.parametrize("nests", [NESTS, pytest.param(MANY, marks=pytest.mark.slow)])
def test_verdicts_agree_with_the_oracle(nests: int, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    mix = Mix()
    for batch in gather(nests, BATCH):
        program, _ = load(batch, tmp_path)
        judge(batch, analyze(program, PolyOptions()), tmp_path, mix)
    with capsys.disabled():
        print(f"\n{mix}")
    assert not mix.wrong, "\n\n".join(mix.wrong[:5])
    assert mix.nests == nests
    assert mix.found >= 0.95 * mix.parallel, "\n\n".join(mix.missed[:40])
    # a mix in which verdicts can go wrong: loops of every kind, and verdicts that rest on guards
    assert mix.refuted >= 0.2 * mix.loops
    assert mix.guarded >= 0.3 * mix.parallel
    assert mix.conditional >= nests // 100


@pytest.mark.slow
def test_no_access_leaves_its_block() -> None:
    """What is run must be defined: else nothing that a comparison says means anything."""
    for nest in next(gather(MANY, MANY)):
        reached = [t.address for s in SIZES if nest.accepts(s) for t in touches(nest, s) if t.array not in ("s", "t")]
        assert all(-ROOM <= address < ROOM - 8 for address in reached), nest
