"""A kernel becomes text of a machine by LLVM's back ends.

    to        arch                                        what LLVM writes
    llvm      as for gcn, ptx or avx512                   the LLVM IR itself, after few passes
    gcn       gfx900 gfx90a gfx942 gfx1030 gfx1100        one thread; what lanes do together is the back end's: exec masks
    ptx       sm_70 … sm_100                              one thread
    avx512    skylake-avx512 and processors like it       sixteen threads under masks of ours

Each line of text has the user's line that it is of (listing.py).
"""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from warpsmith.ssa.nodes import Function, Module
from warpsmith.targets.llvm.back_end import BackEnd, write_text
from warpsmith.targets.llvm.listing import Listing, listing_of
from warpsmith.targets.llvm.machines import AMD, NVIDIA, Amd, Machine, Nvidia
from warpsmith.targets.llvm.scalar import write_thread
from warpsmith.targets.llvm.vector import VECTOR_PASSES, write_vectors

__all__ = ["ARCHITECTURES", "Lowered", "lower_by_llvm"]

_X86: Final = "x86_64-unknown-linux-gnu"
_AVX512: Final = ("skylake-avx512", "cascadelake", "icelake-server", "sapphirerapids", "znver4", "znver5")
ARCHITECTURES: Final = {"gcn": tuple(AMD), "avx512": _AVX512, "ptx": NVIDIA}
"""Of each target; the first one is the default."""


class Lowered(Struct, frozen=True):
    """A kernel as the text of a machine: `listing` line by line."""

    kernel: str
    architecture: str
    ir: str
    listing: Listing

    @property
    def text(self) -> str:
        """The listing with the user's lines as comments."""
        return self.listing.text


def lower_by_llvm(module: Module, kernel: Function, architecture: str) -> Lowered:
    """Return a kernel as text of a machine, and the LLVM IR that it is of; raises InputError with the line that the
    machine cannot run, or where LLVM cannot write it."""
    if architecture in _AVX512:
        return _lower_vectors(kernel, architecture)
    machine: Machine = Amd(AMD[architecture][1]) if architecture in AMD else Nvidia()
    made = write_thread(module, kernel, machine)
    end = BackEnd(machine.triple, architecture, machine.features(architecture))
    written = write_text(str(made.module), end, kernel)
    listing = listing_of(written.text, made.files, machine.comment)
    return Lowered(kernel.name, architecture, written.ir, listing)


def _lower_vectors(kernel: Function, architecture: str) -> Lowered:
    made = write_vectors(kernel)
    # 512 bits at once, which these processors take for slower than twice 256
    end = BackEnd(_X86, architecture, "-prefer-256-bit", VECTOR_PASSES)
    written = write_text(str(made.module), end, kernel)
    return Lowered(kernel.name, architecture, written.ir, listing_of(written.text, made.files, "#"))
