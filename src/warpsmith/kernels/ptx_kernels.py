"""Kernels that the parser cannot take, from the PTX that NVRTC makes of them.

    what is lost, the text without host functions ─► NVRTC ─► PTX ─► our reader ─┬─► kernels, under the user's names
                                                                                 └─► what they call, their variables

Invariant: what the parser took whole stays as it is; nothing is said to be read that is not.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from warpsmith.base.findings import Finding
from warpsmith.base.source import SourceFile, Span
from warpsmith.front.cuda.nvrtc import PtxText, compile_to_ptx
from warpsmith.front.kernels import DeviceUnit, LostKernel
from warpsmith.front.ptx.read import read_ptx
from warpsmith.lower.program import Lowered
from warpsmith.ssa.nodes import BasicBlock, Function, Instruction, Module, Param
from warpsmith.tree.types import Symbol

__all__ = ["Recovered", "recover_kernels"]


class Recovered(Struct, frozen=True):
    """A module with the kernels that could be had, what is to be said of the file, and the parameters of the kernels
    that are new."""

    module: Module
    findings: tuple[Finding, ...]
    parameters: Mapping[str, tuple[Symbol, ...]]


def recover_kernels(read: DeviceUnit, lowered: Lowered, arguments: Sequence[str]) -> Recovered:
    """Return the device code of a file with the kernels that only a compiler takes, where NVRTC is and takes them."""
    said = (*read.findings, *lowered.findings)
    wanted = {kernel.name: kernel for kernel in (*_find_without_code(read, lowered.module), *read.lost)}
    if not wanted or not read.device_text or not read.program.units:
        return Recovered(lowered.module, said, {})
    own = read.program.units[0].file
    made = compile_to_ptx(SourceFile(own.path, read.device_text), arguments, tuple(wanted))
    if isinstance(made, Finding):
        return Recovered(lowered.module, (*said, _soften_finding(made)), {})
    return _put_together(lowered.module, said, wanted, _read(own, made), made)


def _find_without_code(read: DeviceUnit, module: Module) -> Iterable[LostKernel]:
    """Yield the kernels with a tree of which no code could be made."""
    for function in module.functions:
        if function.kernel and not function.blocks and function.name in read.kernels:
            tree = read.function(function.name)
            yield LostKernel(function.name, tree.parameters, function.span or tree.span, tree.span)


def _read(own: SourceFile, made: PtxText) -> tuple[Module, tuple[Finding, ...]]:
    return read_ptx(SourceFile(f"{own.path}.ptx", made.text), {own.path: own})


def _put_together(
    module: Module,
    said: tuple[Finding, ...],
    wanted: Mapping[str, LostKernel],
    read: tuple[Module, tuple[Finding, ...]],
    made: PtxText,
) -> Recovered:
    """Return the module in which kernels from the PTX stand in place of what the parser made of them."""
    ptx, problems = read
    entries = {kernel: ptx.function(made.entries.get(kernel, "")) for kernel in wanted}
    new = {
        kernel: _name_kernel(function, wanted[kernel])
        for kernel, function in entries.items()
        if function is not None and function.blocks
    }
    called = [function for function in ptx.functions if not function.kernel]
    names = {symbol.name for symbol in module.symbols}
    symbols = (*module.symbols, *(symbol for symbol in ptx.symbols if symbol.name not in names))
    kept = [function for function in module.functions if function.name not in new]
    written = tuple(function for function in module.written if function.name not in new)
    whole = Module((*kept, *new.values(), *called), symbols, written, module.images)
    spans = [wanted[kernel].extent for kernel in new]
    findings = [_after(finding, spans, every=len(new) == len(wanted)) for finding in said]
    notes = [_note(wanted[kernel]) for kernel in new]
    parameters = {kernel: wanted[kernel].parameters for kernel in new}
    return Recovered(whole, (*(f for f in findings if f is not None), *problems, *notes), parameters)


def _name_kernel(function: Function, kernel: LostKernel) -> Function:
    """Return a kernel of the PTX under the name that the user writes, with the names of its parameters."""
    names = {p.name: own for p, own in zip(function.parameters, kernel.names, strict=False) if own}
    if len(kernel.names) != len(function.parameters):
        names = {}
    parameters = tuple(replace(p, name=names.get(p.name, p.name)) for p in function.parameters)
    blocks = tuple(_rename_block(block, names) for block in function.blocks)
    return replace(function, name=kernel.name, parameters=parameters, blocks=blocks, span=kernel.span)


def _rename_block(block: BasicBlock, names: Mapping[str, str]) -> BasicBlock:
    return replace(block, instructions=tuple(_with_names(i, names) for i in block.instructions))


def _with_names(i: Instruction, names: Mapping[str, str]) -> Instruction:
    match i.detail:
        case Param(name) if name in names:
            return replace(i, detail=replace(i.detail, parameter=names[name]))
        case _:
            return i


# --- what is said


def _soften_finding(finding: Finding) -> Finding:
    """Return a finding as a note: that NVRTC does not take the text either is no new error."""
    return replace(finding, severity="note")


def _after(finding: Finding, spans: Sequence[Span], *, every: bool) -> Finding | None:
    """Return what is left of a finding of the parser's when kernels were had in another way."""
    if finding.rule == "INP001" and finding.severity == "error" and every:
        return replace(finding, severity="note", help=())
    span = finding.span
    inside = span is not None and any(s.file is span.file and s.start <= span.start < s.end for s in spans)
    if finding.rule == "INP002" and finding.severity == "error" and every:
        return replace(finding, severity="warning")
    return None if finding.rule in ("INP006", "INP007") and inside else finding


def _note(kernel: LostKernel) -> Finding:
    message = f"{kernel.name} is analyzed as the PTX that NVRTC makes of it: the parser cannot take it"
    return Finding("INP008", "note", message, kernel.span)
