"""Kernels that the parser cannot take, as PTX: NVRTC compiles them, where the `cuda` extra is. No GPU, no driver.

    text without its host functions ─► NVRTC ─┬─► PTX, the names of its entries
                    ▲                         └─► a header is not found: once more, with an empty one in its place
                    └─────────────────────────────┘

NVRTC takes device code only. Headers of a toolkit are used where one is installed (cub, thrust, cooperative groups).
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Final

from warpsmith.base.findings import Finding
from warpsmith.base.source import SourceFile, Span

__all__ = ["PtxText", "compile_to_ptx", "has_nvrtc"]

_MISSING: Final = re.compile(r"(?:could not|cannot) open source file \"([^\"]+)\"")
_PLACE: Final = re.compile(r"^(?P<file>[^\n(]+)\((?P<line>\d+)\): (?:catastrophic )?error[^:]*: (?P<text>.+)$", re.M)
_MOST_ROUNDS: Final = 30
_USUAL_PLACE: Final = "/usr/local/cuda"
_OF_TEXT: Final = ("-I", "-D", "-U", "-std", "--std")
_INTEGERS: Final = "".join(
    f"typedef signed {c} int{b}_t; typedef unsigned {c} uint{b}_t;\n"
    for b, c in ((8, "char"), (16, "short"), (32, "int"), (64, "long"))
)
_LIMITS: Final = """#pragma once
#define INT_MAX 2147483647
#define INT_MIN (-INT_MAX - 1)
#define UINT_MAX 4294967295U
#define FLT_MAX 3.402823466e+38f
#define FLT_MIN 1.175494351e-38f
#define FLT_EPSILON 1.192092896e-07f
#define DBL_MAX 1.7976931348623157e+308
#define DBL_MIN 2.2250738585072014e-308
#define DBL_EPSILON 2.2204460492503131e-16
#define M_PI 3.14159265358979323846
#define INFINITY __int_as_float(0x7f800000)
"""
_STAND_INS: Final[Mapping[str, str]] = {
    "stdint.h": "#pragma once\n" + _INTEGERS,
    "cstdint": "#pragma once\n" + _INTEGERS,
    **dict.fromkeys(("limits.h", "climits", "float.h", "cfloat", "math.h", "cmath"), _LIMITS),
}


@dataclass(frozen=True, slots=True)
class PtxText:
    """What NVRTC made; `entries`: the name in the PTX of each kernel, by the name that one writes; `stood_in`: headers
    that were empty because they are nowhere."""

    text: str
    entries: Mapping[str, str]
    stood_in: tuple[str, ...]


def has_nvrtc() -> bool:
    """Whether NVRTC can be used (the `cuda` extra)."""
    try:
        return importlib.util.find_spec("cuda.bindings.nvrtc") is not None
    except ImportError:
        return False


def compile_to_ptx(
    file: SourceFile, arguments: Sequence[str], kernels: Sequence[str], architecture: str = "sm_80"
) -> PtxText | Finding:
    """Compile device code to PTX with line numbers; `kernels` are wanted: templates are instantiated for them.

    Answers a finding where NVRTC refuses the text, or is not installed.
    """
    if not has_nvrtc():
        message = f"{file.path}: kernels that the parser cannot take could be compiled to PTX, but NVRTC is missing"
        return Finding("INP004", "note", message, None, ("install the `cuda` extra: pip install 'warpsmith[cuda]'",))
    nvrtc = importlib.import_module("cuda.bindings.nvrtc")
    headers: dict[str, str] = {}
    for _ in range(_MOST_ROUNDS):
        made, log = _compile(nvrtc, file, _options(arguments, architecture), (tuple(kernels), headers))
        if made is not None:
            return made
        missing = [name for name in _MISSING.findall(log) if name not in headers]
        if not missing:
            return _refused(log, file)
        headers.update((name, _STAND_INS.get(name, "")) for name in missing)
    return _refused("too many headers are missing", file)


def _options(arguments: Sequence[str], architecture: str) -> list[bytes]:
    given = [a for a in arguments if a.startswith(_OF_TEXT)]
    standard = [] if any("std=" in a for a in given) else ["--std=c++17"]
    folders = [f"-I{folder}" for folder in _toolkit()]
    options = [f"--gpu-architecture={architecture}", "--generate-line-info", "--device-as-default-execution-space"]
    return [o.encode("utf-8", "surrogateescape") for o in (*options, *standard, *given, *folders)]


def _toolkit() -> tuple[Path, ...]:
    """Return the folders of an installed toolkit's headers."""
    nvcc = shutil.which("nvcc")
    named = (os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH"), _USUAL_PLACE)
    roots = [str(Path(nvcc).resolve().parents[1])] if nvcc is not None else []
    roots += [root for root in named if root is not None]
    for root in roots:
        if (Path(root) / "include" / "cuda_runtime.h").is_file():
            include = Path(root) / "include"
            return (include, include / "cccl") if (include / "cccl").is_dir() else (include,)
    return ()


def _compile(
    nvrtc: ModuleType, file: SourceFile, options: list[bytes], wanted: tuple[tuple[str, ...], dict[str, str]]
) -> tuple[PtxText | None, str]:
    """Return the PTX, or None and what NVRTC says."""
    kernels, headers = wanted
    good = nvrtc.nvrtcResult.NVRTC_SUCCESS
    sources, names = [t.encode() for t in headers.values()], [n.encode() for n in headers]
    status, program = nvrtc.nvrtcCreateProgram(file.data(), file.path.encode(), len(names), sources, names)
    if status != good:
        return None, f"NVRTC does not take the text ({status.name})"
    try:
        for kernel in kernels:
            nvrtc.nvrtcAddNameExpression(program, kernel.encode())
        (status,) = nvrtc.nvrtcCompileProgram(program, len(options), options)
        if status != good:
            _, size = nvrtc.nvrtcGetProgramLogSize(program)
            log = b" " * size
            nvrtc.nvrtcGetProgramLog(program, log)
            return None, log.decode("latin-1").rstrip("\0 \n")
        entries: dict[str, str] = {}
        for kernel in kernels:
            status, lowered = nvrtc.nvrtcGetLoweredName(program, kernel.encode())
            if status == good:
                entries[kernel] = lowered.decode("latin-1")
        _, size = nvrtc.nvrtcGetPTXSize(program)
        text = b" " * size
        nvrtc.nvrtcGetPTX(program, text)
        return PtxText(text.decode("latin-1").rstrip("\0"), entries, tuple(headers)), ""
    finally:
        nvrtc.nvrtcDestroyProgram(program)


def _refused(log: str, file: SourceFile) -> Finding:
    found = next((m for m in _PLACE.finditer(log) if m["file"] == file.path), None)
    if found is None:
        first = next((line for line in log.splitlines() if "error" in line), log.strip() or "no message")
        return Finding("INP001", "error", f"NVRTC refuses {file.path}: {first}")
    start = file.offset(int(found["line"]))
    span = Span(file, start, start + len(file.line(int(found["line"]))))
    return Finding("INP001", "error", f"NVRTC refuses it: {found['text']}", span)
