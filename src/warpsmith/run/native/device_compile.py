"""Other compilers' opinion of generated CUDA text: NVRTC (no driver needed) and nvcc, where they are installed.

NVRTC takes device code only, and has no standard headers: small ones stand in for those that device code may ask for.
"""

from __future__ import annotations

import importlib
import importlib.util
import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from warpsmith.base.findings import Finding
from warpsmith.base.source import SourceFile, Span
from warpsmith.emit.files import OutputFile

__all__ = ["compile_nvcc", "compile_nvrtc", "has_nvcc", "has_nvrtc"]

_PLACE = re.compile(
    r"^(?P<file>[^\n(]+)\((?P<line>\d+)\): (?:catastrophic )?error(?: #\d+(?:-D)?)?: (?P<text>.+)$", re.M
)
_INTEGERS = "".join(
    f"typedef signed {c} int{b}_t; typedef unsigned {c} uint{b}_t;\n"
    f"typedef int{b}_t int_least{b}_t; typedef uint{b}_t uint_least{b}_t;\n"
    f"typedef {f} int_fast{b}_t; typedef unsigned {f} uint_fast{b}_t;\n"
    for b, c, f in ((8, "char", "char"), (16, "short", "long"), (32, "int", "long"), (64, "long", "long"))
)
_HEADERS = {
    "stdint.h": "#pragma once\n" + _INTEGERS + """\
typedef long intptr_t; typedef unsigned long uintptr_t; typedef long intmax_t; typedef unsigned long uintmax_t;
#define INT8_MAX 127
#define INT16_MAX 32767
#define INT32_MAX 2147483647
#define INT64_MAX 9223372036854775807L
#define INT8_MIN (-128)
#define INT16_MIN (-32768)
#define INT32_MIN (-2147483647-1)
#define INT64_MIN (-INT64_MAX-1)
#define UINT8_MAX 255
#define UINT16_MAX 65535
#define UINT32_MAX 4294967295U
#define UINT64_MAX 18446744073709551615UL
#define SIZE_MAX 18446744073709551615UL
""",
    "limits.h": """\
#pragma once
#define CHAR_BIT 8
#define SCHAR_MIN (-128)
#define SCHAR_MAX 127
#define UCHAR_MAX 255
#define CHAR_MIN (-128)
#define CHAR_MAX 127
#define SHRT_MIN (-32768)
#define SHRT_MAX 32767
#define USHRT_MAX 65535
#define INT_MIN (-2147483647-1)
#define INT_MAX 2147483647
#define UINT_MAX 4294967295U
#define LONG_MAX 9223372036854775807L
#define LONG_MIN (-LONG_MAX-1L)
#define ULONG_MAX 18446744073709551615UL
#define LLONG_MAX 9223372036854775807LL
#define LLONG_MIN (-LLONG_MAX-1LL)
#define ULLONG_MAX 18446744073709551615ULL
""",
    "float.h": """\
#pragma once
#define FLT_DIG 6
#define FLT_MANT_DIG 24
#define FLT_EPSILON 1.19209290e-7F
#define FLT_MAX 3.40282347e+38F
#define FLT_MIN 1.17549435e-38F
#define DBL_DIG 15
#define DBL_MANT_DIG 53
#define DBL_EPSILON 2.2204460492503131e-16
#define DBL_MAX 1.7976931348623157e+308
#define DBL_MIN 2.2250738585072014e-308
""",
    "math.h": """\
#pragma once
#define M_E 2.7182818284590452354
#define M_LOG2E 1.4426950408889634074
#define M_LOG10E 0.43429448190325182765
#define M_LN2 0.69314718055994530942
#define M_LN10 2.30258509299404568402
#define M_PI 3.14159265358979323846
#define M_PI_2 1.57079632679489661923
#define M_PI_4 0.78539816339744830962
#define M_1_PI 0.31830988618379067154
#define M_2_PI 0.63661977236758134308
#define M_2_SQRTPI 1.12837916709551257390
#define M_SQRT2 1.41421356237309504880
#define M_SQRT1_2 0.70710678118654752440
#define INFINITY __int_as_float(0x7f800000)
#define NAN __int_as_float(0x7fc00000)
#define HUGE_VALF INFINITY
#define HUGE_VAL ((double)INFINITY)
""",
    "stddef.h": "#pragma once\n#ifndef NULL\n#define NULL 0\n#endif\n",
}  # fmt: skip


