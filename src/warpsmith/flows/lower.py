"""LOWER, a straight line: a file with kernels goes in, one of them comes out as text of other machines.

Of C and C++ a loop goes in: what comes out is the kernel that it becomes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, Literal, get_args

from warpsmith.base.errors import InputError, UsageError
from warpsmith.base.findings import Finding
from warpsmith.base.source import Span
from warpsmith.emit.host.cuda import emit_kernels
from warpsmith.flows.port import PortOptions, port
from warpsmith.flows.porting.predicted import launched_name
from warpsmith.front.brook.read import read_brook
from warpsmith.front.load import FrontOptions
from warpsmith.kernels.chosen import named_kernel
from warpsmith.kernels.units import KernelFile, KernelUnit, read_unit
from warpsmith.lower.program import lower
from warpsmith.report.lowering.model import Lowering, TargetColumn
from warpsmith.ssa.nodes import Function
from warpsmith.targets.brook.export import write_brook
from warpsmith.targets.brook.refused import refuse_brook
from warpsmith.targets.il.pixels.export import write_pixels
from warpsmith.targets.il.pseudo import pseudo_lines
from warpsmith.targets.il.writing.export import WrittenIl, write_il
from warpsmith.targets.il.writing.refused import refuse
from warpsmith.targets.llvm.export import ARCHITECTURES, lower_by_llvm
from warpsmith.targets.llvm.listing import Listed, Listing
from warpsmith.targets.llvm.sass import sass_of
from warpsmith.targets.mask.export import Exported, export_kernel
from warpsmith.tree import nodes as tree
from warpsmith.tree.program import Kernel
from warpsmith.tree.shared import restore_shared

__all__ = ["TARGETS", "Target", "kernel_of_loop", "lower_kernel", "lower_to", "lower_unit"]

Target = Literal["mask", "brook", "pseudo", "il", "llvm", "gcn", "avx512", "ptx", "sass"]
TARGETS: Final[tuple[Target, ...]] = get_args(Target)
_BY_PTX: Final = ("ptx", "sass")
TRANSLATED: Final = "translated"
"""The architecture of AMD IL in which streams of one axis lie in rows."""


def lower_kernel(file: KernelFile, kernel: str) -> Exported:
    """Return a kernel as a program of the mask ISA; raises InputError where it cannot be one, UsageError where no
    kernel is meant."""
    # text → kernels → SSA
    unit = _read(file)
    # the one that is meant → text
    function, _ = named_kernel(unit, kernel, file.path)
    return export_kernel(function)


def lower_to(file: KernelFile, kernel: str, targets: Sequence[Target], architectures: Sequence[str] = ()) -> Lowering:
    """Return a kernel as text of machines, each of which may refuse it; raises InputError where all do, UsageError
    where no kernel is meant, or an architecture is none of a target."""
    chosen = [(target, _architecture(target, architectures)) for target in targets]
    _check(architectures, chosen)
    # text → kernels → SSA
    unit = _read(file)
    # the one that is meant → text, once for each target
    function, _ = named_kernel(unit, kernel, file.path)
    made = _lower(unit, function, chosen)
    refused = [one.refused for one in made.columns if one.refused is not None]
    if len(refused) == len(made.columns):
        raise InputError(*refused)
    return made


def lower_unit(unit: KernelUnit, function: Function, targets: Sequence[Target]) -> Lowering:
    """Return a kernel of a unit that was read as text of machines, each of which may refuse it."""
    return _lower(unit, function, [(target, _architecture(target, ())) for target in targets])


def _lower(unit: KernelUnit, function: Function, chosen: Sequence[tuple[Target, str]]) -> Lowering:
    columns = tuple(_column(unit, function, target, architecture) for target, architecture in chosen)
    return Lowering(unit.file, function, columns)


def kernel_of_loop(path: str, front: FrontOptions, loop: str, kernel: str) -> tuple[KernelFile, str]:
    """Return the text of the kernels that the loops of a C or C++ file become, and the name of the one that is meant;
    of one whose indices have either width the one with 32 bits.

    `loop`: FILE:LINE or its address; `kernel`: the kernel's name ("": the only one). Raises InputError where no loop
    becomes a kernel, UsageError where none or several may be meant.
    """
    result = port([path], PortOptions(front=front, loops=(loop,) if loop else (), verify=False))
    if result.plan is None or result.ported is None:
        errors = [one for one in (*result.findings, *result.diagnostics) if one.severity == "error"]
        help = (f"`warpsmith explain {path}` says of each loop why",)
        raise InputError(*(errors or [Finding("INP001", "error", f"no loop of {path} becomes a kernel", help=help)]))
    made = {one.kernel.name: (one.kernel, one.region) for one in result.plan.fragments}
    meant = _meant(path, made, kernel)
    texts = emit_kernels(result.program, restore_shared(result.program, result.ported.program))
    (text,) = [one for one in texts if f" {meant.name}_kernel(" in one.text]
    name = launched_name(meant, narrow=True)
    held = text.text.encode("utf-8", "surrogateescape").decode("latin-1")
    return KernelFile(text.path, "cuda", (), held, (name,), front.timeout_s), name


def _meant(path: str, made: Mapping[str, tuple[Kernel, str]], wanted: str) -> Kernel:
    found = [one for name, (one, _) in made.items() if wanted in ("", name, f"{name}_kernel")]
    if len(found) == 1:
        return found[0]
    listed = "; ".join(f"{name} of {region}" for name, (_, region) in made.items())
    message = f"no kernel of {path} is called '{wanted}'" if wanted else f"{path} becomes {len(made)} kernels"
    help = (f"the kernels: {listed}", "name one: --kernel NAME, or its loop: --loop FUNCTION/LOOP")
    raise UsageError(Finding("INP000", "error", message, help=help))


def _read(file: KernelFile) -> KernelUnit:
    unit = read_unit(file)
    if isinstance(unit, Finding):
        raise InputError(unit)
    return unit


def _column(unit: KernelUnit, function: Function, target: Target, architecture: str) -> TargetColumn:
    try:
        return TargetColumn(target, architecture, _listing(unit, function, target, architecture))
    except InputError as error:
        return TargetColumn(target, architecture, None, error.findings[0])


def _listing(unit: KernelUnit, function: Function, target: Target, architecture: str) -> Listing:
    if target == "mask":
        return Listing(tuple(map(Listed, export_kernel(function).text.splitlines())), ";")
    if target == "brook" and function.name in unit.domains:
        return Listing(tuple(map(Listed, unit.file.text.splitlines())), "//")
    if target == "brook":
        return Listing(tuple(map(Listed, write_brook(_tree(unit, function), unit.functions).splitlines())), "//")
    if target in ("il", "pseudo"):
        return _il_listing(_written(unit, function, architecture), target)
    made = lower_by_llvm(unit.module, function, architecture)
    if target == "sass":
        return sass_of(made, function)
    return made.ir if target == "llvm" else made.listing


def _tree(unit: KernelUnit, function: Function) -> tree.Function:
    """Return the tree that a kernel was made from; raises InputError where there is none."""
    for one in unit.functions:
        if one.device is not None and one.device.kernel and (one.symbol.label or one.symbol.name) == function.name:
            return one
    message = f"{function.name} has no text of CUDA or OpenCL that Brook+ could be written from"
    raise refuse_brook(message, function.span, "name a .cu or .cl file")


def _written(unit: KernelUnit, function: Function, architecture: str) -> WrittenIl:
    """Return a kernel as a program of AMD IL: one over streams as a pixel shader, else a compute shader."""
    if function.name not in unit.domains:
        if architecture == TRANSLATED:
            message = f"{function.name} has no streams, and addresses of others are not translated"
            raise refuse(message, function.span, "leave --arch translated out")
        return write_il(unit.module, function)
    text = read_brook(unit.file, guarded=False)
    whole = lower(text.program).module.function(function.name)
    assert whole is not None
    return write_pixels(whole, text.kernels[function.name], translated=architecture == TRANSLATED)


def _il_listing(made: WrittenIl, target: Target) -> Listing:
    if target == "il":
        return Listing(tuple(_listed(*line) for line in made.lines()), ";")
    head = tuple(Listed(f"// {line}") for line in made.head)
    return Listing((*head, *(_listed(*line) for line in pseudo_lines(made.program))), "//")


def _listed(text: str, span: Span | None) -> Listed:
    return Listed(text) if span is None else Listed(text, span.file, span.line)


def _architecture(target: Target, given: Sequence[str]) -> str:
    """Return the architecture that is meant for a target: the first given one that it has, else its default."""
    known = _known(target)
    return next((one for one in given if one in known), known[0] if known else "")


def _known(target: Target) -> tuple[str, ...]:
    if target == "llvm":
        return tuple(one for known in ARCHITECTURES.values() for one in known)
    if target in ("il", "pseudo"):
        return ("", TRANSLATED)
    return ARCHITECTURES.get("ptx" if target in _BY_PTX else target, ())


def _check(given: Sequence[str], chosen: Sequence[tuple[Target, str]]) -> None:
    """Raise UsageError where an architecture is not used."""
    used = {architecture for _, architecture in chosen}
    for one in given:
        if one not in used:
            listed = "; ".join(f"{target}: {', '.join(filter(None, _known(target))) or 'none'}" for target, _ in chosen)
            raise UsageError(Finding("INP000", "error", f"--arch {one} is of no target here", help=(listed,)))
