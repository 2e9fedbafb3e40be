"""Building a CUDA program against the emulation and running it there.

    lu.c           C compiler, the emulation's headers; instrumented if asynchronous    ┐
    lu_kernels.cu  rewritten as C++ (cuda_text.py), instrumented like for a race check  ├─► one executable
    emulation      compiled once a user and compiler, kept in the cache                 ┘

Every access of the .cu files' code goes through the emulation's hooks; the sanitizer's own runtime is never linked.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.resources import files
from pathlib import Path

from msgspec import Struct

from warpsmith.base.c_text import find_includes
from warpsmith.base.findings import Finding
from warpsmith.base.source import SourceFile, Span
from warpsmith.emit.files import OutputFile
from warpsmith.run.emulated.headers import FOREMOST, header_words
from warpsmith.run.emulated.reports import Seen, read_reports
from warpsmith.run.native.cuda_text import has_cuda_syntax, rewrite_cuda
from warpsmith.run.native.kept import kept_folder
from warpsmith.run.native.programs import RUNTIME_FILE, runtime_object
from warpsmith.run.native.tools import Ran, RunLimits, c_compiler, cxx_compiler, run_limited
from warpsmith.run.verification import Sources

__all__ = ["Executable", "RunResult", "build_emulated", "run_emulated", "schedule_environment"]

_CXX = (".cpp", ".cc", ".cxx", ".C", ".c++")
_CUDA = (".cu",)
_PARTS = (
    "api", "copies", "device", "disturb", "fiber", "hooks", "launch",
    "memory", "report", "schedule", "stayed", "streams", "sync", "timeline",
)  # fmt: skip
_PART_FLAGS = ("-std=c++17", "-O2", "-fPIC", "-w")
_SYSTEM = ("-lm", "-lpthread", "-ldl")
_COMMON = ("-c", "-O1", "-g1", "-w", "-ffp-contract=off", "-fno-strict-aliasing", "-fno-omit-frame-pointer")
# ws_instrumented.h renames `operator new`; g++ 12 crashes when it warns about such a pair, so it must not.
_NO_PAIRS = (
    "-Wno-mismatched-new-delete", "-Wno-mismatched-dealloc", "-Wno-free-nonheap-object", "-Wno-use-after-free",
)  # fmt: skip
_WATCHED = ("-fsanitize=thread", "-fno-builtin-memset", "-fno-builtin-memcpy", "-fno-builtin-memmove")
_INSTRUMENTED = (
    *_NO_PAIRS,
    *_WATCHED,
    "-D__CUDACC__=1", "-D__NVCC__=1", "-D__CUDA_ARCH__=800", "-D__CUDACC_VER_MAJOR__=12", "-D__CUDACC_VER_MINOR__=4",
)  # fmt: skip
_NO_ENTRY_EXIT = {
    "gcc": ("--param=tsan-instrument-func-entry-exit=0",),
    "clang": ("-mllvm", "-tsan-instrument-func-entry-exit=0"),
}
# What lets the host run beside copies or kernels that touch its memory.
_ASYNCHRONOUS = re.compile(
    r"cuda\w+Async\b|cudaMallocManaged|__managed__|cudaMallocHost|cudaHostAlloc|cudaHostRegister|cudaStreamCreate"
)
_ERROR = re.compile(r"^(?P<file>[^:\n]+):(?P<line>\d+):(?:\d+:)? (?:fatal )?error: (?P<text>.*)$", re.MULTILINE)
_COMPILE_LIMITS = RunLimits(seconds=300.0, stack=256 << 20, file=1 << 30)


class Executable(Struct, frozen=True):
    """A program built for the emulation, or the `finding` that says why there is none (then `command` is empty).

    `sources` are the files whose lines reports name; `directory` is where they were built.
    """

    command: tuple[str, ...]
    directory: Path
    sources: Sources
    finding: Finding | None = None


class RunResult(Struct, frozen=True):
    """One run under one schedule: how it ended and what the emulation saw."""

    ran: Ran
    seen: Seen


def build_emulated(
    sources: Sources, directory: Path, *, extra_files: Sequence[OutputFile] = (), flags: Sequence[str] = ()
) -> Executable:
    """Build `sources` in `directory` (made if need be); `extra_files` are compiled and linked too, without the user's
    options. `flags` go to every compilation of the user's files. Raises UsageError where a compiler is missing."""
    directory.mkdir(parents=True, exist_ok=True)
    placed = _place([*sources.files, *extra_files, *_cuda_headers(sources)], directory)
    library = _emulation(directory)
    own = frozenset(_inside(f.path) for f in extra_files)
    given = {_inside(path): arguments for path, arguments in sources.own.items()}
    compiler = _Compiler(directory, sources, tuple(flags), own, given)
    included = {RUNTIME_FILE, *(_inside(path) for path in sources.included)}
    units = [name for name in placed if name.endswith((".c", *_CXX, *_CUDA)) and name not in included]
    runtime = [str(runtime_object(f, extra_files, directory)) for f in extra_files if f.path == RUNTIME_FILE]
    with ThreadPoolExecutor(2) as pool:
        done = list(pool.map(compiler.compile, units, range(len(units))))
    for ran in done:
        if ran.exit_code != 0:
            return Executable((), directory, sources, _compile_finding(ran, sources, directory))
    program = directory / "program"
    objects = [f"ws_{number}.o" for number in range(len(units))]
    link = [
        cxx_compiler(),
        *objects,
        *runtime,
        *map(str, library),
        *sources.run_time_options(),
        "-o",
        str(program),
        "-lm",
        "-lpthread",
        "-ldl",
    ]
    ran = run_limited(link, directory, environment={"LC_ALL": "C"}, limits=_COMPILE_LIMITS)
    if ran.exit_code != 0:
        return Executable((), directory, sources, _link_finding(ran))
    return Executable((str(program),), directory, sources)


