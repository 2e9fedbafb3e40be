"""Integer polynomials over named atoms (counters, parameters, quotients): what a C integer expression means.

An affine expression is a polynomial whose monomials have at most one atom. A linearized subscript `k*N + j` is the
polynomial {(N, k): 1, (j,): 1}: the products are kept, so that delinearization can take them apart again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from msgspec import Struct

__all__ = ["ONE", "ZERO", "Monomial", "Polynomial", "atom", "constant"]

Monomial = tuple[str, ...]


class Polynomial(Struct, frozen=True):
    """Sum of coefficient * product of atoms; a monomial is the sorted tuple of its atoms' names. No zero terms."""

    terms: Mapping[Monomial, int]

    def __add__(self, other: Polynomial) -> Polynomial:
        return _collect((*self.terms.items(), *other.terms.items()))

    def __neg__(self) -> Polynomial:
        return Polynomial({m: -c for m, c in self.terms.items()})

    def __sub__(self, other: Polynomial) -> Polynomial:
        return _collect((*self.terms.items(), *((m, -c) for m, c in other.terms.items())))

    def __mul__(self, other: Polynomial) -> Polynomial:
        return _collect((tuple(sorted((*a, *b))), c * d) for a, c in self.terms.items() for b, d in other.terms.items())

    def scale(self, factor: int) -> Polynomial:
        """Return the polynomial times a number."""
        return Polynomial({m: c * factor for m, c in self.terms.items()} if factor else {})

    def shift(self, amount: int) -> Polynomial:
        """Return the polynomial plus a number."""
        return self + constant(amount)

    @property
    def constant_term(self) -> int:
        """The number that stands alone."""
        return self.terms.get((), 0)

    @property
    def number(self) -> int | None:
        """The value where the polynomial is a number, else None."""
        return self.constant_term if not any(self.terms.keys() - {()}) else None

    @property
    def degree(self) -> int:
        """The greatest number of atoms in a monomial."""
        return max((len(m) for m in self.terms), default=0)

    def atoms(self) -> frozenset[str]:
        """Return the names of all atoms."""
        return frozenset().union(*self.terms)

    def coefficient(self, name: str) -> Polynomial | None:
        """Return q where self = q * name + (terms without name); None where name occurs squared."""
        result: dict[Monomial, int] = {}
        for monomial, value in self.terms.items():
            if monomial.count(name) > 1:
                return None
            if name in monomial:
                result[tuple(n for n in monomial if n != name)] = value
        return Polynomial(result)

    def drop_name(self, name: str) -> Polynomial:
        """Return the terms that do not mention `name`."""
        return Polynomial({m: c for m, c in self.terms.items() if name not in m})

    def substitute(self, name: str, value: Polynomial) -> Polynomial:
        """Return self with `name` replaced."""
        result = ZERO
        for monomial, factor in self.terms.items():
            term = constant(factor)
            for part in monomial:
                term = term * (value if part == name else atom(part))
            result = result + term
        return result

    def rename(self, rename: Callable[[str], str]) -> Polynomial:
        """Return self with every atom renamed."""
        return _collect((tuple(sorted(rename(n) for n in m)), c) for m, c in self.terms.items())


def _collect(terms: Iterable[tuple[Monomial, int]]) -> Polynomial:
    result: dict[Monomial, int] = {}
    for monomial, value in terms:
        result[monomial] = result.get(monomial, 0) + value
    return Polynomial({m: c for m, c in result.items() if c})


def constant(value: int) -> Polynomial:
    """Return a number as a polynomial."""
    return Polynomial({(): value} if value else {})


def atom(name: str) -> Polynomial:
    """Return the polynomial that is one atom."""
    return Polynomial({(name,): 1})


ZERO = constant(0)
ONE = constant(1)
