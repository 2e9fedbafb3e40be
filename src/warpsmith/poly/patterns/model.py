"""The access patterns of a nest as data.

    AccessNest       = spaces: one for each run of loops that stand around references
    Space      = counters (outermost first), references, reuse between them, pairs with equal rows
    ArrayReference  = text, rows (one for each dimension of the array), rank, classes, directions of reuse

A direction has one whole number for each counter: the element that an iteration p touches is touched by p + direction
as well. The rows of a reference are its access matrix F; its columns are the counters, the parameters, and 1.
Source: the matrices of data placement by access patterns (DPoMAP); reuse as the kernel of F: Wolf and Lam, A data
locality optimizing algorithm, PLDI 1991.
"""

from __future__ import annotations

from msgspec import Struct

from warpsmith.base.source import Span

__all__ = ["AccessNest", "Alike", "ArrayReference", "Counter", "Direction", "GroupReuse", "MatrixRow", "Space"]

Direction = tuple[int, ...]
Entry = int | str
"""A number, or what parameters make of it (`2*n`)."""


class MatrixRow(Struct, frozen=True):
    """One dimension of an array: its subscript is the sum of the columns times their entries. `irregular`: it is no
    such sum; then the entries are 0, and `follows` names the counters (by place) that may change it."""

    text: str
    counters: tuple[Entry, ...]
    parameters: tuple[Entry, ...]
    constant: int
    irregular: bool = False
    follows: tuple[int, ...] = ()


class Counter(Struct, frozen=True):
    """A loop of the nest: its counter (with the key of its variable), the address of the loop, and its header. Of a
    kernel, an index of its threads or blocks (`loop`: "") as well; a PTX file may have no places."""

    name: str
    key: str
    loop: str
    header: Span | None


class ArrayReference(Struct, frozen=True):
    """One array reference; equal ones of a space are one. `reuse`: a basis of the directions along which its element
    stays the same; `classes`: what the pattern is called (see classes.py); `visits`: the subscripts that it has in a
    small instance, in order (see sample.py)."""

    text: str
    array: str
    span: Span | None
    reads: bool
    writes: bool
    rows: tuple[MatrixRow, ...]
    rank: int
    classes: tuple[str, ...]
    reuse: tuple[Direction, ...]
    visits: tuple[tuple[int, ...], ...] = ()


class GroupReuse(Struct, frozen=True):
    """What `later` touches in iteration p + direction, `earlier` has touched in iteration p (both by their place among
    the references); the direction is lexicographically positive, or zero."""

    earlier: int
    later: int
    direction: Direction


class Alike(Struct, frozen=True):
    """Two arrays, each used again in the nest, whose matrices have these rows in common (their texts)."""

    first: str
    second: str
    rows: tuple[str, ...]


class Space(Struct, frozen=True):
    """The iterations of some loops, one in the other, with what is referenced there."""

    counters: tuple[Counter, ...]
    parameters: tuple[str, ...]
    references: tuple[ArrayReference, ...]
    groups: tuple[GroupReuse, ...]
    alike: tuple[Alike, ...]
    one_nest: tuple[Direction, ...]

    @property
    def depth(self) -> int:
        """The number of loops."""
        return len(self.counters)


class AccessNest(Struct, frozen=True):
    """A loop with all that stands in it; `loop` is its address, `outer` are the keys of the counters around it."""

    loop: str
    header: Span
    outer: tuple[str, ...]
    spaces: tuple[Space, ...]
