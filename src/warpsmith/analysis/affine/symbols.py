"""Whole numbers as sums of products of unknowns: what addresses and indices are made of.

    Form = Σ coefficient · unknown · unknown · …        a[row * n + col]:  a + 4·n·row + 4·col

Unknowns come in four kinds, which say how far two threads of the group that is looked at (a warp, a block) may differ:
    index     a known number for each thread of the block: tid.x, tid.y, tid.z, lane, or a table of numbers
    shared    some number, the same for all threads of the group that are at one place in one iteration
    own       some number of each thread's own
    wrap      how often a narrow number had wrapped when it was widened: 0 unless an index overflows

A form stands for a value of `bits` bits modulo 2**bits, as the machine computes; coefficients are the ones nearest to
0. A form that has only `index` unknowns is numeric: it is one number for each thread.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping
from typing import Literal

from msgspec import Struct, field

__all__ = ["Atom", "Form", "Key", "Monomial", "Range", "Residue", "constant_form", "from_atom", "text_of"]

Kind = Literal["index", "shared", "own", "wrap"]
Number = int | float
"""A whole number, or plus or minus infinity."""

Range = tuple[Number, Number]
Residue = tuple[int, int]
"""(r, m): it is r modulo 2**m."""


class Atom(Struct, frozen=True, eq=False):
    """An unknown. `number` orders those of a group of threads. `cycles`: headers of the loops in which it changes from
    one iteration to the next; `memory`: it comes out of memory; `argument`: the parameter that it is; `space`: of the
    variable whose address it is; `wraps`: it counts how often a number had wrapped; `of_block`: it is an index of the
    block, `of_grid`: a size of the grid; `table`: the numbers of an index, by thread. Names tell nothing: a variable
    may be named like a register."""

    name: str
    kind: Kind
    number: int = 0
    range: Range = (-math.inf, math.inf)
    residue: Residue = (0, 0)
    cycles: frozenset[str] = frozenset()
    memory: bool = False
    argument: str = ""
    space: str = ""
    wraps: bool = False
    of_block: bool = False
    of_grid: bool = False
    table: tuple[int, ...] = field(default=())


Monomial = tuple[Atom, ...]
Key = Hashable

_MOST_TERMS = 24
_MOST_FACTORS = 4


class Form(Struct, frozen=True, eq=False):
    """A sum modulo 2**bits. Do not change `terms`; no coefficient is 0."""

    bits: int
    terms: Mapping[Monomial, int]

    @property
    def key(self) -> Key:
        """What two forms that are the same have in common."""
        return (self.bits, frozenset(self.terms.items()))

    @property
    def constant(self) -> int | None:
        """The number that it is, the one nearest to 0; None where it has unknowns."""
        if not self.terms:
            return 0
        return self.terms[()] if len(self.terms) == 1 and () in self.terms else None

    def same(self, other: Form) -> bool:
        """Whether the two are the same sum."""
        return self.bits == other.bits and self.terms == other.terms

    def atoms(self) -> Iterable[Atom]:
        """Yield its unknowns; one that is in several products, several times."""
        return (atom for monomial in self.terms for atom in monomial)

    def has(self, *kinds: Kind) -> bool:
        """Whether it has an unknown of one of these kinds."""
        return any(atom.kind in kinds for monomial in self.terms for atom in monomial)

    @property
    def numeric(self) -> bool:
        """Whether it is a known number for each thread."""
        return not self.has("shared", "own", "wrap")

    def varying(self) -> Form:
        """Return the part that may differ from thread to thread."""
        return Form(self.bits, {m: c for m, c in self.terms.items() if any(a.kind != "shared" for a in m)})

    def common(self) -> Form:
        """Return the part that threads share."""
        return Form(self.bits, {m: c for m, c in self.terms.items() if all(a.kind == "shared" for a in m)})

    def plus(self, other: Form, factor: int = 1) -> Form:
        """Return this + factor · other."""
        terms = dict(self.terms)
        for monomial, coefficient in other.terms.items():
            found = center(terms.get(monomial, 0) + factor * coefficient, self.bits)
            if found:
                terms[monomial] = found
            else:
                terms.pop(monomial, None)
        return Form(self.bits, terms)

    def times(self, other: Form) -> Form | None:
        """Return the product, None where it would be too long."""
        if len(self.terms) * len(other.terms) > 4 * _MOST_TERMS:
            return None
        terms: dict[Monomial, int] = {}
        for one, p in self.terms.items():
            for two, q in other.terms.items():
                product = tuple(sorted(one + two, key=_order)) if one and two else one or two
                if len(product) > _MOST_FACTORS:
                    return None
                terms[product] = center(terms.get(product, 0) + p * q, self.bits)
        made = {m: c for m, c in terms.items() if c}
        return Form(self.bits, made) if len(made) <= _MOST_TERMS else None

    def scale(self, factor: int) -> Form:
        """Return factor times it."""
        made = ((m, center(c * factor, self.bits)) for m, c in self.terms.items())
        return Form(self.bits, {m: c for m, c in made if c})

    def resize(self, bits: int) -> Form:
        """Return the same sum modulo 2**bits."""
        if bits == self.bits:
            return self
        made = ((m, center(c, bits)) for m, c in self.terms.items())
        return Form(bits, {m: c for m, c in made if c})

    def drop_atoms(self, atoms: Iterable[Atom]) -> Form:
        """Return it with these unknowns taken as 0."""
        gone = set(atoms)
        return Form(self.bits, {m: c for m, c in self.terms.items() if not any(a in gone for a in m)})

    def range(self) -> Range:
        """Return the least and the most that the sum, taken as a whole number, may be."""
        least: Number = 0
        most: Number = 0
        for monomial, coefficient in self.terms.items():
            low, high = _scale_range((1, 1), coefficient)
            for atom in monomial:
                low, high = _multiply((low, high), atom.range)
            least, most = least + low, most + high
        return least, most

    def residue(self, aligned: Mapping[Atom, int] | None = None) -> Residue:
        """Return what it is modulo a power of two; `aligned`: atoms that are taken to be multiples of 2**number."""
        rest, power = 0, self.bits
        for monomial, coefficient in self.terms.items():
            r, m = coefficient, self.bits + 1
            if monomial:
                r, m = _residue_of(monomial, coefficient, aligned or {})
            rest, power = rest + r, min(power, m)
        return rest % (1 << power), power


def center(number: int, bits: int) -> int:
    """Return the number nearest to 0 that is the same modulo 2**bits; a bit is 0 or 1."""
    size = 1 << bits
    number %= size
    return number - size if bits > 1 and number > size >> 1 else number


def constant_form(number: int, bits: int) -> Form:
    """Return the form of a number."""
    number = center(number, bits)
    return Form(bits, {(): number} if number else {})


def from_atom(atom: Atom, bits: int) -> Form:
    """Return the form of an unknown."""
    return Form(bits, {(atom,): 1})


def _order(atom: Atom) -> int:
    return atom.number


def _scale_range(range: Range, factor: int) -> Range:
    low, high = range[0] * factor, range[1] * factor
    return (low, high) if factor >= 0 else (high, low)


def _product(a: Number, b: Number) -> Number:
    return 0 if a == 0 or b == 0 else a * b


def _multiply(a: Range, b: Range) -> Range:
    corners = [_product(p, q) for p in a for q in b]
    return min(corners), max(corners)


def _valuation(number: int) -> int:
    return (number & -number).bit_length() - 1


def _residue_of(monomial: Monomial, coefficient: int, aligned: Mapping[Atom, int]) -> Residue:
    """Return coefficient · product modulo a power of two."""
    rest, power = 1, 1 << 10
    for atom in monomial:
        r, m = (0, aligned[atom]) if atom in aligned else atom.residue
        # (rest + p·2**power)(r + q·2**m): what is unknown is a multiple of the least of the cross products
        unknown = [power + m]
        unknown += [m + _valuation(rest)] if rest else []
        unknown += [power + _valuation(r)] if r else []
        rest, power = rest * r, min(unknown)
    shift = _valuation(coefficient)
    return rest * coefficient, power + shift


def text_of(form: Form) -> str:
    """Return a sum for people: `a + 4·n·tid.y + 4·tid.x - 8`.

    >>> x = Atom("tid.x", "index", 0)
    >>> text_of(Form(64, {(): -8, (x,): 4}))
    '4·tid.x - 8'
    """
    parts: list[tuple[int, str]] = []
    ordered = sorted(form.terms.items(), key=lambda term: (not term[0], [_rank(a) for a in term[0]]))
    for monomial, coefficient in ordered:
        names = "·".join(atom.name for atom in monomial)
        number = "" if abs(coefficient) == 1 and names else str(abs(coefficient))
        parts.append((coefficient, "·".join(filter(None, (number, names)))))
    if not parts:
        return "0"
    first = ("-" if parts[0][0] < 0 else "") + parts[0][1]
    return first + "".join(f" {'-' if c < 0 else '+'} {text}" for c, text in parts[1:])


def _rank(atom: Atom) -> tuple[int, int]:
    return ({"shared": 0, "own": 1, "index": 2, "wrap": 3}[atom.kind], atom.number)
