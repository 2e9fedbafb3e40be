"""The original: a function of C, compiled by the C compiler of this computer and called in a process of its own.

bitonic.c ──cc -shared──► library ──► a process calls bitonic(64, x) ──► what the arrays hold then
"""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import msgspec
import numpy as np

from warpsmith.flows.journey.call_function import FunctionCall
from warpsmith.flows.journey.reasons import UnableError
from warpsmith.flows.journey.versions import TravelInputs
from warpsmith.kernels.arguments import Array
from warpsmith.run.native.tools import c_compiler
from warpsmith.targets.llvm.own_process import ProcessEndedError, ask_process
from warpsmith.tree.nodes import Function
from warpsmith.tree.types import Scalar

__all__ = ["run_original"]

_LIMIT_S: Final = 60.0
# products and sums are rounded one by one, as every machine here does
_FLAGS: Final = ("-O2", "-ffp-contract=off", "-shared", "-fPIC", "-w")


def run_original(text: str, function: Function, inputs: TravelInputs) -> Mapping[str, Array]:
    """Return what a function of C leaves in the arrays; raises UsageError where there is no compiler, UnableError where
    it cannot be compiled, or its process does not end well."""
    parameters = function.parameters
    given = tuple(one.name if one.name in inputs.arrays else inputs.numbers[one.name] for one in parameters)
    bits = tuple(one.type.bits if isinstance(one.type, Scalar) else 64 for one in parameters)
    arrays = {name: array.tobytes() for name, array in inputs.arrays.items()}
    with TemporaryDirectory() as folder:
        call = FunctionCall(_compile(text, folder), function.symbol.name, given, bits, arrays)
        try:
            answer = ask_process("warpsmith.flows.journey.call_function", msgspec.json.encode(call), _LIMIT_S)
        except ProcessEndedError as error:
            raise UnableError(f"the C program has no result: {error}") from error
    left = msgspec.json.decode(answer, type=dict[str, bytes])
    return {name: np.frombuffer(left[name], array.dtype).reshape(array.shape) for name, array in inputs.arrays.items()}


def _compile(text: str, folder: str) -> str:
    source, library = Path(folder, "original.c"), Path(folder, "original.so")
    source.write_text(text)
    command = [c_compiler(), *_FLAGS, "-o", str(library), str(source)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise UnableError(f"the C compiler refuses it: {done.stderr.strip()[:200]}")
    return str(library)
