"""Every machine on the same input, each output compared with the original's.

original     the C function, run natively; where there is none, or no compiler: the interpreter, which looks for races
the others   equal / differs / stopped (it did what it must not) / not run, and why
             undecided where it differs and the order of threads matters, so that both may be right
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Final

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from warpsmith.base.errors import WarpsmithError
from warpsmith.flows.journey.compared import Compared, compare
from warpsmith.flows.journey.machines.every import MACHINES, TravelMachine
from warpsmith.flows.journey.machines.work import MachineWork
from warpsmith.flows.journey.origin import Begun
from warpsmith.flows.journey.original import run_original
from warpsmith.flows.journey.reasons import StoppedError, UnableError, reason_of
from warpsmith.flows.journey.versions import Version
from warpsmith.flows.journey.written import Texts
from warpsmith.kernels.arguments import Array
from warpsmith.report.journey.model import MachineRow, MachineStage, Verdict
from warpsmith.simt.engine.engine import order_matters
from warpsmith.simt.engine.reading.calls import called_functions
from warpsmith.simt.interpreter import interpret
from warpsmith.simt.memory import LaunchMemory
from warpsmith.targets.llvm.vector import lanes_of_kernel

__all__ = ["Expected", "find_reference", "judge", "run_machines"]


class Expected(Struct, frozen=True, eq=False):
    """What all others are compared with; `why` there is nothing to compare with."""

    name: str
    arrays: Mapping[str, Array]
    why: str = ""


def find_reference(begun: Begun) -> Expected:
    """Return what the original leaves."""
    if begun.original is not None:
        subject = begun.subject
        try:
            arrays = run_original(subject.loops_source, begun.original, begun.inputs)
            return Expected(f"{subject.loops}, compiled and run natively", arrays)
        except (UnableError, WarpsmithError) as error:
            why = reason_of(error)
            if not begun.versions:
                return Expected(subject.loops, {}, why)
            found = _interpreted(begun.versions[-1], begun)
            return replace(found, name=f"{found.name}, since {subject.loops} cannot be run: {why}")
    return _interpreted(begun.versions[-1], begun)


def _interpreted(version: Version, begun: Begun) -> Expected:
    """Return what the interpreter leaves, if nothing is wrong with the kernel on this input."""
    name = f"{version.file.path}, by the interpreter"
    now = dict(begun.inputs.arrays)
    for call in version.calls:
        memory = LaunchMemory()
        places = {p: memory.allocate(p, now[array].tobytes()).address for p, array in call.arrays.items()}
        arguments = {**call.launch.arguments, **{p: at.to_bytes(8, "little") for p, at in places.items()}}
        launch = replace(call.launch, arguments=arguments, max_steps=_MOST_STEPS)
        outcome = interpret(version.unit.module, call.kernel, launch, memory)
        if outcome.conflicts:
            return Expected(name, {}, "threads race on this input, so that no output is the right one")
        unset = next((one for one in outcome.problems if one.kind == "uninitialized"), None)
        if unset is not None:
            return Expected(name, {}, f"the kernel reads what was never written: {unset.message}")
        if not outcome.complete:
            return Expected(name, {}, f"the kernel is stopped on this input: {outcome.problems[-1].message}")
        for buffer in memory.buffers:
            if buffer.name in call.arrays:
                held = now[call.arrays[buffer.name]]
                now[call.arrays[buffer.name]] = np.frombuffer(bytes(buffer.data), held.dtype).reshape(held.shape)
    return Expected(name, now)


_MOST_STEPS: Final = 2_000_000
_OF_A_WARP: Final = 32


def run_machines(begun: Begun, texts: Mapping[str, Texts], reference: Expected) -> MachineStage:
    """Return what every machine leaves, compared."""
    if reference.why:
        return MachineStage(reference=reference.name, problem=reference.why)
    rows = tuple(
        _row(machine, MachineWork(version, begun.inputs.arrays, texts[version.name]), reference)
        for version in begun.versions
        for machine in MACHINES
    )
    changed = compare(begun.inputs.arrays, reference.arrays).differ
    return MachineStage(reference=reference.name, changed=changed, rows=rows)


def _row(machine: TravelMachine, work: MachineWork, reference: Expected) -> MachineRow:
    begin = time.perf_counter()
    row = MachineRow(work.version.name, machine.name, machine.target, "not run")
    try:
        found = compare(machine.run(work), reference.arrays)
        verdict, why = judge(found, work.version)
        row = replace(row, verdict=verdict, elements=found.elements, differ=found.differ, ulp=found.ulp, why=why)
    except StoppedError as error:
        row = replace(row, verdict="stopped", why=reason_of(error))
    except (UnableError, WarpsmithError) as error:
        row = replace(row, why=reason_of(error))
    return replace(row, seconds=time.perf_counter() - begin)


def judge(found: Compared, version: Version | None = None) -> tuple[Verdict, str]:
    """Return what a comparison says of a version, and why; of no element it says nothing."""
    if not found.elements:
        return "not run", "there is no element to compare"
    if not found.differ:
        return "equal", ""
    open_ = _why_open(version) if version is not None else ""
    return ("undecided", f"{found.first}; {open_}") if open_ else ("differs", found.first)


def _why_open(version: Version) -> str:
    """Return why another output may be right as well; "" where none is."""
    module = version.unit.module
    for call in version.calls:
        kernel = module.function(call.kernel)
        assert kernel is not None
        order = order_matters(kernel, called_functions(module, kernel))
        if order:
            return f"the kernel has {order}"
        if lanes_of_kernel(kernel) == _OF_A_WARP and call.launch.threads % _OF_A_WARP:
            return "lanes may read from lanes of their warp that are not there"
    return ""
