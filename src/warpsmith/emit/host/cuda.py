"""A ported program as CUDA files.

lu.c             the user's text; regions replaced by calls of launchers           the host keeps its language
lu_kernels.cu    kernels, launchers (`<<<>>>` only here), checks, the memory pool
lu_kernels.h     the launchers' prototypes, for C and C++
lu_build.h       where loops have code of other builds: what stops a build with other macros
"""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Collection, Iterator, Sequence
from pathlib import PurePath, PurePosixPath
from typing import Final

import msgspec.structs
from msgspec import Struct

from warpsmith.base.errors import RefusedError, UsageError
from warpsmith.base.findings import Finding
from warpsmith.base.identity import Identity
from warpsmith.base.source import SourceFile, Span, decode_text
from warpsmith.emit.carried import RuntimeNeeds, apart_text, check_text, declarations, pool_prototypes, pool_text
from warpsmith.emit.device.definitions import needed_definitions
from warpsmith.emit.device.device import DeviceSection, device_section
from warpsmith.emit.device.unused import drop_unused
from warpsmith.emit.file_names import in_comment, kernel_stem
from warpsmith.emit.files import OutputFile
from warpsmith.emit.host.build_macros import build_text
from warpsmith.emit.host.host import CudaWords
from warpsmith.emit.host.outline.guarded.guards import asks_apart
from warpsmith.emit.host.outline.model import HostFunction, Outlined
from warpsmith.emit.host.outline.outline import outline
from warpsmith.emit.host.outline.text import declarations_of, definition, states
from warpsmith.emit.words import Support, choose_support, declare_captures
from warpsmith.tree.allocations import asks, asks_rows, is_vector_question
from warpsmith.tree.memory.given import is_managed, is_pinned
from warpsmith.tree.nodes import (
    Block,
    CaptureStmt,
    Copy,
    CopyWait,
    DataStmt,
    DeviceAlloc,
    DeviceFree,
    For,
    Function,
    Launch,
    Node,
    Pragma,
    Verbatim,
    While,
    replace,
)  # fmt: skip
from warpsmith.tree.printing.patch import is_added, openers_in, unit_text
from warpsmith.tree.program import Kernel, Program, Unit
from warpsmith.tree.specializations import can_specialize
from warpsmith.tree.text.layout import line_end
from warpsmith.tree.text.lexical import identifiers
from warpsmith.tree.text.openers import Opener, once_lines, placed_elsewhere
from warpsmith.tree.text.wrapping import wrap_aligned
from warpsmith.tree.walk import rebuild, walk

__all__ = [
    "UnitJob",
    "called_lines",
    "convert_line_ends",
    "drop_captures",
    "emit_cuda",
    "emit_kernels",
    "jobs",
    "kernels_alone",
    "kernels_text",
    "opener_lines",
    "outlined_program",
    "output_paths",
    "paths_below",
    "place_beside",
    "refused_kernels",
    "size_lines",
]

_CONDITIONAL: Final = re.compile(r"#\s*if")
_HERE: Final = PurePosixPath()


class UnitJob(Struct, frozen=True):
    """One unit to be emitted: `path` and `stem` are its place among the output files. `pool`: it has the run time of
    the program, with what any file `needs`. `functions`: what its host text calls beside the run time."""

    original: Unit
    rewritten: Unit
    kernels: tuple[Kernel, ...]
    path: PurePosixPath
    stem: str
    pool: bool
    needs: RuntimeNeeds
    functions: tuple[HostFunction, ...] = ()

    @property
    def is_generated(self) -> bool:
        """Whether it has files beside its host text."""
        return bool(self.kernels or self.functions)

    def headers(self, support: Support) -> tuple[str, ...]:
        """Return what the run time includes beside what every kernel file does."""
        return pool_text(support, self.needs).headers if self.pool else ()


