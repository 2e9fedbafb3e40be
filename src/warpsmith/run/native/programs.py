"""Building a program with the host's compiler and running it under limits, in a fresh directory.

Invariant: nothing that the program does outlives `run_program`: it has a process group of its own that is killed at the
end, its output goes to files of limited size, and its directory is a copy.
"""

from __future__ import annotations

import contextlib
import os
import resource
import shutil
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from warpsmith.emit.files import OutputFile
from warpsmith.run.compare.captures import CaptureLog, read_log
from warpsmith.run.native.includes import include_arguments
from warpsmith.run.native.kept import kept_folder
from warpsmith.run.native.tools import RunLimits, c_compiler, cxx_compiler, run_limited
from warpsmith.run.verification import Sources, VerifyOptions

__all__ = [
    "RUNTIME_FILE",
    "BuiltProgram",
    "RunOutcome",
    "RunSetting",
    "build_native",
    "place",
    "run_program",
    "runtime_object",
]

RUNTIME_FILE = "ws_runtime.c"
_RUNTIME_OBJECT = "ws_runtime.o"

_OUTPUT_LIMIT = 256 << 20
_MESSAGE = 4000
_COMPILE_LIMITS = RunLimits(seconds=300.0, file=1 << 30)
_CXX = (".cpp", ".cc", ".cxx", ".C", ".c++", ".cu")


class BuiltProgram(Struct, frozen=True):
    """A program that can be run, or why it could not be built (`command` empty)."""

    command: tuple[str, ...]
    message: str = ""


class RunSetting(Struct, frozen=True):
    """What one run gets besides the user's inputs: its own directory's parent and additions to the environment."""

    work: Path
    environment: Mapping[str, str]
    timeout_s: float


class RunOutcome(Struct, frozen=True):
    """How a run ended. `failure`: in words what stopped it (a signal, the time limit, too much output), else empty."""

    exit_code: int
    failure: str
    stdout: bytes
    stderr: str
    files: Mapping[str, bytes]
    log: CaptureLog
    seconds: float


def place(sources: Sources, directory: Path) -> None:
    """Write the files of `sources` below `directory`."""
    for file in sources.files:
        target = directory / _inside(file.path)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(file.data())


def _operand(path: str) -> str:
    """Return a path as a compiler takes it for a file, whatever its first letter is."""
    inside = _inside(path)
    return f"./{inside}" if inside.startswith("-") else inside


def _inside(path: str) -> str:
    """Return a path that stays below its directory, however the user named the file."""
    return "/".join(part for part in Path(path).as_posix().split("/") if part not in ("", ".", "..")) or "file.c"


def build_native(sources: Sources, flags: Sequence[str], directory: Path) -> BuiltProgram:
    """Compile and link `sources` with the C and C++ compilers; raises UsageError where there is none."""
    place(sources, directory)
    objects: list[str] = []
    plus = False
    threads = ("-fopenmp",) if sources.uses_openmp() else ()
    units = [file for file in sources.files if _is_compiled(file.path) and file.path not in sources.included]
    for number, file in enumerate(units):
        if file.path == RUNTIME_FILE:
            objects.append(str(runtime_object(file, sources.files, directory)))
            continue
        cxx = file.path.endswith(_CXX)
        plus |= cxx
        target = f"ws_{number}.o"
        own = _own_arguments(sources, file, threads)
        command = [cxx_compiler() if cxx else c_compiler(), "-c", "-w", *flags, *own, _operand(file.path)]
        message = _compile([*command, "-o", target], directory)
        if message:
            return BuiltProgram((), message)
        objects.append(target)
    program = directory / "program"
    compiler = cxx_compiler() if plus else c_compiler()
    command = [compiler, *objects, *sources.run_time_options(), "-o", str(program), "-lm", "-lpthread"]
    message = _compile(command, directory)
    return BuiltProgram((), message) if message else BuiltProgram((str(program),))


def runtime_object(runtime: OutputFile, files: Sequence[OutputFile], directory: Path) -> Path:
    """Return the object of the capture runtime, compiled once and kept; `files` hold its header.

    It has options of its own: the user's are about the user's files, a -std or a -D must not reach it.
    """
    header = [file for file in files if file.path.endswith("ws_log.h")]
    compiler = c_compiler()
    command = [compiler, "-c", "-w", "-O1", "-g1", RUNTIME_FILE, "-o", _RUNTIME_OBJECT]

    def make(folder: Path) -> None:
        for file in (runtime, *header):
            (folder / Path(file.path).name).write_bytes(file.data())
        message = _compile(command, folder)
        if message:
            raise RuntimeError(f"the capture runtime does not compile with {compiler}: {message}")

    content = [" ".join(command).encode(), *(file.data() for file in (runtime, *header))]
    return kept_folder("capture", compiler, content, directory, make) / _RUNTIME_OBJECT


def _own_arguments(sources: Sources, file: OutputFile, threads: tuple[str, ...]) -> tuple[str, ...]:
    given = sources.own.get(file.path)
    if given is None:
        return (*threads, *include_arguments(sources))
    return (*(("-fopenmp",) if sources.starts_threads(file) else ()), *given)


def _is_compiled(path: str) -> bool:
    return path.endswith((".c", *_CXX))


