"""How long the kernels and copies of a port are predicted to take: nothing is built or run for it.

    the program, walked once (offload/gain) ──► launches, and what arguments are worth there ─┐
    text of the kernels ──► kernel IR, registers ─────────────────────────────────────────────┴──► counts, times

A launch in a loop of the host whose counter decides its size is predicted at three places of the loop: at a sixth, half
and five sixths of its iterations.
Limits: sizes that nothing tells are named, and then there is no time; a launch finds caches empty; kernels of running
values have no time, and the last block of a reduction takes a launch, as does each copy to constant memory.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from warpsmith.analysis.counts.predicted import PredictedTime
from warpsmith.analysis.counts.prediction import HeldKernel, predict_launch
from warpsmith.analysis.counts.walk import MOST_WORK
from warpsmith.analysis.resources.resources import CompilerFigures, resources
from warpsmith.analysis.uniformity.facts import LaunchShape
from warpsmith.base.findings import Finding
from warpsmith.base.source import SourceFile
from warpsmith.base.time_limit import OutOfTimeError, time_limit
from warpsmith.emit.device.launching.grid import LaunchedGrid, launched_grid
from warpsmith.emit.files import OutputFile
from warpsmith.emit.host.cuda import emit_kernels
from warpsmith.flows.porting.gain import estimate_port
from warpsmith.front.cuda.nvrtc import compile_to_ptx
from warpsmith.front.inputs import Source
from warpsmith.front.kernels import load_kernels
from warpsmith.front.load import FrontOptions
from warpsmith.loops.prepared import Prepared
from warpsmith.lower.program import lower
from warpsmith.machine.devices import Device, device
from warpsmith.machine.time.coarse import copy_seconds
from warpsmith.machine.time.overlap import hidden_seconds
from warpsmith.offload.gain.device_time import list_moves
from warpsmith.offload.gain.model import GainEstimate, KernelTime, LaunchPlace
from warpsmith.offload.gain.sizes import Size, Sizes
from warpsmith.offload.plan import GainOptions, OffloadOptions, Port
from warpsmith.report.model import CopiedMemory, CopyPrediction, KernelPrediction, PortPrediction
from warpsmith.run.native.ptxas import assemble_ptx
from warpsmith.ssa.graph import Graph
from warpsmith.ssa.nodes import Function, Module
from warpsmith.tree.nodes import For
from warpsmith.tree.program import Kernel
from warpsmith.tree.shared import restore_shared
from warpsmith.tree.types import Symbol, is_integer
from warpsmith.tree.walk import names

__all__ = [
    "ReadKernel",
    "gpu_of",
    "launched_name",
    "list_instances",
    "list_launches",
    "predict_kernel",
    "predict_port",
    "read_kernels",
]

_MOST_LAUNCHES: Final = 24
"""Different launches of one kernel that are predicted."""
_SECONDS: Final = 10.0
"""What all predictions of a port may take, in seconds of processor time."""
_WORK: Final = MOST_WORK // 8
"""The most work of counting the launches of one kernel."""
_STRATA: Final = (1 / 6, 1 / 2, 5 / 6)
_LINE: Final = re.compile(r" in line (\d+)| \(line (\d+)\)")
_MOST_QUOTED: Final = 44


Sizing = tuple[tuple[str, int], ...]
"""What the whole numbers among a kernel's parameters are worth in a launch."""


class ReadKernel(Struct, frozen=True):
    """A kernel as it is written: `said`: by ptxas, of its registers."""

    module: Module
    function: Function
    said: CompilerFigures | None


class _Moment(Struct, frozen=True):
    """Launches that are alike: how many, and what the kernel's parameters are worth; `counters`: those of loops around
    them."""

    times: float
    sizes: Sizes
    counters: frozenset[Symbol]


