"""The instructions of AMD IL that are read, one a row, with what each computes.

form      map       each component of the result from the same place of the sources
          scalar    one number, whose source names one component for all places
          sample    a fetch at coordinates that are floats; load: at whole numbers
          uav_load  words from byte SOURCE0.x of an unordered access view on; uav_store: SOURCE1 to there
          lds_load  the word at byte SOURCE0.x of the group's memory; lds_store: SOURCE1.x to there
          atomic    what was at byte SOURCE0.x, after which SOURCE1.x is applied to it
          fence     waits for the threads of the group where its name has `threads`
          if, else, endif, loop, endloop, break, continue, break_if, continue_if: control flow
reads     what the sources are: float, integer (negated as 0 - x), bits (not negated)

lt ge eq ne     0xFFFFFFFF where it holds, else 0; false where an operand is NaN (ne: true)
min max         a < b ? a : b and a >= b ? a : b
ishl ishr ushr  shifts use the lowest five bits of the amount
udiv umod       0xFFFFFFFF where the divisor is 0 (as Direct3D 10 has it)
ftoi ftou       towards zero; the nearest number there is where it does not fit; 0 for NaN
div             `_zeroop(infinity)`: as IEEE 754 has it; fltmax (said by none): the largest number, with the sign
mod             a - b * trunc(a / b), each step rounded
mad fma         a * b, rounded, + c; fma: not rounded before the sum
imul_high umul_high   the upper 32 of the 64 bits of a product
sin cos exp log _vec  the sine, the cosine, 2^a, the logarithm to the base 2
cmov_logical    a != 0 (as bits) ? b : c
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Literal

from msgspec import Struct

__all__ = ["ATOMIC", "CONDITIONAL", "FLOW", "IL_OPS", "NUMBERED", "IlForm", "IlOp", "IlReads"]

IlForm = Literal[
    "map", "scalar", "sample", "load", "uav_load", "uav_store", "lds_load", "lds_store", "atomic", "fence", "if",
    "else", "endif", "loop", "endloop", "break", "continue", "break_if", "continue_if",
]  # fmt: skip
IlReads = Literal["float", "integer", "bits"]
FLOW: Final = frozenset[IlForm](
    ("if", "else", "endif", "loop", "endloop", "break", "continue", "break_if", "continue_if")
)
CONDITIONAL: Final = frozenset[IlForm](("if", "break_if", "continue_if"))
ATOMIC: Final = ("add", "min", "max", "umin", "umax", "and", "or", "xor", "xchg")
"""What `uav_read_…_id` and `lds_read_…_id` do."""
NUMBERED: Final = frozenset[IlForm](("load", "uav_load", "uav_store", "lds_load", "lds_store", "atomic"))
"""What has the number of its memory in parentheses, and nothing else."""
_WRITES: Final = ("map", "scalar", "sample", "load", "uav_load", "uav_store", "lds_load", "atomic")


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
        return self.form in _WRITES

    @property
    def acts(self) -> bool:
        """Whether it does something besides writing its destination."""
        return self.form in ("uav_store", "lds_store", "atomic", "fence") or self.form in FLOW


def _rows() -> Iterable[IlOp]:
    yield from _numbers()
    yield from _words()
    yield from _others()
    yield from _memory()


def _numbers() -> Iterable[IlOp]:
    for name in ("add", "sub", "mul", "mul_ieee", "min", "max"):
        yield IlOp(name, "map", 2, "float", "float")
    yield IlOp("mod", "map", 2, "float", "float")
    yield IlOp("div", "map", 2, "float", "float", divides=True)
    for name in ("mad", "fma"):
        yield IlOp(name, "map", 3, "float", "float")
    for name in ("abs", "flr", "frc", "round_z", "round_neginf", "round_posinf", "round_nearest"):
        yield IlOp(name, "map", 1, "float", "float")
    for name in ("sqrt_vec", "rsq_vec", "sin_vec", "cos_vec", "exp_vec", "log_vec"):
        yield IlOp(name, "map", 1, "float", "float")
    for name in ("rcp", "rsq", "sqrt"):
        yield IlOp(name, "scalar", 1, "float", "float", divides=name != "sqrt")
    for name in ("lt", "ge", "eq", "ne"):
        yield IlOp(name, "map", 2, "float", "integer")
    for name in ("ftoi", "ftou"):
        yield IlOp(name, "map", 1, "float", "integer")


def _words() -> Iterable[IlOp]:
    for name in ("iadd", "imul", "umul", "imin", "imax", "umin", "umax", "udiv", "umod", "imul_high", "umul_high"):
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
    for name in ("inot", "icbits"):
        yield IlOp(name, "map", 1, "bits", "bits")


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


def _memory() -> Iterable[IlOp]:
    yield IlOp("uav_raw_load_id", "uav_load", 1, "integer", "bits")
    yield IlOp("uav_raw_store_id", "uav_store", 2, "bits", "bits")
    yield IlOp("lds_load_id", "lds_load", 1, "integer", "bits")
    yield IlOp("lds_store_id", "lds_store", 2)
    for where in ("uav", "lds"):
        for name in ATOMIC:
            yield IlOp(f"{where}_read_{name}_id", "atomic", 2, "bits", "bits")
    # SOURCE1.x where SOURCE2.x was
    yield IlOp("uav_read_cmp_xchg_id", "atomic", 3, "bits", "bits")
    for name in (
        "threads",
        "threads_lds",
        "threads_memory",
        "threads_memory_lds",
        "threads_lds_memory",
        "lds",
        "memory",
    ):
        yield IlOp(f"fence_{name}", "fence", 0)
    yield IlOp("fence_memory_lds", "fence", 0)


IL_OPS: Final = {op.name: op for op in _rows()}
