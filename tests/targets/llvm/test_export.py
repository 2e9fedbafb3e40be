"""Kernels as text of each machine: what is written assembles, and leaves the same memory."""

from __future__ import annotations

import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from tests.simt.engine.agree import Case
from tests.targets.llvm.agree import agree_as_ptx, agree_natively
from tests.targets.llvm.assembler import assembler_of, refused_by_assembler
from tests.targets.llvm.examples import OWN, all_kernels, case_of, kernel_module
from warpsmith.base.errors import InputError
from warpsmith.targets.llvm.export import ARCHITECTURES, lower_by_llvm

ORDERED = ("counter_begins",)
"""Threads write where an atomic operation sends them: which one comes first is nobody's."""
ULP = 2
"""Of floats, where a function of PTX is computed in another way."""


@pytest.mark.parametrize("architecture", ARCHITECTURES["gcn"])
def test_amds_text_assembles(architecture: str) -> None:
    unit = kernel_module(OWN)
    function = unit.module.function("exchanged")
    assert function is not None
    text = lower_by_llvm(unit.module, function, architecture).text
    assert "; kernels.cu:" in text
    assert "ds_bpermute_b32" in text
    if assembler_of(architecture) is not None:
        assert refused_by_assembler(text, architecture) == ""


def test_a_branch_is_an_exec_mask() -> None:
    unit = kernel_module(OWN)
    function = unit.module.function("sparse")
    assert function is not None
    for architecture, op in (("gfx900", "s_and_saveexec_b64"), ("gfx1030", "v_cmpx")):
        text = lower_by_llvm(unit.module, function, architecture).text
        assert op in text
        assert "s_cbranch_execz" in text


@pytest.mark.slow
@pytest.mark.parametrize("architecture", [one for one in ARCHITECTURES["gcn"] if assembler_of(one) is not None])
def test_kernels_of_examples_assemble_or_are_refused(architecture: str) -> None:
    written = 0
    for path, name in all_kernels():
        unit = kernel_module(path)
        function = unit.module.function(name)
        assert function is not None
        try:
            made = lower_by_llvm(unit.module, function, architecture)
        except InputError as error:
            assert error.findings[0].span is not None
        else:
            assert refused_by_assembler(made.text, architecture) == ""
            written += 1
    assert written >= 200


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("ptxas") is None, reason="ptxas is not installed")
def test_ptx_of_examples_assembles_or_is_refused() -> None:
    written = 0
    for path, name in all_kernels():
        unit = kernel_module(path)
        function = unit.module.function(name)
        assert function is not None
        try:
            made = lower_by_llvm(unit.module, function, "sm_80")
        except InputError as error:
            assert error.findings[0].span is not None
            continue
        command = ["ptxas", "-arch=sm_80", "-o", "/dev/null", "-"]
        done = subprocess.run(command, input=made.text, text=True, capture_output=True, check=False)
        assert done.returncode == 0, f"{path} {name}: {done.stderr[:300]}"
        written += 1
    assert written >= 200


@pytest.mark.slow
@pytest.mark.parametrize("file", sorted({path for path, _ in all_kernels()}), ids=lambda path: Path(path).name)
def test_kernels_of_examples_leave_the_same_memory(file: str) -> None:
    found: Counter[str] = Counter()
    for path, name in all_kernels():
        case = case_of(path, name) if path == file and name not in ORDERED else None
        if case is not None:
            found[agree_natively(case)] += 1
            found[_as_ptx(case)] += 1
    assert set(found) <= {"", "refused"}


def _as_ptx(case: Case) -> str:
    try:
        return agree_as_ptx(case, ulp=dict.fromkeys(case.arrays, ULP))
    except InputError as error:
        assert error.findings[0].span is not None
        return "refused"
