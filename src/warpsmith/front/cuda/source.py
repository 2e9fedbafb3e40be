"""Files of device code before they are parsed: their language, and the parser's options.

CUDA is read as the device's compiler reads it, OpenCL C with the parser's own table of built-in functions; both with
small headers of ours instead of a toolkit's.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final, Literal

from msgspec import Struct

from warpsmith.base.findings import Finding
from warpsmith.base.source import SourceFile
from warpsmith.front.clang.system_headers import own_headers, system_arguments
from warpsmith.front.inputs import BYTES_A_NODE, Source

__all__ = ["DeviceInput", "DeviceLanguage", "device_arguments", "read_device_input"]

DeviceLanguage = Literal["cuda", "opencl"]
_LANGUAGES: Final[dict[str, DeviceLanguage]] = {
    ".cu": "cuda", ".cuh": "cuda", ".cl": "opencl", ".ocl": "opencl", ".clh": "opencl",
}  # fmt: skip
_OF_TEXT: Final = (
    "-I", "-D", "-U", "-std", "-isystem", "-iquote", "-idirafter", "-include", "-imacros", "-funsigned-char",
    "-fsigned-char",
)  # fmt: skip
# errors of the parser that a toolkit's compiler takes
_LENIENT: Final = (
    "reserved-user-defined-literal", "register", "c++11-narrowing", "dynamic-exception-spec", "return-type",
    "int-conversion", "implicit-function-declaration", "implicit-int",
)  # fmt: skip
# a 16-bit type that computes, is handed over and returned as one
_HALVES: Final = ("-Xclang", "-fnative-half-type", "-Xclang", "-fnative-half-arguments-and-returns")
_ARCHITECTURE: Final = re.compile(r"(?:sm|compute)_(\d{2,3})")
_NEWEST: Final = 90
_DEFAULT_ARCHITECTURE: Final = 80
_CLANG_ARCHITECTURES: Final = (50, 52, 53, 60, 61, 62, 70, 72, 75, 80, 86, 87, 89, 90)


class DeviceInput(Struct, frozen=True):
    """One file that can be parsed; `text` has what was asked for behind the user's own."""

    file: SourceFile
    language: DeviceLanguage
    arguments: tuple[str, ...]


def read_device_input(source: Source, node_limit: int) -> DeviceInput | Finding:
    """Return the input file of `source`, or why it cannot be used."""
    path, place = source.path, Path(source.path)
    named: dict[str, DeviceLanguage] = {"cuda": "cuda", "opencl": "opencl"}
    known = named.get(source.language or "") or _LANGUAGES.get(place.suffix.lower())
    if source.text is None and not place.is_file():
        what = "is a directory" if place.is_dir() else "does not exist"
        return Finding("INP001", "error", f"{path} {what}", None, ("check the path",))
    if known is None:
        message = f"{path}: the suffix {place.suffix or '(none)'} is none of device code"
        return Finding("INP001", "error", message, None, ("use --lang cuda or opencl",))
    try:
        size = len(source.text) if source.text is not None else place.stat().st_size
        if size > BYTES_A_NODE * node_limit:
            message = f"{path} has {size:,} bytes: more than the limit of {BYTES_A_NODE * node_limit:,} bytes"
            return Finding("INP003", "error", message, None, ("split the file, and give the part with the kernels",))
        file = SourceFile.read(path) if source.text is None else SourceFile(path, source.text)
    except OSError as error:
        message = f"{path} cannot be read: {error.strerror or error}"
        return Finding("INP001", "error", message, None, ("check its permissions",))
    if "\0" in file.text:
        return Finding("INP001", "error", f"{path} is not a text file: it has zero bytes", None, ("give source text",))
    if not file.text.strip():
        return Finding("INP001", "error", f"{path} is empty", None, ("give a file with a kernel in it",))
    return DeviceInput(file, known, source.arguments)


def device_arguments(given: DeviceInput, *, plain: bool) -> list[str]:
    """Return the parser's options for a file; `plain`: with headers of ours in place of the C++ library's."""
    options = _join_options(given.arguments)
    quiet = ["-w", "-ferror-limit=0", "-fno-spell-checking", *(f"-Wno-{warning}" for warning in _LENIENT)]
    texts = [o for o in options if o.startswith(_OF_TEXT)]
    if given.language == "opencl":
        version = next((o.removeprefix("-cl-std=") for o in options if o.startswith("-cl-std=")), "CL2.0")
        header = own_headers() / "opencl" / "mini_opencl.h"
        return [
            "-x", "cl", *quiet, f"-cl-std={version}", "-cl-no-stdinc", "-Xclang", "-fdeclare-opencl-builtins",
            "-target", "spir64-unknown-unknown", "-include", str(header),
            *(o for o in texts if not o.startswith("-std")),
        ]  # fmt: skip
    standard = [] if any(o.startswith("-std=") for o in texts) else ["-std=gnu++17"]
    folders = ["device_std", "cuda"] if plain else ["cuda"]
    library = ["-nostdinc++"] if plain else []
    return [
        "-x", "cuda", *quiet, *standard, *library, *_HALVES, "-nocudainc", "-nocudalib", "--cuda-device-only",
        f"--cuda-gpu-arch=sm_{_architecture(options)}", "--cuda-path=/nonexistent", "-DWARPSMITH_KERNELS",
        "-D__CUDACC__=1", "-D__NVCC__=1",
        *(word for folder in folders for word in ("-I", str(own_headers() / folder))),
        "--system-header-prefix=mini_cuda", "--system-header-prefix=cooperative_groups",
        "-include", "mini_cuda.h", *texts, *system_arguments(),
    ]  # fmt: skip


def _architecture(options: list[str]) -> int:
    """Return the newest architecture that the options name and the parser knows."""
    named = [
        int(n)
        for o in options
        if o.startswith(("-arch", "-gencode", "--gpu", "-code"))
        for n in _ARCHITECTURE.findall(o)
    ]
    wanted = min(max(named, default=_DEFAULT_ARCHITECTURE), _NEWEST)
    return max(a for a in _CLANG_ARCHITECTURES if a <= max(wanted, _CLANG_ARCHITECTURES[0]))


def _join_options(arguments: tuple[str, ...]) -> list[str]:
    """Return the options, those of two words as one."""
    result: list[str] = []
    pending = ""
    for argument in arguments:
        if pending:
            equals = "=" if pending in ("--std", "-std", "-cl-std", "-arch", "-gencode") else ""
            result.append(f"{pending}{equals}{argument}")
            pending = ""
        elif argument in ("-I", "-D", "-U", "--std", "-std", "-cl-std", "-arch", "-gencode"):
            pending = argument
        else:
            result.append(argument)
    return [f"-std={o.removeprefix('--std=')}" if o.startswith("--std=") else o for o in result]
