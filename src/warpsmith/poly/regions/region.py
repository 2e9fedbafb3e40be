"""A region of the program as a mathematical object: statements with iteration domains and accesses.

    Region     = scope (statements of one block), statements, context, assumptions
    Statement  = node, loops around it inside the scope, domain over their counters, accesses
    Access     = base variable, place (which pointer), path
    Path       = steps: Subscript | MemberStep | TableStep | RowStep
                 s->rows[k].w[i]      MemberStep(rows) Subscript(k) MemberStep(w) Subscript(i)
                 a[idx[e]]            TableStep(idx) Subscript(e)
                 m[starts[e] + i]     TableStep(starts) Subscript(e) RowStep Subscript(i)

A parameter is any integer that does not change in the scope; the counters of loops around the scope are such
parameters, with what is known of their range in `context`. `exact` is False where the domain is only a superset
(a condition on data, a statement inside a `while`): the statement may run there, or not.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from typing import Final

from msgspec import Struct, field
from msgspec.structs import replace

from warpsmith.poly.isl.formula import Formula
from warpsmith.poly.isl.polynomial import Polynomial
from warpsmith.poly.isl.vocabulary import AtomVocabulary
from warpsmith.tree.nodes import Expr, For, Node, Stmt
from warpsmith.tree.program import Assumption
from warpsmith.tree.types import Symbol, Type

__all__ = [
    "ROW_STEP",
    "Access",
    "Arm",
    "Element",
    "MemberStep",
    "NamedStep",
    "Path",
    "Region",
    "RowStep",
    "RunsWhen",
    "Statement",
    "StatementEntry",
    "Subscript",
    "TableStep",
    "ViewStep",
]


class Subscript(Struct, frozen=True):
    """One subscript: its value (None: any), the extent of its dimension (None: the outermost, or not known), and
    whether 0 <= value < extent is proved or guarded."""

    value: Polynomial | None
    extent: Polynomial | None = None
    bounded: bool = True


class MemberStep(Struct, frozen=True):
    """A member of a struct: two of different names share no memory."""

    name: str

    @property
    def text(self) -> str:
        """The step as the user writes it."""
        return self.name


class TableStep(Struct, frozen=True):
    """What follows is the place in a table whose entries all differ, not that in the object itself."""

    table: str

    @property
    def text(self) -> str:
        """The step in the words of messages."""
        return f"@{self.table}"


class RowStep(Struct, frozen=True):
    """What follows is the place in the row that the subscript before names."""

    @property
    def text(self) -> str:
        """The step in the words of messages."""
        return "@"


class ViewStep(Struct, frozen=True):
    """What follows are subscripts of view `number` of the object, which say nothing about elements of other views."""

    number: int


ROW_STEP: Final = RowStep()

NamedStep = MemberStep | TableStep | RowStep
Path = tuple[Subscript | NamedStep, ...]
Element = tuple[Polynomial | NamedStep | ViewStep, ...]
"""Comparable subscripts of a reference with the other steps between them; a ViewStep leads those that see the object in
another shape than most (views.py)."""


class Access(Struct, frozen=True):
    """One reference. `place` names the pointer behind which the elements lie (`s->data`), "" for the base itself.

    `known` is False where nothing is known but the base: any element, of any shape (a call that is given the pointer).
    `element` is the type of what is read or written.
    """

    expr: Expr
    base: Symbol
    place: str
    path: Path
    known: bool
    element: Type
    write: bool

    @property
    def part(self) -> Path:
        """The steps from an element of the array inwards; none where the reference is to whole elements."""
        inner = (n for n, step in enumerate(self.path) if not isinstance(step, Subscript))
        return self.path[next(inner, len(self.path)) :]

    def of_whole_elements(self) -> Access:
        """Return the reference without these steps: elements are counted in whole structs."""
        return replace(self, path=self.path[: len(self.path) - len(self.part)])


class RunsWhen(IntEnum):
    """What decides whether a statement runs at a point of its domain at which the images have their values: nothing
    more, so that it does; data that the program reads; or something that was not understood."""

    UNKNOWN = 0
    ON_DATA = 1
    ALWAYS = 2


class Arm(Struct, frozen=True):
    """One of the two arms of a branch, where it is not known which one runs: exactly one does at each point of the
    branch, whose `counters` are that many of the outermost ones. `branch`: its number in the order of the walk."""

    branch: int
    holds: bool
    counters: int


class Statement(Struct, frozen=True):
    """A piece of the program that runs once for each point of its domain (if `exact`; else at most so).

    `within` are the tree's statements that it is part of, outermost first. `runs`: what decides besides the domain
    (`exact`: nothing, and there are no images in the domain and in the accesses). `arms`: those of branches not known
    in which it stands, outermost first; `in_arms`: points at which it runs if all these do (None: not known)."""

    node: Node
    loops: tuple[For, ...]
    counters: tuple[str, ...]
    domain: Formula
    exact: bool
    accesses: tuple[Access, ...]
    within: tuple[Stmt, ...] = ()
    runs: RunsWhen = RunsWhen.UNKNOWN
    arms: tuple[Arm, ...] = ()
    in_arms: Formula | None = None


class StatementEntry(Struct, frozen=True):
    """Where a statement of the tree is entered: for the points of `path` (if `exact`; else at most there)."""

    loops: tuple[For, ...]
    counters: tuple[str, ...]
    path: tuple[Formula, ...]
    exact: bool


class Region(Struct, frozen=True):
    """The model of `scope`. `unproved`: side conditions that were needed and neither proved nor guarded, in words.

    `broken` are loops whose counter may repeat a value (it may wrap around): such a loop's iterations cannot be told
    apart by their counter; the text says why. `reached`: `context` is all that it takes for the scope to be entered.
    `entries` has every statement of the tree below the scope (one that stands there twice: where it stands last).
    """

    scope: tuple[Stmt, ...]
    vocabulary: AtomVocabulary
    statements: tuple[Statement, ...]
    outer: tuple[tuple[For, str], ...]
    context: Formula
    assumptions: tuple[Assumption, ...]
    unproved: tuple[str, ...]
    broken: dict[For, str]
    reached: bool
    entries: Mapping[Stmt, StatementEntry] = field(default_factory=dict)
