"""A kernel of the corpus is run as it is, and as the Brook+ that is written of it, read back; both write the same."""

from __future__ import annotations

import struct
from functools import cache
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from msgspec.structs import replace

from tests.front.brook.running import launch
from tests.simt.engine.agree import Case
from tests.targets.llvm.agree import interpreted
from tests.targets.llvm.examples import all_kernels, case_of, kernel_module
from warpsmith.base.source import SourceFile
from warpsmith.front.brook.nodes import BrookParameter
from warpsmith.front.brook.read import read_brook
from warpsmith.lower.program import lower
from warpsmith.ssa.verify import faults
from warpsmith.targets.brook.export import write_brook
from warpsmith.tree.nodes import Function
from warpsmith.tree.types import is_float

__all__ = ["brook_agrees", "kernel_tree", "kernels_with_trees", "written"]

_WARP: Final = 32


@cache
def kernel_tree(path: str, name: str) -> Function | None:
    """Return the tree of a kernel, None where there is none (PTX)."""
    for one in kernel_module(path).functions:
        if one.device is not None and one.device.kernel and (one.symbol.label or one.symbol.name) == name:
            return one
    return None


def kernels_with_trees() -> list[tuple[str, str]]:
    """Return the files and names of the corpus's kernels in CUDA and OpenCL."""
    return [(path, name) for path, name in all_kernels() if kernel_tree(path, name) is not None]


def written(path: str, name: str) -> str:
    """Return a kernel as Brook+; raises InputError."""
    kernel = kernel_tree(path, name)
    assert kernel is not None
    return write_brook(kernel, kernel_module(path).functions)


def brook_agrees(path: str, name: str, text: str) -> str:
    """Return "" where both write the same, else what differs, or why that cannot be said."""
    case = case_of(path, name)
    if case is None:
        return "no launch of it has a meaning"
    rows = "// the out streams are as wide as " in text
    case = _in_a_square(case) if rows else case
    expected = interpreted(case, _WARP)
    if expected is None:
        return "the launch in a square has no meaning"
    read = read_brook(SourceFile("k.br", text))
    assert not read.findings, [one.message for one in read.findings]
    (kernel,) = read.kernels.values()
    module = lower(read.program).module
    assert not any(faults(function) for function in module.functions)
    width = _number(case, text.partition("as wide as ")[2].partition("\n")[0]) if rows else 0
    threads = [grid * block for grid, block in zip(case.launch.grid, case.launch.block, strict=True)]
    if rows and width != threads[0]:
        return "the launch has not as many threads as a row has elements"
    shape = (threads[1], threads[0]) if rows else (1, threads[0] * threads[1])
    if not rows and threads[1] > 1:
        return "the launch has two axes"
    arrays: dict[str, npt.NDArray[Any]] = {}
    numbers: dict[str, Any] = {}
    for one in kernel.definition.parameters:
        original = one.name.removesuffix("_before").rstrip("_")
        original = original if original in (*case.arrays, *case.launch.arguments) else one.name
        if one.kind == "constant":
            numbers[one.name] = _number(case, original)
        else:
            arrays[one.name] = _array(case, original, one)
    found = launch(module, kernel.definition.name, arrays, numbers, shape)
    for one in kernel.definition.parameters:
        if one.kind == "out":
            original = one.name if one.name in expected else one.name.rstrip("_")
            count = shape[0] * shape[1] * found[one.name].itemsize
            if found[one.name].tobytes()[:count] != expected[original][:count]:
                return f"{one.name} differs"
    return ""


def _in_a_square(case: Case) -> Case:
    """Return a case with as many threads along x as rows have elements: all whole numbers are 8."""
    function = case.module.function(case.name)
    assert function is not None
    whole = {one.name: one.bytes for one in function.parameters if one.type is not None and one.type.kind == "integer"}
    given = {name: (8).to_bytes(whole[name], "little") if name in whole else data
             for name, data in case.launch.arguments.items()}  # fmt: skip
    return replace(case, launch=replace(case.launch, grid=(1, 1, 1), block=(8, 8, 1), arguments=given))


def _kind(one: BrookParameter) -> str:
    return f"f{getattr(one.type, 'bits', 32) // 8}" if is_float(one.type) else "i4"


def _array(case: Case, name: str, one: BrookParameter) -> npt.NDArray[Any]:
    return np.frombuffer(case.arrays[name][0], f"<{_kind(one)}").copy()


def _number(case: Case, name: str) -> Any:
    data = case.launch.arguments[name]
    parameter = next(one for one in case.module.function(case.name).parameters if one.name == name)  # type: ignore[union-attr]
    if parameter.type is not None and parameter.type.kind == "float":
        return struct.unpack("<f" if len(data) == 4 else "<d", data)[0]
    return int.from_bytes(data, "little", signed=True)
