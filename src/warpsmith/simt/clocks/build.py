"""The compiled machine, compiled/machine.c, becomes a library of this computer, at its first use; it is kept on disk.

In C, not in LLVM IR that Python writes (as simt/engine does): the machine does not depend on the program, so there is
one text for all, and it can be read beside the rules. Without a C compiler the reference runs.
"""

from __future__ import annotations

import ctypes
import platform
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Final

from warpsmith.base.cache import kept_bytes

__all__ = ["library"]

_FLAGS: Final = ("-std=c11", "-O3", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math", "-shared", "-fPIC")
_COMPILERS: Final = ("gcc", "cc", "clang")


@cache
def library(width: int) -> ctypes.CDLL | None:
    """Return the compiled machine for waves of so many lanes, None where it cannot be compiled."""
    compiler = next((found for name in _COMPILERS if (found := shutil.which(name))), None)
    if compiler is None:
        return None
    texts = _texts()
    processor = _processor()
    flags = (*_FLAGS, f"-DWS_WIDTH={width}", *(("-march=native",) if processor else ()))
    named = [part for name in sorted(texts) for part in (name.encode(), texts[name])]
    key = b"\0".join([*named, compiler.encode(), " ".join(flags).encode(), processor, platform.machine().encode()])
    try:
        made = kept_bytes("clocks", key, lambda: _compile(compiler, flags, texts))
        return _load(made)
    except (OSError, subprocess.SubprocessError):
        return None


def _texts() -> dict[str, bytes]:
    """Return all files of the machine: machine.c includes the others, so each of them is part of the key."""
    folder = files("warpsmith.simt.clocks").joinpath("compiled")
    return {one.name: one.read_bytes() for one in folder.iterdir() if one.name.endswith((".c", ".h"))}


def _processor() -> bytes:
    """Return what tells processors apart that run different code, b"" where that is not known."""
    try:
        lines = Path("/proc/cpuinfo").read_bytes().splitlines()
    except OSError:
        return b""
    return b"".join(line for line in lines[:40] if line.startswith((b"model name", b"flags", b"Features")))


def _compile(compiler: str, flags: tuple[str, ...], texts: Mapping[str, bytes]) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        source, made = Path(folder, "machine.c"), Path(folder, "machine.so")
        for name, text in texts.items():
            Path(folder, name).write_bytes(text)
        command = [compiler, *flags, str(source), "-o", str(made), "-lm"]
        subprocess.run(command, check=True, capture_output=True, timeout=120)
        return made.read_bytes()


def _load(made: bytes) -> ctypes.CDLL:
    """Return the library; its file is needed only until it is loaded."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder, "machine.so")
        place.write_bytes(made)
        found = ctypes.CDLL(str(place))
    pointer = ctypes.c_void_p
    found.ws_begin.argtypes, found.ws_begin.restype = [pointer] * 4, pointer
    found.ws_advance.argtypes, found.ws_advance.restype = [pointer, ctypes.c_int64, ctypes.c_int64], ctypes.c_int
    found.ws_totals.argtypes, found.ws_totals.restype = [pointer, pointer], None
    found.ws_threads.argtypes, found.ws_threads.restype = [pointer], pointer
    found.ws_rows.argtypes, found.ws_rows.restype = [pointer, ctypes.c_int], pointer
    found.ws_end.argtypes, found.ws_end.restype = [pointer], None
    return found
