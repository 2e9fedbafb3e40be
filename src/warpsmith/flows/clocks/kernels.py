"""A kernel on a machine with clocks: it becomes a program of the mask ISA, its arguments the views of that."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from warpsmith.base.errors import UsageError
from warpsmith.base.findings import Finding
from warpsmith.base.progress import ignore_progress
from warpsmith.base.source import SourceFile
from warpsmith.flows.simulate import SimulateOptions, read_kernels, start_launch
from warpsmith.flows.started import StartedLaunch
from warpsmith.kernels.units import KernelFile
from warpsmith.simt.launch import Launch
from warpsmith.simt.mask.resources import BoundView, ViewKey, Views, words_of
from warpsmith.simt.mask.run import Groups
from warpsmith.targets.mask.export import Exported, export_kernel

__all__ = ["ClockKernel", "LoweredKernel", "lower_launch"]

_SIZES: Final = ("ntid", "nctaid")


class ClockKernel(Struct, frozen=True):
    """A kernel of a file, and how it is launched."""

    file: KernelFile
    launched: SimulateOptions

    @property
    def path(self) -> str:
        """The file's path."""
        return self.file.path


class LoweredKernel(Struct, frozen=True, eq=False):
    """The program that a kernel is, and what it runs on."""

    program: SourceFile
    views: Views
    groups: Groups


def lower_launch(kernel: ClockKernel, arguments: tuple[str, ...]) -> LoweredKernel:
    """Return a launch of a kernel as one of a program; raises UsageError, and InputError where it cannot be one."""
    unit = read_kernels(kernel.file, ignore_progress)
    options = replace(kernel.launched, arguments=arguments, checks=())
    function, name, started = start_launch(unit, kernel.file.path, options)
    exported = export_kernel(function)
    launch = started.launch
    axes = exported.dimensions
    if any(size > 1 for size in (*launch.block[axes:], *launch.grid[axes:])):
        message = f"{name} asks for {', '.join('xyz'[:axes])} only: with clocks it is launched in so many dimensions"
        raise UsageError(Finding("INP000", "error", message, function.span, ("for example --block 64 --grid 4",)))
    program = SourceFile(f"{name}.mask", exported.text)
    return LoweredKernel(program, _views(exported, started), Groups(launch.threads, launch.blocks))


def _views(exported: Exported, started: StartedLaunch) -> Views:
    """Return each pointer argument as a view for reading and one for writing, and the words of the launch."""
    found: dict[ViewKey, BoundView] = {}
    for name, number in exported.views.items():
        found["t", number] = found["u", number] = _words(name, bytes(started.buffers[name].data))
    if exported.words:
        words = [_word(one.name, one.offset, started.launch) for one in exported.words]
        found["t", exported.word_view] = words_of(np.array(words, np.uint32))
    return found


def _words(name: str, data: bytes) -> BoundView:
    if len(data) % 4:
        raise UsageError(Finding("INP000", "error", f"--arg {name}: {len(data)} bytes are no words of 32 bits"))
    return words_of(np.frombuffer(data, np.uint32))


def _word(name: str, offset: int, launch: Launch) -> int:
    """Return a size of the launch, or a word of a scalar argument."""
    size, _, axis = name.partition(".")
    if axis:
        sizes: Mapping[str, tuple[int, int, int]] = dict(zip(_SIZES, (launch.block, launch.grid), strict=True))
        return sizes[size]["xyz".index(axis)]
    return int.from_bytes(launch.arguments[name][offset : offset + 4], "little")
