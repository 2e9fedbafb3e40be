"""VERIFY: the same referee judges any candidate, made by whom- or whatever."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from warpsmith.base.errors import InputError
from warpsmith.base.findings import Finding
from warpsmith.base.progress import Activity
from warpsmith.emit.files import OutputFile
from warpsmith.flows.porting.device_code import host_uses
from warpsmith.flows.porting.harness import extents_of
from warpsmith.front.load import FrontOptions, load_program
from warpsmith.poly.facts import PolyOptions
from warpsmith.run.referee.referee import verify
from warpsmith.run.verification import HarnessFunction, Sources, Verification, VerifyOptions
from warpsmith.tree.program import Program

__all__ = ["verify_candidate"]


def verify_candidate(
    original: Sequence[str], candidate: Sequence[str], front: FrontOptions, options: VerifyOptions
) -> Verification:
    """Judge the files `candidate` against the files `original`; raises InputError where one cannot be read."""
    # The original is read as a tree only to know what its functions take; it is compiled as it stands.
    options.progress(Activity("reading", original[0]))
    program = load_program(original, front).program
    harness = _harness(program)
    reference, judged = _sources(original, front), _sources(candidate, front)
    misplaced = host_uses(judged)
    if misplaced:
        return Verification("fail", output_equal=False, reasons=misplaced)
    return verify(reference, judged, options, harness)


def _harness(program: Program) -> tuple[HarnessFunction, ...]:
    if any(function.symbol.name == "main" for _, function in program.functions()):
        return ()
    options = PolyOptions()
    visible = [function for _, function in program.functions() if not function.static]
    return tuple(HarnessFunction(function, extents_of(program, function, options)) for function in visible)


def _sources(paths: Sequence[str], front: FrontOptions) -> Sources:
    files = tuple(OutputFile(Path(path).name, _read(path)) for path in paths)
    return Sources(files, front.arguments, str(Path(paths[0]).parent))


def _read(path: str) -> str:
    try:
        return Path(path).read_bytes().decode("latin-1")
    except OSError as error:
        message = f"cannot read {path}: {(error.strerror or str(error)).lower()}"
        raise InputError(Finding("INP001", "error", message, help=("check the path",))) from error
