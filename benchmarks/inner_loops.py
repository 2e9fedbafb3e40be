"""The innermost loops of the kernels of ports, as ptxas makes them: instructions, registers, spills, before and after.

python -m benchmarks.inner_loops [--before SRC] [PROGRAM...]

Each program of benchmarks/polybench is ported (all loops, not run), its kernels alone are compiled by NVRTC and ptxas,
and nvdisasm's text is read: of each kernel the innermost loop with the most multiply-adds, else the longest. Counted
are its instructions, those that touch global memory, and multiply-adds; a loop that ptxas has unrolled counts as it is.
`--before`: the package's folder of an earlier state, which is counted the same way. nvdisasm is looked for on PATH.
"""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from benchmarks.polybench import suite
from msgspec import Struct

from warpsmith.base.findings import Finding
from warpsmith.base.source import SourceFile
from warpsmith.front.cuda.nvrtc import compile_to_ptx

ARCH: Final = "sm_90"
_PART: Final = re.compile(r"^(?:#define (?!WS_)[^\n]*|typedef [^\n]*;|(?:static )?__device__ .*?^\}|__global__ .*?^\})",
                          re.M | re.S)  # fmt: skip
_KERNEL: Final = re.compile(r"^__global__ void (\w+)\(", re.M)
_SECTION: Final = re.compile(r"^\.text\.(\w+):", re.M)
_LABEL: Final = re.compile(r"^(\.L_x?_?\w+):")
_CODE: Final = re.compile(r"/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\d+ )?([A-Z][A-Z0-9_.]*)([^;]*);")
_FIGURES: Final = re.compile(r"Compiling entry function '(\w+)'.*?(\d+) bytes spill stores, (\d+) bytes spill loads.*?"
                             r"Used (\d+) registers", re.S)  # fmt: skip
_MULTIPLY_ADD: Final = ("DFMA", "FFMA")
_GLOBAL: Final = ("LDG", "STG", "RED", "ATOMG")


class InnerLoop(Struct, frozen=True):
    """One kernel: its innermost loop (no instructions: it has none), registers, bytes spilled."""

    instructions: int
    multiply_adds: int
    loads: int
    stores: int
    registers: int
    spilled: int

    @property
    def text(self) -> str:
        """The loop in columns."""
        per = f"{self.instructions / self.multiply_adds:5.2f}" if self.multiply_adds else "    -"
        loop = f"{self.instructions:4} {self.multiply_adds:3} {self.loads:3} {self.stores:3} {per}"
        return f"{loop if self.instructions else '   -   -   -   -     -'} {self.registers:4} {self.spilled:5}"


def main(words: Sequence[str]) -> int:
    """Print a row a kernel, before and after."""
    before = words[1] if words[:1] == ["--before"] else None
    wanted = words[2:] if before is not None else words
    tool = shutil.which("nvdisasm")
    if tool is None or shutil.which("ptxas") is None:
        print("nvdisasm and ptxas must be on PATH (wheels nvidia-cuda-nvdisasm, nvidia-cuda-nvcc)", file=sys.stderr)
        return 1
    print(f"innermost loops, {ARCH}, {datetime.now(UTC):%Y-%m-%d}, Python {platform.python_version()}")
    print(
        "of each: instructions, multiply-adds, global loads and stores, instructions a multiply-add; registers, spills"
    )
    head = " inst fma  ld  st inst/fma regs spill"
    print(f"{'':32}{'before':^38}{'after':^38}\n{'kernel':32}{head} {head}")
    for path in suite.programs():
        if not wanted or path.stem in wanted:
            old = _loops_of(path, before, tool) if before is not None else {}
            new = _loops_of(path, None, tool)
            for name in dict.fromkeys((*old, *new)):
                shown = [side[name].text if name in side else f"{'':38}" for side in (old, new)]
                print(f"{name.removeprefix('ws_').removesuffix('_kernel'):32}{shown[0]}  {shown[1]}", flush=True)
    return 0


