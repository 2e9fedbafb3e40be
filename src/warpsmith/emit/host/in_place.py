"""A port inside the user's project: his own files with additions, everything that is generated in one folder.

    src/solver.c                    the user's, with additions behind #ifdef WARPSMITH
    warpsmith/solver_kernels.cu     kernels and launchers of solver.c
    warpsmith/solver_kernels.h      what solver.c calls
    warpsmith/runtime.cu            device memory, copies, the switch WARPSMITH_OFF: once a project
    warpsmith/runtime.h
    warpsmith/solver_build.h        where macros decide what solver.c says: stops a build with other ones

Invariant: without WARPSMITH defined, the user's files are to the compiler what they were.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from pathlib import PurePosixPath

import msgspec.structs
from msgspec import Struct

from warpsmith.base.source import Span, decode_text
from warpsmith.emit.carried import declarations, run_time
from warpsmith.emit.device.device import DeviceSection, device_section
from warpsmith.emit.file_names import in_comment, kernel_stem
from warpsmith.emit.files import OutputFile
from warpsmith.emit.host.build_macros import build_text
from warpsmith.emit.host.cuda import (
    UnitJob,
    called_lines,
    convert_line_ends,
    drop_captures,
    jobs,
    kernels_text,
    opener_lines,
    size_lines,
)
from warpsmith.emit.host.headers import by_file, once
from warpsmith.emit.host.host import CudaWords
from warpsmith.emit.host.outline.launching import find_launching
from warpsmith.emit.host.outline.model import HostFunction, Outlined
from warpsmith.emit.host.outline.outline import outline_function
from warpsmith.emit.host.outline.runs import Runs
from warpsmith.emit.host.outline.shared import with_calls
from warpsmith.emit.words import Support, choose_support
from warpsmith.tree.in_place.calls import can_call
from warpsmith.tree.in_place.edits import Heads, find_openers, in_place_text
from warpsmith.tree.in_place.versioned import InsertedText, Versioned, WithCalls, refuse_alone
from warpsmith.tree.in_place.writer import InPlaceWriter
from warpsmith.tree.memory.effective_types import keeps_types
from warpsmith.tree.nodes import DataRegionBoundary, Function, Pragma
from warpsmith.tree.printing.patch import is_added
from warpsmith.tree.program import Program, Unit
from warpsmith.tree.shared import is_own
from warpsmith.tree.text.openers import Opener, placed_elsewhere
from warpsmith.tree.walk import walk

__all__ = ["FOLDER", "InPlace", "emit_in_place"]

FOLDER = "warpsmith"
"""The folder of what is generated, below the project's root."""


class InPlace(Struct, frozen=True):
    """The files of a port in place, all paths below the project's root: `changed` are the user's, `kernels` those that
    go with each of them, by its path; `runtime` is what all of them need. `with_data_regions`: the changed files that
    keep data on the device between calls, which is right only where all others are changed as well."""

    changed: tuple[OutputFile, ...]
    kernels: dict[str, tuple[OutputFile, ...]]
    runtime: tuple[OutputFile, ...]
    with_data_regions: frozenset[str] = frozenset()

    @property
    def files(self) -> tuple[OutputFile, ...]:
        """All files."""
        return (*self.runtime, *(file for made in self.kernels.values() for file in made), *self.changed)


