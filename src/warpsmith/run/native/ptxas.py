"""The report of ptxas, NVIDIA's assembler, on the kernels of a PTX file: registers, spills, shared memory."""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from warpsmith.analysis.resources.resources import CompilerFigures
from warpsmith.base.findings import Finding
from warpsmith.base.nvidia import find_tool

__all__ = ["assemble_ptx"]

_ENTRY: Final = re.compile(r"Compiling entry function '([^']+)'")
_SPILLS: Final = re.compile(r"(\d+) bytes spill stores, (\d+) bytes spill loads")
_USED: Final = re.compile(r"Used (\d+) registers")
_SHARED: Final = re.compile(r"(\d+) bytes smem")
_TIMEOUT_S: Final = 120


def assemble_ptx(text: bytes, arch: str) -> Mapping[str, CompilerFigures] | Finding:
    """Return what ptxas says of each kernel for `arch` (sm_80), by its symbol; why not, where it says nothing."""
    tool = find_tool("ptxas")
    if tool is None:
        helps = ("install warpsmith[cuda], or put the bin folder of CUDA's toolkit on PATH",)
        return Finding("INP001", "warning", "--ptxas: ptxas is not installed: registers are estimates", None, helps)
    with tempfile.TemporaryDirectory(prefix="warpsmith-ptxas-") as folder:
        source = Path(folder) / "k.ptx"
        source.write_bytes(text)
        command = [tool, "-v", "-arch", arch, str(source), "-o", str(Path(folder) / "k.cubin")]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=_TIMEOUT_S, check=False)
        except (OSError, subprocess.TimeoutExpired) as error:
            return Finding("INP001", "warning", f"--ptxas: ptxas did not answer ({error}): registers are estimates")
    if done.returncode:
        said = (done.stderr.strip().splitlines() or ["no reason given"])[0]
        return Finding("INP001", "warning", f"ptxas refuses the file for {arch}: {said}", None,
                       ("registers are estimates",))  # fmt: skip
    return _read(done.stdout + done.stderr)


def _read(output: str) -> dict[str, CompilerFigures]:
    """Return the numbers of each kernel: what follows the line with its name."""
    found: dict[str, CompilerFigures] = {}
    parts = _ENTRY.split(output)
    for symbol, said in zip(parts[1::2], parts[2::2], strict=True):
        used, spills, shared = _USED.search(said), _SPILLS.search(said), _SHARED.search(said)
        if used is not None:
            lost = sum(map(int, spills.groups())) if spills is not None else 0
            found[symbol] = CompilerFigures(int(used.group(1)), lost, int(shared.group(1)) if shared is not None else 0)
    return found
