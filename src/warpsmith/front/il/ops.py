"""The instructions of AMD IL that are read, one a row, with what each computes.

form      map       each component of the result from the same place of the sources
          scalar    one number, whose source names one component for all places
          sample    a fetch at coordinates that are floats; load: at whole numbers
          if, else, endif, loop, endloop, break, continue, break_if, continue_if: control flow
reads     what the sources are: float, integer (negated as 0 - x), bits (not negated)

lt ge eq ne     0xFFFFFFFF where it holds, else 0; false where an operand is NaN (ne: true)
min max         a < b ? a : b and a >= b ? a : b
ishl ishr ushr  shifts use the lowest five bits of the amount
udiv umod       0xFFFFFFFF where the divisor is 0 (as Direct3D 10 has it)
ftoi ftou       towards zero; the nearest number there is where it does not fit; 0 for NaN
div             `_zeroop(infinity)`: as IEEE 754 has it; fltmax (said by none): the largest number, with the sign
mod             a - b * trunc(a / b), each step rounded
mad             a * b, rounded, + c
cmov_logical    a != 0 (as bits) ? b : c
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Literal

from msgspec import Struct

__all__ = ["CONDITIONAL", "FLOW", "IL_OPS", "IlForm", "IlOp", "IlReads"]

IlForm = Literal[
    "map", "scalar", "sample", "load", "if", "else", "endif", "loop", "endloop", "break", "continue", "break_if",
    "continue_if",
]  # fmt: skip
IlReads = Literal["float", "integer", "bits"]
FLOW: Final = frozenset[IlForm](
    ("if", "else", "endif", "loop", "endloop", "break", "continue", "break_if", "continue_if")
)
CONDITIONAL: Final = frozenset[IlForm](("if", "break_if", "continue_if"))


class IlOp(Struct, frozen=True):
    """One row. `gives`: what its result is; `divides`: it may say what a division by zero gives."""

    name: str
    form: IlForm
    sources: int
    reads: IlReads = "bits"
    gives: Literal["float", "integer", "bits", ""] = ""
    divides: bool = False

    @property
    def writes(self) -> bool:
        """Whether it has a destination."""
        return self.form in ("map", "scalar", "sample", "load")


def _rows() -> Iterable[IlOp]:
    yield from _numbers()
    yield from _words()
    yield from _others()


def _numbers() -> Iterable[IlOp]:
    for name in ("add", "sub", "mul", "mul_ieee", "min", "max"):
        yield IlOp(name, "map", 2, "float", "float")
    yield IlOp("mod", "map", 2, "float", "float")
    yield IlOp("div", "map", 2, "float", "float", divides=True)
    yield IlOp("mad", "map", 3, "float", "float")
    for name in ("abs", "flr", "frc", "round_z", "round_neginf", "sqrt_vec", "rsq_vec"):
        yield IlOp(name, "map", 1, "float", "float")
    for name in ("rcp", "rsq", "sqrt"):
        yield IlOp(name, "scalar", 1, "float", "float", divides=name != "sqrt")
    for name in ("lt", "ge", "eq", "ne"):
        yield IlOp(name, "map", 2, "float", "integer")
    for name in ("ftoi", "ftou"):
        yield IlOp(name, "map", 1, "float", "integer")


def _words() -> Iterable[IlOp]:
    for name in ("iadd", "imul", "umul", "imin", "imax", "umin", "umax", "udiv", "umod"):
        yield IlOp(name, "map", 2, "integer", "integer")
    for name in ("ilt", "ige", "ieq", "ine", "ult", "uge", "ishl", "ishr", "ushr"):
        yield IlOp(name, "map", 2, "integer", "integer")
    for name in ("imad", "umad"):
        yield IlOp(name, "map", 3, "integer", "integer")
    yield IlOp("inegate", "map", 1, "integer", "integer")
    for name in ("itof", "utof"):
        yield IlOp(name, "map", 1, "integer", "float")
    for name in ("and", "iand", "ior", "ixor"):
        yield IlOp(name, "map", 2, "bits", "bits")
    yield IlOp("inot", "map", 1, "bits", "bits")


def _others() -> Iterable[IlOp]:
    yield IlOp("mov", "map", 1, "float", "bits")
    yield IlOp("cmov_logical", "map", 3, "float", "bits")
    yield IlOp("sample_resource", "sample", 1, "float", "float")
    yield IlOp("load_resource", "load", 1, "integer", "float")
    for test in ("logicalnz", "logicalz"):
        yield IlOp(f"if_{test}", "if", 1)
        yield IlOp(f"break_{test}", "break_if", 1)
        yield IlOp(f"continue_{test}", "continue_if", 1)
    yield IlOp("else", "else", 0)
    yield IlOp("endif", "endif", 0)
    yield IlOp("whileloop", "loop", 0)
    yield IlOp("endloop", "endloop", 0)
    yield IlOp("break", "break", 0)
    yield IlOp("continue", "continue", 0)


IL_OPS: Final = {op.name: op for op in _rows()}
