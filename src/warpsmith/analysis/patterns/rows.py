"""The subscripts of one access of a kernel, from its address as a sum.

    c + 4·n·(16·ctaid.y + tid.y) + 4·(16·ctaid.x + tid.x)      c[16·ctaid.y + tid.y][16·ctaid.x + tid.x]

The factor of each product of parameters is a subscript of its own, as if these were the lengths of rows: an address
that stays whatever the parameters are leaves each of them alone. Numbers are taken apart by digits.py. What is no sum
of the columns is irregular, and follows.py says what may change it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import gcd

from msgspec import Struct, field

from warpsmith.analysis.affine.symbols import Atom, Form
from warpsmith.analysis.memory.accesses import AccessSite
from warpsmith.analysis.patterns.columns import Columns, IndexColumn, substitute
from warpsmith.analysis.patterns.digits import digits, dimensions
from warpsmith.analysis.patterns.follows import Followed
from warpsmith.poly.isl.polynomial import ZERO, Monomial, Polynomial, constant
from warpsmith.poly.patterns.matrices import AffineRow

__all__ = ["Subscripts", "read_subscripts", "write_sum"]


class Subscripts(Struct, frozen=True):
    """`shown`: one row for each dimension, outermost first; `moving`: rows that stay the same exactly where the element
    does, as far as that is known; `finest`: of each dimension what its finest digit is made of."""

    shown: tuple[AffineRow, ...]
    moving: tuple[AffineRow, ...]
    finest: tuple[AffineRow, ...]


class _Part(Struct):
    """What stands beside one product of parameters: an entry for each column, and the columns that the rest follows."""

    entries: list[int]
    follows: set[int] = field(default_factory=set)
    irregular: bool = False
    unknown: dict[Atom, None] = field(default_factory=dict)


def read_subscripts(site: AccessSite, columns: Columns, followed: Followed) -> Subscripts:
    """Return the subscripts of an access."""
    address = None if site.address is None else substitute(_plain(site.address), columns.sums)
    if address is None or site.base is None or site.chosen:
        anything = AffineRow("any element", (), follows=tuple(sorted(followed.all)))
        return Subscripts((anything,), (anything,), (anything,))
    reader = _Reader(columns, followed, {}, {})
    index = address.drop_atoms([site.base])
    for monomial, coefficient in index.terms.items():
        reader.add(monomial, coefficient)
    shown = tuple(reader.rows(_unit(index, site)))
    own = tuple(_irregular("its base", followed.atom(site.base)))
    moving = tuple(digit for row in shown for digit in reader.split(row))
    finest = tuple(reader.split(row)[-1] for row in shown)
    private = tuple(_private(site, columns))
    return Subscripts((*own, *shown), (*own, *private, *moving), (*own, *finest))


def _plain(address: Form) -> Form:
    """Return an address whose numbers do not wrap, and without the windows of memory."""
    return address.drop_atoms(atom for atom in address.atoms() if atom.wraps or "window" in atom.space)


def _unit(index: Form, site: AccessSite) -> int:
    """Return the bytes of one element: what a thread asks for, or a part of it that the address is a multiple of."""
    every = gcd(*index.terms.values())
    return next((unit for unit in (site.bytes, site.element) if every % unit == 0), gcd(every, site.element))


def _irregular(text: str, follows: frozenset[int]) -> Iterator[AffineRow]:
    if follows:
        yield AffineRow(text, (), follows=tuple(sorted(follows)))


def _private(site: AccessSite, columns: Columns) -> Iterator[AffineRow]:
    """Yield a row for each index that tells copies of a variable apart: each block has its own shared memory, each
    thread its own local memory."""
    kinds = {"shared": ("block",), "local": ("block", "thread")}.get(site.space, ())
    for place, column in enumerate(columns.columns):
        if column.kind in kinds:
            yield _row([int(k == place) for k in range(len(columns.columns))], ZERO, columns)


class _Reader(Struct):
    """Takes the terms of an index; `parts` and `rest` by the product of parameters: what columns move, and the rest."""

    columns: Columns
    followed: Followed
    parts: dict[Monomial, _Part]
    rest: dict[Monomial, int]

    def add(self, monomial: tuple[Atom, ...], coefficient: int) -> None:
        """Take one term."""
        places = self.columns.places
        fixed = tuple(sorted(_label(a) for a in monomial if not self.followed.atom(a)))
        others = [a for a in monomial if self.followed.atom(a)]
        if not others:
            self.rest[fixed] = self.rest.get(fixed, 0) + coefficient
            return
        part = self.parts.setdefault(fixed, _Part([0] * len(self.columns.columns)))
        if len(others) == 1 and others[0] in places:
            part.entries[places[others[0]]] += coefficient
        else:
            part.irregular = True
            part.follows |= set().union(*map(self.followed.atom, others))
            part.unknown |= dict.fromkeys(a for a in others if a not in places)

    def rows(self, unit: int) -> Iterator[AffineRow]:
        """Yield the rows, outermost first, in elements."""
        order = sorted(self.parts.keys() | {()}, key=lambda fixed: -len(fixed))
        rests = self._rests(order, unit)
        for fixed in order:
            part = self.parts.get(fixed, _Part([0] * len(self.columns.columns)))
            if part.irregular:
                moved = {k for k, entry in enumerate(part.entries) if entry}
                follows = tuple(sorted(part.follows | moved))
                yield AffineRow(self._unknown(part, follows), (), follows=follows)
            elif fixed:
                yield _row([entry // unit for entry in part.entries], rests[fixed], self.columns)
            else:
                yield from self._dimensions([entry // unit for entry in part.entries], rests[fixed])

    def _unknown(self, part: _Part, follows: Sequence[int]) -> str:
        """Return what is known of an index that is no sum: where it is read, else the columns that it follows."""
        read = dict.fromkeys(name for atom in part.unknown for name in self.followed.sources(atom))
        if read and all(map(self.followed.sources, part.unknown)):
            return f"index read from {' and '.join(read)}"
        columns = self.columns.columns
        known = 0 < len(follows) < len(columns) or len(columns) == 1
        return f"index that follows {', '.join(columns[k].name for k in follows)}" if known else "unknown index"

    def _rests(self, order: Sequence[Monomial], unit: int) -> dict[Monomial, Polynomial]:
        """Return what is added in each row: `n` beside a row of n elements is 1, elsewhere a parameter."""
        found = dict.fromkeys(order, ZERO)
        for monomial, coefficient in self.rest.items():
            home = next((fixed for fixed in order if fixed and _divides(fixed, monomial)), ())
            found[home] += Polynomial({_divide(monomial, home): coefficient // unit})
        return found

    def _dimensions(self, entries: Sequence[int], rest: Polynomial) -> Iterator[AffineRow]:
        """Yield the rows of what only numbers stand beside; a number that is added goes to the nearest of
        them. Beside rows of parameters it is one subscript."""
        numbered = not any(self.parts)
        made = dimensions(entries, self.columns.columns) if numbered else (tuple(entries),)
        for row in made[:-1]:
            width = gcd(*row)
            over = (2 * rest.constant_term + width) // (2 * width) * width
            yield _row([entry // width for entry in row], constant(over // width), self.columns)
            rest = rest.shift(-over)
        yield _row(made[-1], rest, self.columns)

    def split(self, row: AffineRow) -> list[AffineRow]:
        """Return the digits of a row, coarsest first; what is added goes to the finest."""
        if row.irregular:
            return [row]
        made = digits([c.constant_term for c in row.counters], self.columns.columns)
        return [_row(entries, row.rest if entries is made[-1] else ZERO, self.columns) for entries in made]


def _row(entries: Sequence[int], rest: Polynomial, columns: Columns) -> AffineRow:
    counters = tuple(constant(entry) if entry else ZERO for entry in entries)
    named = Polynomial(dict(reversed(list(_terms(entries, columns.columns)))))
    return AffineRow(write_sum(Polynomial({**named.terms, **rest.terms})), counters, rest)


def _terms(entries: Sequence[int], columns: Sequence[IndexColumn]) -> Iterator[tuple[Monomial, int]]:
    """Yield the terms of a text, last first: 8 times `start/8` is `start`, 16 times `tid.x/16` with `tid.x%16` is
    `tid.x`."""
    place = len(columns) - 1
    while place >= 0:
        column, entry, first = columns[place], entries[place], place
        while first and entry and _goes_on(entries, columns, first):
            first -= 1
        name = _part_name(columns, first, place) if column.kind == "thread" else column.name
        place = first - 1
        counter, _, step = name.partition("/")
        if column.kind == "loop" and step and entry % int(step) == 0:
            yield (counter,), entry // int(step)
        elif entry:
            yield (f"({name})" if entry != 1 and {*name} & {*"/%"} else name,), entry


def _goes_on(entries: Sequence[int], columns: Sequence[IndexColumn], place: int) -> bool:
    """Whether a digit and the coarser one before it are digits of one number."""
    one, other = columns[place - 1], columns[place]
    alike = one.kind == other.kind == "thread" and one.axis == other.axis
    return alike and entries[place - 1] * other.width == entries[place] * one.width


def _part_name(columns: Sequence[IndexColumn], first: int, last: int) -> str:
    """Return the name of some digits of one axis together: `tid.x%64/4`."""
    axis, width = columns[last].axis, columns[last].width
    cut = first > 0 and columns[first - 1].kind == "thread" and columns[first - 1].axis == axis
    over = f"%{columns[first - 1].width}" if cut else ""
    return f"tid.{axis}{over}{f'/{width}' if width > 1 else ''}"


def write_sum(value: Polynomial) -> str:
    """Return a sum for people: `16·ctaid.y + tid.y - 1`."""
    text = ""
    for monomial, coefficient in sorted(value.terms.items(), key=lambda term: not term[0]):
        number = "" if abs(coefficient) == 1 and monomial else str(abs(coefficient))
        sign = ("- " if text else "-") if coefficient < 0 else "+ " if text else ""
        text += f"{' ' if text else ''}{sign}{'·'.join(filter(None, (number, *monomial)))}"
    return text or "0"


def _label(atom: Atom) -> str:
    """Return a name for an unknown: its own where it is a parameter, else one that no other has."""
    return atom.name if atom.argument or atom.of_grid else f"{atom.name}.{atom.number}"


def _divides(part: Monomial, whole: Monomial) -> bool:
    return all(whole.count(name) >= part.count(name) for name in part)


def _divide(whole: Monomial, part: Monomial) -> Monomial:
    left = list(whole)
    for name in part:
        left.remove(name)
    return tuple(left)
