"""AVX-512 that `lower` writes is assembled and run natively, where the processor has it."""

from __future__ import annotations

import pytest

from tests.flows.journey.begun import begun_step, work_of
from tests.flows.journey.machines.ran import step_by, step_with_text
from warpsmith.flows.journey.machines import avx512
from warpsmith.flows.journey.machines.avx512 import run_avx512_natively
from warpsmith.flows.journey.reasons import StoppedError, UnableError
from warpsmith.targets.llvm.native import has_avx512

natively = pytest.mark.skipif(not has_avx512(), reason="this processor has no AVX-512")


@natively
def test_the_small_kernel_is_computed() -> None:
    found = step_by(run_avx512_natively)
    assert (found.elements, found.differ) == (60, 0), found


@natively
def test_an_instruction_that_is_wrong_is_seen() -> None:
    assert step_with_text(run_avx512_natively, "avx512", "vpsubd", "vpaddd").differ


@natively
def test_a_text_that_ends_its_process_is_stopped() -> None:
    with pytest.raises(StoppedError, match="SIG"):
        step_with_text(run_avx512_natively, "avx512", "vzeroupper", "ud2")


@natively
def test_a_text_that_is_none_is_no_run() -> None:
    with pytest.raises(UnableError, match="the assembler refuses it"):
        step_with_text(run_avx512_natively, "avx512", "vzeroupper", "no such thing")


def test_a_processor_without_it_runs_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(avx512, "has_avx512", lambda: False)
    with pytest.raises(UnableError, match="has no AVX-512"):
        run_avx512_natively(work_of(begun_step()))
