"""Machines written in C become libraries of this computer, at their first use; they are kept on disk.

In C, not in LLVM IR that Python writes (as simt/engine does): such a machine does not depend on the program, so there
is one text for all, and it can be read beside the rules. Without a C compiler its reference in Python runs.
"""

from __future__ import annotations

import ctypes
import platform
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Final

from warpsmith.base.cache import kept_bytes

__all__ = ["FLAGS", "compile_texts", "compiled_library", "load_library", "read_texts"]

FLAGS: Final = ("-std=c11", "-O3", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math", "-shared", "-fPIC")
_COMPILERS: Final = ("gcc", "cc", "clang")


def compiled_library(package: str, main: str, macros: Sequence[str] = ()) -> ctypes.CDLL | None:
    """Return the library made of `main`, a file of C in a package's folder `compiled`; None where it cannot be made."""
    compiler = next((found for name in _COMPILERS if (found := shutil.which(name))), None)
    if compiler is None:
        return None
    texts = read_texts(package)
    processor = _processor()
    flags = (*FLAGS, *macros, *(("-march=native",) if processor else ()))
    named = [part for name in sorted(texts) for part in (name.encode(), texts[name])]
    key = b"\0".join([*named, compiler.encode(), " ".join(flags).encode(), processor, platform.machine().encode()])
    try:
        made = kept_bytes(package.rpartition(".")[2], key, lambda: compile_texts(compiler, flags, texts, main))
        return load_library(made)
    except (OSError, subprocess.SubprocessError):
        return None


def read_texts(package: str) -> dict[str, bytes]:
    """Return all files of C: `main` includes the others, so each of them is part of the key."""
    folder = files(package).joinpath("compiled")
    return {one.name: one.read_bytes() for one in folder.iterdir() if one.name.endswith((".c", ".h"))}


def _processor() -> bytes:
    """Return what tells processors apart that run different code, b"" where that is not known."""
    try:
        lines = Path("/proc/cpuinfo").read_bytes().splitlines()
    except OSError:
        return b""
    return b"".join(line for line in lines[:40] if line.startswith((b"model name", b"flags", b"Features")))


def compile_texts(compiler: str, flags: Sequence[str], texts: Mapping[str, bytes], main: str) -> bytes:
    """Return the library that a compiler makes of `main`, one of the texts; raises CalledProcessError."""
    with tempfile.TemporaryDirectory() as folder:
        source, made = Path(folder, main), Path(folder, "machine.so")
        for name, text in texts.items():
            Path(folder, name).write_bytes(text)
        command = [compiler, *flags, str(source), "-o", str(made), "-lm"]
        subprocess.run(command, check=True, capture_output=True, timeout=120)
        return made.read_bytes()


def load_library(made: bytes) -> ctypes.CDLL:
    """Return the library; its file is needed only until it is loaded."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder, "machine.so")
        place.write_bytes(made)
        return ctypes.CDLL(str(place))
