"""Whatever machine code has an address of stays where it is while the code runs, whoever drops what meanwhile."""

from __future__ import annotations

import ctypes
import gc
import random
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from tests.simt.engine.agree import ALL, Case
from tests.simt.engine.kernels import random_case
from tests.simt.engine.ops.test_asked import fetch_case
from tests.simt.engine.test_instructions import op_case
from warpsmith.simt.engine import compile as compile_module
from warpsmith.simt.engine.engine import run
from warpsmith.simt.engine.host.machine_code import link
from warpsmith.ssa.nodes import Text
from warpsmith.ssa.types import BF16, F32

RETURNS: Callable[[int], str] = "define i64 @run() {{\n  ret i64 {}\n}}\n".format


def _counts(number: int) -> Callable[..., int]:
    """Return a function of machine code, of whose code nothing else is kept."""
    return link(RETURNS(number)).function(ctypes.c_int64)


@pytest.mark.slow
def test_a_function_keeps_its_code(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("WARPSMITH_CACHE_DIR", str(tmp_path))
    functions = [_counts(number) for number in range(8)]
    gc.collect()
    # others take the place of what was given back
    for number in range(8):
        _counts(8 + number)()
    assert [function() for function in functions] == list(range(8))


def _outcome(case: Case, workers: int) -> tuple[str, list[bytes]]:
    """Return how a run ends, and all memory after it."""
    memory, launch = case.placed(checks=True)
    ended = run(case.module, case.name, launch, memory, ALL, workers=workers)
    return ended.why, [bytes(buffer.data) for buffer in memory.buffers]


def _stress(cases: Sequence[Case], threads: int, rounds: int) -> list[str]:
    """Run kernels on several threads, while all that was compiled is dropped again and again; return what differs from
    a quiet run."""
    quiet = [_outcome(case, 1) for case in cases]
    wrong: list[str] = []

    def work(number: int) -> None:
        chosen = random.Random(number)
        for _ in range(rounds):
            at = chosen.randrange(len(cases))
            compile_module._compile_uncached.cache_clear()
            if _outcome(cases[at], chosen.choice((1, 3))) != quiet[at]:
                wrong.append(f"case {at}")
            gc.collect()

    workers = [threading.Thread(target=work, args=(number,)) for number in range(threads)]
    for one in workers:
        one.start()
    for one in workers:
        one.join()
    return wrong


def _cases(count: int) -> list[Case]:
    """Return kernels that ask Python, and ones that have functions of the machine alike."""
    asked = [fetch_case(), op_case(("lanewise", (BF16, BF16), (BF16,), Text("fdim")), 0)]
    return [*asked, op_case(("sin", (F32,), (F32,), None), 0), *(random_case(seed) for seed in range(count))]


@pytest.mark.slow
def test_kernels_run_while_others_are_compiled_and_dropped() -> None:
    assert _stress(_cases(0), threads=3, rounds=2) == []


@pytest.mark.slow
def test_many_kernels_run_while_others_are_compiled_and_dropped() -> None:
    assert _stress(_cases(20), threads=4, rounds=40) == []
