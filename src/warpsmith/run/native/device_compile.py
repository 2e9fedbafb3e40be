"""Other compilers' opinion of generated CUDA text: NVRTC (no driver needed) and nvcc, where they are installed.

NVRTC takes device code only, and has no standard headers: small ones stand in for those that device code may ask for.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from importlib import resources
from pathlib import Path

from warpsmith.base.findings import Finding
from warpsmith.base.nvidia import load_nvrtc
from warpsmith.base.source import SourceFile, Span
from warpsmith.emit.files import OutputFile

__all__ = ["compile_nvcc", "compile_nvrtc", "has_nvcc"]

_PLACE = re.compile(
    r"^(?P<file>[^\n(]+)\((?P<line>\d+)\): (?:catastrophic )?error(?: #\d+(?:-D)?)?: (?P<text>.+)$", re.M
)
_HEADERS = ("assert.h", "float.h", "limits.h", "math.h", "stddef.h", "stdint.h")


def has_nvcc() -> bool:
    """Whether nvcc is on the path."""
    return shutil.which("nvcc") is not None


def compile_nvrtc(text: str, arch: str = "sm_80", name: str = "kernels.cu") -> Finding | None:
    """Compile device text (`emit_kernels`) for `arch`; return None, or what NVRTC says against it.

    `text` holds one character a byte. Raises ImportError where NVRTC is not installed (see `has_nvrtc`).
    """
    nvrtc = load_nvrtc()
    if nvrtc is None:
        raise ImportError("NVRTC is not installed")
    folder = resources.files("warpsmith.run") / "native" / "device_headers"
    sources = [(folder / header).read_bytes() for header in _HEADERS]
    names = [header.encode() for header in _HEADERS]
    status, program = nvrtc.nvrtcCreateProgram(text.encode("latin-1"), name.encode(), len(names), sources, names)
    if status != nvrtc.nvrtcResult.NVRTC_SUCCESS:
        return _make_finding(f"NVRTC does not take the text ({status.name})", name, text, 1)
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
    return _make_finding(message, match["file"], texts[match["file"]], int(match["line"]))


def _make_finding(message: str, name: str, text: str, line: int) -> Finding:
    file = SourceFile(name, text)
    start = file.offset(line)
    return Finding("POR008", "error", message, Span(file, start, start + len(file.line(line))))
