"""Directives around GCN code: what a kernel is given (its descriptor and metadata), and data.

    .amdgcn_target "amdgcn-amd-amdhsa--gfx900"            architecture
    .amdhsa_kernel k … .end_amdhsa_kernel                 settings of the kernel k
    .amdgpu_metadata … .end_amdgpu_metadata               YAML, of which arguments are read
    table: .long 3  .quad 7  .zero 8                      bytes behind a name

Sources: LLVM, User Guide for AMDGPU Backend (Code Object Metadata, Assembler Directives).
"""

from __future__ import annotations

import re
from typing import Final

from warpsmith.simt.assembly import AssemblyError, AssemblyLine, split_operands
from warpsmith.simt.gcn.nodes import GcnArgument, GcnKernel

__all__ = ["Directives"]

_TARGET: Final = re.compile(r"gfx[0-9a-f]+")
_SIZES: Final = {
    ".byte": 1, ".short": 2, ".2byte": 2, ".value": 2, ".long": 4, ".4byte": 4, ".int": 4, ".quad": 8, ".8byte": 8,
}  # fmt: skip
_SPACE: Final = (".zero", ".skip", ".space")
_INTEGER: Final = re.compile(r"-?(?:0[xX][0-9a-fA-F]+|\d+)")
_ENTRY: Final = re.compile(r"(\s*)(-\s+)?\.(\w+):\s*(.*?)\s*$")
_ARGUMENT: Final = 6
"""Columns before an argument's key in the metadata: kernels have theirs at 4."""
_LARGEST: Final = 1 << 26
_MOST_METADATA: Final = 20_000
"""Lines of metadata: those of a kernel are some hundred."""


class Directives:
    """What directives say, read line by line."""

    def __init__(self) -> None:
        self.architecture = ""
        self.settings: dict[str, dict[str, int]] = {}
        self.arguments: dict[str, list[GcnArgument]] = {}
        self.data: dict[str, bytearray] = {}
        self.in_code = True
        self._kernel: str | None = None
        self._open: list[bytearray] = []
        self._metadata = 0
        self._pending: list[dict[str, str]] = []

    @property
    def kernels(self) -> tuple[GcnKernel, ...]:
        """The kernels that were described."""
        return tuple(
            GcnKernel(name, settings, tuple(self.arguments.get(name, ()))) for name, settings in self.settings.items()
        )

    def takes(self, line: AssemblyLine) -> bool:
        """Whether a line is none of code: it is read then. Raises AssemblyError."""
        if self._metadata:
            self._read_metadata(line)
            return True
        if not self.in_code:
            for label in line.labels:
                self._open = [self.data.setdefault(label.text, bytearray())]
        if line.operation is None:
            return not self.in_code
        if not line.operation.text.startswith("."):
            return False
        self._directive(line, line.operation.text)
        return True

    def _directive(self, line: AssemblyLine, name: str) -> None:
        if name in _SIZES or name in _SPACE:
            self._append(line, name)
        elif name.startswith(".amdhsa_") and name != ".amdhsa_code_object_version":
            self._setting(line, name.removeprefix(".amdhsa_"))
        elif name == ".end_amdhsa_kernel":
            self._kernel = None
        elif name == ".amdgpu_metadata":
            self._metadata = 1
        elif name == ".amdgcn_target":
            found = _TARGET.search(line.rest.text)
            if found is None:
                raise AssemblyError(line.rest.span, "the target names no architecture", "expected one such as gfx900")
            self.architecture = found[0]
        elif name in (".text", ".section", ".data", ".bss"):
            where = line.rest.text.lstrip('"') if name == ".section" else name
            self.in_code = where.startswith(".text")
        elif name in (".comm", ".lcomm"):
            words = [word.text for word in split_operands(line.rest)]
            if len(words) < 2 or not words[1].isdecimal() or int(words[1]) > _LARGEST:
                raise AssemblyError(line.whole, f"{name} gives no memory", f"expected {name} NAME, BYTES")
            self.data[words[0]] = bytearray(int(words[1]))

    def _setting(self, line: AssemblyLine, name: str) -> None:
        if name == "kernel":
            self._kernel = line.rest.text.strip('"')
            self.settings[self._kernel] = {}
        elif self._kernel is None:
            message = f".amdhsa_{name} stands outside of .amdhsa_kernel"
            raise AssemblyError(line.whole, message, "expected .amdhsa_kernel NAME before it")
        elif _INTEGER.fullmatch(line.rest.text):
            self.settings[self._kernel][name] = int(line.rest.text, 0)

    def _append(self, line: AssemblyLine, name: str) -> None:
        for word in list(split_operands(line.rest))[: 1 if name in _SPACE else None]:
            if not _INTEGER.fullmatch(word.text):
                raise AssemblyError(word.span, f"'{word.text}' is no datum that is known", "expected an integer")
            number = int(word.text, 0) if "x" in word.text.lower() else int(word.text)
            if name in _SPACE and not 0 <= number <= _LARGEST:
                raise AssemblyError(word.span, f"{number:,} bytes are too many", f"expected at most {_LARGEST:,}")
            size = _SIZES.get(name, 0)
            made = bytes(number) if not size else (number & ((1 << 8 * size) - 1)).to_bytes(size, "little")
            for one in self._open:
                one += made

    def _read_metadata(self, line: AssemblyLine) -> None:
        """Read one line of YAML; a kernel's name comes behind its arguments."""
        text = line.whole.file.line(line.whole.line)
        if text.strip() == ".end_amdgpu_metadata":
            self._metadata = 0
            return
        self._metadata += 1
        if self._metadata > _MOST_METADATA:
            raise AssemblyError(line.whole, "the metadata do not end", "expected .end_amdgpu_metadata")
        found = _ENTRY.fullmatch(text)
        if found is None:
            return
        column, key, value = len(found[1]), found[3], found[4].strip("'\"")
        if column >= _ARGUMENT:
            if found[2]:
                self._pending.append({})
            if self._pending:
                self._pending[-1][key] = value
        elif key == "name":
            made = [GcnArgument(a.get("name", ""), int(a["offset"]), int(a["size"])) for a in self._pending
                    if a.get("offset", "").isdecimal() and a.get("size", "").isdecimal()
                    and not a.get("value_kind", "").startswith("hidden")]  # fmt: skip
            self.arguments[value] = made
            self._pending = []
