"""Values as rows of numbers: what each thread of a block of known shape knows by its index, plus what a group shares.

    value of thread t  =  numbers[t] + S        S: some number that the threads of a group share, a multiple of 2**rest
                                                (rest None: S is 0); the group is a warp or the block

    tid.x                      0 1 2 … 63       S = 0
    ctaid.x * 64 + tid.x       0 1 2 … 63       S a multiple of 64: it has only bits that the numbers do not have
      … / 32                   0 0 … 1 1        S: the same for the threads of each warp
      … & 31                   0 1 … 30 31      S = 0

All arithmetic is modulo 2**bits. S may be another number in each group, so that numbers of a group may be moved there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from msgspec import Struct

from warpsmith.analysis.uniformity.seeds import Threads
from warpsmith.ssa.nodes import Constant, Instruction, Param, Query
from warpsmith.ssa.ops import OPS
from warpsmith.ssa.semantics.lane import lanes
from warpsmith.ssa.semantics.patterns import to_signed
from warpsmith.ssa.types import Type

__all__ = ["UNIFORM", "ThreadTable", "ThreadTables"]


class ThreadTable(Struct, frozen=True):
    """`numbers` of the threads, or one for all; `rest`: as above."""

    numbers: tuple[int, ...]
    rest: int | None = None


UNIFORM: Final = ThreadTable((0,), 0)
"""The same in all threads of a group, and nothing else is known."""

Rule = Callable[["ThreadTables", Instruction, Sequence[ThreadTable]], ThreadTable | None]


class ThreadTables:
    """The rules, for one shape of the block, one kind of group, and the numbers that some parameters have."""

    def __init__(self, threads: Threads, arguments: Mapping[str, int] | None = None) -> None:
        assert threads.block is not None
        self._arguments = arguments or {}
        self.block = threads.block
        x, y, z = threads.block
        self.count = x * y * z
        self.warp = threads.warp
        self.step = self.count if threads.level == "block" else threads.warp
        everyone = range(self.count)
        self._queries = {
            "tid.x": ThreadTable(_short(tuple(t % x for t in everyone))),
            "tid.y": ThreadTable(_short(tuple(t // x % y for t in everyone))),
            "tid.z": ThreadTable(_short(tuple(t // (x * y) for t in everyone))),
            "laneid": ThreadTable(_short(tuple(t % threads.warp for t in everyone))),
            "ntid.x": ThreadTable((x,)),
            "ntid.y": ThreadTable((y,)),
            "ntid.z": ThreadTable((z,)),
        }

    def is_same(self, table: ThreadTable) -> bool:
        """Whether all threads of each group have the same."""
        return self._alike(table.numbers)

    def constant(self, operand: Constant) -> ThreadTable:
        """Return a constant as a table."""
        return ThreadTable((operand.bits,))

    def transfer(self, i: Instruction, operands: Sequence[ThreadTable | None]) -> ThreadTable | None:
        """Return the one result of a pure instruction, a query or a parameter; None where nothing is known."""
        if isinstance(i.detail, Query):
            return self._queries.get(i.detail.register)
        if isinstance(i.detail, Param) and not i.detail.offset and _is_whole(i.result.type):
            given = self._arguments.get(i.detail.parameter)
            return None if given is None else ThreadTable((given % (1 << i.result.type.bits),))
        known = [table for table in operands if table is not None]
        if not known or len(known) < len(operands) or not OPS[i.op].pure or i.op == "lanewise":
            return None
        whole = all(_is_whole(o.type) for o in (*i.operands, i.result))
        if whole and all(table.rest is None for table in known):
            return self._each(i, known)
        if whole and (rule := _RULES.get(i.op)) is not None:
            made = rule(self, i, known)
            if made is not None:
                return _within(made, i.result.type)
        return UNIFORM if all(self.is_same(table) for table in known) else None

    def join(self, tables: Sequence[ThreadTable | None], *, diverged: bool) -> ThreadTable | None:
        """Return what holds of a value that is one of several. `diverged`: threads of one group may have different
        ones."""
        first = tables[0] if tables else None
        if first is None:
            return None
        if all(table == first for table in tables) and (first.rest is None or not diverged):
            return first
        if diverged:
            return None
        rest = first.rest
        for table in tables[1:]:
            moved = None if table is None else self._find_offset(first.numbers, table.numbers)
            if table is None or moved is None:
                return None
            rest = _least(rest, table.rest, None if moved == 0 else _zeros(moved))
        return ThreadTable(first.numbers, rest)

    def picks_one(self, i: Instruction, operands: Sequence[ThreadTable | None]) -> bool:
        """Whether an equality holds in at most one thread of a group: all differ by different numbers."""
        a, b = operands
        if a is None or b is None or not _is_whole(i.operands[0].type):
            return False
        size = 1 << i.operands[0].type.bits
        apart = self._wide(self.each([a, b], lambda m, n: (m - n) % size))
        groups = (apart[at : at + self.step] for at in range(0, self.count, self.step))
        return all(len(set(group)) == len(group) for group in groups)

    # --- some of the threads, as bits

    def holders(self, table: ThreadTable, *, value: bool) -> int:
        """Return the threads in which a predicate may have this value."""
        if table.rest is not None:
            return (1 << self.count) - 1
        return sum(1 << thread for thread, n in enumerate(self._wide(table.numbers)) if n == value)

    def at_most_one(self, threads: int) -> bool:
        """Whether these are one of each group at most."""
        groups = ((threads >> at) & ((1 << self.step) - 1) for at in range(0, self.count, self.step))
        return all(group.bit_count() <= 1 for group in groups)

    def stand_ins(self, threads: int) -> tuple[int, ...]:
        """Return, for each thread, itself where it is one of these, else one of its group that is."""
        found: list[int] = []
        for at in range(0, self.count, self.step):
            group = range(at, min(at + self.step, self.count))
            there = next((t for t in group if threads >> t & 1), at)
            found += (t if threads >> t & 1 else there for t in group)
        return tuple(found)

    def replace(self, table: ThreadTable, stand_ins: tuple[int, ...]) -> ThreadTable:
        """Return a table in which each thread has the number of its stand-in."""
        if len(table.numbers) == 1:
            return table
        return ThreadTable(_short(tuple(table.numbers[t] for t in stand_ins)), table.rest)

    # --- rows

    def _wide(self, numbers: tuple[int, ...]) -> tuple[int, ...]:
        return numbers * self.count if len(numbers) == 1 else numbers

    def _alike(self, numbers: tuple[int, ...]) -> bool:
        if len(numbers) == 1:
            return True
        groups = (numbers[at : at + self.step] for at in range(0, len(numbers), self.step))
        return all(group.count(group[0]) == len(group) for group in groups)

    def _find_offset(self, one: tuple[int, ...], other: tuple[int, ...]) -> int | None:
        """Return a number with the low zeros of what each group has to add to get from one row to another; None where
        its threads have to add different numbers."""
        if one == other:
            return 0
        size = max(len(one), len(other))
        both = zip(*(row * size if len(row) == 1 else row for row in (one, other)), strict=True)
        differences = tuple(b - a for a, b in both)
        if not self._alike(differences):
            return None
        low = 0
        for difference in differences:
            low |= difference & -difference
        return low

    def _split(self, table: ThreadTable, rest: int) -> tuple[int, ...] | None:
        """Return the low `rest` bits of a value where all others are shared by a group; None where they are not."""
        if table.rest is not None and table.rest < rest:
            return None
        if not self._alike(tuple(n >> rest for n in table.numbers)):
            return None
        return tuple(n & ((1 << rest) - 1) for n in table.numbers)

    def _each(self, i: Instruction, operands: Sequence[ThreadTable]) -> ThreadTable | None:
        rows = [table.numbers for table in operands]
        if any(len(row) > 1 for row in rows):
            rows = [self._wide(row) for row in rows]
        try:
            return ThreadTable(_short(lanes(i, rows)))
        except KeyError:
            return None

    def each(self, operands: Sequence[ThreadTable], compute: Callable[[int, int], int]) -> tuple[int, ...]:
        """Return a row that is computed from two."""
        a, b = (table.numbers for table in operands)
        if len(a) != len(b):
            a, b = self._wide(a), self._wide(b)
        return tuple(compute(m, n) for m, n in zip(a, b, strict=True))

    # --- rules

    def sum(self, i: Instruction, o: Sequence[ThreadTable]) -> ThreadTable | None:
        """Add or subtract."""
        sign = 1 if i.op == "add" else -1
        return ThreadTable(self.each(o, lambda a, b: a + sign * b), _least(*(table.rest for table in o)))

    def product(self, i: Instruction, o: Sequence[ThreadTable]) -> ThreadTable | None:
        """Multiply with a number, or what is shared with what is shared."""
        a, b = o if o[1].rest is None else (o[1], o[0])
        if b.rest is None and len(b.numbers) == 1:
            return self._scale(a, b.numbers[0])
        if a.numbers == b.numbers == (0,):
            return ThreadTable((0,), (a.rest or 0) + (b.rest or 0))
        return None

    def shift_left(self, i: Instruction, o: Sequence[ThreadTable]) -> ThreadTable | None:
        """Multiply with a power of two."""
        value, by = o
        if by.rest is not None or len(by.numbers) > 1:
            return None
        return self._scale(value, 1 << min(by.numbers[0], i.result.type.bits))

    def _scale(self, a: ThreadTable, factor: int) -> ThreadTable:
        if factor == 0:
            return ThreadTable((0,))
        return ThreadTable(tuple(n * factor for n in a.numbers), None if a.rest is None else a.rest + _zeros(factor))

    def shifted_right(self, i: Instruction, o: Sequence[ThreadTable]) -> ThreadTable | None:
        """Divide by a power of two, rounding down: what is shared has only bits above those of the numbers."""
        value, by = o
        if value.rest is None or by.rest is not None or len(by.numbers) > 1:
            return None
        number = by.numbers[0]
        if i.op == "udiv" and (number == 0 or number & (number - 1)):
            return None
        amount = number.bit_length() - 1 if i.op == "udiv" else number
        low = self._split(value, value.rest)
        if low is None or amount >= i.result.type.bits:
            return None
        return ThreadTable(tuple(n >> amount for n in low), max(0, value.rest - amount))

    def mask_bits(self, i: Instruction, o: Sequence[ThreadTable]) -> ThreadTable | None:
        """And, or, exclusive or with a number; the remainder by a power of two."""
        value, mask = o if o[1].rest is None else (o[1], o[0])
        if value.rest is None or mask.rest is not None or len(mask.numbers) > 1:
            return None
        number, op = mask.numbers[0], i.op
        if op == "urem":
            if number == 0 or number & (number - 1) or mask is o[0]:
                return None
            number, op = number - 1, "and"
        low = self._split(value, value.rest)
        if low is None:
            return None
        if op == "and":
            return ThreadTable(tuple(n & number for n in low), None if number < 1 << value.rest else value.rest)
        small = number & ((1 << value.rest) - 1)
        return ThreadTable(tuple(n | small if op == "or" else n ^ small for n in low), value.rest)

    def equal(self, i: Instruction, o: Sequence[ThreadTable]) -> ThreadTable | None:
        """Equal or not: what is shared decides where the numbers do not."""
        if self._find_offset(o[0].numbers, o[1].numbers) is not None:
            return UNIFORM
        return self._decide_order(i, o, lambda a, b: a == b)

    def compare_order(self, i: Instruction, o: Sequence[ThreadTable]) -> ThreadTable | None:
        """Less or greater: where the shared parts are equal, the numbers decide."""
        strict = i.op[1:] in ("lt", "ge")
        return self._decide_order(i, o, (lambda a, b: a < b) if strict else (lambda a, b: a <= b))

    def _decide_order(
        self, i: Instruction, o: Sequence[ThreadTable], test: Callable[[int, int], bool]
    ) -> ThreadTable | None:
        rest = _least(*(table.rest for table in o))
        if rest is None or rest >= i.operands[0].type.bits:
            return None
        rows = [self._split(table, rest) for table in o]
        if rows[0] is None or rows[1] is None:
            return None
        holds = self.each([ThreadTable(rows[0]), ThreadTable(rows[1])], lambda a, b: int(test(a, b)))
        return UNIFORM if self._alike(holds) else None

    def choose(self, i: Instruction, o: Sequence[ThreadTable]) -> ThreadTable | None:
        """One of two, the same one for all."""
        condition, a, b = o
        moved = self._find_offset(a.numbers, b.numbers)
        if moved is None or not self.is_same(condition):
            return None
        return ThreadTable(a.numbers, _least(a.rest, b.rest, None if moved == 0 else _zeros(moved)))

    def extend(self, i: Instruction, o: Sequence[ThreadTable]) -> ThreadTable | None:
        """Widen: nothing is carried from the numbers into the bits that are shared."""
        (value,) = o
        if value.rest is None or value.rest >= i.operands[0].type.bits:
            return None
        low = self._split(value, value.rest)
        return None if low is None else ThreadTable(low, value.rest)

    def product_wide(self, i: Instruction, o: Sequence[ThreadTable]) -> ThreadTable | None:
        """Multiply with a number, in twice the bits."""
        a, b = o if o[1].rest is None else (o[1], o[0])
        low = None if b.rest is not None or len(b.numbers) > 1 else self.extend(i, [a])
        if low is None:
            return None
        factor = b.numbers[0]
        return self._scale(low, to_signed(factor, i.operands[0].type) if i.op == "smulwide" else factor)

    def cut(self, i: Instruction, o: Sequence[ThreadTable]) -> ThreadTable | None:
        """Narrow, or keep."""
        return o[0]


def _is_whole(type: Type) -> bool:
    return type.kind != "float"


def _short(numbers: tuple[int, ...]) -> tuple[int, ...]:
    return numbers[:1] if numbers.count(numbers[0]) == len(numbers) else numbers


def _within(table: ThreadTable, type: Type) -> ThreadTable:
    """Return a table modulo the size of its type."""
    size = (1 << type.bits) - 1
    # a multiple of the size is 0
    rest = None if table.rest is None or table.rest >= type.bits else table.rest
    return ThreadTable(_short(tuple(n & size for n in table.numbers)), rest)


def _least(*rests: int | None) -> int | None:
    known = [rest for rest in rests if rest is not None]
    return min(known) if known else None


def _zeros(number: int) -> int:
    return (number & -number).bit_length() - 1


_ORDER: Final = ("slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge")

_RULES: Final[dict[str, Rule]] = {
    "add": ThreadTables.sum,
    "sub": ThreadTables.sum,
    "mul": ThreadTables.product,
    "shl": ThreadTables.shift_left,
    "lshr": ThreadTables.shifted_right,
    "ashr": ThreadTables.shifted_right,
    "udiv": ThreadTables.shifted_right,
    "and": ThreadTables.mask_bits,
    "or": ThreadTables.mask_bits,
    "xor": ThreadTables.mask_bits,
    "urem": ThreadTables.mask_bits,
    "eq": ThreadTables.equal,
    "ne": ThreadTables.equal,
    "select": ThreadTables.choose,
    "zext": ThreadTables.extend,
    "sext": ThreadTables.extend,
    "smulwide": ThreadTables.product_wide,
    "umulwide": ThreadTables.product_wide,
    "trunc": ThreadTables.cut,
    **dict.fromkeys(_ORDER, ThreadTables.compare_order),
}
