"""A program of R600 as data, as its text has it (assembly.py):

program  = clause* export*                    clause = Tex lines | bundles of Alu lines, by slot
Alu      = slot name register.component sources clamp          what a bundle reads is what was there before it
Tex      = name register.mask source.swizzle resource sampler  one after the other
Export   = number register.swizzle                             swizzles: x y z w, 0, 1 and _ for nothing
Store    = view [register] register.mask                       component k of a register to word k from x of another on
source   = Gpr | Kc (a constant) | Number, negated or absolute
"""

from __future__ import annotations

from msgspec import Struct

__all__ = [
    "AluBundle", "AluClause", "AluLine", "AluSource", "ExportLine", "Gpr", "Kc", "Number", "R600Code", "StoreLine",
    "TexClause", "TexLine",
]  # fmt: skip


class Gpr(Struct, frozen=True):
    """A component of a register."""

    register: int
    component: str


class Kc(Struct, frozen=True):
    """A component of an element of a constant buffer."""

    buffer: int
    element: int
    component: str


class Number(Struct, frozen=True):
    """A number in the code."""

    bits: int


class AluSource(Struct, frozen=True):
    """What an operation reads, with its modifiers."""

    place: Gpr | Kc | Number
    negate: bool = False
    absolute: bool = False


class AluLine(Struct, frozen=True):
    """One operation in one slot."""

    slot: str
    name: str
    target: Gpr
    sources: tuple[AluSource, ...]
    clamp: bool = False


class AluBundle(Struct, frozen=True):
    """Operations that start together, by slot, x first."""

    lines: tuple[AluLine, ...]


class AluClause(Struct, frozen=True):
    """Bundles one behind the other."""

    bundles: tuple[AluBundle, ...]


class TexLine(Struct, frozen=True):
    """A fetch: SAMPLE at floats, LD at whole numbers, VFETCH from a view at a byte."""

    name: str
    register: int
    mask: str
    source: int
    swizzle: str
    resource: int
    sampler: int


class TexClause(Struct, frozen=True):
    """Fetches one behind the other."""

    lines: tuple[TexLine, ...]


class ExportLine(Struct, frozen=True):
    """What an output gets."""

    number: int
    register: int
    swizzle: str


class StoreLine(Struct, frozen=True):
    """What a view gets."""

    view: int
    address: int
    register: int
    mask: str


class R600Code(Struct, frozen=True):
    """A whole program."""

    clauses: tuple[AluClause | TexClause, ...]
    exports: tuple[ExportLine | StoreLine, ...]

    @property
    def bundles(self) -> int:
        """How many bundles it has."""
        return sum(len(one.bundles) for one in self.clauses if isinstance(one, AluClause))

    @property
    def fetches(self) -> int:
        """How many fetches it has."""
        return sum(len(one.lines) for one in self.clauses if isinstance(one, TexClause))

    @property
    def registers(self) -> int:
        """How many registers it needs: up to the highest that is named."""
        named = [one.register for one in self.exports]
        named += [one.address for one in self.exports if isinstance(one, StoreLine)]
        for clause in self.clauses:
            if isinstance(clause, TexClause):
                named += [number for one in clause.lines for number in (one.register, one.source)]
            else:
                lines = [line for bundle in clause.bundles for line in bundle.lines]
                named += [line.target.register for line in lines]
                named += [s.place.register for line in lines for s in line.sources if isinstance(s.place, Gpr)]
        return max(named, default=-1) + 1
