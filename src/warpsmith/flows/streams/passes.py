"""One call of a kernel by host code is one launch over its out streams' domain.

    in stream     of another shape: elements repeat, or are left out, by a whole number along each axis
    gather        any shape with as many axes
    reduce        a stream whose extents divide those of the in stream, or a variable: one element
    constant      a number, as its parameter holds it

A stream of one axis is one of a single row ("Brook Language", Streams). Which element a thread has where shapes differ
is what BrookGPU's run time does: x * extent of the stream / extent of the domain. Refused, with the line: a stream that
is read and written by one call ("Current Issues", Kernels: undefined), extents of which neither divides the other.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence

import numpy as np
from msgspec.structs import replace

from warpsmith.base.errors import InputError
from warpsmith.base.findings import Finding
from warpsmith.base.source import Span
from warpsmith.flows.streams.evaluate import HostPlace
from warpsmith.flows.streams.values import HostValue, Numbers, StreamValue, dtype_of, fit, host_error
from warpsmith.front.brook.kinds import shown_type
from warpsmith.front.brook.nodes import BrookKernel, BrookParameter
from warpsmith.report.streams.model import PassRow
from warpsmith.simt.choose import Done, EngineChoice, execute
from warpsmith.simt.launch import Launch
from warpsmith.simt.memory import LaunchMemory
from warpsmith.ssa.nodes import Module
from warpsmith.tree.types import Scalar

__all__ = ["PassRunner"]

_BLOCK = (64, 1, 1)


class PassRunner:
    """Runs the kernels of a file; `rows` are the passes so far."""

    def __init__(self, module: Module, kernels: Mapping[str, BrookKernel], choice: EngineChoice, most: int) -> None:
        self.module, self.kernels, self.choice, self.most = module, kernels, choice, most
        self.rows: list[PassRow] = []

    def run(self, name: str, given: Sequence[HostValue | HostPlace], span: Span) -> None:
        """Run a kernel; raises InputError where its arguments do not fit, or it does something wrong."""
        call = _Call(self.kernels[name], given, span)
        height, width = call.domain()
        call.check(height, width)
        memory = LaunchMemory(checks=True)
        arguments = call.place(memory, height, width)
        grid = (-(-width // _BLOCK[0]), height, 1)
        launch = Launch(grid, _BLOCK, arguments=arguments, max_steps=self.most)
        done = execute(self.module, name, launch, memory, self._choose(name))
        _check_run(done, name, span)
        call.take_back()
        sums = done.totals
        said = tuple(map(_shown, given))
        row = PassRow(name, span.line, said, height, width, sums.warp_instructions, sums.lane_instructions)
        self.rows.append(row)

    def _choose(self, name: str) -> EngineChoice:
        """Return who runs a pass: what is called again is worth compiling, however short it is."""
        again = any(row.kernel == name for row in self.rows)
        return replace(self.choice, engine="compiled") if again and not self.choice.engine else self.choice


def _check_run(done: Done, name: str, span: Span) -> None:
    """Raise InputError where a launch was stopped, or its threads did something wrong."""
    problems = done.outcome.problems
    if problems:
        first = problems[0]
        message = f"{name}, called in line {span.line}: {first.message}"
        raise InputError(Finding("BRK002", "error", message, first.span or span))
    if done.outcome.conflicts:
        message = f"{name}, called in line {span.line}: two threads meet in one element of a scattered stream"
        raise InputError(Finding("BRK002", "error", message, span))


def _shown(value: HostValue | HostPlace) -> str:
    if isinstance(value, HostPlace):
        value = value.read()
    if isinstance(value, StreamValue):
        return value.name
    return f"{value:g}" if isinstance(value, float) else str(value)


class _Call:
    """One call: its parameters with what they get."""

    def __init__(self, kernel: BrookKernel, given: Sequence[HostValue | HostPlace], span: Span) -> None:
        self.kernel, self.span = kernel, span
        self.streams: dict[str, StreamValue] = {}
        self.numbers: dict[str, HostValue] = {}
        self.result: HostPlace | None = None
        self.buffers: dict[str, bytearray] = {}
        for parameter, value in zip(kernel.definition.parameters, given, strict=True):
            self._bind(parameter, value)

    def _bind(self, parameter: BrookParameter, value: HostValue | HostPlace) -> None:
        what = f"'{parameter.name}' of {self.kernel.definition.name}"
        if parameter.kind == "constant":
            if isinstance(value, HostPlace):
                value = value.read()
            if not isinstance(value, int | float) or not isinstance(parameter.type, Scalar):
                message = f"{what} is {shown_type(parameter.type)}, and host code has numbers only here"
                raise host_error(self.span, message)
            self.numbers[parameter.name] = fit(value, parameter.type, self.span)
            return
        if parameter.kind == "reduce" and isinstance(value, HostPlace) and isinstance(parameter.type, Scalar):
            self.result = value
            empty = np.zeros((1, 1, 1), dtype_of(parameter.type, self.span))
            value = StreamValue(parameter.name, parameter.type, empty, 1)
        if not isinstance(value, StreamValue):
            raise host_error(self.span, f"{what} is a stream, and this is none", "declare it: float s<64>;")
        if value.element != parameter.type:
            message = f"{what} has elements of type {shown_type(parameter.type)}"
            raise host_error(self.span, f"{message}, and {value.name} those of {shown_type(value.element)}")
        self.streams[parameter.name] = value

    def _of(self, *kinds: str) -> list[tuple[BrookParameter, StreamValue]]:
        parameters = self.kernel.definition.parameters
        return [(one, self.streams[one.name]) for one in parameters if one.kind in kinds]

    def domain(self) -> tuple[int, int]:
        """Return height and width of what is written; raises InputError where out streams differ."""
        written = self._of("out", "reduce") or self._of("scatter")
        first = written[0][1]
        for _, stream in written:
            if stream.data.shape[:2] != first.data.shape[:2]:
                message = f"{stream.name} and {first.name} have different shapes: {_shape(stream)} and {_shape(first)}"
                raise host_error(self.span, message, "out streams of one call are of one shape")
        height, width, _ = first.data.shape
        return height, width

    def check(self, height: int, width: int) -> None:
        """Raise InputError where streams do not fit to so many threads, or to each other."""
        reduced = self.kernel.definition.form == "reduce"
        for parameter, stream in self._of("stream"):
            rows, columns, _ = stream.data.shape
            if reduced and (rows % height or columns % width):
                message = f"{stream.name} is {_shape(stream)}, which {height}x{width} elements do not share equally"
                raise host_error(self.span, message, "let the extents of the result divide those of the stream")
            if not reduced and (rows, columns) != (height, width):
                self._check_resized(parameter, stream, (height, width))
        for parameter, stream in self._of("gather"):
            if parameter.axes == 1 and stream.data.shape[0] > 1:
                helps = f"declare it as {parameter.name}[][]"
                raise host_error(self.span, f"{stream.name} has two axes, and {parameter.name} takes one", helps)
        written = [id(stream.data) for _, stream in self._of("out", "reduce", "scatter")]
        for _, stream in self._of("stream", "gather"):
            if not stream.known:
                helps = f"streamRead({stream.name}, array) fills it"
                raise host_error(self.span, f"{stream.name} is read, and nothing was written to it", helps)
            if id(stream.data) in written:
                helps = "use a second stream, and swap the two"
                raise host_error(self.span, f"{stream.name} is read and written by one call", helps)
        if len(set(written)) < len(written):
            raise host_error(self.span, "one stream is written as two out streams", "use a second stream")

    def _check_resized(self, parameter: BrookParameter, stream: StreamValue, domain: tuple[int, int]) -> None:
        """Raise InputError where a stream of another shape has no element for each thread."""
        for has, wants in zip(stream.data.shape[:2], domain, strict=True):
            if has % wants and wants % has:
                message = f"{stream.name} is {_shape(stream)}, and the out streams are {domain[0]}x{domain[1]}"
                helps = "elements repeat, or are left out, where one extent divides the other: or give it as a gather"
                raise host_error(self.span, message, helps)
        if parameter.name in self.kernel.definition.placed:
            message = f"indexof({parameter.name}) is where in {stream.name} a thread is, which is {_shape(stream)}"
            raise host_error(self.span, f"{message}; the out streams are {domain[0]}x{domain[1]}", "use instance()")

    def _data(self, parameter: BrookParameter, domain: tuple[int, int]) -> Numbers:
        """Return what a parameter reads: of a stream of another shape the element of each thread."""
        data = self.streams[parameter.name].data
        if self.kernel.definition.form == "reduce" or parameter.kind != "stream" or data.shape[:2] == domain:
            return data
        rows, columns = (np.arange(wants) * has // wants for has, wants in zip(data.shape, domain, strict=False))
        return data[rows][:, columns]

    def place(self, memory: LaunchMemory, height: int, width: int) -> dict[str, bytes]:
        """Return the arguments of the launch, with the streams in memory."""
        found = {
            one.name: struct.pack("<i", size) for one, size in zip(self.kernel.domain, (width, height), strict=True)
        }
        for parameter in self.kernel.definition.parameters:
            if parameter.kind == "constant":
                number = np.array([self.numbers[parameter.name]], dtype_of(parameter.type, self.span))
                found[parameter.name] = number.tobytes()
                continue
            stream = self.streams[parameter.name]
            known = parameter.kind in ("stream", "gather") or (parameter.kind == "scatter" and stream.known)
            buffer = memory.allocate(parameter.name, self._data(parameter, (height, width)).tobytes(), known=known)
            self.buffers[parameter.name] = buffer.data
            found[parameter.name] = buffer.address.to_bytes(8, "little")
            sizes = (stream.data.shape[1], stream.data.shape[0])
            for symbol, size in zip(self.kernel.sizes[parameter.name], sizes, strict=False):
                found[symbol.name] = struct.pack("<i", size)
        return found

    def take_back(self) -> None:
        """Put what was written into the streams."""
        for parameter, stream in self._of("out", "reduce", "scatter"):
            data = np.frombuffer(bytes(self.buffers[parameter.name]), stream.data.dtype)
            stream.data[:] = data.reshape(stream.data.shape)
            stream.known = True
            if self.result is not None:
                self.result.write(fit(data[0].item(), self.result.type, self.span))


def _shape(stream: StreamValue) -> str:
    height, width, _ = stream.data.shape
    return f"{height}x{width}" if stream.axes == 2 else str(width)
