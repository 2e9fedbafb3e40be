"""Times of kernels by the model, each text read once, and each launch counted once.

kernel ──► its own text, without its name ──► kernel IR, kept by the text ─┐
           block, iterations a thread, what arguments are worth ───────────┴──► prediction, kept by all of these
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Final

from msgspec.structs import replace

from warpsmith.emit.files import OutputFile
from warpsmith.emit.host.cuda import kernels_alone
from warpsmith.flows.porting.predicted import ReadKernel, list_instances, predict_kernel, read_kernels
from warpsmith.machine.devices import Device
from warpsmith.offload.gain.model import KernelTime, LaunchPlace
from warpsmith.report.model import KernelPrediction
from warpsmith.tree.nodes import For
from warpsmith.tree.printing.printer import print_expr
from warpsmith.tree.program import Kernel, Program
from warpsmith.tree.shared import restore_shared

__all__ = ["KernelTimes"]

_NAME: Final = "kernel"


class KernelTimes:
    """The kernels of all candidates of one program, on one device; `counted`: launches that were not known before."""

    def __init__(self, original: Program, gpu: Device) -> None:
        self._original, self.gpu = original, gpu
        self._read: dict[str, dict[tuple[bool, bool], ReadKernel]] = {}
        self._known: dict[str, KernelPrediction] = {}
        self.counted = 0

    @property
    def launch_seconds(self) -> float:
        """What a launch takes by itself."""
        return self.gpu.launch_ns * 1e-9

    def texts(self, ported: Program, kernels: Sequence[Kernel]) -> dict[str, str]:
        """Return the texts of kernels by their names, which are different."""
        alone = replace(ported, kernels=tuple(kernels))
        made = kernels_alone(self._original, restore_shared(self._original, alone))
        return {name: text.replace(name, _NAME) for name, text in made}

    def predict(self, kernel: Kernel, text: str, launched: KernelTime | None) -> KernelPrediction:
        """Return the time of all launches of a kernel that has this text."""
        if launched is not None and any(len(p.launch.arguments) != len(kernel.parameters) for p in launched.places):
            return KernelPrediction(kernel.name, lacks=("launches with the parameters of this kernel",))
        question = self.key(kernel, text, launched)
        if question not in self._known:
            self.counted += 1
            self._known[question] = predict_kernel(kernel, launched, self._kernel(kernel, text), self.gpu)
        return replace(self._known[question], name=kernel.name)

    def key(self, kernel: Kernel, text: str, launched: KernelTime | None) -> str:
        """Return what the time of a kernel rests on: its text, its shape, and all of its launches."""
        places = () if launched is None else tuple(_place_key(kernel, place) for place in launched.places)
        axes = tuple(mapped.axis for mapped in kernel.mapped)
        shape = kernel.block, kernel.few, kernel.elements, kernel.sliced, kernel.strided, axes, _tests(kernel)
        counts = tuple(print_expr(count) for _, count in kernel.launch)
        return hashlib.sha256(repr((text, shape, counts, places)).encode("utf-8", "surrogateescape")).hexdigest()

    def _kernel(self, kernel: Kernel, text: str) -> Mapping[str, ReadKernel]:
        """Return a kernel read, by the names that its launcher calls."""
        if text not in self._read:
            plain = replace(kernel, name=_NAME)
            read = read_kernels([OutputFile("kernels.cu", text)], {_NAME: plain}, None, [])
            names = list_instances(plain)
            self._read[text] = {way: read[name] for way, name in names.items() if name in read}
        names = list_instances(kernel)
        return {names[way]: read for way, read in self._read[text].items()}


def _tests(kernel: Kernel) -> tuple[str, ...]:
    """Return what a launch tests to know whether warps share loops."""
    return () if kernel.sharing is None else tuple(print_expr(condition) for condition in kernel.sharing.long)


def _place_key(kernel: Kernel, place: LaunchPlace) -> object:
    """Return what the time of a launch rests on, besides its kernel."""
    values = tuple(place.sizes.value(argument) for argument in place.launch.arguments)
    around = tuple(
        (loop.variable.name, trips, place.sizes.value(loop.lower), loop.step) if isinstance(loop, For) else trips
        for loop, trips in place.around
    )
    hosts = tuple((parameter.host.name, parameter.kind) for parameter in kernel.parameters)
    return place.times, place.guessed, values, around, hosts
