"""The atoms of one region: what every name in its polynomials stands for.

counter     a loop variable of the region (an isl dimension), or of a loop around it (an isl parameter)
parameter   an integer that does not change in the region: a variable, `s->n`, the extent of a VLA
quotient    floor(p / c), or another value that a formula pins down exactly: an existential in isl
image       a quotient whose formula only bounds it: `e & m` and `e / m` for an m that no counter moves (`Masked`,
            `Divided`); what is known of two of its values at once is in dependences/index_maps.py
product     `n*m` where it occurs as a unit: an isl parameter of its own, so `n*m` and `n` are unrelated
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Literal

from msgspec import Struct, field

from warpsmith.poly.isl.formula import TRUE, And, Compare, Formula, Or, atoms_of, both, either
from warpsmith.poly.isl.polynomial import ZERO, Monomial, Polynomial
from warpsmith.tree.containers import holds_size
from warpsmith.tree.nodes import Expr
from warpsmith.tree.types import Scalar, Symbol, integer_range

__all__ = ["AtomVocabulary", "Divided", "Extreme", "Image", "IslAtom", "Masked", "Meaning", "Quotient"]

AtomKind = Literal["counter", "parameter", "quotient", "product"]


class Quotient(Struct, frozen=True):
    """`numerator` / `divisor` (> 0), rounded down, or toward zero where not `floor`."""

    numerator: Polynomial
    divisor: int
    floor: bool


class Extreme(Struct, frozen=True):
    """The lesser of two linear polynomials, or the greater where not `least`."""

    left: Polynomial
    right: Polynomial
    least: bool


class Masked(Struct, frozen=True):
    """`value & mask` of integers in two's complement, of any length; the mask is invariant. Both are linear."""

    value: Polynomial
    mask: Polynomial


class Divided(Struct, frozen=True):
    """`value / divisor` and, in the atom `remainder`, `value % divisor`, for a value >= 0 and an invariant divisor >= 1
    (wherever the atoms are used). Both are linear; `quotient` is the atom of the quotient."""

    value: Polynomial
    divisor: Polynomial
    quotient: str
    remainder: str


Image = Masked | Divided
Meaning = Quotient | Extreme | Image


class IslAtom(Struct, frozen=True):
    """One atom: its isl name, how the user reads it, and what defines it.

    `expr` is the host expression of a parameter or an outer counter; `low` and `high` the range of its C type;
    `definition` pins a quotient down, and `meaning` says the same where it is a division or an extreme (of an image it
    is only what follows from its meaning); `parts` are the factors of a product.
    """

    name: str
    text: str
    kind: AtomKind
    expr: Expr | None = None
    low: int | None = None
    high: int | None = None
    symbol: Symbol | None = None
    definition: Formula = TRUE
    parts: Monomial = ()
    meaning: Meaning | None = None


