"""What recorded launches count when the SIMT machine runs them, and how long they are predicted to take.

Arrays hold random numbers. Of a kernel with more than MOST different launches, MOST are run that lie evenly among them,
and stand for the others.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator
from typing import Final

from benchmarks.against.launches import Launched, Recorded
from msgspec import Struct

from warpsmith.analysis.counts.predicted import PredictedTime
from warpsmith.analysis.counts.prediction import HeldKernel, predict_launch
from warpsmith.analysis.resources.resources import resources
from warpsmith.analysis.uniformity.facts import LaunchShape
from warpsmith.base.clock import Clock
from warpsmith.base.findings import Finding
from warpsmith.flows.simulate import SimulateOptions, simulate_unit
from warpsmith.kernels.units import KernelFile, KernelUnit, read_unit
from warpsmith.machine.devices import Device
from warpsmith.machine.time.coarse import copy_seconds
from warpsmith.ssa.graph import Graph

__all__ = ["COUNTED", "PREDICTED", "Sums", "arguments_of", "count"]

MOST: Final = 12
_TYPES: Final = {
    "double": "f64", "float": "f32", "int": "i32", "unsigned int": "u32", "long": "i64", "long long": "i64",
    "unsigned char": "u8", "char": "i8", "unsigned long long": "u64", "short": "i16",
}  # fmt: skip
_BYTES: Final = {name: int(name[1:]) // 8 for name in _TYPES.values()}
_PARAMETER: Final = re.compile(
    r"(?:const )?((?:unsigned |long )?\w+)(?: const)? *\(?\*+ *(?:const )?(?:__restrict__ )?(\w+)"
)
_TYPEDEF: Final = re.compile(r"^typedef ((?:unsigned |long )?\w+) (\w+);", re.M)
_HEAD: Final = r"__global__ void (?:__launch_bounds__\(\d+\) )?{}\((.*?)\)\s*\{{"

COUNTED: Final = ("sectors", "instructions", "unrolled", "passes", "launches", "kernels")
PREDICTED: Final = ("launches", "kernels", "busy", "copies", "total")
"""32-byte sectors of global memory, instructions of warps, as the text is written and where loops are unrolled as
compilers unroll them (0: not known), passes of shared memory, launches; predicted seconds of kernels, of them what is
not the launch itself, of copies between host and device, of kernels and copies."""


class Sums(Struct):
    """Counters of all launches of a program; `unpredicted`: why a kernel has no time."""

    values: dict[str, float]
    unpredicted: str = ""


def count(text: str, recorded: Recorded, gpu: Device, *, run: bool = True) -> Sums:
    """Return the counters of a program whose kernels stand in `text`, without `run` launches and times alone; raises
    RuntimeError where a kernel cannot be run."""
    unit = read_unit(KernelFile("kernels.cu", "cuda", (), text))
    if isinstance(unit, Finding):
        raise RuntimeError(unit.message)
    sums = Sums(dict.fromkeys((*COUNTED, *PREDICTED), 0.0))
    for launched, times in _chosen(recorded.launches):
        values = _simulated(unit, text, launched, gpu) if run else {}
        predicted = _predicted(unit, launched, gpu)
        seconds = 0.0 if predicted.prediction is None else predicted.prediction.seconds
        if predicted.prediction is None:
            sums.unpredicted = sums.unpredicted or f"{launched.kernel}: {', '.join(predicted.lacks)}"
        busy = max(0.0, seconds - 1e-9 * gpu.launch_ns)
        work = None if predicted.forks else predicted.work
        values["unrolled"] = math.nan if work is None else work.instructions.issued
        for name, value in {**values, "kernels": seconds, "busy": busy, "launches": 1.0}.items():
            sums.values[name] += times * value
    if math.isnan(sums.values["unrolled"]):
        sums.values["unrolled"] = 0.0
    sums.values["copies"] = copy_seconds(gpu, recorded.bytes, recorded.copies)
    sums.values["total"] = sums.values["kernels"] + sums.values["copies"]
    return sums


def _chosen(launches: Counter[Launched]) -> Iterator[tuple[Launched, float]]:
    """Yield the launches to be run, each with how many it stands for."""
    by_kernel: dict[str, list[Launched]] = {}
    for launched in launches:
        if all((*launched.grid, *launched.block)):
            by_kernel.setdefault(launched.kernel, []).append(launched)
    for different in by_kernel.values():
        for number in range(few := min(MOST, len(different))):
            part = different[number * len(different) // few : (number + 1) * len(different) // few]
            yield part[len(part) // 2], float(sum(launches[one] for one in part))


def _simulated(unit: KernelUnit, text: str, launched: Launched, gpu: Device) -> dict[str, float]:
    given = tuple(arguments_of(unit, text, launched))
    options = SimulateOptions(
        launched.kernel, launched.block, launched.grid, given, device=gpu.name, checks=(), workers=2, max_steps=10**11
    )
    report = simulate_unit(unit, "kernels.cu", options, Clock())
    if report.status not in ("ok", "pass") and report.exit_code not in (0, 1):
        told = "; ".join(finding.message for finding in report.diagnostics) or report.status
        raise RuntimeError(f"{launched.kernel} {given}: {told}")
    assert report.work is not None
    moved = [row for row in report.memory if row.space == "global"]
    shared = [row for row in report.memory if row.space == "shared"]
    return {
        "sectors": float(sum(row.sectors for row in moved)),
        "instructions": float(report.work.warp_instructions),
        "passes": float(sum(row.requests + row.bank_conflicts for row in shared)),
    }


def _predicted(unit: KernelUnit, launched: Launched, gpu: Device) -> PredictedTime:
    """Return the predicted time of a launch."""
    function = unit.module.function(launched.kernel)
    assert function is not None
    held = resources((unit.module, function, Graph.of(function)), gpu, launched.block, 0, None)
    pairs = zip(function.parameters, launched.arguments, strict=True)
    sizes = {p.name: int(word[2:]) for p, word in pairs if word[0] == "i"}
    kernel = HeldKernel(unit.module, function, gpu, held)
    return predict_launch(kernel, LaunchShape(launched.block, launched.grid, sizes), both=True)


def arguments_of(unit: KernelUnit, text: str, launched: Launched) -> Iterator[str]:
    """Yield the arguments of a launch as `simulate` takes them."""
    function = unit.module.function(launched.kernel)
    assert function is not None
    head = re.search(_HEAD.format(re.escape(launched.kernel)), text, re.S)
    assert head is not None, launched.kernel
    spelled = {name: type for type, name in _TYPEDEF.findall(text)}
    types = {name: _TYPES.get(spelled.get(type, type), "") for type, name in _PARAMETER.findall(head[1])}
    for parameter, word in zip(function.parameters, launched.arguments, strict=True):
        kind, value = word[0], word[2:]
        if kind != "p":
            yield f"{parameter.name}={value}"
            continue
        type = types[parameter.name]
        yield f"{parameter.name}=rand:{type}[{max(1, int(value) // _BYTES[type])}]"
