"""Values with their slopes: by how much they change from one iteration of a loop to the next, or from block to block.

    column      what each thread has now
    slopes      loop or axis → what is added at each step (exact, as long as the steps that are known of go: `extents`)
                           → STEADY: a comparison of two such sums, which has one answer where both ends have the same
                           → UNEVEN: it depends on the step in some other way
    lacking     the number is not known before a run; `why` says what it takes, and `guess` is what it would be if
                memory had the same number, 0, everywhere: good for the shape of addresses (p[i + b[j]]) alone

Invariant: a slope holds at each step up to the extent: a sum that leaves the range of its type on the way has none.
Limits: sums of 64 bits are taken not to overflow.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final, Literal

import numpy as np
from msgspec import Struct, field

from warpsmith.analysis.counts.columns import Column, apply, dtype_of, has_columns
from warpsmith.analysis.counts.threads import AXES
from warpsmith.ssa.nodes import Instruction, Text

__all__ = ["STEADY", "UNEVEN", "WINDOWS", "Known", "Lacking", "NotRegularError", "Number", "Slope", "result_of"]

STEADY: Final = "steady"
UNEVEN: Final = "uneven"
Slope = Column | Literal["steady", "uneven"]
Slopes = Mapping[str, Slope]
WINDOWS: Final = {"shared": 1 << 56, "local": 1 << 57}
"""Where generic addresses of a space begin."""
_ALIGNED: Final = 256
"""Arrays begin at multiples of so many bytes (CUDA C++ Programming Guide, "Device Memory Accesses")."""
_REMAINDERS: Final = ("urem", "and")


class NotRegularError(Exception):
    """A loop cannot be gone through at once; `header` says which."""

    def __init__(self, header: str) -> None:
        super().__init__(header)
        self.header = header


class Known(Struct, frozen=True):
    """A number of each thread. `pointer`: it counts from what this argument is, an address that is not known."""

    column: Column
    slopes: Slopes = field(default_factory=dict)
    pointer: str = ""


class Lacking(Struct, frozen=True):
    """A number that is not known. `guess`: what it is where all that is loaded is taken to be the same."""

    why: str
    guess: Known | None = None


Number = Known | Lacking


def result_of(i: Instruction, operands: Sequence[Number], extents: Mapping[str, Column]) -> Number:
    """Return the result of a pure op."""
    known: list[Known] = []
    for operand in operands:
        if isinstance(operand, Lacking):
            return _guessed(i, operand, operands, extents)
        known.append(operand)
    if i.op in ("to_generic", "from_generic"):
        return _moved_to_window(i, known[0])
    if not has_columns(i):
        return Lacking(f"what {i.op} gives")
    pointers = [k.pointer for k in known if k.pointer]
    whole = _divisor(i, known) if i.op in _REMAINDERS else 0
    of_address = whole and not _ALIGNED % whole and not known[1].pointer
    if pointers and not of_address and not _keeps_pointer(i, known):
        return Lacking(f"the argument {pointers[-1]}")
    pointer = pointers[0] if pointers and not of_address else ""
    column = apply(i, [k.column for k in known])
    keys = {key for k in known for key in k.slopes}
    if whole:
        keys = {key for key in keys if not _is_multiple(known[0].slopes[key], whole)}
    if not keys:
        return Known(column, {}, pointer)
    return Known(column, _slopes(i, known, column, keys, extents), pointer)


def _guessed(i: Instruction, lacking: Lacking, operands: Sequence[Number], extents: Mapping[str, Column]) -> Lacking:
    """Return the result of an op on what is not known: sums move by what is, anything else is as good as nothing."""
    guesses = [o.guess if isinstance(o, Lacking) else o for o in operands]
    whole = [guess for guess in guesses if guess is not None]
    if len(whole) < len(guesses) or i.result.type.bits > 64:
        return Lacking(lacking.why)
    if i.op not in _RULES or i.op in _ORDERS:
        return Lacking(lacking.why, Known(np.zeros(1, dtype_of(i.result.type))))
    found = result_of(i, whole, extents)
    return Lacking(lacking.why, found if isinstance(found, Known) else None)


def _moved_to_window(i: Instruction, known: Known) -> Known:
    """Return an address in another address space."""
    space = i.detail.text if isinstance(i.detail, Text) else ""
    start = WINDOWS.get(space, 0)
    return Known(known.column + np.int64(start if i.op == "to_generic" else -start), known.slopes, known.pointer)


def _divisor(i: Instruction, known: Sequence[Known]) -> int:
    """Return the power of two of which an op gives the remainder, the same for all threads; 0 where there is none."""
    if known[1].slopes or known[1].column.min() != known[1].column.max():
        return 0
    number = int(known[1].column.min()) + (i.op == "and")
    return number if number > 0 and number & (number - 1) == 0 else 0


def _is_multiple(slope: Slope, whole: int) -> bool:
    """Whether a remainder stays what it is from step to step."""
    return not isinstance(slope, str) and not (slope % whole).any()


def _keeps_pointer(i: Instruction, known: Sequence[Known]) -> bool:
    """Whether an address moves by a number that is known."""
    marks = [bool(k.pointer) for k in known]
    if i.op == "bitcast":
        return True
    if i.op == "add":
        return marks.count(True) == 1
    if i.op == "sub":
        return marks == [True, False]
    return i.op == "select" and not marks[0]


def _slopes(
    i: Instruction, known: Sequence[Known], column: Column, keys: set[str], extents: Mapping[str, Column]
) -> dict[str, Slope]:
    rule = _RULES.get(i.op)
    found: dict[str, Slope] = {}
    for key in keys:
        slopes = [k.slopes.get(key) for k in known]
        sums = [s for s in slopes if not isinstance(s, str)]
        found[key] = UNEVEN if rule is None or len(sums) < len(slopes) else rule(i, known, sums)
    if i.op in _ORDERS:
        return _steady(i, known, found, extents)
    unsigned = i.op in ("zext", "umulwide") and not all(_never_negative(k, extents) for k in known)
    exact = not unsigned and _fits(Known(column, found), extents, i.result.type.bits)
    return found if exact else dict.fromkeys(found, UNEVEN)


def _corners(known: Known, extents: Mapping[str, Column]) -> tuple[Column, Column]:
    """Return the least and the most that a number is over all steps."""
    low = high = known.column.astype(np.int64)
    for key, slope in known.slopes.items():
        extent = extents.get(key)
        if extent is None or isinstance(slope, str):
            continue
        change = slope * extent
        low, high = low + np.minimum(change, 0), high + np.maximum(change, 0)
    return low, high


def _fits(known: Known, extents: Mapping[str, Column], bits: int) -> bool:
    """Whether a number stays in the range of its type, read with a sign."""
    if bits >= 64 or bits == 1:
        return True
    low, high = _corners(known, extents)
    return bool(low.min() >= -(1 << (bits - 1)) and high.max() < 1 << (bits - 1))


def _never_negative(known: Known, extents: Mapping[str, Column]) -> bool:
    return known.column.dtype == np.bool_ or bool(_corners(known, extents)[0].min() >= 0)


def _steady(
    i: Instruction, known: Sequence[Known], found: dict[str, Slope], extents: Mapping[str, Column]
) -> dict[str, Slope]:
    """Return the slopes of a comparison: of sums without a sign only where they are never negative."""
    even = all(slope is not UNEVEN for slope in found.values())
    unsigned = i.op.startswith("u")
    if not even or (unsigned and not all(_never_negative(k, extents) for k in known)):
        return dict.fromkeys(found, UNEVEN)
    loops = [key for key in found if key in extents and key not in AXES]
    settled = loops if _is_settled(i, known, {key: extents[key] for key in loops}) else ()
    return {key: STEADY for key in found if key not in settled}


def _is_settled(i: Instruction, known: Sequence[Known], extents: Mapping[str, Column]) -> bool:
    """Whether a comparison has one answer in all iterations of some loops."""
    one, other = known
    keys = {*one.slopes, *other.slopes} & extents.keys()
    slopes: dict[str, Slope] = {}
    for key in keys:
        ours, theirs = one.slopes.get(key, _ZERO), other.slopes.get(key, _ZERO)
        if isinstance(ours, str) or isinstance(theirs, str):
            return False
        slopes[key] = ours - theirs
    difference = Known(one.column.astype(np.int64) - other.column.astype(np.int64), slopes)
    low, high = _corners(difference, extents)
    strict = i.op in ("slt", "ult", "sge", "uge")
    return bool(((low < 0) == (high < 0)).all() if strict else ((low <= 0) == (high <= 0)).all())


# --- rules: the slopes of the operands along one loop, None where one does not change with it


_Sums = Sequence[Column | None]
_ZERO: Final = np.zeros(1, np.int64)


def _value(slope: Column | None) -> Column:
    return _ZERO if slope is None else slope


def _add(i: Instruction, known: Sequence[Known], sums: _Sums) -> Slope:
    return _value(sums[0]) + _value(sums[1])


def _subtract(i: Instruction, known: Sequence[Known], sums: _Sums) -> Slope:
    return _value(sums[0]) - _value(sums[1])


def _multiply(i: Instruction, known: Sequence[Known], sums: _Sums) -> Slope:
    one, other = sums
    if one is not None and other is not None:
        return UNEVEN
    slope, factor = (_value(one), known[1]) if one is not None else (_value(other), known[0])
    return UNEVEN if factor.slopes else slope * factor.column.astype(np.int64)


def _shift(i: Instruction, known: Sequence[Known], sums: _Sums) -> Slope:
    amount = known[1].column
    if sums[1] is not None or known[1].slopes or amount.min() < 0 or amount.max() > 31:
        return UNEVEN
    return _value(sums[0]) << amount.astype(np.int64)


def _negate(i: Instruction, known: Sequence[Known], sums: _Sums) -> Slope:
    return -_value(sums[0])


def _keep(i: Instruction, known: Sequence[Known], sums: _Sums) -> Slope:
    return UNEVEN if i.operands[0].type.bits == 1 else _value(sums[0])


def _choose(i: Instruction, known: Sequence[Known], sums: _Sums) -> Slope:
    if known[0].slopes:
        return UNEVEN
    return np.where(known[0].column, _value(sums[1]), _value(sums[2]))


def _compare(i: Instruction, known: Sequence[Known], sums: _Sums) -> Slope:
    return STEADY


_ORDERS: Final = frozenset(f"{s}{name}" for s in "su" for name in ("lt", "le", "gt", "ge"))
_RULES: Final[Mapping[str, Callable[[Instruction, Sequence[Known], _Sums], Slope]]] = {
    "add": _add,
    "sub": _subtract,
    "mul": _multiply,
    "smulwide": _multiply,
    "umulwide": _multiply,
    "shl": _shift,
    "neg": _negate,
    **dict.fromkeys(("sext", "zext", "trunc", "bitcast"), _keep),
    "select": _choose,
    **dict.fromkeys(_ORDERS, _compare),
}
"""The others change unevenly with what their operands change with."""