def schedule_environment(
    schedule: int, report: Path, counts: Path | None = None, *, seed: int = 1, memory: int | None = None
) -> dict[str, str]:
    """Return what the environment must hold for one run: schedule 0 is descending, 1 and up are permutations that
    differ with `seed`, -1 is ascending. `report` is the file that reports go to, `counts` the one for launches and
    copies (counts.py), which is made at the program's end if there were any; `memory` is the device's, in
    bytes."""
    environment = {
        "WARPSMITH_EMULATION_SCHEDULE": "ascending" if schedule < 0 else str(schedule),
        "WARPSMITH_EMULATION_SEED": str(schedule + 17 * seed + 11),
        "WARPSMITH_EMULATION_REPORT": str(report),
    }
    if counts is not None:
        environment["WARPSMITH_EMULATION_COUNTS"] = str(counts)
    if memory is not None:
        environment["WARPSMITH_EMULATION_MEMORY"] = str(memory)
    return environment


def run_emulated(
    executable: Executable,
    schedule: int = 0,
    *,
    arguments: Sequence[str] = (),
    stdin: bytes = b"",
    cwd: Path | None = None,
    environment: Mapping[str, str] | None = None,
    limits: RunLimits | None = None,
    seed: int = 1,
) -> RunResult:
    """Run under one schedule and read what the emulation saw; see `schedule_environment` for the schedules."""
    with tempfile.TemporaryDirectory(prefix="warpsmith-run-") as folder:
        report = Path(folder, "reports")
        own = {**(environment or {}), **schedule_environment(schedule, report, seed=seed)}
        ran = run_limited(
            [*executable.command, *arguments], cwd or Path(folder), stdin=stdin, environment=own, limits=limits
        )
        seen = read_reports(report, Path(executable.command[0]), executable.sources, executable.directory)
    return RunResult(ran, seen)