def emit_cuda(original: Program, ported: Program, *, single_file: bool = False) -> tuple[OutputFile, ...]:
    """Return the files of `ported`, which was made from `original`; units that did not change come back as they were.

    `single_file`: host text, kernels and prototypes in one `.cu` (C++ input only). Captures that `original` already has
    (a verification build's reference) are understood. Raises RefusedError for what CUDA cannot express, UsageError for
    a request that does not fit the input.
    """
    support = choose_support(original)
    words = CudaWords(support, {kernel.name: kernel for kernel in ported.kernels})
    source = drop_captures(original)
    files: list[OutputFile] = []
    outlined = outlined_program(source, ported)
    for job in jobs(source, ported, outlined):
        files += _single_file(job, source, words) if single_file else _files(job, source, words)
    return tuple(files)


def outlined_program(original: Program, ported: Program) -> Outlined:
    """Return the program whose text `emit_cuda` writes, and the functions that it calls."""
    return _known_outlined(Identity(original), Identity(ported))


@functools.lru_cache(maxsize=4)
def _known_outlined(original: Identity[Program], ported: Identity[Program]) -> Outlined:
    return outline(original.value, ported.value, choose_support(original.value))


def refused_kernels(original: Program, ported: Program) -> dict[str, Finding]:
    """Return the kernels of `ported` that CUDA cannot express, each tried alone, with the reason."""
    source = drop_captures(original)
    support = choose_support(original)
    refused: dict[str, Finding] = {}
    for job in jobs(source, ported):
        for kernel in job.kernels:
            try:
                section = _section(source, job.original, (kernel,), support)
                needed_definitions(job.original, section.device, _places(job), kernel.span)
            except RefusedError as error:
                refused[kernel.name] = error.findings[0]
    return refused


def emit_kernels(original: Program, ported: Program) -> tuple[OutputFile, ...]:
    """Return the device text alone (no launchers, no host code), for compilers that take nothing else (NVRTC)."""
    source = drop_captures(original)
    support = choose_support(original)
    return tuple(
        OutputFile(str(job.path.with_name(f"{job.stem}_kernels.cu")), _device_text(source, job, job.kernels, support))
        for job in jobs(source, ported)
        if job.kernels
    )


def kernels_alone(original: Program, ported: Program) -> Iterator[tuple[str, str]]:
    """Yield the name of every kernel with its own device text: all that it needs, and no other kernel."""
    source = drop_captures(original)
    support = choose_support(original)
    for job in jobs(source, ported):
        for kernel in job.kernels:
            yield kernel.name, _device_text(source, job, (kernel,), support)


def _device_text(source: Program, job: UnitJob, kernels: tuple[Kernel, ...], support: Support) -> str:
    section = _section(source, job.original, kernels, support)
    defined = needed_definitions(job.original, section.device, _places(job))
    includes = [f"#include <{header}>" for header in defined.headers]
    return "\n\n".join(["\n".join(includes), *defined.texts, section.device]).lstrip() + "\n"


def _places(job: UnitJob) -> tuple[Span, ...]:
    return tuple(kernel.span for kernel in job.kernels)


def _section(source: Program, unit: Unit, kernels: tuple[Kernel, ...], support: Support) -> DeviceSection:
    """Return the device side of a unit. Kernels are tried alone, written, and written again for the referee: what was
    asked last is remembered."""
    return _known_section(Identity(source), Identity(unit), tuple(map(Identity, kernels)), support)


@functools.lru_cache(maxsize=8)
def _known_section(
    source: Identity[Program], unit: Identity[Unit], kernels: tuple[Identity[Kernel], ...], support: Support
) -> DeviceSection:
    return device_section(source.value, unit.value, tuple(kernel.value for kernel in kernels), support, "")


# --- which files