def emit_in_place(
    original: Program,
    ported: Program,
    versions: Sequence[Versioned],
    inserted: Sequence[InsertedText],
    root: str,
    *,
    placed: Mapping[Function, Function],
) -> InPlace:
    """Return the files of `ported`, which runs `versions` of the statements of `original`, a program below `root`, and
    has `inserted` statements between them. `placed`: functions of `original` with what is theirs of both in them; what
    is for the device leaves the text of those, where it can be said elsewhere.

    Raises RefusedError where something cannot be written, or stands where nothing can be added.
    """
    support = choose_support(original)
    words = CudaWords(support, {kernel.name: kernel for kernel in ported.kernels})
    source = drop_captures(original)
    changed: list[OutputFile] = []
    with_data_regions: set[str] = set()
    kernels: dict[str, tuple[OutputFile, ...]] = {}
    calls, outlined, versions = _outline(original, ported, once(original, versions), placed, words)
    apart = {called.function.span for called in calls}
    _check_alone(placed, apart, versions)
    made = _name_jobs([part for job in jobs(source, ported, outlined) for part in by_file(job)])
    for path, together in _by_path(made, root).items():
        file = together[0].original.file
        mine = [v for v in versions if v.function.span.file is file and v.function.span not in apart]
        between = [i for i in inserted if i.function.span.file is file]
        rest = [i for i in between if i.function.span not in apart]
        called = [c for c in calls if c.function.span.file is file]
        includes = tuple(dict.fromkeys(line for job in together for line in _includes(job, path)))
        includes = ("#include <type_traits>", *includes) if any(v.instance for v in mine) else includes
        checks = _checks(together[0], original, path)
        first = _include(checks.path, path) if checks is not None else ()
        openers = find_openers(together[0].original, mine, called) if any(job.is_generated for job in together) else ()
        opened = placed_elsewhere(openers, file)
        text = in_place_text(together[0].original, mine, rest, words, Heads(includes, first, opened), called=called)
        if text == file.text:
            continue
        changed.append(OutputFile(path, text))
        if any(
            isinstance(part, DataRegionBoundary) for new in between for stmt in new.statements for part in walk(stmt)
        ):
            with_data_regions.add(path)
        opened = tuple(one for one in opened if one.name in text)
        files = [f for job in together if job.is_generated for f in _kernel_files(job, source, words, path, opened)]
        files += [checks] if checks is not None else []
        if files:
            kernels[path] = tuple(files)
    return InPlace(tuple(changed), kernels, _runtime(support, made[0]) if changed else (), frozenset(with_data_regions))


def _check_alone(placed: Mapping[Function, Function], apart: Collection[Span], versions: Sequence[Versioned]) -> None:
    """Refuse a parallel region that one thread should run by itself, where that is not said in its function's text."""
    held = {part.span for version in versions for stmt in version.written for part in walk(stmt)}
    for function in (function for old, function in placed.items() if old.span not in apart):
        lost = (part for part in walk(function.body) if isinstance(part, Pragma) and part.alone)
        region = next((part for part in lost if part.span not in held), None)
        if region is not None:
            raise refuse_alone(region.span)


def _outline(
    original: Program,
    ported: Program,
    versions: Sequence[Versioned],
    placed: Mapping[Function, Function],
    words: CudaWords,
) -> tuple[list[WithCalls], Outlined, list[Versioned]]:
    """Return the functions whose text calls generated ones, those by the place of their unit, and the versions, with
    their calls where others share the text."""
    taken = set(words.kernels)
    calls: list[WithCalls] = []
    program, made = ported, dict[int, tuple[HostFunction, ...]]()
    launching = find_launching(ported)
    for number, (unit, new) in enumerate(zip(original.units, ported.units, strict=True)):
        after = {function.symbol: function for function in new.functions if not is_added(function)}
        for function in unit.functions:
            # a function that several files have as it is keeps its statements: it is no instance of its text
            mine = [v for v in versions if v.function is function and v.instance]
            if function not in placed or not (mine or is_own(unit, function)):
                continue
            runs = Runs.of(function, launching, typed=keeps_types(unit.arguments))
            found = outline_function(function, placed[function], words.support, taken, runs)
            if found is None:
                continue
            if is_own(unit, function):
                called = WithCalls(function, found.text)
                if not can_call(InPlaceWriter(unit, words), called):
                    continue
                calls.append(called)
                text = found.text
            else:
                known = with_calls(function, found.text, mine)
                if known is None:
                    continue
                versions = [v for v in versions if v.function is not function] + known
                text = function
            program = program.with_function(after[function.symbol], text)
            made[number] = (*made.get(number, ()), *found.made)
    return calls, Outlined(program, made), [*versions]


def _by_path(made: Sequence[UnitJob], root: str) -> dict[str, list[UnitJob]]:
    """Return the jobs of each of the user's files, by its path below `root`; headers come after the program's files."""
    found: dict[str, list[UnitJob]] = {}
    for job in made:
        found.setdefault(_below(job.original, root), []).append(job)
    return found