class _Compiler(Struct, frozen=True):
    """How the units of one program are compiled; the user's options do not reach the files in `own`, and those in
    `given` have options of their own."""

    directory: Path
    sources: Sources
    flags: tuple[str, ...]
    own: frozenset[str]
    given: Mapping[str, tuple[str, ...]]

    @property
    def uses_openmp(self) -> bool:
        """Whether a file of the program is compiled for OpenMP."""
        return self.sources.uses_openmp()

    def _starts_threads(self, name: str) -> bool:
        """Whether a file with options of its own is compiled for OpenMP though they do not say so."""
        return any(_inside(file.path) == name and self.sources.starts_threads(file) for file in self.sources.files)

    def compile(self, name: str, number: int) -> Ran:
        """Compile one placed file to `ws_<number>.o`."""
        plus = not name.endswith(".c")
        given = self.given.get(name)
        given_or_all = _user_arguments(self.sources, plus=plus) if given is None else given
        ours, user = ((), ()) if name in self.own else (self.flags, given_or_all)
        compiler = cxx_compiler() if plus else c_compiler()
        kind: tuple[str, ...] = ("-std=gnu++17",) if plus else ()
        include = ("-I", str(_home() / "include"))
        if name.endswith(_CUDA):
            kind = (*kind, *_INSTRUMENTED, *_NO_ENTRY_EXIT[_family(compiler)])
            kind = (*kind, "-x", "c++", *self._foremost((compiler, *_COMMON, *kind, *include, *ours), user, name))
        else:
            kind = (*kind, *self._host_options(name, compiler))
        operand = f"./{name}" if name.startswith("-") else name
        command = [compiler, *_COMMON, *kind, *include, *ours, *user, operand, "-o", f"ws_{number}.o"]
        environment = {"LC_ALL": "C", "TMPDIR": str(self.directory)}
        return run_limited(command, self.directory, environment=environment, limits=_COMPILE_LIMITS)

    def _host_options(self, name: str, compiler: str) -> tuple[str, ...]:
        """Return the options of a file without device code: for OpenMP, and to see what an asynchronous host does."""
        threads = self.uses_openmp and (name not in self.given or self._starts_threads(name))
        watched = name not in self.own and any(_ASYNCHRONOUS.search(file.text) for file in self.sources.files)
        options = ("-fopenmp",) if threads else ()
        if not watched:
            return options
        return (*options, *_WATCHED, *_NO_ENTRY_EXIT[_family(compiler)], "-include", "ws_host.h")

    def _foremost(self, command: tuple[str, ...], user: Sequence[str], name: str) -> tuple[str, ...]:
        """Return the options that include the emulation's headers: precompiled ones where no option of the user's could
        change them."""
        if any(not word.startswith("-I") for word in user) or _family(command[0]) != "gcc":
            return tuple(word for header in FOREMOST for word in ("-include", header))
        text = (self.directory / name).read_text("latin-1")
        return header_words(command, _home() / "include", text, self.directory, _COMPILE_LIMITS)


def _family(compiler: str) -> str:
    return "clang" if "clang" in Path(os.path.realpath(compiler)).name else "gcc"


def _home() -> Path:
    """Return the folder with the emulation's C++ text, as installed."""
    return Path(str(files("warpsmith.run"))) / "emulation"


def _inside(path: str) -> str:
    """Return a path that stays below its directory, however the user named the file."""
    return "/".join(part for part in Path(path).as_posix().split("/") if part not in ("", ".", "..")) or "file.cu"


def _place(given: Sequence[OutputFile], directory: Path) -> list[str]:
    """Write the files as the compiler shall see them; return their names without repetition."""
    names: dict[str, None] = {}
    for file in given:
        name = _inside(file.path)
        if name in names:
            continue
        names[name] = None
        text = file.text if name.endswith(".c") else rewrite_cuda(file.text)
        target = directory / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(text.encode("latin-1"))
    return list(names)


def _cuda_headers(sources: Sources) -> list[OutputFile]:
    """Return the headers that are not among the files but lie in the user's directories and hold CUDA's own syntax:
    rewritten copies are placed in front of them."""
    folders = [Path(sources.directory), *_include_folders(sources)]
    known = {_inside(file.path) for file in sources.files}
    found: list[OutputFile] = []
    pending = [(file.text, str(Path(_inside(file.path)).parent)) for file in sources.files]
    while pending:
        text, beside = pending.pop()
        for name in (name[1:-1] for name in find_includes(text) if name[0] == '"'):
            path = next((p for f in folders for p in (f / beside / name, f / name) if p.is_file()), None)
            if path is None or _inside(name) in known:
                continue
            known.add(_inside(name))
            content = path.read_bytes().decode("latin-1")
            pending.append((content, str(Path(_inside(name)).parent)))
            if has_cuda_syntax(content):
                found.append(OutputFile(name, content))
    return found


