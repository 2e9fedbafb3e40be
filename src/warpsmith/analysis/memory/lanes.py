"""The threads of one block as rows of numbers: what is known of each by its index alone.

    thread   0  1  2  3 | 4  5  6  7         block (4, 2, 1)
    tid.x    0  1  2  3 | 0  1  2  3
    tid.y    0  0  0  0 | 1  1  1  1

A table that is linear in tid is written as such; any other is an unknown of its own. Tables are made once.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from warpsmith.analysis.affine.symbols import Atom, Form, Key, Range, center, constant_form
from warpsmith.analysis.uniformity.facts import Dim
from warpsmith.analysis.uniformity.seeds import Threads

__all__ = ["BlockLanes", "hull"]


class BlockLanes:
    """The threads of a block of a known shape, and the unknowns that forms over them are made of."""

    def __init__(self, block: Dim, warp: int, level: Threads) -> None:
        self.block, self.warp, self.level = block, warp, level
        x, y, z = block
        self.count = x * y * z
        self.atoms: dict[Key, Atom] = {}
        self._tables: dict[Key, tuple[int, ...]] = {}
        rows = (
            tuple(t % x for t in range(self.count)),
            tuple(t // x % y for t in range(self.count)),
            tuple(t // (x * y) for t in range(self.count)),
        )
        self.axes = tuple(self.index(f"tid.{name}", row) for name, row in zip("xyz", rows, strict=True))

    def index(self, name: str, table: tuple[int, ...]) -> Atom:
        """Return the unknown that has these numbers."""
        key = ("table", table)
        if key not in self.atoms:
            made = Atom(name, "index", len(self.atoms), (min(table), max(table)), table=table)
            self.atoms[key] = made
        return self.atoms[key]

    def atom(self, key: Key, made: Atom) -> Atom:
        """Return the unknown with this key and these facts: `made`, where there is none."""
        facts = (made.kind, made.range, made.residue, made.cycles, made.memory, made.argument, made.space, made.wraps)
        known = self.atoms.get((key, facts))
        if known is None:
            known = self.atoms[key, facts] = replace(made, number=len(self.atoms))
        return known

    def axis(self, axis: int, bits: int) -> Form:
        """Return tid along an axis."""
        if self.block[axis] == 1:
            return constant_form(0, bits)
        return Form(bits, {(self.axes[axis],): 1})

    def groups(self) -> list[range]:
        """Return the threads that are compared: those of each warp, or of the block."""
        step = self.count if self.level.level == "block" else self.warp
        return [range(at, min(at + step, self.count)) for at in range(0, self.count, step)]

    def warps(self) -> list[range]:
        """Return the threads of each warp."""
        return [range(at, min(at + self.warp, self.count)) for at in range(0, self.count, self.warp)]

    def numbers(self, form: Form) -> tuple[int, ...] | None:
        """Return the number of each thread, the one nearest to 0; None where it is not known."""
        if not form.numeric:
            return None
        constant = form.constant
        if constant is not None:
            return (constant,) * self.count
        key = form.key
        if key not in self._tables:
            self._tables[key] = tuple(center(n, form.bits) for n in self._sum(form))
        return self._tables[key]

    def _sum(self, form: Form) -> list[int]:
        total = [0] * self.count
        for monomial, coefficient in form.terms.items():
            if not monomial:
                total = [n + coefficient for n in total]
            elif len(monomial) == 1:
                total = [n + coefficient * t for n, t in zip(total, monomial[0].table, strict=True)]
            else:
                product = [coefficient] * self.count
                for atom in monomial:
                    product = [p * t for p, t in zip(product, atom.table, strict=True)]
                total = [n + p for n, p in zip(total, product, strict=True)]
        return total

    def form(self, numbers: Sequence[int], bits: int, name: str = "f(tid)") -> Form:
        """Return the form that has these numbers, modulo 2**bits."""
        table = tuple(center(n, bits) for n in numbers)
        first = table[0]
        if all(n == first for n in table):
            return constant_form(first, bits)
        return self._linear(table, bits) or Form(bits, {(self.index(name, table),): 1})

    def _linear(self, table: tuple[int, ...], bits: int) -> Form | None:
        x, y, z = self.block
        steps = (1 if x > 1 else None, x if y > 1 else None, x * y if z > 1 else None)
        form = constant_form(table[0], bits)
        for axis, step in enumerate(steps):
            if step is not None:
                form = form.plus(self.axis(axis, bits), table[step] - table[0])
        found = self.numbers(form)
        return form if found == table else None

    def parts(self, form: Form) -> dict[tuple[Atom, ...], tuple[int, ...]]:
        """Return, for each product of unknowns that threads do not know by themselves, its factor in each thread; the
        empty product is the number that they do know."""
        split: dict[tuple[Atom, ...], dict[tuple[Atom, ...], int]] = {}
        for monomial, coefficient in form.terms.items():
            outer = tuple(a for a in monomial if a.kind != "index")
            inner = tuple(a for a in monomial if a.kind == "index")
            split.setdefault(outer, {})[inner] = coefficient
        found = {outer: self.numbers(Form(form.bits, terms)) for outer, terms in split.items()}
        return {outer: numbers for outer, numbers in found.items() if numbers is not None}


def hull(ranges: Iterable[Range]) -> Range:
    """Return the least range that holds all of them."""
    found = list(ranges)
    return min(r[0] for r in found), max(r[1] for r in found)
