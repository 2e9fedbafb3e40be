"""Files with kernels become modules of the kernel IR, whatever they are written in.

.ptx .il .br      our readers                                  .cu .cuh .cl     libclang → tree → SSA
                                                                                kernels lost there: NVRTC → our reader
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, Literal

from msgspec import Struct, field
from msgspec.structs import replace

from warpsmith.analysis.uniformity.facts import Dim, LaunchCall
from warpsmith.base.findings import Finding
from warpsmith.base.source import SourceFile
from warpsmith.front.inputs import Source
from warpsmith.front.kernels import LaunchSite, load_kernels
from warpsmith.front.load import FrontOptions
from warpsmith.front.ptx.read import read_ptx
from warpsmith.kernels.brook_kernels import read_brook_kernels, rows_of
from warpsmith.kernels.enqueued import enqueued_elsewhere
from warpsmith.kernels.il_kernels import declared_parameter, read_il
from warpsmith.kernels.includers import launches_elsewhere
from warpsmith.kernels.ptx_kernels import recover_kernels
from warpsmith.lower.program import lower
from warpsmith.settings.globs import path_matches
from warpsmith.ssa.nodes import Module
from warpsmith.tree.nodes import Function
from warpsmith.tree.repeats import HostRepeat
from warpsmith.tree.types import Symbol

__all__ = ["Domain", "KernelFile", "KernelUnit", "Language", "Launched", "files_of", "read_unit"]

Language = Literal["cuda", "opencl", "ptx"]

_LANGUAGES: Final[dict[str, Language]] = {".cu": "cuda", ".cuh": "cuda", ".cl": "opencl", ".ptx": "ptx"}
_LARGEST: Final = 64 << 20


class KernelFile(Struct, frozen=True):
    """One file that shall be read, in at most `timeout_s` seconds; `text` (one character a byte) in place of what is on
    disk; `instances`: kernels of templates that are asked for, `k<float, 32>`."""

    path: str
    language: Language | None = None
    arguments: tuple[str, ...] = ()
    text: str | None = None
    instances: tuple[str, ...] = ()
    timeout_s: float = 120.0


class Launched(Struct, frozen=True):
    """The shape in which host code launches a kernel, as far as all launches agree. `blocks`: where they do not, those
    that host code gives it; `complete`: it gives no others. `calls`: the launches, with what all of them say
    of arguments. `flat`: the axes along which all grids have one block."""

    block: Dim | None
    grid: Dim | None
    shared_bytes: int
    blocks: tuple[Dim, ...] = ()
    complete: bool = False
    calls: tuple[LaunchCall, ...] = ()
    flat: tuple[int, ...] = ()

    @property
    def text(self) -> str:
        """It but for places, in words."""
        return f"{replace(self, calls=())} {[call.text for call in self.calls]}"


class Domain(Struct, frozen=True):
    """The parameters with how many threads a kernel has along x, y, and z where they lie in layers; `rows`: what sizes
    are that nobody says."""

    sizes: tuple[str, ...]
    rows: Mapping[str, str]


class KernelUnit(Struct, frozen=True):
    """What one file holds. `launches`: how its host code launches each kernel, where that is a number; `parameters`:
    those of each kernel as its source declares them, which PTX does not; `repeats`: what loops of host code do anew;
    `functions`: the trees that the kernels were made from; `headers`: the user's files that it includes;
    `device_text`: of CUDA, the file without its host functions; `domains`: of kernels that run once for each element of
    a stream, how many these are."""

    file: SourceFile
    module: Module
    findings: tuple[Finding, ...]
    launches: Mapping[str, Launched] = field(default_factory=dict)
    language: Language = "cuda"
    parameters: Mapping[str, tuple[Symbol, ...]] = field(default_factory=dict)
    repeats: tuple[HostRepeat, ...] = ()
    functions: tuple[Function, ...] = ()
    headers: tuple[str, ...] = ()
    device_text: str = ""
    domains: Mapping[str, Domain] = field(default_factory=dict)


def files_of(paths: Iterable[str], include: tuple[str, ...]) -> Iterator[str]:
    """Yield the files that are named, and those below a folder that match `include`, each once, in order."""
    seen: set[str] = set()
    for path in paths:
        place = Path(path)
        found = sorted(_below(place, include)) if place.is_dir() else [path]
        for one in found:
            if one not in seen:
                seen.add(one)
                yield one


def _below(folder: Path, include: tuple[str, ...]) -> Iterator[str]:
    for path in folder.rglob("*"):
        inside = path.relative_to(folder).as_posix()
        hidden = any(part.startswith(".") for part in path.relative_to(folder).parts)
        if not hidden and path.is_file() and any(path_matches(inside, glob) for glob in include):
            yield str(path)


def read_unit(wanted: KernelFile) -> KernelUnit | Finding:
    """Return what a file holds, or why it cannot be read at all; problems of parts of it are findings of the unit."""
    file = _read(wanted)
    if isinstance(file, Finding):
        return file
    if Path(wanted.path).suffix.lower() == ".il" and wanted.language is None:
        return _il_unit(file)
    if Path(wanted.path).suffix.lower() == ".br" and wanted.language is None:
        return _brook_unit(file)
    language = wanted.language or _LANGUAGES.get(Path(wanted.path).suffix.lower()) or _guess_language(file)
    if language is None:
        suffix = Path(wanted.path).suffix or "(none)"
        return _unusable(f"{wanted.path}: the suffix {suffix} says no language", "use --lang cuda, opencl or ptx")
    if language == "ptx":
        module, findings = read_ptx(file)
        return KernelUnit(file, module, findings, language=language)
    return _compile_source(wanted, file, language)


def _il_unit(file: SourceFile) -> KernelUnit:
    """Return the one kernel of a program of AMD IL; where a thread is has the names that PTX has."""
    module, findings = read_il(file)
    parameters = {f.name: tuple(map(declared_parameter, f.parameters)) for f in module.functions}
    return KernelUnit(file, module, findings, language="ptx", parameters=parameters)


_WAVE: Final = 64


def _brook_unit(file: SourceFile) -> KernelUnit:
    """Return the kernels of Brook+, in which a block is a wave of its hardware; what they ask is named as in OpenCL."""
    module, findings, kernels = read_brook_kernels(file)
    parameters = {name: one.function.parameters for name, one in kernels.items()}
    launches = {name: Launched((_WAVE, 1, 1), None, 0) for name in kernels}
    domains = {name: Domain(tuple(size.name for size in one.domain), rows_of(one)) for name, one in kernels.items()}
    return KernelUnit(file, module, findings, launches, "opencl", parameters, domains=domains)


def _compile_source(wanted: KernelFile, file: SourceFile, language: Language) -> KernelUnit:
    """Return the kernels of a source file: libclang reads it, the tree becomes SSA; what it cannot take, NVRTC may."""
    text = file.text if wanted.text is not None else None
    source = Source(wanted.path, wanted.arguments, language, text)
    read = load_kernels(source, FrontOptions(timeout_s=wanted.timeout_s), wanted.instances)
    whole = recover_kernels(read, lower(read.program), wanted.arguments)
    seen = read.program.units[0].file if read.program.units else file
    names = [function.name for function in whole.module.functions if function.kernel]
    # what includes the file may launch its kernels, too, and OpenCL's are launched by other files only
    sites = (
        *read.launches,
        *launches_elsewhere(source, names, wanted.timeout_s),
        *enqueued_elsewhere(source, names, wanted.timeout_s),
    )
    declared = {name: read.function(name).parameters for name in read.kernels} | dict(whole.parameters)
    shapes = {name: _find_launched(sites, name, declared.get(name, ())) for name in names}
    launches = {name: shape for name, shape in shapes.items() if shape is not None}
    functions = tuple(function for _, function in read.program.functions())
    headers = tuple(path for one in read.program.units for path in one.headers)
    return KernelUnit(
        seen, whole.module, whole.findings, launches, language, declared, read.repeats, functions, headers,
        read.device_text,
    )  # fmt: skip


def _find_launched(sites: Iterable[LaunchSite], kernel: str, parameters: Sequence[Symbol]) -> Launched | None:
    """Return what all launches of a kernel in its file agree on; None where nothing is known of them."""
    mine = [site for site in sites if site.kernel == kernel]
    if not mine:
        return None
    blocks, grids = {_dim(site.block) for site in mine}, {_dim(site.grid) for site in mine}
    shared = {site.shared for site in mine}
    one = blocks.pop() if len(blocks) == 1 else None
    possible = tuple(dict.fromkeys(dim for site in mine for size in site.blocks if (dim := _dim(size)) is not None))
    return Launched(
        one,
        grids.pop() if len(grids) == 1 else None,
        (shared.pop() or 0) if len(shared) == 1 else 0,
        () if one is not None else possible,
        one is None and bool(possible) and all(site.complete for site in mine),
        _find_calls(mine, [parameter.name for parameter in parameters]),
        tuple(axis for axis in range(3) if all(site.grid[axis : axis + 1] == (1,) for site in mine)),
    )


def _find_calls(sites: Sequence[LaunchSite], names: Sequence[str]) -> tuple[LaunchCall, ...]:
    """Return the launches with what they say of the arguments that all say something of."""
    if any(len(site.arguments) != len(names) for site in sites):
        return tuple(LaunchCall(site.span) for site in sites if site.span is not None)
    known = [all(site.arguments[at] is not None for site in sites) for at in range(len(names))]
    return tuple(LaunchCall(site.span, dict(_known_numbers(site, names, known))) for site in sites)


def _known_numbers(
    site: LaunchSite, names: Sequence[str], known: Sequence[bool]
) -> Iterator[tuple[str, tuple[int, ...]]]:
    for name, given, kept in zip(names, site.arguments, known, strict=True):
        if kept and given is not None:
            yield name, given


def _dim(sizes: tuple[int | None, ...]) -> Dim | None:
    known = [size for size in sizes if size is not None and size > 0]
    if not sizes or len(known) < len(sizes):
        return None
    x, y, z = (*known, 1, 1)[:3]
    return x, y, z


def _guess_language(file: SourceFile) -> Language | None:
    return "ptx" if ".version" in file.text and ".entry" in file.text else None


def _read(wanted: KernelFile) -> SourceFile | Finding:
    path = wanted.path
    if wanted.text is not None:
        file = SourceFile(path, wanted.text)
    else:
        place = Path(path)
        try:
            if place.stat().st_size > _LARGEST:
                size = f"{place.stat().st_size:,} bytes: more than the limit of {_LARGEST:,}"
                return Finding("INP003", "error", f"{path} has {size}", None, ("split the file",))
            file = SourceFile.read(path)
        except FileNotFoundError:
            return _unusable(f"{path} does not exist", "check the path")
        except OSError as error:
            return _unusable(
                f"{path} cannot be read: {(error.strerror or str(error)).lower()}", "check its permissions"
            )
    if not file.text.strip():
        return _unusable(f"{path} is empty", "give a file with a kernel in it")
    if "\0" in file.text:
        return _unusable(f"{path} is not a text file: it has zero bytes", "give CUDA, OpenCL, PTX, Brook+ or IL text")
    return file


def _unusable(message: str, remedy: str) -> Finding:
    return Finding("INP001", "error", message, None, (remedy,))