def _include_folders(sources: Sources) -> list[Path]:
    words = iter(sources.arguments)
    folders: list[Path] = []
    for word in words:
        if word in ("-I", "-isystem", "-iquote"):
            folders.append(_absolute(next(words, "."), sources))
        elif word.startswith("-I"):
            folders.append(_absolute(word[2:], sources))
    return folders


def _absolute(path: str, sources: Sources) -> Path:
    beside = Path(sources.directory).resolve() / path
    return beside if beside.is_dir() else Path(path).resolve()


def _user_arguments(sources: Sources, *, plus: bool) -> tuple[str, ...]:
    """Return the user's options for one language: directories absolute, a standard of the other language left out."""
    kept: list[str] = []
    words = iter(sources.arguments)
    for word in words:
        if word in ("-I", "-isystem", "-iquote"):
            kept += [word, str(_absolute(next(words, "."), sources))]
        elif word in ("-D", "-U"):
            kept += [word, next(words, "")]
        elif word.startswith("-I"):
            kept.append("-I" + str(_absolute(word[2:], sources)))
        elif not word.startswith("-std=") or ("++" in word) == plus:
            kept.append(word)
    return (*kept, "-I.", "-I" + str(Path(sources.directory).resolve()))


def _emulation(directory: Path) -> tuple[Path, ...]:
    """Return the emulation's objects: kept, or built now."""
    home, compiler = _home(), cxx_compiler()
    texts = sorted(p for p in home.rglob("*") if p.suffix in (".cpp", ".h"))
    content = [" ".join((*_PART_FLAGS, *_PARTS)).encode()]
    content += (part for path in texts for part in (str(path.relative_to(home)).encode(), path.read_bytes()))

    def make(built: Path) -> None:
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(lambda part: _build_part(compiler, home, part, built), _PARTS))

    folder = kept_folder("emulation", compiler, content, directory, make)
    return tuple(folder / f"{part}.o" for part in _PARTS)


def _build_part(compiler: str, home: Path, part: str, built: Path) -> None:
    command = [compiler, *_PART_FLAGS, "-c", str(home / f"{part}.cpp"), "-o", f"{part}.o"]
    ran = run_limited(command, built, environment={"LC_ALL": "C"}, limits=_COMPILE_LIMITS)
    if ran.exit_code != 0:
        message = ran.stderr.decode("utf-8", "replace")[:2000]
        raise RuntimeError(f"the emulation's {part}.cpp does not compile with {compiler}:\n{message}")


def _compile_finding(ran: Ran, sources: Sources, directory: Path) -> Finding:
    """Return the compiler's first error as a finding at the user's line."""
    text = ran.stderr.decode("utf-8", "replace")
    found = _ERROR.search(text)
    if ran.timed_out or found is None:
        detail = "it took too long" if ran.timed_out else (text.strip().splitlines() or ["no message"])[0]
        return Finding("VER031", "error", f"the program does not compile for the emulation: {detail}")
    message = f"the program does not compile for the emulation: {found['text']}"
    return Finding("VER031", "error", message, _line_span(found["file"], int(found["line"]), sources, directory))


def _line_span(name: str, line: int, sources: Sources, directory: Path) -> Span | None:
    path = Path(os.path.normpath(directory / name))
    for file in sources.files:
        if Path(os.path.normpath(directory / _inside(file.path))) == path:
            source = SourceFile(file.path, file.text)
            start = source.offset(line)
            return Span(source, start, start + len(source.line(line)))
    return None


def _link_finding(ran: Ran) -> Finding:
    text = ran.stderr.decode("utf-8", "replace")
    missing = sorted(set(re.findall(r"undefined reference to `([^']+)'", text)))
    if missing:
        names = ", ".join(missing[:5]) + (f" and {len(missing) - 5} more" if len(missing) > 5 else "")
        return Finding("VER032", "error", f"the program does not link: {names} is not defined anywhere")
    lines = [line for line in text.splitlines() if "error" in line or "multiple definition" in line]
    return Finding("VER032", "error", f"the program does not link: {(lines or text.splitlines() or ['?'])[0]}")
