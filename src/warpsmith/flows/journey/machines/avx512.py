"""AVX-512 as `lower` writes it, natively, where this processor has it."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from warpsmith.flows.journey.machines.work import MachineWork
from warpsmith.flows.journey.reasons import StoppedError, UnableError
from warpsmith.kernels.arguments import Array
from warpsmith.targets.llvm.native import has_avx512, native_call, run_natively
from warpsmith.targets.llvm.own_process import ProcessEndedError
from warpsmith.targets.llvm.vector import write_vectors

__all__ = ["run_avx512_natively"]


def run_avx512_natively(work: MachineWork) -> Mapping[str, Array]:
    """Return what the AVX-512 text of the kernels leaves; raises UnableError where it cannot be run here."""
    kernels = work.version.kernels
    texts = [work.text(kernel.name, "avx512") for kernel in kernels]
    if not has_avx512():
        raise UnableError("this processor has no AVX-512, and the reader of its text knows registers and masks alone")
    codes = {kernel.name: write_vectors(kernel) for kernel in kernels}
    numbers = {kernel.name: number for number, kernel in enumerate(kernels)}
    module = work.version.unit.module
    calls = [
        native_call(module, (call.kernel, codes[call.kernel]), call.launch, call.arrays, numbers[call.kernel])
        for call in work.version.calls
    ]
    try:
        made = run_natively(texts, calls, {name: array.tobytes() for name, array in work.arrays.items()})
    except ProcessEndedError as error:
        raise StoppedError(f"the run was stopped: {error}") from error
    if isinstance(made, str):
        raise UnableError(made)
    if made.stop:
        raise StoppedError("the run was stopped: not all lanes of a block come to a barrier")
    return {
        name: np.frombuffer(made.arrays[name], array.dtype).reshape(array.shape) for name, array in work.arrays.items()
    }
