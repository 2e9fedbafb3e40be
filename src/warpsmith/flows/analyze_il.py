"""ANALYZE of AMD IL, a straight line: texts go in, bundles, cycles and threads a second on each GPU come out.

Of a file of another language each kernel is written as AMD IL first, of Brook+ in two ways: as it is, and with streams
in rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

from warpsmith.base.errors import InputError, RefusedError
from warpsmith.base.findings import Finding
from warpsmith.base.source import SourceFile
from warpsmith.flows.lower import TRANSLATED, lower_to
from warpsmith.front.il.defects import find_defects
from warpsmith.front.il.nodes import IlProgram
from warpsmith.front.il.read import parse_il
from warpsmith.kernels.units import KernelFile, read_unit
from warpsmith.machine.vliw.gpus import VliwGpu, load_vliw_gpus, vliw_gpu
from warpsmith.machine.vliw.slots import Generation
from warpsmith.report.vliw.model import VliwReport, VliwRow
from warpsmith.targets.il.optimize import optimize_il
from warpsmith.targets.r600.analyze import analyze_il, can_run
from warpsmith.targets.r600.segments import IlSegment, count_segments

__all__ = ["analyze_il_files"]


def analyze_il_files(paths: Sequence[str], devices: Sequence[str] = (), granted: Sequence[str] = ()) -> VliwReport:
    """Return the report on files of IL, for the GPUs that are named, else for all of the list; `granted`: conditions of
    rewrites that hold.

    Raises UsageError where there is no such GPU. What is wrong with a file is in its row.
    """
    gpus = tuple(vliw_gpu(name) for name in devices) or load_vliw_gpus()
    return VliwReport(tuple(row for path in paths for row in _analyze_file(path, gpus, granted)))


def _analyze_file(path: str, gpus: Sequence[VliwGpu], granted: Sequence[str]) -> Iterator[VliwRow]:
    if Path(path).suffix.lower() == ".il":
        yield _analyze_text(path, lambda: SourceFile.read(path), gpus, granted)
        return
    unit = read_unit(KernelFile(path))
    wrong = (unit,) if isinstance(unit, Finding) else tuple(one for one in unit.findings if one.severity == "error")
    if isinstance(unit, Finding) or wrong:
        yield VliwRow(path, "", wrong)
        return
    for kernel in unit.module.functions:
        for architecture in ("", TRANSLATED) if kernel.name in unit.domains else ("",):
            if kernel.kernel and kernel.blocks:
                title = f"{path}: {kernel.name}{', streams in rows' if architecture else ''}"
                yield _analyze_text(title, partial(_text_of, path, kernel.name, architecture), gpus, granted)


def _text_of(path: str, kernel: str, architecture: str) -> SourceFile:
    """Return a kernel as AMD IL; raises InputError where it cannot be that."""
    lowered = lower_to(KernelFile(path), kernel, ("il",), (architecture,) if architecture else ())
    (column,) = lowered.columns
    assert column.listing is not None
    return SourceFile(f"{path} ({kernel} as AMD IL)", column.listing.text)


def _analyze_text(
    path: str, text: Callable[[], SourceFile], gpus: Sequence[VliwGpu], granted: Sequence[str]
) -> VliwRow:
    # text → program
    try:
        program = parse_il(text())
    except OSError as error:
        finding = Finding("INP001", "error", f"{path} cannot be read: {(error.strerror or str(error)).lower()}")
        return VliwRow(path, "", (finding,))
    except InputError as error:
        return VliwRow(path, "", error.findings)
    # program → what is likely to be wrong, bundles, figures, what makes it shorter
    defects = find_defects(program)
    try:
        figures = analyze_il(program, gpus)
        return VliwRow(path, _about(program), defects, figures, optimize_il(program, granted))
    except RefusedError as error:
        return VliwRow(path, _about(program), (*defects, *error.findings), segments=_segments(program, gpus))


def _segments(program: IlProgram, gpus: Sequence[VliwGpu]) -> Mapping[Generation, tuple[IlSegment, ...]]:
    """Return what runs together, for each generation that can run it; nothing where an instruction is not counted."""
    generations = dict.fromkeys(gpu.generation for gpu in gpus if can_run(program, gpu.generation))
    try:
        return {generation: count_segments(program, generation) for generation in generations}
    except RefusedError:
        return {}


def _about(program: IlProgram) -> str:
    """Return what a program is, in words."""
    kind = "pixel shader" if program.kind == "ps" else "compute shader"
    constants = sum(one.size for one in program.constants.values())
    parts = [_count(len(program.resources), "resource"), _count(constants, "constant register")]
    views = {one.resource for one in program.instructions if one.op.form == "uav_store"}
    written = [f"o{number}" for number in program.outputs] + [f"uav{number}" for number in sorted(views)]
    outputs = ", ".join(written) or "g"
    return f"{kind} of {_count(len(program.instructions), 'instruction')}, {', '.join(parts)}; writes {outputs}"


def _count(number: int, word: str) -> str:
    return f"{number} {word}{'' if number == 1 else 's'}"
