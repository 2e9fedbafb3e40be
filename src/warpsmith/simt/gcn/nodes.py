"""Programs of AMD's GCN, CDNA and RDNA as assemblers write them.

    program      ::= line*
    line         ::= [label ":"] [directive | instruction ["::" instruction]] [(";" | "//") comment]
    instruction  ::= op [operand {"," operand}] {modifier}
    operand      ::= ["-"] ["|"] (registers | number | symbol | word) ["|"]
    registers    ::= ("v" | "s" | "a") (number | "[" number ":" number "]") | "vcc" | "exec" | "m0" | …
    symbol       ::= label | label "@" part ["+" number]
    modifier     ::= name [":" value]                          offset:16  glc  quad_perm:[0,1,2,3]

Invariant: an operand fits the form that the table of operations asks for at its place (text/read.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

from msgspec import Struct

from warpsmith.base.source import Span

__all__ = [
    "CODE_STEP",
    "EXEC",
    "M0",
    "NULL",
    "SPECIAL",
    "VCC",
    "GcnArgument",
    "GcnInstruction",
    "GcnKernel",
    "GcnNumber",
    "GcnOperand",
    "GcnProgram",
    "GcnRegisters",
    "GcnSymbol",
    "GcnWord",
]

RegisterKind = Literal["s", "v", "a"]
VCC: Final = 106
M0: Final = 124
NULL: Final = 125
EXEC: Final = 126
SPECIAL: Final[Mapping[str, tuple[int, int]]] = {
    "flat_scratch": (102, 2), "flat_scratch_lo": (102, 1), "flat_scratch_hi": (103, 1),
    "xnack_mask": (104, 2), "xnack_mask_lo": (104, 1), "xnack_mask_hi": (105, 1),
    "vcc": (VCC, 2), "vcc_lo": (VCC, 1), "vcc_hi": (VCC + 1, 1),
    "m0": (M0, 1), "null": (NULL, 1),
    "exec": (EXEC, 2), "exec_lo": (EXEC, 1), "exec_hi": (EXEC + 1, 1),
}  # fmt: skip
"""Scalar registers with names: the first of them, and how many 32-bit words."""
CODE_STEP: Final = 8
"""Bytes from one instruction to the next, as code sees its own addresses."""


class GcnRegisters(Struct, frozen=True):
    """`count` registers of 32 bits from `first` on; what is read may be negated, without its sign, or sign-extended."""

    kind: RegisterKind
    first: int
    count: int
    negative: bool = False
    absolute: bool = False
    extended: bool = False


class GcnNumber(Struct, frozen=True):
    """A constant: an integer is its bits, a fraction the number in the type of the operation."""

    value: int | float
    negative: bool = False
    absolute: bool = False


class GcnSymbol(Struct, frozen=True):
    """A name of code or data; `part`: "" where code goes on there, else which half of its address, `rel32@lo`."""

    name: str
    part: str = ""
    addend: int = 0


class GcnWord(Struct, frozen=True):
    """A word that is no register: `off`, `scc`, `src_shared_base`, `hwreg(HW_REG_MODE, 0, 4)`."""

    text: str


GcnOperand = GcnRegisters | GcnNumber | GcnSymbol | GcnWord


class GcnInstruction(Struct, frozen=True, eq=False):
    """One instruction: its `name` without the encoding, which is `e32`, `e64`, `sdwa`, `dpp` or "". `beside`: the other
    half of two that run at once."""

    name: str
    encoding: str
    operands: tuple[GcnOperand, ...]
    modifiers: Mapping[str, str]
    span: Span
    beside: GcnInstruction | None = None


class GcnArgument(Struct, frozen=True):
    """A kernel's argument: bytes of the segment that arguments come in."""

    name: str
    offset: int
    size: int


class GcnKernel(Struct, frozen=True):
    """A kernel as its descriptor has it: `settings` are directives, `.amdhsa_user_sgpr_count` without its prefix."""

    name: str
    settings: Mapping[str, int]
    arguments: tuple[GcnArgument, ...]


class GcnProgram(Struct, frozen=True, eq=False):
    """Instructions in order; `labels`: the index of the instruction behind each; `data`: bytes behind names of data."""

    architecture: str
    wave: int
    instructions: tuple[GcnInstruction, ...]
    labels: Mapping[str, int]
    kernels: tuple[GcnKernel, ...]
    data: Mapping[str, bytes]
