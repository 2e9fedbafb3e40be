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
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from warpsmith.base.children import end_with_parent
from warpsmith.base.errors import UsageError
from warpsmith.base.findings import Finding

__all__ = ["Ran", "RunLimits", "c_compiler", "cxx_compiler", "find_addr2line", "find_nvcc", "run_limited"]

_MIB = 1 << 20
_OPTIONS = {
    resource.RLIMIT_CORE: "core",
    resource.RLIMIT_FSIZE: "fsize",
    resource.RLIMIT_STACK: "stack",
    resource.RLIMIT_DATA: "data",
}


class RunLimits(Struct, frozen=True):
    """What a program may use: seconds of wall time, bytes of private memory (None: no limit), bytes a file, stack."""

    seconds: float = 60.0
    memory: int | None = None
    file: int = 256 * _MIB
    stack: int = 64 * _MIB


class Ran(Struct, frozen=True):
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
    limits: RunLimits | None = None,
) -> Ran:
    """Run `command` in `cwd` with its whole input; `environment` is added to the present one."""
    bounds = limits or RunLimits()
    started = time.perf_counter()
    launcher = _launcher(bounds)
    parent = os.getpid()
    process = subprocess.Popen(
        command if launcher is None else [*launcher, *command],
        cwd=cwd,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, **(environment or {})},
        start_new_session=True,
        preexec_fn=(lambda: _limit(bounds, parent)) if launcher is None else None,
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


def _launcher(limits: RunLimits) -> list[str] | None:
    """Return the command of util-linux that sets the limits and runs what stands behind it; None where it is missing.

    It spares a fork of this process, which copies page tables: with 250 MB in use 30 ms each time.
    """
    prlimit, setpriv = shutil.which("prlimit"), shutil.which("setpriv")
    if prlimit is None or setpriv is None or not sys.platform.startswith("linux"):
        return None
    bounds = [f"--{_OPTIONS[what]}={_soft(what, wanted)}:" for what, wanted in _bounds(limits)]
    return [prlimit, *bounds, setpriv, "--pdeathsig", "KILL", "--"]


def _limit(limits: RunLimits, parent: int) -> None:
    """Set the limits in the child."""
    end_with_parent(parent)
    for what, wanted in _bounds(limits):
        resource.setrlimit(what, (_soft(what, wanted), resource.getrlimit(what)[1]))


def _bounds(limits: RunLimits) -> list[tuple[int, int]]:
    """Return each limit's number and value. Private memory is counted, not addresses: the emulation reserves many."""
    found = [(resource.RLIMIT_CORE, 0), (resource.RLIMIT_FSIZE, limits.file), (resource.RLIMIT_STACK, limits.stack)]
    return found if limits.memory is None else [*found, (resource.RLIMIT_DATA, limits.memory)]


def _soft(what: int, wanted: int) -> int:
    hard = resource.getrlimit(what)[1]
    return wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
