"""Answers of isl about one region, remembered for all who ask: each works on a copy of the region's state.

    state of the loop i ──► copy: its dependences     subscript j < N on the domain of a[i][j]?   asked of isl
                        └─► copy: its sections        the same                                    remembered

Invariant: a question holds formulas by identity, which an answer keeps alive, and atoms by name. A name means the same
to two states that were copied from one another only where both had it then, so that answers about others stay apart.
"""

from __future__ import annotations

from collections.abc import Hashable

from msgspec import Struct, field

__all__ = ["RegionAnswers"]


class RegionAnswers(Struct):
    """`before`: the answers of the state that this one was copied from, which had the atoms `shared`."""

    before: RegionAnswers | None = None
    shared: frozenset[str] = frozenset()
    _known: dict[Hashable, tuple[bool, tuple[object, ...]]] = field(default_factory=dict)

    def find(self, question: Hashable, atoms: frozenset[str]) -> bool | None:
        """Return the answer to a question about `atoms`; None where it was not asked."""
        known = self._place(atoms)._known.get(question)
        return None if known is None else known[0]

    def add(self, question: Hashable, atoms: frozenset[str], kept: tuple[object, ...], *, yes: bool) -> bool:
        """Remember an answer and return it; `kept`: what the question holds by identity."""
        self._place(atoms)._known[question] = yes, kept
        return yes

    def _place(self, atoms: frozenset[str]) -> RegionAnswers:
        """Return the oldest answers among whose atoms these are."""
        found = self
        while found.before is not None and atoms <= found.shared:
            found = found.before
        return found
