"""How long the kernels of a port are predicted to take with their loops on other axes, in blocks of other shapes.

    every assignment of the mapped loops to x, y, z  ──► the kernel's text, once for each
    every power-of-two block of as many threads      ──► launches of it, predicted (predicted.py)

Invariant: the first choice of a kernel ties with the fastest that is predicted, and the port's own is among them.
Limits: kernels whose threads combine values, need running ones, or have several iterations keep the mapping that they
have.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import permutations
from math import prod
from typing import Final

from msgspec.structs import replace

from warpsmith.analysis.counts.prediction import TIE
from warpsmith.base.time_limit import OutOfTimeError, time_limit
from warpsmith.emit.host.cuda import emit_kernels
from warpsmith.flows.porting.gain import estimate_port
from warpsmith.flows.porting.predicted import gpu_of, predict_kernel, read_kernels
from warpsmith.loops.prepared import Prepared
from warpsmith.machine.limits import block_fits
from warpsmith.offload.mapping.mapping import ThreadMapping, large_axes
from warpsmith.offload.plan import CostEstimate, OffloadOptions, Port
from warpsmith.report.model import KernelMappings, MappingPrediction
from warpsmith.tree.program import Axis, Kernel
from warpsmith.tree.shared import restore_shared

__all__ = ["predict_mappings"]

_SECONDS: Final = 60.0
"""What all of it may take, in seconds of processor time."""
_AXES: Final[tuple[Axis, ...]] = ("x", "y", "z")
_NONE: Final = CostEstimate(0.0, 0.0, ())


def predict_mappings(prepared: Prepared, port: Port, options: OffloadOptions) -> tuple[KernelMappings, ...]:
    """Return the predicted times of every kernel of a port that could be mapped otherwise, the fastest first."""
    program, gpu, estimate = prepared.original.program, gpu_of(options), estimate_port(prepared, port, options)
    kernels = [fragment.kernel for fragment in port.plan.fragments]
    # tiles and several iterations a thread are written for one block
    plain = [k for k in kernels if k.inside is None and prod(k.elements) == 1]
    free = [k for k in plain if k.mapped and not k.reductions and not k.scans]
    found: dict[str, list[MappingPrediction]] = {kernel.name: [] for kernel in free}
    complete = True
    try:
        with time_limit(_SECONDS, "processor"):
            for number in range(max((_assignments(kernel) for kernel in free), default=0)):
                variants = {k.name: _on_axes(k, number) for k in free if number < _assignments(k)}
                changed = tuple(variants.get(kernel.name, kernel) for kernel in port.program.kernels)
                other = replace(port.program, kernels=changed)
                read = read_kernels(emit_kernels(program, restore_shared(program, other)), variants, None, [])
                for name, kernel in variants.items():
                    for shaped in _in_blocks(kernel):
                        time = predict_kernel(shaped, estimate.kernels.get(name), read, gpu)
                        axes = tuple((mapped.loop.variable.name, mapped.axis) for mapped in shaped.mapped)
                        found[name].append(MappingPrediction(axes, shaped.block, time))
    except OutOfTimeError:
        complete = False
    return tuple(_rank(kernel, found[kernel.name], complete=complete) for kernel in free)


def _assignments(kernel: Kernel) -> int:
    """Return how many ways there are to put a kernel's loops on axes."""
    return len(list(permutations(range(len(kernel.mapped)))))


def _on_axes(kernel: Kernel, number: int) -> Kernel:
    """Return a kernel with its loops on other axes, launched in slices wherever a block of few threads may need it."""
    order = list(permutations(_AXES[: len(kernel.mapped)]))[number]
    mapped = tuple(replace(one, axis=axis) for one, axis in zip(kernel.mapped, order, strict=True))
    heads = [one.loop for one in mapped]
    return replace(kernel, mapped=mapped, sliced=large_axes(heads, ThreadMapping(order, (1, 1, 1), _NONE)))


def _in_blocks(kernel: Kernel) -> Iterator[Kernel]:
    """Yield a kernel in every power-of-two block of as many threads."""
    volume, dimensions = prod(kernel.block), len(kernel.mapped)
    powers = [1 << exponent for exponent in range(volume.bit_length())]
    for y in powers if dimensions > 1 else [1]:
        for z in powers if dimensions > 2 else [1]:
            block = volume // (y * z), y, z
            if prod(block) == volume and block_fits(block):
                yield replace(kernel, block=block)


def _rank(kernel: Kernel, found: Sequence[MappingPrediction], *, complete: bool) -> KernelMappings:
    """Order by time; of those that tie with the fastest, the port's own first, then those with more threads along x."""
    own = tuple((mapped.loop.variable.name, mapped.axis) for mapped in kernel.mapped)
    timed = [one for one in found if one.prediction.seconds is not None]
    least = min((one.prediction.seconds or 0.0 for one in timed), default=0.0)

    def rank(one: MappingPrediction) -> tuple[float, bool, int]:
        seconds = one.prediction.seconds or 0.0
        mine = (one.axes, one.block) == (own, kernel.block)
        return 0.0 if seconds <= TIE * least else seconds, not mine, -one.block[0]

    ordered = tuple(sorted(timed, key=rank))
    ties = sum((one.prediction.seconds or 0.0) <= TIE * least for one in ordered)
    lacks = "" if timed else _why(found)
    return KernelMappings(kernel.name, own, kernel.block, ordered, ties, complete, lacks)


def _why(found: Sequence[MappingPrediction]) -> str:
    """Return why there is no time, as the first choice says it."""
    if not found:
        return "time"
    one = found[0].prediction
    return "; ".join(one.lacks) or f"the size of {', '.join(one.unknown)}"