def has_nvrtc() -> bool:
    """Whether NVRTC can be used (the `cuda` extra)."""
    found = importlib.util.find_spec("cuda") is not None and importlib.util.find_spec("cuda.bindings") is not None
    return found and importlib.util.find_spec("cuda.bindings.nvrtc") is not None


def has_nvcc() -> bool:
    """Whether nvcc is on the path."""
    return shutil.which("nvcc") is not None


def compile_nvrtc(text: str, arch: str = "sm_80", name: str = "kernels.cu") -> Finding | None:
    """Compile device text (`emit_kernels`) for `arch`; return None, or what NVRTC says against it.

    `text` holds one character a byte. Raises ImportError where NVRTC is not installed (see `has_nvrtc`).
    """
    nvrtc = importlib.import_module("cuda.bindings.nvrtc")

    sources = [content.encode() for content in _HEADERS.values()]
    names = [header.encode() for header in _HEADERS]
    status, program = nvrtc.nvrtcCreateProgram(text.encode("latin-1"), name.encode(), len(names), sources, names)
    if status != nvrtc.nvrtcResult.NVRTC_SUCCESS:
        return _found(f"NVRTC does not take the text ({status.name})", name, text, 1)
    try:
        options = [f"--gpu-architecture={arch}".encode(), b"--std=c++17"]
        (status,) = nvrtc.nvrtcCompileProgram(program, len(options), options)
        if status == nvrtc.nvrtcResult.NVRTC_SUCCESS:
            return None
        _, size = nvrtc.nvrtcGetProgramLogSize(program)
        log = b" " * size
        nvrtc.nvrtcGetProgramLog(program, log)
        return _first_error(log.decode("latin-1").rstrip("\0 \n"), {name: text})
    finally:
        nvrtc.nvrtcDestroyProgram(program)


def compile_nvcc(
    files: Sequence[OutputFile], arguments: Sequence[str] = (), timeout_s: float = 300.0
) -> Finding | None:
    """Compile every `.cu` of `files` to an object with nvcc; return None, or what it says against the first bad one.

    `arguments` are -I -D -U options. Raises FileNotFoundError where nvcc is not installed (see `has_nvcc`) and
    subprocess.TimeoutExpired.
    """
    with tempfile.TemporaryDirectory(prefix="warpsmith-nvcc-") as folder:
        for file in files:
            path = Path(folder, file.path)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(file.data())
        for file in files:
            if not file.path.endswith(".cu"):
                continue
            command = ["nvcc", "-c", *arguments, file.path, "-o", f"{file.path}.o"]
            done = subprocess.run(
                command, cwd=folder, capture_output=True, text=True, timeout=timeout_s, check=False, encoding="latin-1"
            )
            if done.returncode:
                log = done.stdout + done.stderr
                return _first_error(log, {f.path: f.text for f in files})
    return None


def _first_error(log: str, texts: dict[str, str]) -> Finding:
    match = _PLACE.search(log)
    if match is None or match["file"] not in texts:
        first = next((line for line in log.splitlines() if "error" in line), log.strip() or "no message")
        return Finding("POR008", "error", f"the CUDA compiler refuses the kernels: {first}")
    message = f"the CUDA compiler refuses the kernels: {match['text']}"
    return _found(message, match["file"], texts[match["file"]], int(match["line"]))


def _found(message: str, name: str, text: str, line: int) -> Finding:
    file = SourceFile(name, text)
    start = file.offset(line)
    return Finding("POR008", "error", message, Span(file, start, start + len(file.line(line))))
