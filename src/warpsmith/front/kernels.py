"""Device code becomes trees: the kernels of a CUDA or OpenCL file, with all that they call.

    source ─► worker (libclang, device mode) ─► rows ─► functions, device variables ─► KernelUnit
                  ▲                                          │
                  └── `--kernel 'k<float, 32>'` appended     └─► what has errors in it is a finding; the rest stays

A template has kernels for its instances only: those that the file's launches name or deduce, explicit instantiations
and specializations, and those that the user asks for.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from warpsmith.base.findings import Finding
from warpsmith.base.source import SourceFile, Span
from warpsmith.front.c.context import Context
from warpsmith.front.c.counted.canonical import constant_value
from warpsmith.front.clang import kinds
from warpsmith.front.clang.device.instances import named_instances
from warpsmith.front.clang.process import Failed, parse_files
from warpsmith.front.clang.wire import Dump, Mark
from warpsmith.front.cuda.chevrons import join_chevrons
from warpsmith.front.cuda.losses import LostKernel, find_parameters, find_partly_lost, find_spelled
from warpsmith.front.cuda.problems import Problems
from warpsmith.front.cuda.source import DeviceInput, device_arguments, read_device_input
from warpsmith.front.device.functions import DeviceFunctions
from warpsmith.front.device.statements import DeviceStatements
from warpsmith.front.inputs import Source
from warpsmith.front.load import FrontOptions, full_source, too_deep_findings
from warpsmith.tree.nodes import Function, GlobalDecl, Name, Top, VarDecl
from warpsmith.tree.program import Program, Unit
from warpsmith.tree.repeats import HostRepeat
from warpsmith.tree.types import Symbol
from warpsmith.tree.walk import walk

__all__ = ["DeviceUnit", "LaunchSite", "LostKernel", "load_kernels"]


class LaunchSite(Struct, frozen=True):
    """A `<<<…>>>` of host code; numbers are None where they are not known. `blocks`: those that it may have, as far as
    they are known; `complete`: it has no others. `arguments`: the whole numbers that each may be, None where it may be
    others, or is none; empty where it is not known what they are."""

    kernel: str
    grid: tuple[int | None, ...]
    block: tuple[int | None, ...]
    shared: int | None
    span: Span | None
    blocks: tuple[tuple[int, ...], ...] = ()
    complete: bool = False
    arguments: tuple[tuple[int, ...] | None, ...] = ()


class DeviceUnit(Struct, frozen=True):
    """The device code of one file; `kernels` are the names of those that can be analyzed, as one writes them, `lost`
    what of them cannot. `device_text`: the file without its host functions, in the same places, for a compiler that
    takes device code only (front/cuda/nvrtc.py); "" for OpenCL."""

    program: Program
    kernels: tuple[str, ...]
    findings: tuple[Finding, ...]
    launches: tuple[LaunchSite, ...] = ()
    lost: tuple[LostKernel, ...] = ()
    device_text: str = ""
    repeats: tuple[HostRepeat, ...] = ()

    def function(self, kernel: str) -> Function:
        """Return the function of a kernel of this unit; raises KeyError."""
        for _, function in self.program.functions():
            if function.device is not None and function.device.kernel and _label(function) == kernel:
                return function
        raise KeyError(kernel)


def load_kernels(source: Source, options: FrontOptions, instances: tuple[str, ...] = ()) -> DeviceUnit:
    """Read the device code of one file; what cannot be read is a finding. `instances`: kernels of templates that the
    user names, `k<float, 32>`."""
    given = read_device_input(full_source(source, options), options.node_limit)
    if isinstance(given, Finding):
        return DeviceUnit(Program(()), (), (given,))
    wanted = tuple(name for name in instances if "<" in name)
    unit = _read(given, options, wanted, plain=True) if given.language == "cuda" else None
    if unit is None:
        unit = _read(given, options, wanted, plain=False)
    assert unit is not None
    return unit


def _read(given: DeviceInput, options: FrontOptions, wanted: tuple[str, ...], *, plain: bool) -> DeviceUnit | None:
    """Read a file; None where it may read better with the C++ library's own headers."""
    asked = _instantiate(given, wanted)
    file = SourceFile(given.file.path, given.file.text + asked) if asked else given.file
    text = join_chevrons(named_instances(file.text)) if given.language == "cuda" else file.text
    request = (file.path, device_arguments(given, plain=plain), text.encode("latin-1"), options.node_limit, False)
    (answer,) = parse_files([request], options.timeout_s)
    if isinstance(answer, Failed):
        return DeviceUnit(Program(()), (), (_report_failure(given, answer, options),))
    if answer.exceeded:
        message = f"{file.path} has more than {options.node_limit:,} syntax tree nodes, the limit"
        finding = Finding("INP003", "error", message, Span(file, 0, 0), ("split the file",))
        return DeviceUnit(Program(()), (), (finding,))
    return _Reader(given, file, answer, wanted).unit(plain=plain)


