"""Kernels run by the compiled machine and by the interpreter: same results, same counters, in every respect.

As many random kernels as you like on demand, from another seed on:
`WARPSMITH_PROGRAMS=20000 WARPSMITH_SEED=1000 pytest -m slow tests/simt/engine/test_kernel.py -k random`.
"""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.corpus.reading import Run, runs
from tests.simt.engine.agree import QUICKLY, Case, agree
from tests.simt.engine.kernels import random_case
from warpsmith.kernels.units import KernelFile, KernelUnit, read_unit
from warpsmith.simt.engine.engine import order_matters
from warpsmith.simt.launch import Launch
from warpsmith.ssa.nodes import Module

KERNELS = sorted((Path(__file__).parents[3] / "examples" / "kernels").iterdir())
QUICK = 3
PROGRAMS = int(os.environ.get("WARPSMITH_PROGRAMS", "200"))
SEED = int(os.environ.get("WARPSMITH_SEED", str(QUICK)))


@pytest.mark.parametrize("seed", range(QUICK))
def test_a_random_kernel_does_the_same(seed: int) -> None:
    agree(random_case(seed))


@pytest.mark.parametrize("seed", range(QUICK))
def test_code_that_starts_sooner_does_the_same(seed: int) -> None:
    agree(random_case(seed), QUICKLY)


def test_most_random_kernels_are_the_machines_to_finish() -> None:
    assert [agree(random_case(seed)) for seed in range(20, 22)].count("") >= 1


@pytest.mark.slow
@pytest.mark.parametrize("start", range(SEED, SEED + PROGRAMS, 20))
def test_many_random_kernels_do_the_same(start: int) -> None:
    for seed in range(start, min(start + 20, SEED + PROGRAMS)):
        agree(random_case(seed))
        agree(random_case(seed), QUICKLY)


# --- kernels as people write them


def corpus(path: Path) -> list[Case]:
    """Return the launches that a file of examples/kernels names."""
    unit = read_unit(KernelFile(str(path), instances=("reduce_unrolled<128>",) if path.stem == "reductions" else ()))
    assert isinstance(unit, KernelUnit)
    names = {function.name.partition("<")[0]: function.name for function in unit.module.functions}
    launches = [replace(run, kernel=names[run.kernel]) for run in runs(path.read_text())]
    return [_case(unit.module, run) for run in launches]


def _case(module: Module, run: Run) -> Case:
    function = module.function(run.kernel)
    assert function is not None
    chosen = random.Random(run.kernel)
    arguments, arrays = {}, {}
    for parameter in function.parameters:
        content = run.buffer(parameter.name, chosen)
        if content is None:
            arguments[parameter.name] = run.scalar(parameter.name, parameter.bytes, 0)
        else:
            arrays[parameter.name] = (content, True)
    launch = Launch(run.grid, run.block, arguments, shared=run.shared, max_steps=3_000_000)
    return Case(module, run.kernel, launch, arrays)


@pytest.mark.slow
@pytest.mark.parametrize("path", KERNELS, ids=[path.name for path in KERNELS])
def test_a_kernel_of_the_corpus_does_the_same(path: Path) -> None:
    for case in corpus(path):
        function = case.module.function(case.name)
        assert function is not None
        if not order_matters(function):
            agree(case)


def test_a_time_loop_over_shared_memory_does_the_same() -> None:
    (case, *_) = corpus(next(path for path in KERNELS if path.suffix == ".cu"))
    assert agree(case) == ""
