"""The text of AVX-512 assembled, loaded into this process and run: the launch is made of arrays that Python has.

What runs is the text that `lower` prints, through the system's assembler; where the processor has no AVX-512, the same
LLVM IR for the processor that is here.
"""

from __future__ import annotations

import ctypes
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.simt.engine.agree import Case
from warpsmith.targets.llvm.native import assemble_library, has_avx512, native_call, run_here
from warpsmith.targets.llvm.vector import VectorCode

__all__ = ["assembled", "has_avx512", "host_processor", "run_text"]


def host_processor() -> str:
    """Return LLVM's name of this processor."""
    import llvmlite.binding as llvm

    return str(llvm.get_host_cpu_name())


def assembled(text: str, folder: str) -> ctypes.CDLL:
    """Return the text as a library of this process."""
    library = assemble_library(text, folder, "k")
    assert isinstance(library, Path), library
    return ctypes.CDLL(str(library))


def run_text(text: str, code: VectorCode, case: Case) -> tuple[int, dict[str, bytes]]:
    """Run a launch; return why it stopped (0: it did not), and what each buffer holds then."""
    held = {name: bytearray(data) for name, (data, _) in case.arrays.items()}
    call = native_call(case.module, (case.name, code), case.launch, {name: name for name in held})
    with TemporaryDirectory() as folder:
        variables: dict[str, bytearray] = {}
        stop = run_here(assembled(text, folder), call, held, variables)
    return stop, {name: bytes(data) for name, data in {**variables, **held}.items()}
