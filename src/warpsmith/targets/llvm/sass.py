"""SASS: what NVIDIA's assembler makes of the PTX, taken apart by NVIDIA's disassembler, where both are installed.

    PTX  ──ptxas -lineinfo──►  cubin  ──nvdisasm -c -g──►  text with `//## File "…", line 7` before what is of line 7

Both are in NVIDIA's toolkit, and in the packages nvidia-cuda-nvcc and nvidia-cuda-nvdisasm. It is shown, not run.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from msgspec import Struct

from warpsmith.base.nvidia import find_tool
from warpsmith.base.source import SourceFile
from warpsmith.ssa.nodes import Function
from warpsmith.targets.llvm.export import MachineText
from warpsmith.targets.llvm.listing import Listed, Listing
from warpsmith.targets.llvm.refused import refuse

__all__ = ["SassCount", "count_sass", "read_disassembly", "sass_of"]

_LIMIT_S: Final = 60
_LINE: Final = re.compile(r'//## File "[^"]*", line (\d+)')
_FILE: Final = re.compile(r'//## File "(?:[^"]*/)?(\d+)/')
_DIRECTIVE: Final = re.compile(r"^\s*(?:\.(?!L)|//|-----)")
_CODE: Final = re.compile(r"\s*/\*[0-9a-f]+\*/\s+(?:@!?U?P\w+\s+)?(?P<op>[A-Z][A-Z0-9]*)")
_LOADS: Final = ("LD", "LDG", "LDS", "LDL", "TEX", "TLD", "ATOM", "ATOMG", "ATOMS")
_PACKAGES: Final = {"ptxas": "nvidia-cuda-nvcc", "nvdisasm": "nvidia-cuda-nvdisasm"}


class SassCount(Struct, frozen=True):
    """Of the text of a kernel: its `instructions`, without those that fill up behind its end, and its `loads`: of
    memory but constants, and atomic operations that give a value."""

    instructions: int
    loads: int


def sass_of(made: MachineText, kernel: Function) -> Listing:
    """Return the SASS of a kernel; raises InputError where the tools are not there, or refuse it."""
    assembler, disassembler = (_tool(name, kernel) for name in _PACKAGES)
    with TemporaryDirectory() as folder:
        source, binary = Path(folder, "k.ptx"), Path(folder, "k.cubin")
        source.write_text(made.assembly, "utf-8")
        _run([assembler, f"-arch={made.architecture}", "-lineinfo", "-o", str(binary), str(source)], kernel)
        text = _run([disassembler, "-c", "-g", str(binary)], kernel)
    return Listing(tuple(read_disassembly(text, made.files)), "//")


def read_disassembly(text: str, files: tuple[SourceFile, ...]) -> Iterable[Listed]:
    """Yield the instructions and labels of a disassembly, each with its place in the user's text."""
    file, number = None, 0
    for line in text.splitlines():
        found = _LINE.search(line)
        if found is not None:
            named = _FILE.search(line)
            file, number = files[int(named[1])] if named is not None else None, int(found[1])
        elif line.strip() and not _DIRECTIVE.match(line):
            code = line.expandtabs(8).rstrip()
            yield Listed(code) if code.endswith(":") else Listed(code, file, number)


def count_sass(listing: Listing) -> SassCount:
    """Return the count of a listing."""
    ops = [found["op"] for line in listing.lines if (found := _CODE.match(line.text)) is not None]
    while ops and ops[-1] == "NOP":
        ops.pop()
    # a branch to itself, which nothing comes to
    if len(ops) > 1 and ops[-1] == "BRA" and ops[-2] in ("EXIT", "BRA", "RET"):
        ops.pop()
    return SassCount(len(ops), sum(op in _LOADS for op in ops))


def _tool(name: str, kernel: Function) -> str:
    found = find_tool(name)
    if found is None:
        message = f"{name} is not installed, which SASS needs"
        raise refuse(message, kernel.span, f"install warpsmith[cuda], CUDA's toolkit, or the package {_PACKAGES[name]}")
    return found


def _run(command: list[str], kernel: Function) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_LIMIT_S, check=False)
    except subprocess.TimeoutExpired:
        raise refuse(f"{Path(command[0]).name} took more than {_LIMIT_S} s for {kernel.name}", kernel.span) from None
    if done.returncode:
        said = (done.stderr or done.stdout).strip().splitlines() or ["no message"]
        raise refuse(f"{Path(command[0]).name} refuses {kernel.name}: {said[0][:200]}", kernel.span)
    return done.stdout