def kernels_of(path: Path, source: str | None, folder: Path) -> tuple[str, str]:
    """Return the text of a program's kernels alone, and of all that the port has in that file, as the package in
    `source` makes it; "" where it has no kernel."""
    command = [sys.executable, "-m", "warpsmith", "port", "--verify", "off", "--all", "-o", str(folder), str(path)]
    changed = {} if source is None else {"PYTHONPATH": source}
    subprocess.run(command, check=True, capture_output=True, env={**os.environ, **changed})
    written = [*folder.glob("*_kernels.cu")]
    whole = suite.in_32_bits(written[0].read_text()) if written else ""
    return kernels_alone(whole), whole


def kernels_alone(text: str) -> str:
    """Return the kernels of a file, with what they call and the macros and types that they use."""
    return "\n".join(part.group() for part in _PART.finditer(text))


def _loops_of(path: Path, source: str | None, tool: str) -> Mapping[str, InnerLoop]:
    """Return the innermost loop of each kernel of a program's port."""
    with tempfile.TemporaryDirectory() as folder:
        text, _ = kernels_of(path, source, Path(folder))
        return compile_loops(text, Path(folder), tool) if text else {}


def compile_loops(text: str, folder: Path, tool: str) -> Mapping[str, InnerLoop]:
    """Return the innermost loop of each kernel of a text; `tool`: nvdisasm."""
    names = _KERNEL.findall(text)
    plain = re.sub(r"^__global__", 'extern "C" __global__', text, flags=re.M)
    made = compile_to_ptx(SourceFile("kernels.cu", plain), (), names, ARCH)
    if isinstance(made, Finding):
        print(f"NVRTC refuses kernels: {made.message}", file=sys.stderr)
        return {}
    ptx, cubin = folder / "k.ptx", folder / "k.cubin"
    ptx.write_text(made.text)
    said = subprocess.run(
        ["ptxas", "-v", "-arch", ARCH, str(ptx), "-o", str(cubin)], check=True, capture_output=True, text=True
    )
    figures = {m[1]: (int(m[4]), int(m[2]) + int(m[3])) for m in _FIGURES.finditer(said.stderr + said.stdout)}
    listing = subprocess.run([tool, "-c", str(cubin)], check=True, capture_output=True, text=True).stdout
    parts = _SECTION.split(listing)
    found = dict(zip(parts[1::2], parts[2::2], strict=True))
    return {name: _innermost(found[name], *figures[name]) for name in names if name in found and name in figures}


def _innermost(listing: str, registers: int, spilled: int) -> InnerLoop:
    loops = [_ops(part) for part in _find_loops(listing)]
    ranked = sorted(loops, key=lambda ops: (sum(o.startswith(_MULTIPLY_ADD) for o in ops), len(ops)), reverse=True)
    ops = ranked[0] if ranked else []
    return InnerLoop(
        len(ops),
        sum(o.startswith(_MULTIPLY_ADD) for o in ops),
        sum(o.startswith("LDG") for o in ops),
        sum(o.startswith(_GLOBAL[1:]) for o in ops),
        registers,
        spilled,
    )


def _find_loops(listing: str) -> Iterator[list[str]]:
    """Yield the lines of each loop without a loop inside: from a label to the branch back to it; what ends the kernel
    and branches to itself is none."""
    lines = listing.splitlines()
    places = {m[1]: number for number, line in enumerate(lines) if (m := _LABEL.match(line.strip())) is not None}
    spans: list[tuple[int, int]] = []
    for number, line in enumerate(lines):
        target = re.search(r"BRA.*`\((\.L\w+)\)", line)
        if target is not None and places.get(target[1], number) < number and "@" in line:
            spans.append((places[target[1]], number))
    for first, last in spans:
        if not any(other != (first, last) and first <= other[0] and other[1] <= last for other in spans):
            yield lines[first : last + 1]


def _ops(lines: list[str]) -> list[str]:
    return [m[1] for line in lines if (m := _CODE.search(line)) is not None and m[1] != "NOP"]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
