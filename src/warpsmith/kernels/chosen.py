"""Which kernel of a file is meant, and how one run of it is launched."""

from __future__ import annotations

from difflib import get_close_matches
from fnmatch import fnmatchcase

from warpsmith.analysis.uniformity.facts import Dim
from warpsmith.base.errors import InputError, UsageError
from warpsmith.base.findings import Finding
from warpsmith.kernels.names import shown_names
from warpsmith.kernels.units import KernelUnit
from warpsmith.machine.limits import MAX_GRID, block_fits
from warpsmith.ssa.nodes import Function

__all__ = ["launch_of", "named_kernel"]


def named_kernel(unit: KernelUnit, wanted: str, path: str) -> tuple[Function, str]:
    """Return the kernel of a file that is meant, by its name or a pattern of it ("": the only one), and its name.

    Raises InputError where there is none with code, UsageError where none or several may be meant.
    """
    kernels = [function for function in unit.module.functions if function.kernel and function.blocks]
    names = shown_names([kernel.name for kernel in kernels])
    if not kernels:
        errors = tuple(finding for finding in unit.findings if finding.severity == "error")
        raise InputError(*(errors or (Finding("INP001", "error", f"{path} has no kernel with code"),)))
    found = [k for k in kernels if wanted in (k.name, names[k.name])]
    found = found or [k for k in kernels if not wanted or any(fnmatchcase(n, wanted) for n in (k.name, names[k.name]))]
    listed = ", ".join(names[k.name] for k in kernels)
    if not found:
        near = get_close_matches(wanted, names.values(), n=1)
        hint = f"did you mean '{near[0]}'?" if near else f"the kernels: {listed}"
        raise _usage(f"no kernel matches '{wanted}'", hint)
    if len(found) > 1:
        few = ", ".join(names[k.name] for k in found)
        raise _usage(f"{path} has {len(found)} kernels that may be meant: {few}", "name one: --kernel NAME")
    return found[0], names[found[0].name]


def launch_of(
    unit: KernelUnit, kernel: Function, block: Dim | None, grid: Dim | None, shared: int
) -> tuple[Dim, Dim, int]:
    """Return block, grid and bytes of shared memory: as the user says, else as the file's host code launches it.

    Raises UsageError where nothing says the block, and for what no GPU starts or the kernel does not allow.
    """
    launched = unit.launches.get(kernel.name)
    block = block or (launched.block if launched is not None else None) or kernel.limits.exact_block
    grid = grid or (launched.grid if launched is not None else None) or (1, 1, 1)
    if block is None:
        raise _usage(f"nothing says how many threads a block of {kernel.name} has", "for example --block 64 --grid 1")
    if not block_fits(block) or any(n > most for n, most in zip(grid, MAX_GRID, strict=True)):
        raise _usage(f"no GPU starts blocks of {_by(block)} threads in a grid of {_by(grid)}: 1,024 threads at most")
    exact = kernel.limits.exact_block
    if exact is not None and exact != block:
        raise _usage(f"{kernel.name} requires blocks of {_by(exact)} threads, not {_by(block)}")
    shared = shared or (launched.shared_bytes if launched is not None else 0)
    return block, grid, shared


def _by(sizes: Dim) -> str:
    return "x".join(map(str, sizes))


def _usage(message: str, *helps: str) -> UsageError:
    return UsageError(Finding("INP000", "error", message, help=helps))
