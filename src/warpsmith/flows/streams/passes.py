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
        layers, height, width = call.domain()
        call.check(height, width)
        memory = LaunchMemory(checks=True)
        arguments = call.place(memory, (width, height, layers))
        grid = (-(-width // _BLOCK[0]), height, layers)
        launch = Launch(grid, _BLOCK, arguments=arguments, max_steps=self.most)
        done = execute(self.module, name, launch, memory, self._choose(name))
        _check_run(done, name, span)
        call.take_back()
        sums = done.totals
        said = tuple(map(_shown, given))
        row = PassRow(name, span.line, said, layers * height, width, sums.warp_instructions, sums.lane_instructions)
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

    def domain(self) -> tuple[int, int, int]:
        """Return layers, height and width of what is written; raises InputError where out streams differ. Of a kernel
        that knows no layers they are rows."""
        written = self._of("out", "reduce") or self._of("scatter")
        first = written[0][1]
        for _, stream in written:
            if stream.extents != first.extents:
                message = f"{stream.name} and {first.name} have different shapes: {stream.shape} and {first.shape}"
                raise host_error(self.span, message, "out streams of one call are of one shape")
        layers, height, width = first.extents
        if self.kernel.definition.solid:
            return layers, height, width
        if layers > 1 and self.kernel.definition.asks_place:
            helps = "where a thread is along three axes kernels with a gather of three axes know: float g[][][]"
            raise host_error(self.span, f"{first.name} has three axes, and {self.kernel.definition.name} two", helps)
        return 1, layers * height, width

    def check(self, height: int, width: int) -> None:
        """Raise InputError where streams do not fit to so many threads, or to each other."""
        for parameter, stream in self._of("stream"):
            if self.kernel.definition.form == "reduce":
                self._check_reduced(stream, height, width)
            else:
                self._check_shape(parameter, stream, (self._rows(height), width))
        for parameter, stream in self._of("gather", "scatter"):
            self._check_axes(parameter, stream)
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

    def _check_reduced(self, stream: StreamValue, height: int, width: int) -> None:
        """Raise InputError where elements do not share a stream that is reduced to them."""
        rows, columns, _ = stream.data.shape
        if stream.axes > 2 and (height, width) != (1, 1):
            message = f"{stream.name} has three axes, of which only the sum of all is reduced"
            raise host_error(self.span, message, "reduce it to a variable")
        if rows % height or columns % width:
            message = f"{stream.name} is {stream.shape}, which {height}x{width} elements do not share equally"
            raise host_error(self.span, message, "let the extents of the result divide those of the stream")

    def _check_axes(self, parameter: BrookParameter, stream: StreamValue) -> None:
        """Raise InputError where a gather has not as many axes as its stream."""
        needed = 3 if stream.extents[0] > 1 else 2 if stream.extents[1] > 1 else 1
        if parameter.axes < needed:
            has, takes = (("one", "two", "three")[axes - 1] for axes in (needed, parameter.axes))
            message = f"{stream.name} has {has} axes, and {parameter.name} takes {takes}"
            raise host_error(self.span, message, f"declare it as {parameter.name}{'[]' * needed}")

    def _rows(self, height: int) -> int:
        """Return how many rows of threads there are."""
        written = (self._of("out", "reduce") or self._of("scatter"))[0][1]
        return written.data.shape[0] if self.kernel.definition.solid else height

    def _check_shape(self, parameter: BrookParameter, stream: StreamValue, domain: tuple[int, int]) -> None:
        """Raise InputError where a stream has no element for each thread; `domain`: rows and columns of these."""
        written = (self._of("out") or self._of("scatter"))[0][1]
        if stream.extents[0] != written.extents[0]:
            message = f"{stream.name} is {stream.shape}, and the out streams are {written.shape}"
            raise host_error(self.span, message, "layers neither repeat nor are left out: give it as a gather")
        if stream.data.shape[:2] == domain:
            return
        for has, wants in zip(stream.data.shape[:2], domain, strict=True):
            if has % wants and wants % has:
                message = f"{stream.name} is {stream.shape}, and the out streams are {domain[0]}x{domain[1]}"
                helps = "elements repeat, or are left out, where one extent divides the other: or give it as a gather"
                raise host_error(self.span, message, helps)
        if max(stream.axes, written.axes) > 2:
            message = f"{stream.name} is {stream.shape}, and the out streams are {written.shape}"
            raise host_error(self.span, message, "streams of three axes are not resized: give it as a gather")
        if parameter.name in self.kernel.definition.placed:
            message = f"indexof({parameter.name}) is where in {stream.name} a thread is, which is {stream.shape}"
            raise host_error(self.span, f"{message}; the out streams are {domain[0]}x{domain[1]}", "use instance()")

    def _data(self, parameter: BrookParameter, domain: tuple[int, int]) -> Numbers:
        """Return what a parameter reads: of a stream of another shape the element of each thread."""
        data = self.streams[parameter.name].data
        if self.kernel.definition.form == "reduce" or parameter.kind != "stream" or data.shape[:2] == domain:
            return data
        rows, columns = (np.arange(wants) * has // wants for has, wants in zip(data.shape, domain, strict=False))
        found: Numbers = data[rows][:, columns]
        return found

    def place(self, memory: LaunchMemory, domain: tuple[int, int, int]) -> dict[str, bytes]:
        """Return the arguments of the launch over a domain (x, y, z), with the streams in memory."""
        found = {one.name: struct.pack("<i", size) for one, size in zip(self.kernel.domain, domain, strict=False)}
        width, rows = domain[0], domain[1] * domain[2]
        for parameter in self.kernel.definition.parameters:
            if parameter.kind == "constant":
                number = np.array([self.numbers[parameter.name]], dtype_of(parameter.type, self.span))
                found[parameter.name] = number.tobytes()
                continue
            stream = self.streams[parameter.name]
            known = parameter.kind in ("stream", "gather") or (parameter.kind == "scatter" and stream.known)
            buffer = memory.allocate(parameter.name, self._data(parameter, (rows, width)).tobytes(), known=known)
            self.buffers[parameter.name] = buffer.data
            found[parameter.name] = buffer.address.to_bytes(8, "little")
            reduced = self.kernel.definition.form == "reduce"
            sizes = (stream.data.shape[1], stream.data.shape[0] if reduced else stream.extents[1])
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
