"""SIMULATE of host code over streams, a straight line: a function of a file and its arguments go in, passes and arrays
come out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np
from msgspec import Struct, field

from warpsmith.base.errors import InputError, UsageError
from warpsmith.base.findings import Finding
from warpsmith.base.source import SourceFile
from warpsmith.flows.simulate import save_array
from warpsmith.flows.streams.evaluate import HostRunner
from warpsmith.flows.streams.passes import PassRunner
from warpsmith.flows.streams.values import HostArray, HostPointer, HostValue
from warpsmith.front.brook.hosts import BrookHost, read_host
from warpsmith.front.brook.read import BrookText, read_brook
from warpsmith.kernels.arguments import ELEMENTS, Argument, arguments_for
from warpsmith.kernels.units import KernelUnit
from warpsmith.lower.program import lower
from warpsmith.report.simulation.model import OutputRow
from warpsmith.report.streams.model import StreamReport
from warpsmith.simt.choose import Engine, EngineChoice
from warpsmith.ssa.nodes import BasicBlock, Function, Module, Parameter, Return
from warpsmith.ssa.types import F32, F64, I32, I64, Type
from warpsmith.tree.types import INT, Pointer, Scalar, Symbol

__all__ = ["StreamOptions", "find_host", "run_host"]

_TYPES: Final[Mapping[tuple[str, int], Type]] = {("float", 32): F32, ("float", 64): F64}


class StreamOptions(Struct, frozen=True):
    """`arguments` of the function as texts; `out`: files for arrays; `most`: instructions of lanes of one launch."""

    arguments: tuple[str, ...] = ()
    out: Mapping[str, str] = field(default_factory=dict)
    most: int = 1_000_000_000
    engine: Engine = ""


def find_host(file: SourceFile, wanted: str) -> str:
    """Return the host function of a file that is meant: the one of that name, `main` where none is said; "" where there
    is none."""
    text = read_brook(file)
    name = wanted or "main"
    if name in text.aside:
        return name
    return name if name in text.definitions and text.definitions[name].form == "function" else ""


def run_host(file: SourceFile, name: str, options: StreamOptions) -> StreamReport:
    """Run a host function, and report; raises InputError where it cannot be read or goes on, UsageError where its
    arguments are not given."""
    # text → kernels, host code
    text = read_brook(file)
    _refuse(text)
    host = read_host(text, name)
    module = lower(text.program).module
    # what it gets
    arguments = _main_arguments(host) or _arguments(file, host, options)
    # the run: a launch for each call of a kernel
    passes = PassRunner(module, text.kernels, EngineChoice(options.engine), options.most)
    runner = HostRunner(host, passes.run)
    values = [_value(one, symbol) for one, symbol in zip(arguments, host.function.parameters, strict=True)]
    runner.run(host.function, values)
    # arrays that streams were written to
    outputs = tuple(_output(one, options.out) for one in runner.written.values())
    _check_out(options.out, outputs)
    return StreamReport(file.path, name, "ok", 0, tuple(passes.rows), outputs)


def _refuse(text: BrookText) -> None:
    if text.findings:
        raise InputError(*text.findings)


def _main_arguments(host: BrookHost) -> tuple[Argument, ...]:
    """Return what the system gives `main`: no words but the program's own name; nothing of other functions."""
    symbol, types = host.function.symbol, [one.type for one in host.function.parameters]
    if symbol.name != "main" or len(types) != 2 or types[0] != INT or not isinstance(types[1], Pointer):
        return ()
    count, words = (one.name for one in host.function.parameters)
    return Argument(count, bytes=(1).to_bytes(4, "little")), Argument(words, bytes=bytes(8))


def _arguments(file: SourceFile, host: BrookHost, options: StreamOptions) -> tuple[Argument, ...]:
    """Return what the function's parameters get."""
    name = host.function.symbol.name
    for one in host.function.parameters:
        if one.key in host.elements:
            helps = (f"run the function that declares the stream: --kernel NAME, not {name}",)
            message = f"{name} takes a stream, '{one.name}', which no option gives"
            raise InputError(Finding("BRK002", "error", message, one.span, helps))
    parameters = tuple(_parameter(one) for one in host.function.parameters)
    declared = Function(name, True, parameters, (), (BasicBlock("start", (), (), Return()),))
    unit = KernelUnit(file, Module((declared,)), (), parameters={name: host.function.parameters})
    return arguments_for(options.arguments, unit, declared, f"--kernel {name}")


def _parameter(symbol: Symbol) -> Parameter:
    if isinstance(symbol.type, Pointer):
        return Parameter(symbol.name, 8, 8, I64)
    assert isinstance(symbol.type, Scalar)
    bytes_ = symbol.type.bits // 8
    return Parameter(symbol.name, bytes_, bytes_, _TYPES.get((symbol.type.kind, symbol.type.bits), I32))


def _value(given: Argument, symbol: Symbol) -> HostValue:
    if given.array is not None:
        return HostPointer(HostArray(symbol.name, np.array(given.array).ravel()))
    assert given.bytes is not None
    if isinstance(symbol.type, Pointer):
        return 0
    assert isinstance(symbol.type, Scalar)
    kind = {"float": "f", "signed": "i", "unsigned": "u"}.get(symbol.type.kind, "u")
    number: int | float = np.frombuffer(given.bytes, f"<{kind}{len(given.bytes)}")[0].item()
    return number


def _output(array: HostArray, out: Mapping[str, str]) -> OutputRow:
    data = array.data
    element = next(name for name, text in ELEMENTS.items() if np.dtype(text) == data.dtype)
    if array.name in out:
        save_array(out[array.name], data)
    first = tuple(f"{one:g}" if data.dtype.kind == "f" else str(one) for one in data[:8])
    return OutputRow(array.name, element, len(data), len(data), first, out.get(array.name, ""))


def _check_out(out: Mapping[str, str], outputs: tuple[OutputRow, ...]) -> None:
    for name in out:
        if name not in [row.name for row in outputs]:
            listed = ", ".join(row.name for row in outputs) or "none"
            message = f"--out {name}: no stream is written to an array of this name"
            raise UsageError(Finding("INP000", "error", message, help=(f"the arrays: {listed}",)))
