"""A kernel is run by the interpreter and as text of a machine, and both must leave the same memory.

AVX-512    the text through the assembler, in this process (native.py)
PTX        the text through our reader, run by the interpreter: the same writer of one thread makes AMD's text
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import Any

import numpy as np
from msgspec.structs import replace

from tests.simt.engine.agree import Case, Differs
from tests.targets.llvm.native import has_avx512, host_processor, run_text
from warpsmith.base.errors import InputError
from warpsmith.base.source import SourceFile
from warpsmith.front.ptx.read import read_ptx
from warpsmith.simt.gcn.run import run_gcn
from warpsmith.simt.gcn.start import GcnTask
from warpsmith.simt.gcn.text.read import read_gcn
from warpsmith.simt.interpreter import interpret
from warpsmith.ssa.nodes import Function
from warpsmith.targets.llvm.back_end import BackEnd, answer
from warpsmith.targets.llvm.listing import listing_of
from warpsmith.targets.llvm.machines import AMD, Amd, Nvidia
from warpsmith.targets.llvm.scalar import write_thread
from warpsmith.targets.llvm.vector import VECTOR_PASSES, lanes_of_kernel, write_vectors

__all__ = ["agree_as_gcn", "agree_as_ptx", "agree_natively", "function_of", "interpreted"]

Held = Mapping[str, bytes]
Array = np.ndarray[Any, Any]


def function_of(case: Case) -> Function:
    """Return the kernel of a case."""
    function = case.module.function(case.name)
    assert function is not None
    return function


def interpreted(case: Case, width: int) -> Held | None:
    """Return what the interpreter leaves in memory, with warps of so many lanes; None where the run has no meaning."""
    memory, launch = replace(case, launch=replace(case.launch, warp=width)).placed(checks=True)
    outcome = interpret(case.module, case.name, launch, memory)
    wrong = [one for one in outcome.problems if one.kind != "overflow"]
    if wrong or outcome.conflicts or not outcome.complete:
        return None
    return {buffer.name: bytes(buffer.data) for buffer in memory.buffers}


def agree_natively(case: Case, *, ulp: Mapping[str, int] | None = None) -> str:
    """Run a kernel as AVX-512 text; return "" where both leave the same, else why the run has no meaning. `ulp`: by how
    much floats of a buffer may differ. Raises Differs, and InputError where it is refused."""
    function = function_of(case)
    lanes = lanes_of_kernel(function)
    expected = interpreted(case, lanes)
    if expected is None:
        return "the interpreter reports it"
    code = write_vectors(function)
    processor = "skylake-avx512" if has_avx512() else host_processor()
    end = BackEnd("x86_64-unknown-linux-gnu", processor, "-prefer-256-bit", VECTOR_PASSES)
    text = listing_of(answer(str(code.module), end)[1], code.files, "#").text
    stop, found = run_text(text, code, replace(case, launch=replace(case.launch, warp=lanes)))
    if stop:
        raise Differs(f"it stops: {stop}")
    _compare(found, expected, ulp or {})
    return ""


def agree_as_ptx(case: Case, *, ulp: Mapping[str, int] | None = None, architecture: str = "sm_80") -> str:
    """Run a kernel as the PTX that LLVM makes of it; see `agree_natively`."""
    function = function_of(case)
    expected = interpreted(case, case.launch.warp)
    if expected is None:
        return "the interpreter reports it"
    made = write_thread(case.module, function, Nvidia())
    text = answer(str(made.module), BackEnd(Nvidia.triple, architecture))[1]
    module, findings = read_ptx(SourceFile("k.ptx", text))
    if findings:
        raise InputError(*findings)
    (kernel,) = (one for one in module.functions if one.kernel)
    given = {p.name: other.name for p, other in zip(function.parameters, kernel.parameters, strict=True)}
    arrays = {given[name]: held for name, held in case.arrays.items() if name in given}
    arguments = {given[name]: held for name, held in case.launch.arguments.items() if name in given}
    launch = replace(case.launch, arguments=arguments, max_steps=10 * case.launch.max_steps)
    found = interpreted(Case(module, kernel.name, launch, arrays), case.launch.warp)
    if found is None:
        raise Differs("the interpreter reports the PTX")
    _compare({name: found[other] for name, other in given.items() if other in found}, expected, ulp or {})
    return ""


def _compare(found: Held, expected: Held, ulp: Mapping[str, int]) -> None:
    for name, data in found.items():
        one, other = (np.frombuffer(held, "<i4") for held in (data[: len(data) // 4 * 4], expected[name]))
        if data != expected[name] and not (ulp.get(name) and _near(one, other, ulp[name])):
            at = next(n for n, (a, b) in enumerate(zip(data, expected[name], strict=True)) if a != b) // 4 * 4
            values = [struct.unpack("<I", held[at : at + 4])[0] for held in (data, expected[name])]
            raise Differs(f"{name}[{at // 4}]: {values[0]:08x} is not {values[1]:08x}")


def _near(one: Array, other: Array, ulp: int) -> bool:
    """Whether floats are so many steps apart at most; NaN are all alike."""
    steps = [np.where(held < 0, -(held.astype("<i8") & 0x7FFFFFFF), held) for held in (one, other)]
    nan = [np.isnan(held.view("<f4")) for held in (one, other)]
    return bool(np.all((np.abs(steps[0] - steps[1]) <= ulp) | (nan[0] & nan[1])))


def agree_as_gcn(case: Case, architecture: str, *, ulp: Mapping[str, int] | None = None) -> str:
    """Run a kernel as the text that `lower` prints for one of AMD's machines; see `agree_natively`. Lanes that exchange
    are those of a warp of 32."""
    function = function_of(case)
    exchanges = lanes_of_kernel(function) == 32
    if exchanges and case.launch.threads % 32:
        return "lanes may read from lanes that are not there"
    expected = interpreted(case, 32 if exchanges else case.launch.warp)
    if expected is None:
        return "the interpreter reports it"
    machine = Amd(AMD[architecture][1])
    made = write_thread(case.module, function, machine)
    end = BackEnd(machine.triple, architecture, machine.features(architecture))
    text = listing_of(answer(str(made.module), end)[1], made.files, ";").text
    program = read_gcn(SourceFile("k.s", text))
    memory, launch = case.placed(checks=False)
    task = GcnTask(program, program.kernels[0], replace(launch, max_steps=4 * launch.max_steps))
    outcome = run_gcn(task, memory)
    if outcome.stop is not None:
        raise Differs(f"it stops: {outcome.stop.message}: {program.instructions[outcome.stop.index].span.text}")
    found = {buffer.name: bytes(buffer.data) for buffer in memory.buffers}
    _compare({name: held for name, held in found.items() if name in expected}, expected, ulp or {})
    return ""
