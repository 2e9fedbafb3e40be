"""Programs of Csmith, and functions that are tricky on purpose: each is ported, built, and prints what it printed.

More of them on demand, from another seed on, and through the referee as well:
`WARPSMITH_PROGRAMS=1000 WARPSMITH_SEED=1 pytest -m slow tests/random_programs/test_whole_programs.py`.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.random_programs.tricky import tricky_program
from tests.random_programs.whole_programs import BAD, Outcome, judge, together

HEADERS = "/usr/include/csmith"
PROGRAMS = int(os.environ.get("WARPSMITH_PROGRAMS", "1000"))
SEED = int(os.environ.get("WARPSMITH_SEED", "10000"))
# what is small is parsed, analyzed and built in a fraction of a second
_SMALL = ("--max-funcs", "1", "--max-block-depth", "2", "--max-block-size", "3", "--max-expr-complexity", "4",
          "--max-array-dim", "2", "--max-struct-fields", "4", "--max-pointer-depth", "1")  # fmt: skip
_SHAPES: tuple[tuple[str, ...], ...] = (
    ("--max-funcs", "2", "--max-block-depth", "3"),
    ("--max-funcs", "2", "--no-volatiles", "--max-pointer-depth", "1"),
    ("--max-funcs", "1", "--max-block-depth", "4", "--no-volatiles"),
    ("--no-volatiles", "--max-funcs", "3"),
)

# programs that end
CSMITH_SEEDS = (1, 2, 3, 4, 6, 7, 8, *range(10, 24), *range(25, 29))
TRICKY = 18

needs_csmith = pytest.mark.skipif(
    shutil.which("csmith") is None or not Path(HEADERS).is_dir(), reason="csmith is not installed (apt-get csmith)"
)


def csmith_program(seed: int, options: Sequence[str], folder: Path) -> str:
    """Return the program of a seed; the generator leaves a file in the folder that it runs in."""
    command = ["csmith", "--seed", str(seed), "--no-argc", *options]
    made = subprocess.run(command, check=True, capture_output=True, text=True, cwd=folder, timeout=60)
    return made.stdout


def judge_csmith(programs: Sequence[str], folder: Path, *, referee: bool = False) -> Outcome:
    return judge(together(programs, folder), arguments=("-I", HEADERS), referee=referee, limit_s=900)


@pytest.mark.slow
@needs_csmith
def test_programs_of_csmith_print_what_they_printed(tmp_path: Path) -> None:
    programs = [csmith_program(seed, _SMALL, tmp_path) for seed in CSMITH_SEEDS]
    outcome = judge_csmith(programs, tmp_path)
    assert outcome.word == "same", outcome
    assert outcome.kernels >= 5


def test_tricky_functions_print_what_they_printed(tmp_path: Path) -> None:
    path = tmp_path / "tricky.c"
    path.write_text(tricky_program(0, TRICKY))
    outcome = judge([path])
    assert outcome.word == "same", outcome
    assert outcome.kernels >= TRICKY


@pytest.mark.slow
@needs_csmith
def test_many_programs_of_csmith(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    counts, bad = Counter[str](), list[str]()
    for seed in range(SEED, SEED + PROGRAMS):
        program = csmith_program(seed, _SHAPES[seed % len(_SHAPES)], tmp_path)
        outcome = judge_csmith([program], tmp_path, referee=True)
        counts[outcome.word] += 1
        bad += [f"csmith --seed {seed}: {outcome}"] if outcome.word in BAD else []
    with capsys.disabled():
        print(f"\n{dict(counts)}")
    assert not bad, "\n\n".join(bad[:5])


@pytest.mark.slow
def test_many_tricky_functions(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    counts, bad = Counter[str](), list[str]()
    path = tmp_path / "tricky.c"
    for seed in range(SEED, SEED + PROGRAMS // 18):
        path.write_text(tricky_program(seed, 18))
        outcome = judge([path], referee=True)
        counts[outcome.word] += 1
        bad += [f"seed {seed}: {outcome}"] if outcome.word in BAD else []
    with capsys.disabled():
        print(f"\n{dict(counts)}")
    assert not bad, "\n\n".join(bad[:5])
