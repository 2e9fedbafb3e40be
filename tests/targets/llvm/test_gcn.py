"""The text of AMD's machines, read and run, leaves what the kernel does; bugs in the writer and in the machine are
seen."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import pytest

from tests.simt.engine.agree import Case, Differs
from tests.simt.engine.kernels import random_case
from tests.targets.llvm.agree import agree_as_gcn
from tests.targets.llvm.examples import OWN, all_kernels, case_of, own_kernels
from tests.targets.llvm.seeded import GCN
from warpsmith.base.errors import InputError
from warpsmith.targets.llvm.export import ARCHITECTURES

_PROGRAMS = int(os.environ.get("WARPSMITH_PROGRAMS", "20"))
_SEED = int(os.environ.get("WARPSMITH_SEED", "0"))
ORDERED = ("counter_begins",)
"""Threads write where an atomic operation sends them: which one comes first is nobody's."""
ULP = 2
"""Of floats: exponentials and logarithms are LLVM's here, and the C library's there."""
NOT_COMPARED = ("the interpreter reports it", "lanes may read from lanes that are not there")


@pytest.mark.parametrize("name", own_kernels())
@pytest.mark.parametrize("architecture", ["gfx900", "gfx1100"])
def test_a_kernel_leaves_the_same_memory(name: str, architecture: str) -> None:
    case = case_of(OWN, name)
    assert case is not None
    assert agree_as_gcn(case, architecture) == ""


@pytest.mark.parametrize("title", GCN)
def test_a_bug_is_seen(title: str, monkeypatch: pytest.MonkeyPatch) -> None:
    kernel, put_in = GCN[title]
    case = case_of(OWN, kernel)
    assert case is not None
    put_in(monkeypatch)
    with pytest.raises(Differs):
        agree_as_gcn(case, "gfx900")


@pytest.mark.parametrize("architecture", ARCHITECTURES["gcn"])
def test_random_kernels_leave_the_same_memory(architecture: str) -> None:
    number = ARCHITECTURES["gcn"].index(architecture)
    found = Counter(_outcome(random_case(seed), architecture) for seed in range(4 * number, 4 * number + 2))
    assert set(found) <= {"", "refused", *NOT_COMPARED}


@pytest.mark.slow
@pytest.mark.parametrize("architecture", ARCHITECTURES["gcn"])
def test_many_random_kernels_leave_the_same_memory(architecture: str) -> None:
    first = _SEED + _PROGRAMS * ARCHITECTURES["gcn"].index(architecture)
    found = Counter(_outcome(random_case(seed), architecture) for seed in range(first, first + _PROGRAMS))
    assert set(found) <= {"", "refused", *NOT_COMPARED}
    assert found[""] >= _PROGRAMS // 5


@pytest.mark.slow
@pytest.mark.parametrize("file", sorted({path for path, _ in all_kernels()}), ids=lambda path: Path(path).name)
def test_kernels_of_examples_leave_the_same_memory(file: str) -> None:
    found: Counter[str] = Counter()
    for path, name in all_kernels():
        case = case_of(path, name) if path == file and name not in ORDERED else None
        if case is not None:
            for architecture in ("gfx900", "gfx1100"):
                found[_outcome(case, architecture)] += 1
    assert set(found) <= {"", "refused", *NOT_COMPARED}


def _outcome(case: Case, architecture: str) -> str:
    try:
        return agree_as_gcn(case, architecture, ulp=dict.fromkeys(case.arrays, ULP))
    except InputError as error:
        assert error.findings[0].rule == "TGT001"
        return "refused"