_COMPLAINTS = ("error", "undefined reference", "multiple definition")


def _compile(command: Sequence[str], directory: Path) -> str:
    """Run a compiler; return its first lines of complaint where it fails."""
    ran = run_limited(command, directory, environment={"LC_ALL": "C", "TMPDIR": str(directory)}, limits=_COMPILE_LIMITS)
    if ran.timed_out:
        return f"the compiler took more than {_COMPILE_LIMITS.seconds:g} s"
    if ran.exit_code == 0:
        return ""
    text = ran.stderr.decode("utf-8", "replace")
    errors = [line for line in text.splitlines() if any(word in line for word in _COMPLAINTS)]
    # the linker's driver says last, and of every error, that there was one
    errors.sort(key=lambda line: line.startswith("collect2:"))
    return (errors[0] if errors else text.strip())[:_MESSAGE] or f"{command[0]} failed"


def run_program(command: Sequence[str], options: VerifyOptions, setting: RunSetting) -> RunOutcome:
    """Run `command` with the user's arguments, input and files."""
    place_of_run = setting.work / "files"
    before = _prepare(options, place_of_run)
    log = setting.work / "capture.log"
    # A switch of ports that the user has set for other programs must not keep this one from its kernels.
    inherited = {name: value for name, value in os.environ.items() if name != "WARPSMITH_OFF"}
    threads = _threads(options.threads, options.one_thread)
    environment = {**inherited, **threads, **setting.environment, "WS_CAPTURE_LOG": str(log)}
    out, err = setting.work / "stdout", setting.work / "stderr"
    started = time.perf_counter()
    with _stdin(options).open("rb") as feed, out.open("wb") as out_file, err.open("wb") as err_file:
        process = subprocess.Popen(
            [*command, *options.run_args], cwd=place_of_run, stdin=feed, stdout=out_file, stderr=err_file,
            env=environment, start_new_session=True,
        )  # fmt: skip
        _limit(process)
        timed_out = False
        try:
            process.wait(setting.timeout_s)
        except subprocess.TimeoutExpired:
            timed_out = True
        finally:
            _end_group(process)
    seconds = time.perf_counter() - started
    failure = f"it did not end within {setting.timeout_s:g} s" if timed_out else _failure(process.returncode)
    stderr = err.read_bytes()[-_MESSAGE:].decode("utf-8", "replace")
    written = {} if failure else _find_written(place_of_run, before)
    stdout = b"" if failure else out.read_bytes()
    shutil.rmtree(place_of_run, ignore_errors=True)
    return RunOutcome(process.returncode, failure, stdout, stderr, written, read_log(log), seconds)


def _threads(count: int, one_thread: bool) -> dict[str, str]:
    """Return what a program is told of its threads: many more than there are cores wait without spinning."""
    if one_thread:
        return {"OMP_NUM_THREADS": "1", "OMP_THREAD_LIMIT": "1"}
    if count == 1:
        return {"OMP_NUM_THREADS": "1"}
    return {"OMP_NUM_THREADS": str(count), "OMP_DYNAMIC": "false", "OMP_WAIT_POLICY": "passive"}


def _stdin(options: VerifyOptions) -> Path:
    return Path(options.run_stdin) if options.run_stdin else Path(os.devnull)


def _prepare(options: VerifyOptions, directory: Path) -> dict[str, bytes]:
    """Make the run's directory; return the content of the files that it starts with."""
    if options.run_dir is None:
        directory.mkdir(parents=True)
        return {}
    shutil.copytree(options.run_dir, directory, symlinks=True)
    return _contents(directory)


def _contents(directory: Path) -> dict[str, bytes]:
    files = (p for p in sorted(directory.rglob("*")) if p.is_file() and not p.is_symlink())
    return {str(p.relative_to(directory)): p.read_bytes() for p in files}


def _find_written(directory: Path, before: Mapping[str, bytes]) -> dict[str, bytes]:
    return {name: data for name, data in _contents(directory).items() if before.get(name) != data}


def _limit(process: subprocess.Popen[bytes]) -> None:
    """Bound what the run may write. Set from outside, so that runs may be started from several threads."""
    with contextlib.suppress(ProcessLookupError):
        resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (_OUTPUT_LIMIT, _OUTPUT_LIMIT))
        resource.prlimit(process.pid, resource.RLIMIT_CORE, (0, 0))


def _end_group(process: subprocess.Popen[bytes]) -> None:
    """Kill whatever is left of the run; its group outlives the first process only where it forked."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _failure(code: int) -> str:
    if code >= 0:
        return ""
    if -code == signal.SIGXFSZ:
        return f"it wrote more than {_OUTPUT_LIMIT >> 20} MiB"
    known = {signal.SIGSEGV: "a memory access outside its memory", signal.SIGFPE: "an arithmetic exception",
             signal.SIGABRT: "abort", signal.SIGBUS: "a bus error", signal.SIGILL: "an illegal instruction",
             signal.SIGKILL: "a kill signal (out of memory?)"}  # fmt: skip
    name = known.get(signal.Signals(-code)) if -code in set(signal.Signals) else None
    return f"it crashed: {name or f'signal {-code}'}"