def _instantiate(given: DeviceInput, wanted: tuple[str, ...]) -> str:
    """Return the text that makes the instances that the user names; it stands behind the file's own."""
    if not wanted or given.language != "cuda":
        return ""
    lines = [f"static void *warpsmith_instance_{n} = (void *)&{name};" for n, name in enumerate(wanted)]
    return "\n" + "\n".join(lines) + "\n"


def _report_failure(given: DeviceInput, answer: Failed, options: FrontOptions) -> Finding:
    path = given.file.path
    if answer.why == "time-out":
        message = f"{path} was not parsed within {options.timeout_s:g} s"
        return Finding("INP009", "error", message, Span(given.file, 0, 0), ("raise --timeout, or split the file",))
    message = f"the parser crashed on {path} ({answer.detail})"
    remedy = "the file may use something that clang 18 cannot read: reduce it, or give its PTX"
    return Finding("INP004", "error", message, Span(given.file, 0, 0), (remedy,))


def _label(function: Function) -> str:
    return function.symbol.label or function.symbol.name


class _Reader:
    """Builds the unit of one dump."""

    def __init__(self, given: DeviceInput, file: SourceFile, dump: Dump, wanted: tuple[str, ...]) -> None:
        self.given = given
        self.dump = dump
        self.wanted = wanted
        self.file = file
        # the parser leaves ./ out
        own = Path(file.path)
        self.context = Context(dump, lambda path: file if Path(path) == own else SourceFile.read(path))
        self.table = self.context.table
        self.problems = Problems(self.context, file, given.language, len(given.file.text))

    def unit(self, *, plain: bool) -> DeviceUnit | None:
        """Return the unit; None where another round with other headers may give more."""
        written: list[Function] = []
        called: list[Function] = []
        builder = DeviceFunctions(self.context, self._constant)
        lost: dict[Symbol, LostKernel | None] = {}
        for row, number, own in self._rows():
            if self.problems.is_lost(row, number):
                lost[self.context.symbol(self.table.aux[row])] = builder.lost_kernel(row, number)
            else:
                made = tuple(builder.build(row, number))
                kernel = any(f.device is not None and f.device.kernel for f in made)
                (written if own or kernel else called).extend(made)
        templates = tuple(self._templates())
        if plain and (self.problems.matter or templates):
            return None
        kept = _find_reached(written, called)
        items: list[Top] = [*self._variables(kept), *(f for f in kept if f.device is not None and not f.device.ours)]
        items.sort(key=lambda item: (item.span.file is not self.file, item.span.start))
        headers = tuple(p for p, user in zip(self.dump.files[1:], self.dump.user[1:], strict=True) if user and p)
        unit = Unit(self.file, self.given.language, tuple(items), tuple(kept), (), self.given.arguments, (), headers)
        kernels = tuple(dict.fromkeys(_label(f) for f in kept if f.device is not None and f.device.kernel))
        findings = (*self.problems.findings(kernels, templates, self.wanted), *too_deep_findings(self.context))
        labels = {f.symbol: _label(f) for f in kept}
        labels |= {symbol: kernel.name for symbol, kernel in lost.items() if kernel is not None}
        launches, repeats = tuple(self._launches(labels)), tuple(self._repeats())
        text = self._device_text() if self.given.language == "cuda" else ""
        gone = (*(kernel for kernel in lost.values() if kernel is not None), *find_partly_lost(kept, set(lost)),
                *self._lost_templates(builder, text))  # fmt: skip
        return DeviceUnit(Program((unit,)), kernels, findings, launches, gone, text, repeats)

    def _device_text(self) -> str:
        """Return the file's text with blanks in place of host functions."""
        text = self.given.file.text
        marks = self.dump.marks or {}
        pieces, position = list[str](), 0
        for start, end in sorted(self._host_ranges(marks)):
            if start >= position and end <= len(text):
                pieces += [text[position:start], re.sub(r"[^\n]", " ", text[start:end])]
                position = end
        return "".join([*pieces, text[position:]])

    def _host_ranges(self, marks: Mapping[int, Mark]) -> Iterator[tuple[int, int]]:
        text = self.context.text(0)
        for top in (top for top, number in self.dump.tops if number == 0):
            row = top
            while row < self.table.after[top]:
                kind = self.table.kind[row]
                if kind in kinds.FUNCTIONS or kind == kinds.FUNCTION_TEMPLATE:
                    words = marks.get(self.table.aux[row], ([], ""))[0]
                    start, end = self.table.range(row, text.uses)
                    anywhere = "constexpr" in text.file.text[start:end].partition("{")[0]
                    if "kernel" not in words and "device" not in words and not anywhere:
                        yield start, end
                    row = self.table.after[row]
                else:
                    row += 1

    # --- what there is

    def _rows(self) -> Iterator[tuple[int, int, bool]]:
        """Yield every function with a text that is device code: its row, its file, and whether it stands in the user's
        text as it is (else it is there because something names it)."""
        marks = self.dump.marks or {}
        instances = set(self.dump.instances)
        for place in (*self.dump.tops, *self.dump.instances):
            top, number = place
            row = top
            while row < self.table.after[top]:
                kind = self.table.kind[row]
                if kind == kinds.FUNCTION_TEMPLATE:
                    row = self.table.after[row]
                    continue
                if kind in kinds.FUNCTIONS and self.table.body(row) is not None:
                    words = marks.get(self.table.aux[row], ([], ""))[0]
                    wanted = self.given.language == "opencl" or "kernel" in words or "device" in words
                    if wanted or place in instances:
                        yield row, number, place not in instances
                    row = self.table.after[row]
                    continue
                row += 1

    def _templates(self) -> Iterator[tuple[str, Span]]:
        """Yield the names and places of kernel templates that have no instance."""
        made = {self._place(self.table.aux[row]) for row, _ in self.dump.instances}
        marks = self.dump.marks or {}
        for top, number in self.dump.tops:
            for row in range(top, self.table.after[top]):
                if self.table.kind[row] != kinds.FUNCTION_TEMPLATE:
                    continue
                declared = self.table.aux[row]
                if "kernel" in marks.get(declared, ([], ""))[0] and self._place(declared) not in made:
                    text = self.context.text(number)
                    start, end = self.table.range(row, text.uses)
                    yield self.context.detail(declared)[0], Span(text.file, start, end)

    def _lost_templates(self, builder: DeviceFunctions, device_text: str) -> Iterator[LostKernel]:
        """Yield the instances of kernel templates that errors keep the parser from making."""
        without = {span.start for _, span in self._templates() if span.file is self.file}
        for top, number in self.dump.tops if without else ():
            for row in range(top, self.table.after[top]):
                is_template = self.table.kind[row] == kinds.FUNCTION_TEMPLATE and number == 0
                kernel = builder.lost_kernel(row, number) if is_template else None
                if kernel is not None and kernel.extent.start in without and self.problems.hit(row, number):
                    for name in find_spelled(kernel.name, self.given.file.text, device_text):
                        yield replace(kernel, name=name, written=find_parameters(kernel.name, kernel.extent.text))

    def _place(self, declared: int) -> tuple[str, str]:
        return self.context.detail(declared)[0], self.dump.declared[declared][1]

    def _variables(self, functions: list[Function]) -> Iterator[GlobalDecl]:
        """Yield the variables of the device, and the constants of the file that its code names."""
        named = {n.symbol for f in functions for n in walk(f.body) if isinstance(n, Name)}
        for row, number in self._file_scope():
            symbol = self.context.symbol(self.table.aux[row])
            if symbol in named or symbol.space:
                yield GlobalDecl(
                    span=self._declare_variable(row, number).span, declarations=(self._declare_variable(row, number),)
                )

    def _declare_variable(self, row: int, number: int) -> VarDecl:
        return DeviceStatements(self.context, self.context.text(number)).variable(row)

    def _file_scope(self) -> Iterator[tuple[int, int]]:
        seen: set[Symbol] = set()
        for top, number in self.dump.tops:
            row = top
            while row < self.table.after[top]:
                kind = self.table.kind[row]
                if kind in kinds.FUNCTIONS or kind == kinds.FUNCTION_TEMPLATE:
                    row = self.table.after[row]
                    continue
                if kind == kinds.VAR_DECL:
                    symbol = self.context.symbol(self.table.aux[row])
                    if symbol not in seen and not symbol.name.startswith("warpsmith_instance_"):
                        seen.add(symbol)
                        yield row, number
                row += 1

    def _constant(self, name: str) -> int | None:
        """Return the value of a constant of the file."""
        short = name.rpartition("::")[2]
        for number, declared in enumerate(self.dump.declared):
            if declared[1] == short and declared[0] == kinds.ENUM_CONSTANT:
                return declared[8]
            if declared[1] != short or declared[0] != kinds.VAR_DECL:
                continue
            for row, file in self._file_scope():
                if self.table.aux[row] == number:
                    init = self._declare_variable(row, file).init
                    return constant_value(init) if init is not None else None
        return None

    def _launches(self, labels: Mapping[Symbol, str]) -> Iterator[LaunchSite]:
        for declared, file, start, end, grid, block, shared, (blocks, complete), given in self.dump.launches:
            label = labels.get(self.context.symbol(declared))
            if label is not None:
                span = self.context.span(file, start, end)
                possible = tuple(tuple(one) for one in blocks)
                passed = tuple(None if one is None else tuple(one) for one in given)
                yield LaunchSite(label, tuple(grid), tuple(block), shared, span, possible, complete, passed)

    def _repeats(self) -> Iterator[HostRepeat]:
        for callee, what, (device, host), conditions, file, start, end, loop_start, loop_end in self.dump.transfers:
            span, loop = self.context.span(file, start, end), self.context.span(file, loop_start, loop_end)
            # an assignment that is no text to the parser is one that is not seen
            if span is not None and loop is not None and not self.problems.follows(loop):
                yield HostRepeat(callee, what, device, host, tuple(conditions), span, loop)


def _find_reached(written: list[Function], called: list[Function]) -> list[Function]:
    """Return the functions that the user wrote, and of all others those that they call; each once."""
    by_symbol: dict[Symbol, Function] = {}
    for function in (*written, *called):
        by_symbol.setdefault(function.symbol, function)
    wanted = list({f.symbol: f for f in written}.values())
    seen = {f.symbol for f in wanted}
    for function in wanted:  # grows while it is walked
        for node in walk(function.body):
            named = by_symbol.get(node.symbol) if isinstance(node, Name) else None
            if named is not None and named.symbol not in seen:
                seen.add(named.symbol)
                wanted.append(named)
    return wanted
