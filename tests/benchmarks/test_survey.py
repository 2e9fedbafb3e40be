"""The benchmark of surveys runs: its options are those of the command."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
def test_a_small_survey_is_timed() -> None:
    command = [sys.executable, str(ROOT / "benchmarks" / "survey.py"), "600", "1"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    lines = {line.split()[0] for line in done.stdout.splitlines() if line.strip()}
    assert {"first", "again", "one"} <= lines, done.stdout
