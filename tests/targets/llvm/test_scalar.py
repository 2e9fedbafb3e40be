"""One thread of a kernel: as PTX, by our reader and the interpreter, it leaves what the kernel does."""

from __future__ import annotations

import os
from collections import Counter

import pytest

from tests.simt.engine.agree import Differs
from tests.simt.engine.kernels import random_case
from tests.targets.llvm.agree import agree_as_ptx
from tests.targets.llvm.examples import OWN, case_of, own_kernels
from tests.targets.llvm.seeded import PTX
from warpsmith.base.errors import InputError

_PROGRAMS = int(os.environ.get("WARPSMITH_PROGRAMS", "60"))
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
    found = Counter(_outcome(seed) for seed in range(_SEED, _SEED + _PROGRAMS))
    assert found[""] >= _PROGRAMS // 4


def _outcome(seed: int) -> str:
    case = random_case(seed)
    if case.launch.warp != 32:
        return "a warp of another width"
    try:
        return agree_as_ptx(case)
    except InputError as error:
        return error.findings[0].message