class AtomVocabulary(Struct):
    """Makes atoms and remembers them; the same thing asked for twice is the same atom."""

    atoms: dict[str, IslAtom] = field(default_factory=dict)
    _names: dict[object, str] = field(default_factory=dict)
    _has_extremes: bool = False
    _has_images: bool = False

    def __getitem__(self, name: str) -> IslAtom:
        return self.atoms[name]

    def copy(self) -> AtomVocabulary:
        """Return a vocabulary with the same atoms; what either adds from now on is its own."""
        return AtomVocabulary(dict(self.atoms), dict(self._names), self._has_extremes, self._has_images)

    def counter(self, symbol: Symbol, instance: object, expr: Expr | None) -> str:
        """Return the counter of one loop; `instance` tells two loops over the same variable apart."""
        low, high = integer_range(symbol.type) if isinstance(symbol.type, Scalar) else (None, None)
        known = self._names.get(("counter", instance))
        return known or self._add(
            ("counter", instance), symbol.name, "counter", expr=expr, low=low, high=high, symbol=symbol
        )

    def parameter(self, key: object, text: str, expr: Expr | None, type: Scalar | None) -> str:
        """Return the parameter for `key` (a symbol, or the text of an expression)."""
        known = self._names.get(("parameter", key))
        if known is not None:
            return known
        low, high = integer_range(type) if type is not None else (None, None)
        symbol = key if isinstance(key, Symbol) else None
        if symbol is not None and holds_size(symbol) and high is not None:
            high //= 2
        return self._add(("parameter", key), text, "parameter", expr=expr, low=low, high=high, symbol=symbol)

    def quotient(self, key: object, text: str) -> tuple[str, bool]:
        """Return the name of the quotient for `key` and whether it is new (then `define` it)."""
        known = self._names.get(("quotient", key))
        return (known, False) if known is not None else (self._add(("quotient", key), text, "quotient"), True)

    def define(self, name: str, definition: Formula, meaning: Meaning | None = None) -> None:
        """Give a quotient its formula; the formula mentions the quotient itself."""
        old = self.atoms[name]
        self.atoms[name] = IslAtom(name, old.text, "quotient", definition=definition, meaning=meaning)
        self._has_extremes = self._has_extremes or isinstance(meaning, Extreme)
        self._has_images = self._has_images or isinstance(meaning, Image)

    def invariant(self, name: str) -> bool:
        """Whether the atom depends on no counter of the region."""
        atom = self.atoms[name]
        if atom.kind == "quotient":
            return all(self.invariant(other) for other in atoms_of(atom.definition) if other != name)
        return atom.kind != "counter" or atom.expr is not None

    def images(self, names: Iterable[str]) -> frozenset[str]:
        """Return the images among `names` and among all atoms that these are defined by: their values are bounded, not
        pinned down, so that a point of a set which mentions one need not be there."""
        if not self._has_images:
            return frozenset()
        seen: set[str] = set()
        pending = list(names)
        while pending:
            name = pending.pop()
            if name not in seen:
                seen.add(name)
                pending += [*atoms_of(self.atoms[name].definition), *self.atoms[name].parts]
        return frozenset(name for name in seen if isinstance(self.atoms[name].meaning, Image))

    def linear(self, polynomial: Polynomial) -> Polynomial | None:
        """Return the polynomial with products of invariant atoms as atoms of their own; None where that fails."""
        terms: dict[Monomial, int] = {}
        for monomial, value in polynomial.terms.items():
            if len(monomial) <= 1:
                terms[monomial] = value
            elif all(self.invariant(name) for name in monomial):
                terms[(self.product(monomial),)] = value
            else:
                return None
        return Polynomial(terms)

    def multiply_out(self, polynomial: Polynomial) -> Polynomial:
        """Return the polynomial with the factors of every product in place of its atom: the inverse of `linear`."""
        total = ZERO
        for monomial, value in polynomial.terms.items():
            flat = tuple(sorted(part for name in monomial for part in (self.atoms[name].parts or (name,))))
            total = total + Polynomial({flat: value})
        return total

    def linear_formula(self, formula: Formula) -> Formula | None:
        """Return the formula with every polynomial linear, or None."""
        if isinstance(formula, Compare):
            polynomial = self.linear(formula.polynomial)
            return None if polynomial is None else Compare(polynomial, formula.equality)
        parts = [self.linear_formula(p) for p in formula.parts]
        kept = [p for p in parts if p is not None]
        if len(kept) != len(parts):
            return None
        return both(kept) if isinstance(formula, And) else either(kept)

    def drop_extremes(self, formula: Formula) -> Formula:
        """Return an equivalent formula whose inequalities mention no extreme; equations keep theirs.

        p + k min(a, b) >= 0 is p + k a >= 0 and p + k b >= 0 where k > 0, and one of the two where k < 0.
        """
        if not self._has_extremes:
            return formula
        if not isinstance(formula, Compare):
            parts = [self.drop_extremes(part) for part in formula.parts]
            distinct = [part for k, part in enumerate(parts) if part not in parts[:k]]
            return both(distinct) if isinstance(formula, And) else either(distinct)
        if formula.equality:
            return formula
        polynomial = formula.polynomial
        for monomial, factor in polynomial.terms.items():
            chosen = self.atoms.get(monomial[0]) if len(monomial) == 1 else None
            meaning = None if chosen is None else chosen.meaning
            if isinstance(meaning, Extreme):
                rest = polynomial.drop_name(monomial[0])
                sides = [Compare(rest + side.scale(factor), False) for side in (meaning.left, meaning.right)]
                return self.drop_extremes(And(tuple(sides)) if meaning.least == (factor > 0) else Or(tuple(sides)))
        return formula

    def product(self, monomial: Monomial) -> str:
        """Return the atom that stands for a product of invariant atoms."""
        flat = tuple(sorted(part for name in monomial for part in (self.atoms[name].parts or (name,))))
        known = self._names.get(("product", flat))
        text = "*".join(self.atoms[name].text for name in flat)
        return known or self._add(("product", flat), text, "product", parts=flat)

    def definitions(self, names: frozenset[str]) -> tuple[frozenset[str], tuple[Formula, ...]]:
        """Return the quotients that `names` need, transitively, and the formulas that pin them down."""
        found: dict[str, Formula] = {}
        pending = list(names)
        while pending:
            name = pending.pop()
            atom = self.atoms[name]
            if atom.kind == "quotient" and name not in found:
                found[name] = self.drop_extremes(atom.definition)
                pending += atoms_of(found[name])
        return frozenset(found), tuple(found.values())

    def text(self, polynomial: Polynomial) -> str:
        """Return a polynomial in the user's names."""
        pieces: list[str] = []
        for monomial, value in sorted(polynomial.terms.items(), key=lambda item: (-len(item[0]), item[0])):
            names = "*".join(self.atoms[n].text for n in monomial)
            sign = "-" if value < 0 else "+"
            size = abs(value)
            body = names if names and size == 1 else (f"{size}*{names}" if names else str(size))
            pieces.append(f"{sign} {body}" if pieces else (f"-{body}" if value < 0 else body))
        return " ".join(pieces) or "0"

    def _add(
        self,
        key: object,
        text: str,
        kind: AtomKind,
        *,
        expr: Expr | None = None,
        low: int | None = None,
        high: int | None = None,
        symbol: Symbol | None = None,
        parts: Monomial = (),
    ) -> str:
        name = f"{re.sub('[^A-Za-z0-9]', '_', text)[:24]}_{len(self.atoms)}"
        name = name if name[0].isalpha() else f"v{name}"
        self.atoms[name] = IslAtom(name, text, kind, expr, low, high, symbol, TRUE, parts)
        self._names[key] = name
        return name
