"""Kernels that the parser cannot take, as PTX: NVRTC compiles them, where the `cuda` extra is. No GPU, no driver.

    text without its host functions ─► NVRTC ─┬─► PTX, the names of its entries
                    ▲                         └─► a header is not found: once more, with an empty one in its place
                    └─────────────────────────────┘

NVRTC takes device code only, in a process of its own (nvrtc_worker.py). Headers of a toolkit are used where one is
installed (cub, thrust, cooperative groups).
"""

from __future__ import annotations

import marshal
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct

import warpsmith
from warpsmith.base.findings import Finding
from warpsmith.base.nvrtc import has_bindings
from warpsmith.base.source import SourceFile, Span
from warpsmith.front.cuda.nvrtc_worker import ABSENT, Answer, Request

__all__ = ["PtxText", "compile_to_ptx"]

_MISSING: Final = re.compile(r"(?:could not|cannot) open source file \"([^\"]+)\"")
_PLACE: Final = re.compile(r"^(?P<file>[^\n(]+)\((?P<line>\d+)\): (?:catastrophic )?error[^:]*: (?P<text>.+)$", re.M)
_MOST_ROUNDS: Final = 30
_FIRST: Final = "warpsmith_limits.h"
"""What host compilers find through headers that NVRTC has not."""
_USUAL_PLACE: Final = "/usr/local/cuda"
_OF_TEXT: Final = ("-I", "-D", "-U", "-std", "--std")
_INTEGERS: Final = "".join(
    f"typedef signed {c} int{b}_t; typedef unsigned {c} uint{b}_t;\n"
    for b, c in ((8, "char"), (16, "short"), (32, "int"), (64, "long long"))
)
_LIMITS: Final = "#pragma once\n" + "".join(
    f"#ifndef {name}\n#define {name} {value}\n#endif\n"
    for name, value in {
        "INT_MAX": "2147483647",
        "INT_MIN": "(-INT_MAX - 1)",
        "UINT_MAX": "4294967295U",
        "FLT_MAX": "3.402823466e+38f",
        "FLT_MIN": "1.175494351e-38f",
        "FLT_EPSILON": "1.192092896e-07f",
        "DBL_MAX": "1.7976931348623157e+308",
        "DBL_MIN": "2.2250738585072014e-308",
        "DBL_EPSILON": "2.2204460492503131e-16",
        "M_PI": "3.14159265358979323846",
        "INFINITY": "__int_as_float(0x7f800000)",
    }.items()
)
_STAND_INS: Final[Mapping[str, str]] = {
    "stdint.h": "#pragma once\n" + _INTEGERS,
    "cstdint": "#pragma once\n" + _INTEGERS,
    **dict.fromkeys(("limits.h", "climits", "float.h", "cfloat", "math.h", "cmath"), _LIMITS),
}


class PtxText(Struct, frozen=True):
    """What NVRTC made; `entries`: the name in the PTX of each kernel, by the name that one writes; `stood_in`: headers
    that were empty because they are nowhere."""

    text: str
    entries: Mapping[str, str]
    stood_in: tuple[str, ...]


def compile_to_ptx(
    file: SourceFile,
    arguments: Sequence[str],
    kernels: Sequence[str],
    architecture: str = "sm_80",
    timeout_s: float = 60.0,
) -> PtxText | Finding:
    """Compile device code to PTX with line numbers; `kernels` are wanted: templates are instantiated for them.

    Answers a finding where NVRTC refuses the text, or is not installed.
    """
    if not has_bindings():
        return _absent(file)
    headers: dict[str, str] = {_FIRST: _LIMITS}
    options = _options(file, arguments, architecture)
    deadline = time.monotonic() + timeout_s
    for _ in range(_MOST_ROUNDS):
        answer = _ask_nvrtc(file, options, (tuple(kernels), headers), deadline - time.monotonic())
        if isinstance(answer, Finding):
            return answer
        ptx, names, log = answer
        if ptx is not None:
            entries = {kernel.decode(): name.decode("latin-1") for kernel, name in names.items()}
            return PtxText(ptx.decode("latin-1"), entries, tuple(name for name in headers if name != _FIRST))
        said = log.decode("latin-1")
        missing = [name for name in _MISSING.findall(said) if name not in headers]
        if not missing:
            return _report_refusal(said, file)
        headers.update((name, _STAND_INS.get(name, "")) for name in missing)
    return _report_refusal("too many headers are missing", file)


def _absent(file: SourceFile) -> Finding:
    message = f"{file.path}: kernels that the parser cannot take could be compiled to PTX, but NVRTC is missing"
    return Finding("INP004", "note", message, None, ("install the `cuda` extra: pip install 'warpsmith[cuda]'",))


def _options(file: SourceFile, arguments: Sequence[str], architecture: str) -> list[bytes]:
    given = list(_of_text(arguments))
    standard = [] if any("std=" in a for a in given) else ["--std=c++17"]
    folders = [f"-I{folder}" for folder in (Path(file.path).parent, *_toolkit())]
    options = [f"--gpu-architecture={architecture}", "--generate-line-info", "--device-as-default-execution-space",
               "--device-int128", f"--pre-include={_FIRST}"]  # fmt: skip
    return [o.encode("utf-8", "surrogateescape") for o in (*options, *standard, *given, *folders)]


def _of_text(arguments: Sequence[str]) -> Iterator[str]:
    """Yield the arguments that decide what the text is, each as one word that NVRTC takes."""
    rest = iter(arguments)
    for argument in rest:
        if argument in _OF_TEXT:
            value = next(rest, "")
            yield f"--std={value}".replace("gnu", "c") if "std" in argument else f"{argument}{value}"
        elif argument.startswith(_OF_TEXT):
            yield argument.replace("gnu++", "c++") if "std=" in argument else argument


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


def _ask_nvrtc(
    file: SourceFile, options: list[bytes], wanted: tuple[tuple[str, ...], dict[str, str]], seconds: float
) -> Answer | Finding:
    """Return what NVRTC, in a process of its own, makes of the text; a finding where it gives no answer."""
    kernels, headers = wanted
    given = {name.encode(): text.encode() for name, text in headers.items()}
    path = file.path.encode("utf-8", "surrogateescape")
    request: Request = (file.data(), path, options, [k.encode() for k in kernels], given)
    package = str(Path(warpsmith.__file__).resolve().parents[1])
    start = f"import sys; sys.path.insert(0, {package!r}); from warpsmith.front.cuda.nvrtc_worker import main; main()"
    question, limit = marshal.dumps(request), max(seconds, 0.1)
    try:
        done = subprocess.run(
            [sys.executable, "-c", start], input=question, capture_output=True, timeout=limit, check=False
        )
    except subprocess.TimeoutExpired:
        return Finding("INP003", "note", f"{file.path}: NVRTC took too long to make PTX of it")
    if done.returncode == ABSENT:
        return _absent(file)
    if done.returncode or not done.stdout:
        last = done.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2]
        return Finding("INP004", "note", f"{file.path}: NVRTC gave no answer ({last or done.returncode})")
    answer: Answer = marshal.loads(done.stdout)
    return answer


def _report_refusal(log: str, file: SourceFile) -> Finding:
    found = next((m for m in _PLACE.finditer(log) if m["file"] == file.path), None)
    if found is None:
        first = next((line for line in log.splitlines() if "error" in line), log.strip() or "no message")
        return Finding("INP001", "error", f"NVRTC refuses {file.path}: {first}")
    start = file.offset(int(found["line"]))
    span = Span(file, start, start + len(file.line(int(found["line"]))))
    return Finding("INP001", "error", f"NVRTC refuses it: {found['text']}", span)
