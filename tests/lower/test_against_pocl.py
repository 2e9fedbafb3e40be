"""OpenCL kernels leave in memory what pocl, a driver for the processor, leaves there: bit by bit."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.corpus.reading import Run, runs
from tests.lower.opencl_programs import CONSTRUCTS, PRELUDE, constructs, randoms
from tests.lower.pocl import Argument, Job, apart, compiled, driven, driver, interpreted, lowered, standard

CORPUS = Path(__file__).parent.parent.parent / "examples" / "kernels"
DISPUTED = frozenset({191})
"""Kernels of which pocl 3.1 itself gives two results, by its ways to make work groups: where work items leave a loop
with a switch in it at different times, some go on for as long as others, or not at all."""
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def cl() -> Any:
    """Return OpenCL's drivers."""
    found = driver()
    if found is None:
        pytest.skip("pocl is not here: pip install 'warpsmith[opencl]'")
    return found


def _differences(cl: Any, text: str, jobs: list[Job], folder: Path, *, machine: int = 0) -> list[str]:
    """Return what differs; at least `machine` of the jobs have to be run by machine code too."""
    made = lowered(text, folder)
    assert [f"{f.span}: {f.message}" for f in made.findings] == []
    expected = driven(cl, text, jobs)
    wrong, left = [], 0
    for job in jobs:
        found: dict[str, Mapping[str, bytes] | str | None] = {
            "interpreted": interpreted(made.module, job), "compiled": compiled(made.module, job)
        }  # fmt: skip
        left += found["compiled"] is None
        for how, got in found.items():
            if got is not None:
                places = [got] if isinstance(got, str) else apart(got, expected[job.kernel])
                wrong += [f"{job.kernel}: {how}: {place}" for place in places]
    assert len(jobs) - left >= machine
    return wrong


def test_every_construct_means_what_it_means_to_pocl(cl: Any, tmp_path: Path) -> None:
    given = constructs()
    text = "\n".join([PRELUDE, *given.values(), ""])
    names = dict(zip(given, CONSTRUCTS, strict=True))
    wrong = _differences(cl, text, [standard(name) for name in given], tmp_path, machine=25)
    assert [f"{names[line.partition(':')[0]]}: {line}" for line in wrong] == []


@pytest.mark.parametrize("start", range(0, 200, 20))
def test_random_kernels_write_what_pocl_writes(cl: Any, start: int, tmp_path: Path) -> None:
    given = randoms(seed for seed in range(start, start + 20) if seed not in DISPUTED)
    text = "\n".join([*given.values(), ""])
    assert _differences(cl, text, [standard(name) for name in given], tmp_path, machine=15) == []


def test_the_corpus_writes_what_pocl_writes(cl: Any, tmp_path: Path) -> None:
    for path in sorted(CORPUS.glob("*.cl")):
        # these may be rounded as the implementation likes
        text = "#define mad fma\n#define rsqrt(x) (1.0f / sqrt(x))\n" + path.read_text()
        for seed in range(3):
            jobs = [_job(run, text, seed) for run in runs(text)]
            assert len(jobs) >= 10
            assert _differences(cl, text, jobs, tmp_path, machine=8) == []


def _job(run: Run, text: str, seed: int) -> Job:
    """Return a run of the corpus as a launch: its arguments in the order of the kernel's parameters."""
    found = re.search(rf"\b{run.kernel}\((.*?)\)\s*\{{", text, re.S)
    assert found is not None
    chosen = random.Random(f"{run.kernel} {seed}")
    arguments: list[Argument] = []
    for words in found[1].split(","):
        name = words.split()[-1].lstrip("*")
        content = run.buffer(name, chosen)
        arguments.append(run.scalar(name, 4, seed) if content is None else (name, content))
    return Job(run.kernel, run.grid, run.block, tuple(arguments))
