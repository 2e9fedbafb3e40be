"""One thread of a kernel: as PTX, by our reader and the interpreter, it leaves what the kernel does."""

from __future__ import annotations

import os
from collections import Counter
from itertools import count, islice

import pytest

from tests.simt.engine.agree import Case, Differs
from tests.simt.engine.kernels import random_case
from tests.targets.llvm.agree import agree_as_ptx
from tests.targets.llvm.examples import OWN, case_of, own_kernels
from tests.targets.llvm.seeded import PTX
from warpsmith.base.errors import InputError

_PROGRAMS = int(os.environ.get("WARPSMITH_PROGRAMS", "20"))
_SEED = int(os.environ.get("WARPSMITH_SEED", "0"))


@pytest.mark.parametrize("name", own_kernels())
def test_a_kernel_leaves_the_same_memory(name: str) -> None:
    case = case_of(OWN, name)
    assert case is not None
    assert agree_as_ptx(case) == ""


@pytest.mark.parametrize("title", PTX)
def test_a_bug_is_seen(title: str, monkeypatch: pytest.MonkeyPatch) -> None:
    kernel, put_in = PTX[title]
    case = case_of(OWN, kernel)
    assert case is not None
    put_in(monkeypatch)
    with pytest.raises(Differs):
        agree_as_ptx(case)


@pytest.mark.slow
def test_random_kernels_leave_the_same_memory() -> None:
    cases = (random_case(seed) for seed in count(_SEED))
    found = Counter(map(_outcome, islice((case for case in cases if case.launch.warp == 32), _PROGRAMS)))
    assert found[""] >= _PROGRAMS // 4


def _outcome(case: Case) -> str:
    try:
        return agree_as_ptx(case)
    except InputError as error:
        return error.findings[0].message
