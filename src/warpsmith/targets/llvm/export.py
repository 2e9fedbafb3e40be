"""A kernel becomes text of a machine by LLVM's back ends.

    to        arch                                        what LLVM writes
    llvm      as for gcn, ptx or avx512                   the LLVM IR itself, after few passes
    gcn       gfx900 gfx90a gfx942 gfx1030 gfx1100        one thread; exec masks are the back end's
    ptx       sm_70 … sm_100                              one thread
    avx512    skylake-avx512 and processors like it       sixteen threads under masks of ours

Each line of text has the user's line that it is of (listing.py).
"""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from warpsmith.base.source import SourceFile
from warpsmith.ssa.nodes import Function, Module
from warpsmith.targets.llvm.back_end import BackEnd, LlvmText, write_text
from warpsmith.targets.llvm.listing import Listing, listing_of, listing_of_ir
from warpsmith.targets.llvm.machines import AMD, NVIDIA, Amd, Machine, Nvidia
from warpsmith.targets.llvm.module import LlvmModule
from warpsmith.targets.llvm.scalar import write_thread
from warpsmith.targets.llvm.vector import VECTOR_PASSES, write_vectors

__all__ = ["ARCHITECTURES", "MachineText", "lower_by_llvm"]

_X86: Final = "x86_64-unknown-linux-gnu"
_AVX512: Final = ("skylake-avx512", "cascadelake", "icelake-server", "sapphirerapids", "znver4", "znver5")
ARCHITECTURES: Final = {"gcn": tuple(AMD), "avx512": _AVX512, "ptx": NVIDIA}
"""Of each target; the first one is the default."""


class MachineText(Struct, frozen=True):
    """A kernel as the text of a machine, `listing` line by line, and the LLVM IR that it is of; `assembly` is what LLVM
    wrote, whose debug information has numbers of `files`."""

    kernel: str
    architecture: str
    ir: Listing
    listing: Listing
    assembly: str
    files: tuple[SourceFile, ...]

    @property
    def text(self) -> str:
        """The listing with the user's lines as comments."""
        return self.listing.text


def lower_by_llvm(module: Module, kernel: Function, architecture: str) -> MachineText:
    """Return a kernel as text of a machine, and the LLVM IR that it is of; raises InputError with the line that the
    machine cannot run, or where LLVM cannot write it."""
    if architecture in _AVX512:
        return _lower_vectors(kernel, architecture)
    machine: Machine = Amd(AMD[architecture][1]) if architecture in AMD else Nvidia()
    made = write_thread(module, kernel, machine)
    end = BackEnd(machine.triple, architecture, machine.features(architecture))
    written = write_text(str(made.module), end, kernel)
    # a target for debuggers is one that ptxas does not optimize for
    assembly = written.text.replace(f".target {architecture}, debug", f".target {architecture}")
    return _lowered(kernel, architecture, LlvmText(written.ir, assembly), made, machine.comment)


def _lower_vectors(kernel: Function, architecture: str) -> MachineText:
    made = write_vectors(kernel)
    # 512 bits at once, which these processors take for slower than twice 256
    end = BackEnd(_X86, architecture, "-prefer-256-bit", VECTOR_PASSES)
    written = write_text(str(made.module), end, kernel)
    return _lowered(kernel, architecture, written, made, "#")


def _lowered(kernel: Function, architecture: str, written: LlvmText, made: LlvmModule, comment: str) -> MachineText:
    listings = listing_of_ir(written.ir, made.files), listing_of(written.text, made.files, comment)
    return MachineText(kernel.name, architecture, *listings, written.text, made.files)
