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

from warpsmith.flows.journey.inputs import TravelInputs
from warpsmith.flows.journey.machines.call_function import CALLED, FunctionCall
from warpsmith.flows.journey.reasons import UnableError
from warpsmith.front.inputs import Source
from warpsmith.kernels.arguments import Array
from warpsmith.run.native.tools import c_compiler
from warpsmith.targets.llvm.own_process import ProcessEndedError, ask_process
from warpsmith.tree.nodes import Function
from warpsmith.tree.types import Scalar, Type

__all__ = ["run_original"]

_LIMIT_S: Final = 60.0
# products and sums are rounded one by one, as every machine here does; what the function does not need, and calls what
# is in other files, is left out
_FLAGS: Final = (
    "-O2", "-ffp-contract=off", "-shared", "-fPIC", "-w", "-fvisibility=hidden", "-ffunction-sections",
    "-fdata-sections", "-Wl,--gc-sections",
)  # fmt: skip


def run_original(source: Source, function: Function, inputs: TravelInputs) -> Mapping[str, Array]:
    """Return what a function of C leaves in the arrays; `source` has its text. Raises UsageError where there is no
    compiler, UnableError where it cannot be compiled, or its process does not end well."""
    parameters = function.parameters
    given = tuple(one.name if one.name in inputs.arrays else inputs.numbers[one.name] for one in parameters)
    kinds = tuple(_kind(one.type) for one in parameters)
    arrays = {name: array.tobytes() for name, array in inputs.arrays.items()}
    with TemporaryDirectory() as folder:
        call = FunctionCall(_compile(source, function.symbol.name, folder), CALLED, given, kinds, arrays)
        try:
            answer = ask_process("warpsmith.flows.journey.machines.call_function", msgspec.json.encode(call), _LIMIT_S)
        except ProcessEndedError as error:
            # of an error of Python's the last line says what it is
            raise UnableError(f"the C program has no result: {str(error).splitlines()[-1]}") from error
    left = msgspec.json.decode(answer, type=dict[str, bytes])
    return {name: np.frombuffer(left[name], array.dtype).reshape(array.shape) for name, array in inputs.arrays.items()}


def _kind(type: Type) -> str:
    """Return how an argument is passed: a number by its bits, and whether it is a float; all else as an address."""
    return f"{'f' if type.kind == 'float' else 'i'}{max(32, type.bits)}" if isinstance(type, Scalar) else "address"


def _compile(source: Source, function: str, folder: str) -> str:
    copy, library = Path(folder, "original.c"), Path(folder, "original.so")
    # a variable leads to the function, which may be static
    text = f'{source.text}\n__attribute__((visibility("default"))) void *{CALLED} = (void *){function};\n'
    copy.write_bytes(text.encode("latin-1"))
    beside = f"-I{Path(source.path).absolute().parent}"
    command = [c_compiler(), *_FLAGS, *source.arguments, beside, "-o", str(library), str(copy), "-lm"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise UnableError(f"the C compiler refuses it: {done.stderr.strip()[:200]}")
    return str(library)