def predict_port(
    prepared: Prepared, port: Port | None, options: OffloadOptions, *, ptxas: bool = False
) -> PortPrediction | None:
    """Return the predicted times of a port, None where it has no kernels; `ptxas`: it is asked for registers."""
    if port is None or not port.plan.fragments:
        return None
    gpu = gpu_of(options)
    program, estimate = prepared.original.program, estimate_port(prepared, port, options)
    kernels = {fragment.kernel.name: fragment.kernel for fragment in port.plan.fragments}
    found = {name: KernelPrediction(name, lacks=("time",)) for name in kernels}
    problems: list[Finding] = []
    try:
        with time_limit(_SECONDS, "processor"):
            files = emit_kernels(program, restore_shared(program, port.program))
            read = read_kernels(files, kernels, gpu if ptxas else None, problems)
            for name, kernel in kernels.items():
                found[name] = predict_kernel(kernel, estimate.kernels.get(name), read, gpu)
    except OutOfTimeError:
        pass  # what was not reached lacks time, and says so
    return PortPrediction(gpu, tuple(found.values()), _copies(estimate, gpu, options, found), tuple(problems))


def gpu_of(options: OffloadOptions) -> Device:
    """Return the GPU that times are predicted for."""
    return device((options.gain or GainOptions()).device)


def _copies(
    estimate: GainEstimate, gpu: Device, options: OffloadOptions, kernels: Mapping[str, KernelPrediction]
) -> CopyPrediction | None:
    if not estimate.copies:
        return None
    if estimate.unsized:
        return CopyPrediction(estimate.copies)
    seconds = partial(copy_seconds, gpu, pinned=options.pinned)
    memory: CopiedMemory = "page-locked" if options.pinned else "shared" if options.data == "managed" else "pageable"
    # a kernel without a time of its own takes what the estimate says
    each = {name: one.seconds / one.launches for name, one in kernels.items() if one.seconds and one.launches}
    launched = [each[name] * times if name in each else spent for name, times, spent in estimate.log]
    hidden = hidden_seconds(list_moves(estimate, launched, seconds))
    return CopyPrediction(estimate.copies, estimate.bytes, seconds(estimate.bytes, estimate.copies), memory, hidden)


# --- the kernels


def read_kernels(
    files: Sequence[OutputFile],
    wanted: Mapping[str, Kernel],
    gpu: Device | None,
    problems: list[Finding],
) -> dict[str, ReadKernel]:
    """Return the kernels of the files by the names that their launchers give them; `gpu`: ptxas is asked for this
    one, and what it does not answer is put into `problems`."""
    found: dict[str, ReadKernel] = {}
    both = list(dict.fromkeys(name for kernel in wanted.values() for name in list_instances(kernel).values()))
    for file in files:
        mine = tuple(name for name in both if f"{name.partition('<')[0]}(" in file.text)
        unit = load_kernels(Source(file.path, (), "cuda", file.text), FrontOptions(), mine)
        module = lower(unit.program).module
        functions = {function.name: function for function in module.functions if function.kernel and function.blocks}
        said = _ask_ptxas(file, tuple(functions), gpu.arch, problems) if gpu is not None else {}
        found |= {name: ReadKernel(module, function, said.get(name)) for name, function in functions.items()}
    return found


def launched_name(kernel: Kernel, *, narrow: bool, shared: bool = True) -> str:
    """Return what a launcher calls: of a template the instance for indices in 32 bits or in 64, and for threads that
    share loops or do not."""
    words = [] if not kernel.index else ["int" if narrow else "long long"]
    words += [] if kernel.sharing is None else [str(kernel.sharing.width if shared and narrow else 1)]
    return f"{kernel.name}_kernel" + (f"<{', '.join(words)}>" if words else "")


def list_instances(kernel: Kernel) -> dict[tuple[bool, bool], str]:
    """Return what a launcher may call, by whether indices have 32 bits and whether threads share loops."""
    ways = ((narrow, shared) for narrow in (True, False) for shared in (True, False))
    return {(narrow, shared): launched_name(kernel, narrow=narrow, shared=shared) for narrow, shared in ways}


def _ask_ptxas(
    file: OutputFile, names: Sequence[str], arch: str, problems: list[Finding]
) -> Mapping[str, CompilerFigures]:
    made = compile_to_ptx(SourceFile(file.path, file.text), (), names, arch)
    if isinstance(made, Finding):
        helps = ("registers are estimates", *made.help)
        problems.append(Finding("INP001", "warning", f"--ptxas: {made.message}", None, helps))
        return {}
    said = assemble_ptx(made.text.encode("latin-1"), arch)
    if isinstance(said, Finding):
        problems.append(said)
        return {}
    return {name: said[symbol] for name in names if (symbol := made.entries.get(name, name)) in said}