def jobs(source: Program, ported: Program, outlined: Outlined | None = None) -> list[UnitJob]:
    """Return one job for every unit, with the kernels that its host text launches; `outlined`: where generated
    functions do that for it."""
    paths = output_paths(source)
    taken = {path.name.lower() for path in paths} | {
        PurePosixPath(h).name.lower() for u in source.units for h in u.headers
    }
    made: list[UnitJob] = []
    pool = True
    needs = _needs(ported)
    for number, (old, new, path) in enumerate(zip(source.units, ported.units, paths, strict=True)):
        functions = () if outlined is None else outlined.functions.get(number, ())
        launched = {node.kernel for f in new.functions for node in walk(f) if isinstance(node, Launch)}
        kernels = tuple(kernel for kernel in ported.kernels if kernel.name in launched)
        stem = kernel_stem(path)
        generated = bool(kernels or functions)
        while generated and {f"{stem}_kernels.cu".lower(), f"{stem}_kernels.h".lower()} & taken:
            stem += "_"
        if generated:
            taken |= {f"{stem}_kernels.cu".lower(), f"{stem}_kernels.h".lower()}
        text = new if outlined is None else outlined.program.units[number]
        made.append(UnitJob(old, text, kernels, path, stem, pool and generated, needs, functions))
        pool = pool and not generated
    return made


def _needs(ported: Program) -> RuntimeNeeds:
    """Return what the run time of a program must have."""
    of_each = [_function_needs(function) for _, function in ported.functions()]
    return RuntimeNeeds(
        any(n.present for n in of_each),
        any(n.allocations for n in of_each),
        any(n.rows for n in of_each),
        any(n.vectors for n in of_each),
        managed=any(n.managed for n in of_each),
        pinned=ported.pinned,
        overlap=any(n.overlap for n in of_each),
    )


# nodes never change, and kernels are tried before the port is written, and written again for the referee
@functools.lru_cache(maxsize=1024)
def _function_needs(function: Function) -> RuntimeNeeds:
    nodes = tuple(walk(function))
    return RuntimeNeeds(
        any(isinstance(node, DataStmt) for node in nodes),
        any(map(asks, nodes)),
        any(map(asks_rows, nodes)),
        any(map(is_vector_question, nodes)),
        managed=any(map(is_managed, nodes)),
        overlap=any(isinstance(node, Copy) and node.overlaps for node in nodes),
    )


def output_paths(program: Program) -> list[PurePosixPath]:
    """Return each unit's path below the folder that all of them share."""
    return paths_below([unit.file.path for unit in program.units])


def paths_below(given: Sequence[str]) -> list[PurePosixPath]:
    """Return each path below the folder that all of them share."""
    paths = [PurePosixPath(PurePath(path).as_posix()) for path in given]
    shared = 0
    while all(len(path.parts) > shared + 1 for path in paths) and len({path.parts[shared] for path in paths}) == 1:
        shared += 1
    return [PurePosixPath(*(part for part in path.parts[shared:] if part not in ("..", "/"))) for path in paths]


# --- their texts


def _files(job: UnitJob, source: Program, words: CudaWords) -> list[OutputFile]:
    return [*_own_files(job, source, words), *_sources(job, words)]


def _sources(job: UnitJob, words: CudaWords) -> Iterator[OutputFile]:
    """Yield the changed source files that the unit's main file includes, each at its place beside that."""
    for file in job.original.sources:
        before, after = job.original.about(file).items, job.rewritten.about(file).items
        if len(before) == len(after) and all(old is new for old, new in zip(before, after, strict=True)):
            continue
        path = place_beside(job.original, file)
        yield OutputFile(str(job.path.parent / path), _host_text(job, words, _includes(job, path.parent), file=file))


def place_beside(unit: Unit, file: SourceFile) -> PurePosixPath:
    """Return the path of a unit's source from the folder of its main file."""
    return PurePosixPath(PurePath(os.path.relpath(file.path, PurePath(unit.file.path).parent)).as_posix())


def _own_files(job: UnitJob, source: Program, words: CudaWords) -> list[OutputFile]:
    opened = placed_elsewhere(openers_in(job.rewritten), job.original.file) if job.is_generated else ()
    host = OutputFile(str(job.path), _host_text(job, words, _includes(job), opened))
    checks = _build_checks(job)
    if checks is not None:
        first = f'#include "{decode_text(job.stem)}_build.h"{line_end(host.text)}'
        host = msgspec.structs.replace(host, text=_before_first_line(host.text, first))
        return [*_beside(job, source, words, host, opened), checks]
    return _beside(job, source, words, host, opened)


