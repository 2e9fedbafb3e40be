"""The registers of kernels, as ptxas says: of PTX as it is, of CUDA by way of NVRTC.

    k.ptx ──────────────────────────► ptxas -v ──► registers, spills, shared bytes of each kernel
    k.cu, without host functions ──► NVRTC ──► PTX of the device's architecture ──┘

What does not answer is a finding, and registers are estimates then. Limits: NVRTC compiles with its own defaults, which
are those of nvcc at -O3; a build with other options may give other numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from warpsmith.analysis.resources.resources import CompilerFigures
from warpsmith.base.findings import Finding
from warpsmith.base.source import SourceFile
from warpsmith.front.cuda.nvrtc import compile_to_ptx
from warpsmith.kernels.units import KernelUnit
from warpsmith.machine.devices import Device
from warpsmith.run.native.ptxas import assemble_ptx

__all__ = ["Registers", "ask_ptxas"]

Registers = Mapping[tuple[str, str], CompilerFigures]
"""What ptxas says of a kernel, by device and symbol."""
_Said = Mapping[str, CompilerFigures] | Finding


def ask_ptxas(
    unit: KernelUnit, arguments: Sequence[str], devices: Sequence[Device]
) -> tuple[Registers, tuple[Finding, ...]]:
    """Return what ptxas says of the kernels of a file on each device, and why it says nothing where it does not.
    `arguments`: how the file is compiled."""
    found: dict[tuple[str, str], CompilerFigures] = {}
    unanswered: list[Finding] = []
    for device in devices:
        for said in _say(unit, arguments, device):
            if isinstance(said, Finding):
                unanswered.append(said)
            else:
                found |= {(device.name, symbol): numbers for symbol, numbers in said.items()}
    return found, tuple(unanswered)


def _say(unit: KernelUnit, arguments: Sequence[str], device: Device) -> Iterator[_Said]:
    if device.vendor != "nvidia":
        return
    if unit.language == "ptx":
        yield assemble_ptx(unit.file.data(), device.arch)
    elif unit.language == "cuda" and unit.device_text:
        yield _of_cuda(unit, arguments, device.arch)


def _of_cuda(unit: KernelUnit, arguments: Sequence[str], arch: str) -> _Said:
    """Return what ptxas says of the kernels of a CUDA file, by the names that the user gave them."""
    names = [function.name for function in unit.module.functions if function.kernel and function.blocks]
    made = compile_to_ptx(SourceFile(unit.file.path, unit.device_text), arguments, names, arch)
    if isinstance(made, Finding):
        helps = ("registers are estimates", *made.help)
        return Finding("INP001", "warning", f"--ptxas: {made.message}", made.span, helps)
    said = assemble_ptx(made.text.encode("latin-1"), arch)
    if isinstance(said, Finding):
        return said
    return {name: said[symbol] for name in names if (symbol := made.entries.get(name, name)) in said}