# --- one kernel


def predict_kernel(
    kernel: Kernel, launched: KernelTime | None, found_kernels: Mapping[str, ReadKernel], gpu: Device
) -> KernelPrediction:
    """Return the time of all launches of a kernel."""
    if kernel.scans:
        return KernelPrediction(kernel.name, lacks=("the three kernels of its running values",))
    if launched is None or not launched.places:
        return KernelPrediction(kernel.name, lacks=("a launch that the program comes to",))
    moments = [moment for place in launched.places for moment in _moments(kernel, place)]
    narrow = all(_is_narrow(kernel, moment) for moment in moments)
    shared = any(_is_shared(kernel, moment) for moment in moments)
    read = found_kernels.get(launched_name(kernel, narrow=narrow, shared=shared))
    if read is None:
        return KernelPrediction(kernel.name, lacks=("a model of something in its text",))
    owner = read.module, read.function, Graph.of(read.function)
    held = resources(owner, gpu, kernel.block, 0, read.said)
    guessed = any(place.guessed for place in launched.places)
    found = KernelPrediction(kernel.name, launched.launches, guessed, held.registers, held.source)
    unknown = dict.fromkeys(name for moment in moments for name in _find_unknown(kernel, moment))
    if unknown:
        return replace(found, unknown=tuple(unknown))
    return _add_up(found, kernel, moments, HeldKernel(read.module, read.function, gpu, held))