def _beside(
    job: UnitJob, source: Program, words: CudaWords, host: OutputFile, opened: Collection[Opener]
) -> list[OutputFile]:
    """Return the host's text with the generated files that it needs."""
    if not job.is_generated and _needs_header(job):
        alone = _header_text(job, None, words.support)
        return [host, OutputFile(str(job.path.with_name(f"{job.stem}_kernels.h")), convert_line_ends(alone, job))]
    if not job.is_generated:
        return [host]
    header_name = f"{job.stem}_kernels.h"
    section = _section(source, job.original, job.kernels, words.support)
    header = _header_text(job, section, words.support, [one for one in opened if one.name in host.text])
    kernels = kernels_text(job, section, words, header_name)
    return [
        host,
        OutputFile(str(job.path.with_name(f"{job.stem}_kernels.cu")), convert_line_ends(kernels, job)),
        OutputFile(str(job.path.with_name(header_name)), convert_line_ends(header, job)),
    ]


def _before_first_line(text: str, lines: str) -> str:
    """Return a file's text with lines in front; a byte order mark stays first."""
    mark = 3 if text.startswith("\xef\xbb\xbf") else 0
    return text[:mark] + lines + text[mark:]


def _build_checks(job: UnitJob) -> OutputFile | None:
    """Return the file that stops a build with other macros, where a loop has code for such in it."""
    loops = (part for f in job.original.functions for part in walk(f) if isinstance(part, For | While))
    if not (job.is_generated or _needs_header(job)) or not any(map(_asks, (p for loop in loops for p in walk(loop)))):
        return None
    text = build_text(job.original, str(job.path))
    path = str(job.path.with_name(f"{job.stem}_build.h"))
    return OutputFile(path, convert_line_ends(text, job)) if text else None


def _asks(node: Node) -> bool:
    """Whether a node is the first line of a conditional of the preprocessor around code."""
    line = node if isinstance(node, Verbatim) or (isinstance(node, Pragma) and node.choice) else None
    return line is not None and _CONDITIONAL.match(line.text) is not None


def _single_file(job: UnitJob, source: Program, words: CudaWords) -> list[OutputFile]:
    if job.original.language == "c":
        text = f"{job.original.file.path} is C: kernels in the same file need C++ (--single-file)"
        raise UsageError(Finding("POR008", "error", text, help=("leave --single-file out",)))
    if not job.is_generated:
        return _files(job, source, words)
    support = words.support
    section = device_section(source, job.original, job.kernels, support, f"{support.prefix}_")
    standard = ["cuda_runtime.h", *sorted({*job.headers(support), "stdio.h", "stdlib.h"} - {"cuda_runtime.h"})]
    prototypes = [f'extern "C" {line}' for line in section.declarations]
    if job.functions:
        called = "\n\n".join((*states(job.functions), *declarations_of(job.functions, job.original)))
        prototypes = ['extern "C" {', "", *called.splitlines(), "", "}"]
    declared = declarations(support, job.needs).splitlines()
    includes = [*(f"#include <{name}>" for name in standard), "", *declared, "", *prototypes, *_captures(job)]
    tail = [check_text(support, job.needs), *section.pieces, *_host_functions(job, words), *_pool(job, support)]
    host = _host_text(job, words, tuple(includes))
    checks = _build_checks(job)
    host = host if checks is None else _before_first_line(host, checks.text)
    text = (
        host.rstrip() + line_end(host) * 2 + convert_line_ends("\n\n".join(part.rstrip() for part in tail) + "\n", job)
    )
    return [OutputFile(str(job.path.with_suffix(".cu")), text)]


def _pool(job: UnitJob, support: Support) -> list[str]:
    return [pool_text(support, job.needs).text] if job.pool else []


