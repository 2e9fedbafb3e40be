"""A memo of the answers about functions, kept from program to program, and the world: all that the answers about one
function rest on besides its text and its callees.

    program 1   main → step → flux          summary(step) = F(text of step, summary(flux), world)
    program 2   main → step → flux'         flux' says what flux said: step and main are not asked again

Invariant: an answer is found again only under everything that it was made from: the function's node (nodes never
change), the summaries and parameters of all that it calls, and the world: the functions that are defined, the tables of
effects, what is known of other files, the variables of static storage with their types, and the watched names in use.
So rewriting one function costs that function, and its callers where its summary changed.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable
from typing import TypeVar, cast

from msgspec import Struct, field

from warpsmith.poly.effects.global_pointers import GlobalSurvey
from warpsmith.poly.effects.outside import Outside
from warpsmith.poly.effects.summary import Summary
from warpsmith.poly.pointers.pointers import Provenance
from warpsmith.tree.effects.effects import EffectsTable, FunctionEffects
from warpsmith.tree.nodes import Call, Function, Node
from warpsmith.tree.types import Symbol, Type
from warpsmith.tree.walk import walk

__all__ = ["FunctionPiece", "KnownCallee", "World", "remember", "world_of"]

T = TypeVar("T")

# functions and calls of one world, worlds of one process
_MOST_PIECES = 4096
_MOST_CALLS = 65_536
_MOST_WORLDS = 8


class KnownCallee(Struct, frozen=True):
    """A function that the program defines, as one that calls it sees it."""

    symbol: Symbol
    parameters: tuple[Symbol, ...]
    summary: Summary


class FunctionPiece(Struct, eq=False):
    """What is known of one function, given its callees; `answers` are those to further questions."""

    function: Function
    provenance: Provenance
    summary: Summary
    answers: dict[Hashable, object] = field(default_factory=dict)
    _nodes: frozenset[Node] | None = field(default=None)

    def has(self, node: Node) -> bool:
        """Whether a node is a part of the function's text."""
        if self._nodes is None:
            self._nodes = frozenset(walk(self.function))
        return node in self._nodes


class World(Struct, frozen=True, eq=False):
    """The memo of the programs that agree in all but the texts of functions. Two worlds are the same only if they are
    one object."""

    callees: dict[Function, tuple[Symbol, ...]] = field(default_factory=dict)
    library: dict[Call, FunctionEffects | None] = field(default_factory=dict)
    _pieces: dict[tuple[Function, tuple[KnownCallee, ...]], FunctionPiece] = field(default_factory=dict)

    def piece(
        self, function: Function, callees: tuple[KnownCallee, ...], make: Callable[[], FunctionPiece]
    ) -> FunctionPiece:
        """Return what is known of a function that calls `callees`, worked out when it is first asked."""
        key = (function, callees)
        known = self._pieces.get(key)
        if known is None:
            known = self._pieces[key] = make()
            self._limit_size()
        return known

    def _limit_size(self) -> None:
        if len(self._pieces) > _MOST_PIECES or len(self.library) > _MOST_CALLS:
            self._pieces.clear()
            self.callees.clear()
            self.library.clear()


def remember(answers: dict[Hashable, object], question: Hashable, answer: Callable[[], T]) -> T:
    """Return the answer to a question, worked out when it is first asked."""
    if question not in answers:
        answers[question] = answer()
    return cast(T, answers[question])


class _Key(Struct, frozen=True):
    """What tells one world from another."""

    defined: frozenset[Symbol]
    effects: EffectsTable
    outside: Outside
    variables: frozenset[tuple[Symbol, Type, str, bool]]
    stable: frozenset[Symbol]
    taken: frozenset[Symbol]
    watched: frozenset[str]


def world_of(
    defined: frozenset[Symbol], effects: EffectsTable, outside: Outside, survey: GlobalSurvey, mentioned: frozenset[str]
) -> World:
    """Return the world of a program: the same object for programs whose worlds agree."""
    variables = frozenset((s, s.type, s.storage, bool(getattr(s.type, "const", False))) for s in survey.persistent)
    watched = effects.find_watched() & mentioned
    return _world(_Key(defined, effects, outside, variables, survey.stable, survey.address_taken, watched))


@functools.lru_cache(maxsize=_MOST_WORLDS)
def _world(key: _Key) -> World:
    return World()
