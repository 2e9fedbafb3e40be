"""Verdicts on random nests against the brute-force oracle: nothing wrong, nearly everything found.

WARPSMITH_NESTS=3000 pytest tests/random_programs      more nests
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from tests.random_programs.nests import Nest
from tests.random_programs.strategies import batches
from tests.random_programs.survey import Mix, analyzed, judge, load

NESTS = int(os.environ.get("WARPSMITH_NESTS", "300"))
BATCH = 25


def test_verdicts_agree_with_the_oracle(capsys: pytest.CaptureFixture[str]) -> None:
    mix = Mix()

    @settings(
        max_examples=max(1, NESTS // BATCH),
        derandomize=True,
        deadline=None,
        database=None,
        phases=(Phase.generate,),
        suppress_health_check=list(HealthCheck),
    )
    @given(batches(BATCH))
    def run(batch: list[Nest]) -> None:
        with tempfile.TemporaryDirectory() as scratch:
            program, _ = load(batch, Path(scratch))
            judge(batch, analyzed(program), Path(scratch), mix)

    run()
    with capsys.disabled():
        print(f"\n{mix}")
    assert not mix.wrong
    assert mix.nests >= NESTS
    assert mix.found >= 0.95 * mix.parallel, mix.missed
    assert mix.with_parallel >= 0.5 * mix.nests
    assert mix.all_refused >= 0.2 * mix.nests
