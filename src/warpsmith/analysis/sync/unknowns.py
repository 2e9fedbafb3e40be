"""What two threads know at two places, as inequalities: each unknown is one for both threads, or one of each.

    if (t < h) s[t] += s[t + h];        t1 - t2 - h = 0,  h - t1 - 1 >= 0,  h - t2 - 1 >= 0,  t1 >= 0,  t2 >= 0

`Poly` is a sum of products of unknowns, which are numbers here. An unknown that threads share is the same for both
where it is of one moment: of the same iteration for two threads of a block, an argument or a size of the grid for
threads of different blocks.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from itertools import product
from typing import Final

from warpsmith.analysis.affine.symbols import Atom, Form, center
from warpsmith.analysis.memory.accesses import AccessSite
from warpsmith.analysis.memory.exact import exact
from warpsmith.analysis.memory.forms import Forms
from warpsmith.analysis.memory.presence import Guard, Presences
from warpsmith.ssa.nodes import Branch, Constant, Instruction, NoWrap, Operand, Value
from warpsmith.ssa.ops import OPS

__all__ = ["UNSIGNED", "Poly", "Unknowns", "plus", "times"]

Poly = Mapping[tuple[int, ...], int]
"""Product of unknowns → its factor."""

UNSIGNED: Final = "unsigned numbers stay below 2147483648"
_WIDE: Final = 64
_DEEPEST: Final = 6
_MOST_FACTORS: Final = 4
_FAR: Final = 1 << 62
_LESS: Final = {"slt": (0, 1), "sle": (0, 0), "sgt": (1, 1), "sge": (1, 0)}
"""Comparison → which side is the less one, and by how much at least."""
_AGAINST: Final = {"slt": "sge", "sge": "slt", "sle": "sgt", "sgt": "sle"}


def plus(one: Poly, other: Poly, factor: int = 1) -> Poly:
    """Return one + factor · other."""
    made = dict(one)
    for monomial, c in other.items():
        made[monomial] = made.get(monomial, 0) + factor * c
    return {m: c for m, c in made.items() if c}


def times(one: Poly, other: Poly) -> Poly:
    """Return the product."""
    made: dict[tuple[int, ...], int] = {}
    for p, c in one.items():
        for q, d in other.items():
            product = tuple(sorted(p + q))
            made[product] = made.get(product, 0) + c * d
    return {m: c for m, c in made.items() if c}


def _turns_negative(form: Form) -> bool:
    """Whether a sum may be negative though no argument is: as an unsigned number it is a large one then."""
    least = 0.0
    for monomial, factor in form.terms.items():
        low = high = 1.0
        for atom in monomial:
            low, high = low * max(0, atom.range[0]), high * max(0, atom.range[1])
        least += factor * (low if factor > 0 else high)
    return least < 0


def _factors_of(number: int, poly: Poly) -> Poly:
    """Return what an unknown is multiplied by in a sum."""
    return {tuple(v for v in monomial if v != number): c for monomial, c in poly.items() if number in monomial}


class Unknowns:
    """The unknowns of two places. `relation` says of one that threads share by how much it is more at the second place;
    None: it is another one there."""

    def __init__(self, forms: Forms, presences: Presences, relation: Callable[[Atom], int | None]) -> None:
        self.forms, self.presences, self.relation = forms, presences, relation
        self.zero: list[Poly] = []
        self.positive: list[Poly] = []
        self.factors: set[int] = set()
        self.divided: list[tuple[Poly, Poly, int]] = []
        self.assumptions: list[str] = []
        self._numbers: dict[object, int] = {}

    # --- unknowns

    def _unknown(self, key: object, low: float, high: float) -> Poly:
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self._numbers)
            if low > -_FAR:
                self.positive.append({(number,): 1, (): -int(low)})
            if high < _FAR:
                self.positive.append({(number,): -1, (): int(high)})
        return {(number,): 1}

    def axis(self, axis: int, side: int) -> Poly:
        """Return the index of a side's thread along an axis."""
        return self._unknown(("tid", axis, side), 0, self.forms.lanes.block[axis] - 1)

    def of_block(self, axis: int, side: int) -> Poly:
        """Return the index of a side's block along an axis."""
        made = self._find_launched("ctaid", axis)
        return self._unknown(("ctaid", axis, side), 0, _FAR) if made is None else self._atom(made, side)

    def _find_launched(self, base: str, axis: int) -> Atom | None:
        name = f"{base}.{'xyz'[axis]}"
        found = (a for a in self.forms.lanes.atoms.values() if (a.of_block or a.of_grid) and a.name == name)
        return next(found, None)

    def _atom(self, atom: Atom, side: int) -> Poly:
        if atom.kind == "index":
            return self._index(atom, side)
        by = self.relation(atom) if atom.kind == "shared" else None
        if by is not None:
            made = self._unknown((atom, None), *atom.range)
            if not atom.of_block and not atom.cycles:
                self.factors.update(made_of for (made_of,) in made)
            return plus(made, {(): by}) if side else made
        known = (atom, side) in self._numbers
        made = self._unknown((atom, side), *atom.range)
        if atom.of_block and not known:
            axis = "xyz".index(atom.name[-1])
            count = self._find_launched("nctaid", axis)
            if count is not None:
                self.positive.append(plus(plus(self._atom(count, side), made, -1), {(): -1}))
        return made

    def _index(self, atom: Atom, side: int) -> Poly:
        for axis, own in enumerate(self.forms.lanes.axes):
            if atom is own:
                return self.axis(axis, side)
        known = (atom, side) in self._numbers
        made = self._unknown((atom, side), *atom.range)
        if not known:
            self._relate(atom.table, made, side)
        return made

    def _relate(self, table: Sequence[int], made: Poly, side: int) -> None:
        """Say what a table that divides the number of the thread, or has the rest of that, has to do with it."""
        x, y, _ = self.forms.lanes.block
        steps = (1, x, x * y)
        thread: Poly = {}
        for axis, step in enumerate(steps):
            if self.forms.lanes.block[axis] > 1:
                thread = plus(thread, self.axis(axis, side), step)
        for size in (2**power for power in range(1, 10)):
            if all(n == t // size for t, n in enumerate(table)):
                rest = plus(thread, made, -size)
                self.positive += [rest, plus({(): size - 1}, rest, -1)]
                return
            if all(n == t % size for t, n in enumerate(table)):
                whole = self._unknown(("part", size, side), 0, len(table) // size)
                self.zero.append(plus(plus(thread, made, -1), whole, -size))
                return

    def poly(self, form: Form, side: int) -> Poly | None:
        """Return a sum in the unknowns of a side; None where products are too long."""
        total: Poly = {}
        for monomial, coefficient in form.terms.items():
            product: Poly = {(): coefficient}
            if len(monomial) > _MOST_FACTORS:
                return None
            for atom in monomial:
                product = times(product, self._atom(atom, side))
            total = plus(total, product)
        return total

    def be_where(self, numbers: Mapping[Atom, int], side: int) -> None:
        """Say which numbers some unknowns are, at the place of a side."""
        self.zero += [plus(self._atom(atom, side), {(): -number}) for atom, number in numbers.items()]

    # --- what is known of who is there

    def be_at(self, place: AccessSite, side: int) -> None:
        """Say that a side's thread is at a place: it is one of those that get there, and passed the tests before."""
        threads = sorted(self.presences.at(place.block).threads)
        for axis, table in enumerate(a.table for a in self.forms.lanes.axes):
            numbers = [table[t] for t in threads]
            if numbers and self.forms.lanes.block[axis] > 1:
                index = self.axis(axis, side)
                self.positive += [plus(index, {(): -min(numbers)}), plus({(): max(numbers)}, index, -1)]
        for guard in self._guards(place.block):
            terminator = self.forms.blocks[guard.block].terminator
            if isinstance(terminator, Branch):
                self._hold(terminator.condition, (guard.block, place.block), side, holds=guard.holds)

    def _guards(self, block: str) -> Iterator[Guard]:
        graph = self.forms.graph
        above = graph.dominator.get(block)
        while above is not None:
            guard = self.presences.guard(above, block)
            if guard is not None:
                yield guard
            above = graph.dominator.get(above)

    def _hold(self, condition: Operand, at: tuple[str, str], side: int, *, holds: bool, depth: int = _DEEPEST) -> None:
        """Say that a condition holds, or that it does not."""
        made = self._made(condition)
        if made is None or not depth:
            return
        if made.op == "not":
            self._hold(made.operands[0], at, side, holds=not holds, depth=depth - 1)
        elif made.op == ("and" if holds else "or") and made.result.type.bits == 1:
            for operand in made.operands:
                self._hold(operand, at, side, holds=holds, depth=depth - 1)
        elif made.op == "select" and holds and made.operands[2] == Constant(made.operands[2].type, 0):
            for operand in made.operands[:2]:
                self._hold(operand, at, side, holds=True, depth=depth - 1)
        else:
            self._compare(made, at, side, holds=holds)

    def _compare(self, made: Instruction, at: tuple[str, str], side: int, *, holds: bool) -> None:
        op = made.op
        equal = op == ("eq" if holds else "ne")
        if op in ("ult", "ule", "ugt", "uge"):
            op = f"s{op[1:]}"
            unsigned = True
        else:
            unsigned = False
        if not equal and op not in _LESS:
            return
        if made.operands[0].type.kind != "integer" or made.operands[0].type.bits < 8:
            return
        place = (self.forms.answer.homes[made.result], *at)
        if equal:
            sides = [self._number(operand, place, side, unsigned=unsigned) for operand in made.operands]
            if sides[0] is not None and sides[1] is not None:
                self.zero.append(plus(sides[0], sides[1], -1))
            return
        less, by = _LESS[op if holds else _AGAINST[op]]
        least = self._number(made.operands[less], place, side, unsigned=unsigned)
        for operand in (made.operands[1 - less], *self._find_greater(made.operands[1 - less])):
            most = self._number(operand, place, side, unsigned=unsigned)
            if least is not None and most is not None:
                self.positive.append(plus(plus(most, least, -1), {(): -by}))

    def _find_greater(self, operand: Operand) -> tuple[Operand, ...]:
        """Return two numbers that are at least an operand, the lesser of both: `n - i < 32 ? (int)(n - i) : 32`."""
        made = self._made(operand)
        test = self._made(made.operands[0]) if made is not None and made.op == "select" else None
        if made is None or test is None or test.op not in _LESS or test.operands[0].type.kind != "integer":
            return ()
        less = _LESS[test.op][0]
        sides = test.operands[less], test.operands[1 - less]
        if not all(map(self._is_same, made.operands[1:], sides)):
            return ()
        # cut to fewer bits it is another number than the one that is compared if that overflows
        self.assumptions.append("no number that is compared overflows")
        return sides

    def _is_same(self, one: Operand, other: Operand) -> bool:
        """Whether an operand is another one, or what is left of it in fewer bits."""
        if isinstance(one, Constant) and isinstance(other, Constant):
            return center(one.bits, one.type.bits) == center(other.bits, other.type.bits)
        made = self._made(one)
        return self._is_alike(one, other) or (
            made is not None and made.op == "trunc" and self._is_alike(made.operands[0], other)
        )

    def _is_alike(self, one: Operand, other: Operand, depth: int = _DEEPEST) -> bool:
        """Whether two operands are made of the same numbers in the same way."""
        if one is other or not isinstance(one, Value):
            return one == other
        mine, others = self._made(one), self._made(other)
        if mine is None or others is None or not depth or not OPS[mine.op].pure:
            return False
        details = {i.detail for i in (mine, others) if not isinstance(i.detail, NoWrap)}
        if mine.op != others.op or len(details) > 1 or len(mine.operands) != len(others.operands):
            return False
        return all(self._is_alike(*pair, depth - 1) for pair in zip(mine.operands, others.operands, strict=True))

    def _made(self, operand: Operand) -> Instruction | None:
        """Return the instruction that gives an operand."""
        made = self.forms.answer.definitions.get(operand) if isinstance(operand, Value) else None
        return made if isinstance(made, Instruction) else None

    def _number(self, operand: Operand, at: tuple[str, ...], side: int, *, unsigned: bool) -> Poly | None:
        """Return the number that is compared; None where it is of a loop that has been left."""
        form = exact(self.forms, operand, *at)
        if form is None:
            return None
        inside = {cycle.header for cycle in self.forms.around[at[-1]]}
        if any(not atom.cycles <= inside for atom in form.atoms()):
            return None
        wraps = [atom for atom in form.atoms() if atom.wraps or atom.kind == "wrap"]
        if (wraps or unsigned) and _turns_negative(form.drop_atoms(wraps)):
            return None
        whole = form.drop_atoms(wraps)
        if wraps:
            self.assumptions.append("no number that is compared overflows")
        if (wraps or unsigned) and whole.range()[0] < 0:
            self.assumptions.append(UNSIGNED)
        made = self.poly(whole, side)
        self._divide(operand, made, at, side)
        if unsigned and made is not None:
            self.positive.append(made)
        return made

    def _divide(self, operand: Operand, quotient: Poly | None, at: tuple[str, ...], side: int) -> None:
        """Note what a quotient that is compared is of: `i < n / 2`."""
        made = self.forms.answer.definitions.get(operand) if isinstance(operand, Value) else None
        if quotient is None or not isinstance(made, Instruction) or made.op not in ("sdiv", "ashr"):
            return
        last = made.operands[1]
        form = exact(self.forms, made.operands[0], self.forms.answer.homes[made.result], *at)
        if isinstance(last, Constant) and form is not None and 0 < last.bits < 31 and not form.has("wrap", "own"):
            whole = self.poly(form.drop_atoms([a for a in form.atoms() if a.wraps]), side)
            if whole is not None:
                self.divided.append((whole, quotient, last.bits if made.op == "sdiv" else 1 << last.bits))

    # --- rows

    def involves(self, poly: Poly, atoms: Set[Atom]) -> bool:
        """Whether a sum has one of some unknowns."""
        inside = {v for monomial in poly for v in monomial}
        return any(n in inside and isinstance(key, tuple) and key[0] in atoms for key, n in self._numbers.items())

    def differences(self, poly: Poly) -> list[Poly]:
        """Return by how much the whole numbers that are of each side differ, those in a sum: an unknown and the same
        one of the other side, or the counters of two loops that have the same factors in the sum."""
        inside = {v for monomial in poly for v in monomial}
        found = []
        alone: tuple[list[int], list[int]] = [], []
        for key, number in self._numbers.items():
            if not isinstance(key, tuple) or key[-1] not in (0, 1):
                continue
            other = self._numbers.get((*key[:-1], 1 - key[-1]))
            if other is None:
                alone[key[-1]].extend({number} & inside)
            elif key[-1] == 0 and {number, other} & inside:
                found.append(plus({(number,): 1}, {(other,): 1}, -1))
        terms = {number: _factors_of(number, poly) for number in (*alone[0], *alone[1])}
        for one, other in product(*alone):
            if terms[one] == {rest: -c for rest, c in terms[other].items()}:
                found.append(plus({(one,): 1}, {(other,): 1}, -1))
        return found

    def scaled(self, poly: Poly) -> Poly:
        """Return a sum without what its factors have in common."""
        divisor = math.gcd(*poly.values()) or 1
        return {m: c // divisor for m, c in poly.items()}