def _host_text(
    job: UnitJob,
    words: CudaWords,
    includes: tuple[str, ...],
    opened: Collection[Opener] = (),
    *,
    file: SourceFile | None = None,
) -> str:
    """Return the text of the unit's main file, or of one of its sources."""
    items = {id(item) for item in job.original.items}
    given = [function for function in job.rewritten.functions if not is_added(function)]
    for old, new in zip(job.original.functions, given, strict=True):
        if new is not old and id(old) not in items and not can_specialize(job.original, old):
            text = f"{old.symbol.name} is defined in a header, which is not rewritten"
            if job.original.has_text(old.span.file):
                name = old.symbol.label or old.symbol.name
                text = f"{name} shares its text with what its template makes of other types"
            raise RefusedError(Finding("POR008", "error", text, old.span))
    before, after = job.original, drop_unused(job.original, job.rewritten)
    if file is not None:
        before, after = before.about(file), after.about(file)
    text = unit_text(before, after, words, includes, opened)
    return _wrap_calls(text, [function.name for function in job.functions])


def _wrap_calls(text: str, functions: Sequence[str]) -> str:
    """Return host text with the calls of generated functions in lines of at most 120 columns."""
    calls = re.compile(rf"^([ \t]*)(.*\b(?:{'|'.join(map(re.escape, functions))})\(.*)$", re.MULTILINE)

    def broken(found: re.Match[str]) -> str:
        room = 120 - len(found[1].expandtabs(4))
        lines = wrap_aligned(found[2], room).split("\n") if len(found[2]) > room else [found[2]]
        return "\n".join(found[1] + line for line in lines)

    return calls.sub(broken, text) if functions else text


def _includes(job: UnitJob, folder: PurePosixPath = _HERE) -> tuple[str, ...]:
    """Return the lines by which a file in a folder below the main file's includes what is generated."""
    wanted = job.is_generated or _needs_header(job)
    name = decode_text(PurePosixPath(os.path.relpath(f"{job.stem}_kernels.h", folder)).as_posix())
    header = (f'#include "{name}"',) if wanted else ()
    return (*header, *_captures(job))


def _needs_header(job: UnitJob) -> bool:
    nodes = (node for function in job.rewritten.functions for node in walk(function))
    return any(_is_device(n) or asks(n) or is_managed(n) or is_pinned(n) for n in nodes)


def _is_device(node: Node) -> bool:
    return isinstance(node, Launch | DeviceAlloc | DeviceFree | Copy | CopyWait | DataStmt)


def _captures(job: UnitJob) -> tuple[str, ...]:
    return _declare_capture(job) if any(_records(function) for function in job.rewritten.functions) else ()


def _records(node: Node) -> bool:
    return any(isinstance(part, CaptureStmt) for part in walk(node))


def _declare_capture(job: UnitJob) -> tuple[str, ...]:
    return (declare_captures(cxx=job.original.language != "c"),)


def _header_text(job: UnitJob, section: DeviceSection | None, support: Support, opened: Sequence[Opener] = ()) -> str:
    guard = f"{support.prefix}_{job.stem}_KERNELS_H".upper()
    guard = "".join(c if c.isascii() and c.isalnum() else "_" for c in guard)
    lines = [f"/* Kernels of {in_comment(job.path.name)}: what its host text calls. Valid as C and as C++. */"]
    lines += [f"#ifndef {guard}", f"#define {guard}", "", *size_lines(job), *opener_lines(opened)]
    if section is not None:
        lines += ["#ifdef __cplusplus", 'extern "C" {', "#endif", ""]
        lines += called_lines(job, section)
        lines += ["", "#ifdef __cplusplus", "}", "#endif", ""]
    lines += [declarations(support, job.needs)] if section is None or _needs_header(job) else []
    return "\n".join([*lines, "#endif", ""])


