"""Finding compilers and running programs under limits.

Invariant: nothing outlives `run_limited`: the program gets a process group of its own, which is killed at the end,
whatever the program started; the program itself ends with this process, however that ends.
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
from dataclasses import dataclass
from pathlib import Path

from warpsmith.base.children import end_with_parent
from warpsmith.base.errors import UsageError
from warpsmith.base.findings import Finding

__all__ = ["Limits", "Ran", "c_compiler", "cxx_compiler", "find_addr2line", "find_nvcc", "run_limited"]

_MIB = 1 << 20


@dataclass(frozen=True, slots=True)
class Limits:
    """What a program may use: seconds of wall time, bytes of private memory (None: no limit), bytes a file, stack."""

    seconds: float = 60.0
    memory: int | None = None
    file: int = 256 * _MIB
    stack: int = 64 * _MIB


@dataclass(frozen=True, slots=True)
class Ran:
    """How a run ended: exit code (negative: the signal), output, wall seconds, whether the time limit ended it."""

    exit_code: int
    stdout: bytes
    stderr: bytes
    seconds: float
    timed_out: bool = False


def c_compiler() -> str:
    """Return the C compiler: $CC, else gcc, clang or cc. Raises UsageError where there is none."""
    return _compiler("CC", ("gcc", "clang", "cc"), "C")


def cxx_compiler() -> str:
    """Return the C++ compiler: $CXX, else g++, clang++ or c++. Raises UsageError where there is none."""
    return _compiler("CXX", ("g++", "clang++", "c++"), "C++")


def _compiler(variable: str, names: Sequence[str], language: str) -> str:
    wanted = os.environ.get(variable, "")
    if wanted:
        found = shutil.which(wanted)
        if found:
            return found
        message = f"${variable} names `{wanted}`, which cannot be run"
        raise UsageError(Finding("VER030", "error", message, help=(f"correct ${variable}, or unset it",)))
    for name in names:
        found = shutil.which(name)
        if found:
            return found
    package = "gcc" if language == "C" else "g++"
    raise UsageError(
        Finding(
            "VER030",
            "error",
            f"no {language} compiler was found (looked for {', '.join(names)})",
            help=(f"install one, on Debian or Ubuntu `apt install {package}`", f"or name it in ${variable}"),
        )
    )


def find_addr2line() -> str | None:
    """Return binutils' addr2line (or LLVM's), which turns program addresses into lines; None where there is none."""
    return shutil.which("addr2line") or shutil.which("llvm-addr2line")


def find_nvcc() -> str | None:
    """Return NVIDIA's compiler, or None."""
    return shutil.which("nvcc")


def run_limited(
    command: Sequence[str],
    cwd: Path,
    *,
    stdin: bytes = b"",
    environment: Mapping[str, str] | None = None,
    limits: Limits | None = None,
) -> Ran:
    """Run `command` in `cwd` with its whole input; `environment` is added to the present one."""
    bounds = limits or Limits()
    started = time.perf_counter()
    parent = os.getpid()
    process = subprocess.Popen(
        command,
        cwd=cwd,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, **(environment or {})},
        start_new_session=True,
        preexec_fn=lambda: _limit(bounds, parent),
    )
    timed_out = False
    try:
        stdout, stderr = process.communicate(stdin, timeout=bounds.seconds)
    except subprocess.TimeoutExpired:
        timed_out = True
        _end_group(process)
        stdout, stderr = process.communicate()
    finally:
        _end_group(process)
    return Ran(process.returncode, stdout, stderr, time.perf_counter() - started, timed_out)


def _end_group(process: subprocess.Popen[bytes]) -> None:
    """Kill what is left of the group; it is gone where the program ended by itself and left no child."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


def _limit(limits: Limits, parent: int) -> None:
    """Set the limits in the child. Private memory is counted, not addresses: the emulation reserves many of those."""
    end_with_parent(parent)
    _lower(resource.RLIMIT_CORE, 0)
    _lower(resource.RLIMIT_FSIZE, limits.file)
    _lower(resource.RLIMIT_STACK, limits.stack)
    if limits.memory is not None:
        _lower(resource.RLIMIT_DATA, limits.memory)


def _lower(what: int, wanted: int) -> None:
    hard = resource.getrlimit(what)[1]
    resource.setrlimit(what, (wanted if hard == resource.RLIM_INFINITY else min(wanted, hard), hard))
