"""Programs of Csmith, and functions that are tricky on purpose: each is ported, judged by the referee, built, and
prints what it printed.

More of them on demand, from another seed on; each ends within a time limit, a tricky function counts as a program:
`WARPSMITH_PROGRAMS=1000 WARPSMITH_SEED=1 pytest -m slow tests/random_programs/test_whole_programs.py`.
A part of the seeds is a shard. `WARPSMITH_RESULTS=FILE` keeps what came out, a line a program: what stands there is not
done again.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import pytest

from tests.random_programs.outcomes import Outcomes
from tests.random_programs.tricky import tricky_program
from tests.random_programs.whole_programs import Outcome, judge, together

HEADERS = "/usr/include/csmith"
PROGRAMS = int(os.environ.get("WARPSMITH_PROGRAMS", "36"))
SEED = int(os.environ.get("WARPSMITH_SEED", "10000"))
RESULTS = os.environ.get("WARPSMITH_RESULTS")
LIMIT_S = float(os.environ.get("WARPSMITH_LIMIT_S", "300"))
# what is small is parsed, analyzed and built in a fraction of a second
_SMALL = ("--max-funcs", "1", "--max-block-depth", "2", "--max-block-size", "3", "--max-expr-complexity", "4",
          "--max-array-dim", "2", "--max-struct-fields", "4", "--max-pointer-depth", "1")  # fmt: skip
_SHAPES: tuple[tuple[str, ...], ...] = (
    ("--max-funcs", "2", "--max-block-depth", "3"),
    ("--max-funcs", "2", "--no-volatiles", "--max-pointer-depth", "1"),
    ("--max-funcs", "1", "--max-block-depth", "4", "--no-volatiles"),
    ("--no-volatiles", "--max-funcs", "3"),
    _SMALL,
    (*_SMALL, "--max-block-depth", "3", "--max-pointer-depth", "2"),
    (*_SMALL, "--no-volatiles", "--max-block-size", "5", "--max-array-dim", "3"),
    (*_SMALL, "--max-funcs", "2", "--no-volatiles"),
)

# programs that end
CSMITH_SEEDS = (1, 2, 3, 4, 6, 7, 8, *range(10, 24), *range(25, 29), *range(40, 47))
OTHER_SEEDS = tuple(seed for number, seed in enumerate(CSMITH_SEEDS) if number % 3)
TRICKY = 18

needs_csmith = pytest.mark.skipif(
    shutil.which("csmith") is None or not Path(HEADERS, "csmith.h").is_file(),
    reason="csmith is not installed (apt-get install csmith libcsmith-dev)",
)


def csmith_program(seed: int, options: Sequence[str], folder: Path) -> str:
    """Return the program of a seed; the generator leaves a file in the folder that it runs in."""
    command = ["csmith", "--seed", str(seed), "--no-argc", *options]
    made = subprocess.run(command, check=True, capture_output=True, text=True, cwd=folder, timeout=60)
    return made.stdout


def judge_csmith(programs: Sequence[str], folder: Path) -> Outcome:
    return judge([together(programs, folder)], arguments=("-I", HEADERS), referee=True, limit_s=LIMIT_S)


def judge_tricky(seed: int, functions: int, folder: Path) -> Outcome:
    path = folder / "tricky.c"
    path.write_text(tricky_program(seed, functions))
    return judge([path], referee=True, limit_s=LIMIT_S)


@needs_csmith
@pytest.mark.parametrize("seeds", [CSMITH_SEEDS[::6], pytest.param(OTHER_SEEDS, marks=pytest.mark.slow)])
def test_programs_of_csmith_print_what_they_printed(seeds: Sequence[int], tmp_path: Path) -> None:
    programs = [csmith_program(seed, _SMALL, tmp_path) for seed in seeds]
    outcome = judge_csmith(programs, tmp_path)
    assert outcome.word == "same", outcome
    assert outcome.kernels >= 4


@pytest.mark.slow
@pytest.mark.parametrize("functions", [TRICKY // 3, TRICKY])
def test_tricky_functions_print_what_they_printed(functions: int, tmp_path: Path) -> None:
    outcome = judge_tricky(0, functions, tmp_path)
    assert outcome.word == "same", outcome
    assert outcome.kernels >= functions


@pytest.mark.slow
@needs_csmith
def test_many_programs_of_csmith(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def judged(seed: int) -> Outcome:
        return judge_csmith([csmith_program(seed, _SHAPES[seed % len(_SHAPES)], tmp_path)], tmp_path)

    outcomes = Outcomes.of(RESULTS)
    bad = outcomes.collect("csmith", range(SEED, SEED + PROGRAMS), judged)
    with capsys.disabled():
        print(f"\n{outcomes.summary('csmith')}")
    assert not bad, "\n\n".join(bad[:5])


@pytest.mark.slow
def test_many_tricky_functions(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    outcomes = Outcomes.of(RESULTS)
    judged = partial(judge_tricky, functions=TRICKY, folder=tmp_path)
    bad = outcomes.collect("tricky", range(SEED, SEED + PROGRAMS // TRICKY), judged)
    with capsys.disabled():
        print(f"\n{outcomes.summary('tricky')}, {TRICKY} functions each")
    assert not bad, "\n\n".join(bad[:5])