def called_lines(job: UnitJob, section: DeviceSection) -> Iterator[str]:
    """Yield the declarations of what the host text calls: launchers, or the functions that call them for it."""
    if job.functions:
        for text in states(job.functions):
            yield f"{text}\n"
        yield from declarations_of(job.functions, job.original)
    called = {
        node.kernel for function in job.rewritten.functions for node in walk(function) if isinstance(node, Launch)
    }
    for kernel, place, declaration in zip(job.kernels, section.places, section.declarations, strict=True):
        if not job.functions or kernel.name in called:
            yield f"/* {place} */\n{declaration}"


def size_lines(job: UnitJob) -> list[str]:
    """Return what a file needs for sizes: of blocks, and in C++ of containers, which it may have known as std::size_t
    only."""
    return [] if job.original.language == "c" and not job.needs.allocations else ["#include <stddef.h>", ""]


def opener_lines(opened: Sequence[Opener]) -> list[str]:
    """Return what makes private members known, for a header that stands behind the includes of the user's text."""
    lines = [line for one in opened for line in once_lines(one)]
    return [*lines, ""] if lines else []


def kernels_text(job: UnitJob, section: DeviceSection, words: CudaWords, header: str, runtime: str = "") -> str:
    """Return the file of kernels and launchers; `header` is the name of the one that declares them, `runtime` that of a
    file which declares the run time."""
    support = words.support
    defined = needed_definitions(job.original, section.device, _places(job))
    names = {*defined.headers, "cuda_runtime.h", "stdio.h", "stdlib.h", *job.headers(support)}
    includes = [f"#include <{name}>" for name in sorted(names, key=lambda n: (n != "cuda_runtime.h", n))]
    includes += ["", f'#include "{decode_text(runtime)}"'] if runtime and job.functions else []
    # The file does not include its header: it stands alone, so that it can be checked and compiled as one text.
    head = f"/* Kernels of {in_comment(job.path.name)}; {decode_text(header)} declares the launchers. */"
    parts = ["\n".join((head, *includes))]
    parts.append(check_text(support, job.needs))
    pool = _pool(job, support)
    # The pool stands last, where it disturbs nobody, unless one of the user's macros would disturb it.
    early = bool(pool) and bool(defined.macros & identifiers(pool[0]))
    body = ["\n".join(defined.texts), *section.pieces, *states(job.functions), *_host_functions(job, words)]
    combined = any(kernel.reductions or kernel.scans for kernel in job.kernels)
    if job.functions and not runtime:
        body.insert(0, "\n".join((declarations(support, job.needs), *_captured(job))))
    elif not job.functions and combined and not early:
        body.insert(0, pool_prototypes(support))
    parts += [*pool, *body] if early else [*body, *pool]
    return "\n\n".join(part.rstrip() for part in parts if part) + "\n"


def _host_functions(job: UnitJob, words: CudaWords) -> Iterator[str]:
    """Yield what the host text calls, behind what that needs."""
    support = words.support
    if any(asks_apart(guard, support) for function in job.functions for guard in function.guards):
        yield apart_text(support)
    yield from (definition(one, job.original, words) for one in job.functions)


def _captured(job: UnitJob) -> tuple[str, ...]:
    """Return the declaration of what generated functions record with."""
    records = any(_records(stmt) for function in job.functions for stmt in function.statements)
    return (declare_captures(cxx=True),) if records else ()


def convert_line_ends(text: str, job: UnitJob) -> str:
    """Return `text` with the line ends of the user's file."""
    return text.replace("\r\n", "\n").replace("\n", line_end(job.original.file.text))


def drop_captures(program: Program) -> Program:
    """Return the program as its source has it: a reference build is the original and captures, nothing else."""
    for _, function in list(program.functions()):
        if any(isinstance(node, CaptureStmt) for node in walk(function)):
            program = program.with_function(function, rebuild(function, _drop_captures))
    return program


def _drop_captures(node: Node) -> Node:
    if not isinstance(node, Block):
        return node
    kept = tuple(stmt for stmt in node.statements if not isinstance(stmt, CaptureStmt))
    return node if len(kept) == len(node.statements) else replace(node, statements=kept)
