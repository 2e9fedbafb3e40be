"""Programs and their ports, written down for a machine that has a GPU and no warpsmith.

    programs/NAME/original      the user's files                             printed words are compared,
                  port          what `warpsmith port` writes                 and times
                  reference     the original with the referee's captures     every object after every region
                  candidate     the port with them                           is compared, the device's copy of it
    manifest.json               how each of them is built and run
    runtime/                    the capture run time

Where a program has no main, only the last two are there: the referee's harness calls its functions.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks.gpu.programs import Program
from msgspec.structs import replace
from tests.random_programs.apart import Ended, apart

from warpsmith.base.errors import WarpsmithError
from warpsmith.emit.files import OutputFile
from warpsmith.emit.host.cuda import emit_cuda
from warpsmith.flows.port import PortOptions, PortResult, port
from warpsmith.flows.porting.harness import harness_functions
from warpsmith.flows.porting.predicted import predict_port
from warpsmith.flows.porting.sources import sources_of
from warpsmith.front.inputs import Source
from warpsmith.front.load import FrontOptions
from warpsmith.offload.plan import GainOptions, OffloadOptions
from warpsmith.run.native.harness import add_harness, plan_harness
from warpsmith.run.native.programs import RUNTIME_FILE
from warpsmith.run.referee.reference import ReferenceProgram, run_environment, runtime_files
from warpsmith.run.verification import Sources, VerifyOptions
from warpsmith.tree.shared import restore_shared

__all__ = ["prepare", "write_runtime"]

_LIMIT_S = 400.0
_HEADERS = ("*.h", "*.hpp")
_DEVICES = ("h100", "h200", "a100")
"""Those that times are predicted for."""


def prepare(programs: Iterator[Program], folder: Path) -> list[dict[str, Any]]:
    """Port programs into `folder`; return a row for each, also for those that are not ported."""
    rows: list[dict[str, Any]] = []
    for program in _with_names_of_their_own(programs):
        started = time.monotonic()
        done = apart(lambda program=program: _prepared(program, folder), _LIMIT_S)  # type: ignore[misc]
        row = {"skipped": f"porting: {done.detail}"} if isinstance(done, Ended) else done
        rows.append({"name": program.name, "kind": program.kind, **row})
        word = row.get("skipped", f"{row.get('kernels')} kernels")
        print(f"{program.name}: {word.splitlines()[0][:90]}, {time.monotonic() - started:.1f} s", file=sys.stderr)
    return rows


def _with_names_of_their_own(programs: Iterator[Program]) -> Iterator[Program]:
    """Yield programs; one that is called as one of another kind was has its kind in its name."""
    taken: set[str] = set()
    for program in programs:
        own = program if program.name not in taken else replace(program, name=f"{program.kind}-{program.name}")
        taken.add(own.name)
        yield own


def write_runtime(folder: Path) -> None:
    """Write the capture run time, with and without what the harness calls."""
    for name, harness in (("plain", False), ("harness", True)):
        target = folder / "runtime" / name
        target.mkdir(parents=True, exist_ok=True)
        for file in runtime_files(clock=True, harness=harness):
            (target / file.path).write_bytes(file.data())


def _prepared(program: Program, folder: Path) -> dict[str, Any]:
    try:
        result = _port(program)
    except WarpsmithError as error:
        return {"skipped": f"refused: {error}"}
    if result.ported is None or not result.plan or not result.plan.fragments:
        return {"skipped": "nothing ported"}
    target = folder / "programs" / program.name
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    user, ported = result.prepared.original.program, result.ported
    texts = {
        "original": _own_files(result),
        "port": result.files,
        "reference": emit_cuda(user, restore_shared(user, ported.reference)),
        "candidate": emit_cuda(user, restore_shared(user, ported.candidate)),
    }
    builds = {
        name: sources_of(_of_text(name, result), files, captured=name in ("reference", "candidate"))
        for name, files in texts.items()
    }
    row: dict[str, Any] = {"run": program.run, "timed": program.timed, "whole": program.whole, "harness": False}
    row["kernels"] = len(result.plan.fragments)
    if program.timed:
        row["predicted"] = {name: _predicted_s(result, name) for name in _DEVICES}
    row["reordered"] = builds["candidate"].reordered_bits > 0
    if not any(function.symbol.name == "main" for _, function in user.functions()):
        found = _with_harness(result, builds)
        if isinstance(found, str):
            return {"skipped": found}
        row["harness"] = True
        row["skip"], builds = found
    elif program.whole:
        del builds["reference"], builds["candidate"]
    row["builds"] = {name: _write(sources, target / name) for name, sources in builds.items()}
    return row


def _port(program: Program) -> PortResult:
    plus = [path.suffix == ".cpp" for path in program.paths]
    options = PortOptions(
        front=FrontOptions(arguments=program.arguments),
        offload=OffloadOptions(precise_fp=program.precise),
        verify=False,
        transforms=program.transforms,
        chosen=program.chosen,
        steps=not program.chosen,
    )
    assert len(set(plus)) == 1
    return port([Source(str(path), program.arguments, "c++" if any(plus) else "c") for path in program.paths], options)


def _predicted_s(result: PortResult, name: str) -> float | None:
    """Return the seconds that all kernels are predicted to take together; None where one of them has no time."""
    options = OffloadOptions(gain=GainOptions(device=name, everything=True))
    found = predict_port(result.prepared, result.ported, options)
    times = [] if found is None else [kernel.seconds for kernel in found.kernels]
    return None if None in times else sum(time for time in times if time is not None)


def _own_files(result: PortResult) -> tuple[OutputFile, ...]:
    program = result.prepared.original.program
    return emit_cuda(program, program)


def _of_text(name: str, result: PortResult) -> Any:
    ported = result.ported
    assert ported is not None
    whole = {"reference": ported.reference, "candidate": ported.candidate, "port": ported.program}
    return whole.get(name, result.prepared.original.program)


def _with_harness(result: PortResult, builds: dict[str, Sources]) -> tuple[tuple[int, ...], dict[str, Sources]] | str:
    """Return the two programs with captures and callers of their functions, and the calls to leave out."""
    assert result.plan is not None
    options = VerifyOptions()
    changed = {fragment.function.symbol for fragment in result.plan.fragments}
    plan = plan_harness(harness_functions(result.prepared.original, changed), options)
    if not plan.cases:
        return "no function can be called"
    callers = add_harness(builds["reference"], plan, None)
    if isinstance(callers, str):
        return callers
    with tempfile.TemporaryDirectory() as work:
        reference = ReferenceProgram(callers, options, Path(work), harness=True)
        if not reference.built.command:
            return reference.built.message
        skip = _bad_calls(reference)
        counts = {key: value for key, value in reference.base.log.marks.items() if key[0] != "begin"}
    candidate = add_harness(builds["candidate"], plan, counts)
    return candidate if isinstance(candidate, str) else (skip, {"reference": callers, "candidate": candidate})


def _bad_calls(reference: ReferenceProgram) -> tuple[int, ...]:
    """Return the calls in which the original itself fails, in the order in which they do."""
    bad: list[int] = []
    while True:
        marks = reference.base.log.marks
        outside = {number for (region, _), number in marks.items() if region == "outside"}
        unfinished = {n for (region, label), n in marks.items() if region == "begin" and ("end", label) not in marks}
        large = {number for (region, _), number in marks.items() if region == "too large"}
        more = (outside | (unfinished - large)) - set(bad)
        if not more:
            return tuple(bad)
        bad += sorted(more)
        reference.restart(tuple(bad))


def _write(sources: Sources, target: Path) -> dict[str, Any]:
    """Write a program's files and headers; return how each file is compiled."""
    target.mkdir(parents=True)
    units: dict[str, list[str]] = {}
    folders: dict[str, str] = {}
    for file in sources.files:
        path = target / file.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(file.data())
        if file.path.endswith((".c", ".cpp", ".cu")) and file.path not in sources.included:
            units[file.path] = list(_portable(sources.own.get(file.path, ()), target, folders))
    openmp = sources.uses_openmp()
    return {"units": units, "openmp": openmp}


