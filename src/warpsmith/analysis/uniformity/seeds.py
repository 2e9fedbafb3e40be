"""Where divergence begins, and where it ends: what each op gives by itself, for the threads of a warp and of a block.

| op                                  | warp                                  | block                                 |
| tid, laneid, lane masks             | differ (tid.y: by the block's shape)  | differ                                |
| ctaid, ntid, parameters             | same                                  | same                                  |
| warpid, votes, ballots, redux       | same                                  | differ                                |
| barrier that combines a predicate   | same                                  | same                                  |
| shuffle from one lane for all       | same                                  | differ                                |
| load                                | as its address; local and volatile memory differ                              |
| atomics, calls, what is not modeled | differ                                | differ                                |

A block of one warp is a warp. Arrays of the thread's own whose address is not taken are values (privates.py). A generic
address may be one of the thread's own memory only where such an address is taken, or comes with the call.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, Literal

from msgspec import Struct

from warpsmith.analysis.affine.affine import Affine
from warpsmith.ssa.nodes import Barrier, Constant, Exchange, Instruction, Memory, Operand, Param, Query
from warpsmith.ssa.ops import OPS

__all__ = ["MAYBE_OWN", "Seed", "Threads", "level_of"]

MAYBE_OWN: Final = "memory that may be the thread's own"
Known = Callable[[Operand], Affine | None]


class Threads(Struct, frozen=True):
    """Whose threads are compared. `block` is the shape of the block where it is known; `warp` the width of a warp."""

    level: Literal["warp", "block"]
    block: tuple[int, int, int] | None = None
    warp: int = 32

    @property
    def several_warps(self) -> bool:
        """Whether some of them may be in different warps."""
        x, y, z = self.block or (self.warp + 1, 1, 1)
        return self.level == "block" and x * y * z > self.warp

    def varies(self, axis: int) -> bool:
        """Whether the index along an axis may differ between two of these threads."""
        if self.block is None:
            return True
        x, y, _ = self.block
        if self.block[axis] == 1:
            return False
        if self.level == "block" or axis == 0:
            return True
        # a warp holds whole rows, or parts of one: the slower index changes only where a row ends inside a warp
        return (x if axis == 1 else x * y) % self.warp != 0

    def is_same(self, value: Affine) -> bool:
        """Whether an affine value is the same for all of them."""
        return not any(c and self.varies(axis) for axis, c in enumerate(value.coefficients))


class Seed(Struct, frozen=True):
    """What an op says by itself; otherwise its results are as divergent as `operands`, which are the reason where both
    may be one."""

    always: Literal["uniform", "divergent", "as operands"]
    operands: tuple[Operand, ...] = ()
    text: str = ""


_SAME = Seed("uniform")


def level_of(
    i: Instruction, threads: Threads, known: Known, parameters: Mapping[str, bool], *, exposed: bool = True
) -> Seed:
    """Return where the results of an instruction stand. `exposed`: whether a generic address may be one of the thread's
    own memory."""
    match OPS[i.op].shape:
        case "query":
            return _query(i, threads)
        case "param":
            return _param(i, parameters)
        case "load":
            return _load(i, exposed)
        case "atomic":
            return Seed("divergent", text="what an atomic operation found differs from thread to thread")
        case "vote" | "match" | "reduce" | "shuffle":
            return _exchange(i, threads, known)
        case "barrier":
            reduces = i.detail.reduces if isinstance(i.detail, Barrier) else ""
            if reduces.startswith(("scan_", "before_")):
                return Seed("divergent", text="what the threads before it have brought")
            return _SAME if reduces and len(i.operands) < 3 else Seed("divergent", text="a barrier of some threads")
        case "free" if i.op != "lanewise":
            return Seed("divergent", text="the result of a call" if i.op == "call" else "an unknown instruction")
        case "shift" | "binary" if _is_warp_number(i, threads, known):
            return _SAME
        case _:
            return Seed("as operands", i.operands)


_BY_LANE = ("laneid", "lanemask_")
_BY_WARP = ("warpid", "smid")
_BY_TIME = ("clock", "globaltimer", "pm")


def _query(i: Instruction, threads: Threads) -> Seed:
    register = i.detail.register if isinstance(i.detail, Query) else "activemask"
    if register.startswith("tid."):
        varies = threads.varies("xyz".index(register[-1]))
        return Seed("divergent", text=f"the thread's own index, %{register}") if varies else _SAME
    if register.startswith(_BY_LANE):
        return Seed("divergent", text=f"the thread's own lane, %{register}")
    if register.startswith(_BY_TIME) or (threads.several_warps and register in _BY_WARP):
        return Seed("divergent", text=f"%{register} differs from thread to thread")
    return Seed("divergent", text="which lanes are active") if register == "activemask" else _SAME


def _param(i: Instruction, parameters: Mapping[str, bool]) -> Seed:
    name = i.detail.parameter if isinstance(i.detail, Param) else ""
    return _SAME if parameters.get(name, True) else Seed("divergent", text=f"the argument {name} of a call")


def _load(i: Instruction, exposed: bool) -> Seed:
    detail = i.detail
    assert isinstance(detail, Memory)
    if detail.space == "local":
        return Seed("divergent", text="memory of the thread's own")
    if detail.space == "generic" and exposed:
        return Seed("divergent", i.operands, MAYBE_OWN)
    if detail.order:
        return Seed("divergent", text="memory that may change between two threads' reads")
    return Seed("as operands", i.operands)


def _exchange(i: Instruction, threads: Threads, known: Known) -> Seed:
    how = i.detail.how if isinstance(i.detail, Exchange) else ""
    masked = isinstance(i.detail, Exchange) and i.detail.masked
    whole = masked and isinstance(i.operands[-1], Constant) and i.operands[-1].bits == (1 << threads.warp) - 1
    if threads.several_warps or not whole:
        return Seed("divergent", text="what the lanes of a warp tell each other")
    if i.op in ("vote", "reduce") or (i.op == "match" and how == "all"):
        return _SAME
    if i.op == "shuffle" and how == "idx":
        lane, clamp = known(i.operands[1]), i.operands[2]
        if (
            lane is not None
            and threads.is_same(lane)
            and isinstance(clamp, Constant)
            and clamp.bits == threads.warp - 1
        ):
            return _SAME
    return Seed("as operands", i.operands[:1]) if i.op == "shuffle" else Seed("divergent", text="a match of lanes")


def _is_warp_number(i: Instruction, threads: Threads, known: Known) -> bool:
    """Whether this is tid.x / 32 or the like, which all lanes of a warp share where rows are whole warps."""
    if threads.level != "warp" or i.op not in ("lshr", "ashr", "udiv", "sdiv") or threads.block is None:
        return False
    value, divisor = known(i.operands[0]), i.operands[1]
    if value is None or not isinstance(divisor, Constant) or value.constant is None:
        return False
    by = 1 << min(divisor.bits, 31) if i.op in ("lshr", "ashr") else divisor.bits
    x, y, z = threads.block
    whole_rows = (y == z == 1) or x % threads.warp == 0
    aligned = value.constant % threads.warp == 0 and by % threads.warp == 0 and by > 0
    positive = value.constant + x <= 1 << (min(i.result.type.bits, 32) - 1)
    return value.coefficients == (1, 0, 0) and aligned and whole_rows and positive
