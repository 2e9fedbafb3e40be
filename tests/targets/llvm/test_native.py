"""Assembled kernels run in a process of their own, launch after launch on the same arrays."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from tests.flows.journey.begun import begun_step, work_of
from warpsmith.targets.llvm.native import NativeCall, has_avx512, native_call, run_natively
from warpsmith.targets.llvm.own_process import ProcessEndedError
from warpsmith.targets.llvm.vector import write_vectors

pytestmark = pytest.mark.skipif(not has_avx512(), reason="this processor has no AVX-512")


@cache
def _step() -> tuple[str, NativeCall, dict[str, bytes]]:
    work = work_of(begun_step())
    (call,), (kernel,) = work.version.calls, work.version.kernels
    made = native_call(work.version.unit.module, (kernel.name, write_vectors(kernel)), call.launch, call.arrays)
    return work.text(kernel.name, "avx512"), made, {name: array.tobytes() for name, array in work.arrays.items()}


def test_launches_go_on_with_what_the_one_before_left() -> None:
    text, call, arrays = _step()
    left = run_natively([text], [call, call], arrays)
    assert not isinstance(left, str) and left.stop == 0
    first = np.frombuffer(arrays["v"], "<i4") * 5 - 60
    assert np.array_equal(np.frombuffer(left.arrays["v"], "<i4"), first * 5 - 60)


def test_a_text_that_cannot_be_assembled_is_said() -> None:
    _, call, arrays = _step()
    assert "the assembler refuses it" in str(run_natively(["no such thing\n"], [call], arrays))


def test_what_ends_the_process_ends_nothing_else() -> None:
    text, call, arrays = _step()
    with pytest.raises(ProcessEndedError, match="SIGILL"):
        run_natively([text.replace("vzeroupper", "ud2")], [call], arrays)