def _portable(arguments: Sequence[str], target: Path, folders: dict[str, str]) -> Iterator[str]:
    """Yield options whose folders of headers are copies beside the program."""
    words = iter(arguments)
    for word in words:
        flag = next((f for f in ("-isystem", "-iquote", "-I") if word.startswith(f)), None)
        if flag is None:
            yield word
            continue
        folder = word.removeprefix(flag) or next(words)
        if folder not in folders:
            folders[folder] = f"headers{len(folders)}"
            copy = target / folders[folder]
            copy.mkdir()
            for header in (h for pattern in _HEADERS for h in Path(folder).glob(pattern)):
                shutil.copy(header, copy / header.name)
        yield f"-I{folders[folder]}"


def run_word(fill: int, poison: int) -> dict[str, str]:
    """Return the referee's environment of a run, for the manifest."""
    return {**run_environment(fill, poison)}


def write_manifest(rows: Sequence[dict[str, Any]], folder: Path) -> None:
    """Write what the device part reads."""
    environments = [run_word(0, 1), {**run_word(1, 2), "WS_CLOCK": "1"}, run_word(0, 4)]
    document = {"runtime": RUNTIME_FILE, "environments": environments, "programs": list(rows)}
    (folder / "manifest.json").write_text(json.dumps(document, indent=1))
