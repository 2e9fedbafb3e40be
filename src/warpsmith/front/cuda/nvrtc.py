"""Kernels that the parser cannot take, as PTX: NVRTC compiles them, where the `cuda` extra is. No GPU, no driver.

    text without its host functions ─► NVRTC ─┬─► PTX, the names of its entries
                    ▲                         └─► a header is not found: once more, with an empty one in its place
                    └─────────────────────────────┘

NVRTC takes device code only, in a process of its own (nvrtc_worker.py). Headers of a toolkit are used where one is
installed (cooperative groups), cub and thrust of it or of the `cuda` extra. Of these two, what launches kernels by
itself is host code: `cub/cub.cuh` stands for the headers of blocks, warps and threads, algorithms of thrust for
nothing.
"""

from __future__ import annotations

import importlib.util
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
from warpsmith.base.nvidia import has_bindings
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
_CUB: Final = "".join(
    f"#include <cub/{name}.cuh>\n"
    for name in (
        *(f"block/block_{name}" for name in (
            "adjacent_difference", "discontinuity", "exchange", "histogram", "load", "merge_sort", "radix_rank",
            "radix_sort", "reduce", "scan", "store",
        )),
        *(f"warp/warp_{name}" for name in ("exchange", "load", "merge_sort", "reduce", "scan", "store")),
        *(f"thread/thread_{name}" for name in ("load", "operators", "reduce", "scan", "store")),
    )
)  # fmt: skip
_OF_THE_HOST: Final = (
    "copy", "count", "device_ptr", "device_vector", "execution_policy", "extrema", "fill", "find", "for_each", "gather",
    "generate", "host_vector", "inner_product", "logical", "merge", "partition", "reduce", "remove", "reverse", "scan",
    "scatter", "sequence", "sort", "transform", "transform_reduce", "transform_scan", "unique",
    "system/cuda/execution_policy",
)  # fmt: skip
_HOST_ONLY: Final[Mapping[str, str]] = {
    "cub/cub.cuh": f"#pragma once\n{_CUB}",
    **dict.fromkeys((f"thrust/{name}.h" for name in _OF_THE_HOST), "#pragma once\n"),
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
    headers |= {name: text for name, text in _HOST_ONLY.items() if f"<{name}>" in file.text and _find_cccl()}
    options = _options(file, arguments, architecture)
    deadline = time.monotonic() + timeout_s
    for _ in range(_MOST_ROUNDS):
        answer = _ask_nvrtc(file, options, (tuple(kernels), headers), deadline - time.monotonic())
        if isinstance(answer, Finding):
            return answer
        ptx, names, log = answer
        if ptx is not None:
            entries = {kernel.decode(): name.decode("latin-1") for kernel, name in names.items()}
            stood_in = tuple(name for name in headers if name != _FIRST and name not in _HOST_ONLY)
            return PtxText(ptx.decode("latin-1"), entries, stood_in)
        said = log.decode("latin-1")
        missing = [name for name in _MISSING.findall(said) if name not in headers]
        if not missing:
            return _report_refusal(said, file)
        headers.update((name, _stand_in(name)) for name in missing)
    return _report_refusal("too many headers are missing", file)


def _stand_in(name: str) -> str:
    """Return the text for a header that is nowhere."""
    if name == "type_traits" and _find_cccl():
        return "#pragma once\n#include <cuda/std/type_traits>\nnamespace std { using namespace cuda::std; }\n"
    return _STAND_INS.get(name, "")


def _absent(file: SourceFile) -> Finding:
    message = f"{file.path}: kernels that the parser cannot take could be compiled to PTX, but NVRTC is missing"
    return Finding("INP004", "note", message, None, ("install the `cuda` extra: pip install 'warpsmith[cuda]'",))


def _options(file: SourceFile, arguments: Sequence[str], architecture: str) -> list[bytes]:
    given = list(_of_text(arguments))
    standard = [] if any("std=" in a for a in given) else ["--std=c++17"]
    folders = [f"-I{folder}" for folder in (Path(file.path).parent, *_toolkit(), *_find_cccl())]
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
            return (Path(root) / "include",)
    return ()


def _find_cccl() -> tuple[Path, ...]:
    """Return the folder of cub and thrust: of an installed toolkit, else of the package of the `cuda` extra."""
    folders = [folder / "cccl" for folder in _toolkit()] + list(_toolkit()) + list(_packaged())
    return next(((folder,) for folder in folders if (folder / "cub").is_dir()), ())


def _packaged() -> Iterator[Path]:
    """Yield where packages of NVIDIA's have cub and thrust: nvidia/cu13/include/cccl, nvidia/cuda_cccl/include."""
    found = importlib.util.find_spec("nvidia")
    for place in found.submodule_search_locations or () if found is not None else ():
        yield from sorted(Path(place).glob("*/include/cccl"), reverse=True)
        yield from sorted(Path(place).glob("cuda_cccl/include"))


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
    question = marshal.dumps(request)
    try:
        # a limit of nothing is over before the answer can be there
        done = subprocess.run(
            [sys.executable, "-c", start], input=question, capture_output=True, timeout=max(0.0, seconds), check=False
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