def _add_up(found: KernelPrediction, kernel: Kernel, moments: Sequence[_Moment], held: HeldKernel) -> KernelPrediction:
    """Return the prediction of a kernel from those of its launches, each different one counted once."""
    shapes = _add_alike(kernel, moments)
    if not shapes or len(shapes) > _MOST_LAUNCHES:
        what = f"launches that are alike: they have {len(shapes)} sizes" if shapes else "a launch with threads"
        return replace(found, lacks=(what,))
    total, longest = 0.0, 0.0
    # one more block combines what the others have found, and a copy brings each array to constant memory
    finish = held.device.launch_ns * 1e-9 * (bool(kernel.reductions) + len(kernel.constants))
    for (grid, sizes), times in shapes.items():
        given = dict(sizes) | {f"first_{axis}": 0 for axis in kernel.sliced}
        given |= {kernel.turn.name: 0} if kernel.turn is not None else {}
        shape = LaunchShape(grid.block, grid.grid, given)
        time = _quoted(predict_launch(held, shape, _WORK // len(shapes), both=True), held.function)
        if time.prediction is None:
            return replace(found, time=time, sizes=sizes, lacks=time.lacks)
        # the last launches of several do less than the first
        total += times * (time.prediction.seconds * grid.slices * kernel.turns + finish)
        if time.prediction.seconds > longest:
            longest, found = time.prediction.seconds, replace(found, time=time, sizes=sizes)
    return replace(found, seconds=total)


def _quoted(time: PredictedTime, function: Function) -> PredictedTime:
    """Return a time whose reasons quote the lines that they name: the user has not seen the text that these are of."""
    spans = (i.span for _, i in function.instructions() if i.span is not None)
    lines = next((span.file.text.splitlines() for span in spans), [])

    def quote(match: re.Match[str]) -> str:
        line = lines[int(match[1] or match[2]) - 1].strip()
        shown = line if len(line) <= _MOST_QUOTED else f"{line[:_MOST_QUOTED].rstrip()} ..."
        return f" in `{shown}`"

    lacks, forks = (tuple(_LINE.sub(quote, why) for why in reasons) for reasons in (time.lacks, time.forks))
    return replace(time, lacks=lacks, forks=forks)


def list_launches(kernel: Kernel, launched: KernelTime) -> dict[tuple[LaunchedGrid, Sizing], float]:
    """Return the launches of a kernel that are not alike: the grid of each and its arguments, and how many there
    are."""
    return _add_alike(kernel, [moment for place in launched.places for moment in _moments(kernel, place)])


def _add_alike(kernel: Kernel, moments: Sequence[_Moment]) -> dict[tuple[LaunchedGrid, Sizing], float]:
    shapes: dict[tuple[LaunchedGrid, Sizing], float] = {}
    for moment in moments:
        grid = launched_grid(kernel, _threads(kernel, moment.sizes), shared=_is_shared(kernel, moment))
        if grid is None:
            continue  # no iteration, no launch
        sizes = tuple(sorted(_arguments(kernel, moment).items()))
        shapes[grid, sizes] = shapes.get((grid, sizes), 0.0) + moment.times
    return shapes


def _is_narrow(kernel: Kernel, moment: _Moment) -> bool:
    """Whether indices of 32 bits are enough; they are taken to be where sizes are not known."""
    values = (moment.sizes.value(condition) for condition in kernel.narrow)
    return all(value is None or value.value for value in values)


def _is_shared(kernel: Kernel, moment: _Moment) -> bool:
    """Whether threads share an iteration along x; they do where sizes are not known."""
    if kernel.sharing is None or not _is_narrow(kernel, moment):
        return False
    values = (moment.sizes.value(condition) for condition in kernel.sharing.long)
    return all(value is None or bool(value.value) for value in values)


def _threads(kernel: Kernel, sizes: Sizes) -> dict[str, int]:
    pairs = zip(kernel.mapped, kernel.launch, strict=True)
    counts = ((mapped.axis, sizes.value(count)) for mapped, (_, count) in pairs)
    return {axis: int(count.value) for axis, count in counts if count is not None}


def _arguments(kernel: Kernel, moment: _Moment) -> dict[str, int]:
    """Return the whole numbers that a launch passes, by the names of the kernel's parameters."""
    whole = (p.symbol for p in kernel.parameters if p.kind == "value" and is_integer(p.symbol.type))
    values = {symbol.name: moment.sizes.known[symbol] for symbol in whole if symbol in moment.sizes.known}
    return {name: int(size.value) for name, size in values.items()}


def _moments(kernel: Kernel, place: LaunchPlace) -> Iterator[_Moment]:
    """Yield the launches at a place: at three iterations of the loop whose counter is passed on, else all alike."""
    deciding = _find_deciding(place)
    if deciding is None or deciding[1] <= len(_STRATA):
        yield _moment(kernel, place, place.times, place.sizes)
        return
    loop, trips = deciding
    first = place.sizes.value(loop.lower) or Size(0.0, guessed=True)
    for at in _STRATA:
        value = replace(first, value=first.value + loop.step * int(trips * at), guessed=first.guessed or place.guessed)
        sizes = place.sizes.with_values({loop.variable: value})
        yield _moment(kernel, place, place.times / len(_STRATA), sizes)


def _find_deciding(place: LaunchPlace) -> tuple[For, float] | None:
    """Return the innermost loop around a launch whose counter is in its arguments, with its iterations."""
    named = {part.symbol for argument in place.launch.arguments for part in names(argument)}
    for loop, trips in reversed(place.around):
        if isinstance(loop, For) and loop.variable in named:
            return loop, trips
    return None


def _moment(kernel: Kernel, place: LaunchPlace, times: float, sizes: Sizes) -> _Moment:
    pairs = zip(kernel.parameters, place.launch.arguments, strict=True)
    values = {p.symbol: sizes.value(argument) for p, argument in pairs if p.kind == "value"}
    told = {symbol: value for symbol, value in values.items() if value is not None and not value.guessed}
    counters = frozenset(loop.variable for loop, _ in place.around if isinstance(loop, For))
    return _Moment(times, Sizes(told, sizes.given), counters)


def _find_unknown(kernel: Kernel, moment: _Moment) -> Iterator[str]:
    """Yield what is not known of the numbers that decide how many threads a launch has, in the user's names: sizes, and
    counters where these are all that lacks."""
    hosts = {parameter.symbol: parameter.host for parameter in kernel.parameters}
    for _, count in kernel.launch:
        if moment.sizes.value(count) is None:
            missing = [n for n in names(count) if moment.sizes.value(n) is None]
            named = [hosts.get(part.symbol, part.symbol) for part in missing]
            yield from (symbol.name for symbol in [s for s in named if s not in moment.counters] or named)