def _name_jobs(made: Sequence[UnitJob]) -> list[UnitJob]:
    """Return the jobs with a place in the folder and a stem that no other one has."""
    taken: set[str] = {"runtime"}
    result = []
    for job in made:
        stem = job.stem
        if f"{stem}_kernels" in taken:
            stem = kernel_stem(PurePosixPath("_".join((*job.path.parts[:-1], job.path.name))))
        while f"{stem}_kernels" in taken:
            stem += "_"
        taken.add(f"{stem}_kernels")
        path, needs = PurePosixPath(FOLDER, job.path.name), msgspec.structs.replace(job.needs, switch=True)
        result.append(msgspec.structs.replace(job, path=path, stem=stem, pool=False, needs=needs))
    return result


def _below(unit: Unit, root: str) -> str:
    return PurePosixPath(os.path.relpath(unit.file.path, root)).as_posix()


def _includes(job: UnitJob, path: str) -> tuple[str, ...]:
    name = f"{job.stem}_kernels.h" if job.is_generated else "runtime.h"
    return _include(f"{FOLDER}/{name}", path)


def _include(header: str, path: str) -> tuple[str, ...]:
    """Return the line by which the file `path` includes a generated one."""
    beside = os.path.relpath(header, PurePosixPath(path).parent)
    return (f'#include "{decode_text(PurePosixPath(beside).as_posix())}"',)


def _checks(job: UnitJob, program: Program, path: str) -> OutputFile | None:
    """Return the file that stops a build of `path` with other macros; not for a header: who knows what is before it."""
    unit = job.original
    if not any(unit.file is known.file for known in program.units):
        return None
    text = build_text(unit, path)
    return OutputFile(f"{FOLDER}/{job.stem}_build.h", convert_line_ends(text, job)) if text else None


def _kernel_files(
    job: UnitJob, source: Program, words: CudaWords, path: str, opened: Sequence[Opener]
) -> list[OutputFile]:
    name = f"{job.stem}_kernels.h"
    section = device_section(source, job.original, job.kernels, words.support, "")
    text = kernels_text(job, section, words, name, "runtime.h")
    return [
        OutputFile(f"{FOLDER}/{job.stem}_kernels.cu", convert_line_ends(text, job)),
        OutputFile(f"{FOLDER}/{name}", convert_line_ends(_header(job, section, words.support, path, opened), job)),
    ]


def _header(job: UnitJob, section: DeviceSection, support: Support, path: str, opened: Sequence[Opener]) -> str:
    lines = [f"/* Kernels of {in_comment(path)}: what its text calls. Valid as C and as C++. */"]
    body = [*size_lines(job), '#include "runtime.h"', ""]
    body += [*opener_lines(opened), *_linkage_opens()]
    body += called_lines(job, section)
    return "\n".join([*lines, *_guard_lines([*body, "", *_LINKAGE_ENDS], f"{support.prefix}_{job.stem}_KERNELS_H")])


def _runtime(support: Support, job: UnitJob) -> tuple[OutputFile, ...]:
    part = run_time(support, job.needs)
    head, _, text = part.text.partition("\n")
    includes = [f"#include <{name}>" for name in ("cuda_runtime.h", *sorted({*part.headers} - {"cuda_runtime.h"}))]
    return (
        OutputFile(f"{FOLDER}/runtime.cu", "\n".join((head, *includes, text))),
        OutputFile(f"{FOLDER}/runtime.h", declarations(support, job.needs)),
    )


_LINKAGE_ENDS = ["#ifdef __cplusplus", "}", "#endif"]


def _linkage_opens() -> list[str]:
    return ["#ifdef __cplusplus", 'extern "C" {', "#endif", ""]


def _guard_lines(lines: Sequence[str], name: str) -> list[str]:
    guard = "".join(c if c.isascii() and c.isalnum() else "_" for c in name.upper())
    return [f"#ifndef {guard}", f"#define {guard}", "", *lines, "", "#endif", ""]
