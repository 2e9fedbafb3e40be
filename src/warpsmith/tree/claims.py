"""The claims that the user's OpenMP and OpenACC pragmas make about a loop.

    #pragma omp parallel private(u)                     the region: each thread has its own u
    {
        #pragma omp for collapse(2) reduction(+: s)     the claim: of two loops, with its clauses and the region's
        for (i …) for (j …) { … }
    }

A claim says: run these iterations on any threads, with these variables owned by each, and what the program computes
stays what it is. Names are resolved to the variables that the loop uses; a variable that the loop does not use has no
part in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct, field

from warpsmith.base.c_lexer import join_splices
from warpsmith.base.source import Span
from warpsmith.tree.nodes import For, Loop, Pragma, Stmt
from warpsmith.tree.text.directives import Directive
from warpsmith.tree.types import Symbol

__all__ = ["Claim", "ClaimKind", "Protected", "Protection"]

Protection = Literal["atomic", "critical", "ordered"]
ClaimKind = Literal["threads", "simd"]


class Protected(Struct, frozen=True, eq=False):
    """A statement under `atomic`, `critical` or `ordered`; `name` tells critical sections apart."""

    kind: Protection
    name: str
    statement: Stmt
    directive: Directive


class Claim(Struct, frozen=True, eq=False):
    """One loop pragma with all that holds for its loop.

    `marked` is the loop behind the pragma, `loops` the counted ones that the claim covers (`collapse`), outermost
    first; none where the loop is not what the pragma needs. `region` is the pragma of the parallel region around it,
    where that is another one. `inner`: what pragmas of loops inside give to each of their iterations, and nothing else
    in the loop names. `unclaimed`: clauses, or things in the loop, that are not understood, in words.
    """

    kind: ClaimKind
    pragma: Pragma
    directive: Directive
    marked: Loop
    loops: tuple[For, ...]
    region: Pragma | None = None
    private: frozenset[Symbol] = frozenset()
    firstprivate: frozenset[Symbol] = frozenset()
    lastprivate: frozenset[Symbol] = frozenset()
    linear: frozenset[Symbol] = frozenset()
    reductions: Mapping[Symbol, str] = field(default_factory=dict)
    inner: frozenset[Symbol] = frozenset()
    protected: tuple[Protected, ...] = ()
    unclaimed: tuple[str, ...] = ()

    @property
    def span(self) -> Span:
        """Where the pragma stands."""
        return self.pragma.span

    @property
    def owned(self) -> frozenset[Symbol]:
        """The variables of which every thread has its own."""
        lists = self.private | self.firstprivate | self.lastprivate | self.linear
        return lists | self.reductions.keys()

    @property
    def differing(self) -> frozenset[Symbol]:
        """The variables that may have another value in each thread before the loop starts: the region's, not those that
        the loop's own pragma lists."""
        own = self.directive.list_variables("private", "firstprivate", "lastprivate", "linear", "reduction")
        counters = {loop.variable for loop in self.loops}
        return frozenset(s for s in self.owned if s.name not in own and s not in counters)

    @property
    def nowait(self) -> bool:
        """Whether threads go on without waiting for each other."""
        return self.directive.has("nowait") and "parallel" not in self.directive.words

    @property
    def text(self) -> str:
        """The pragma on one line, as a reader would quote it."""
        return " ".join(join_splices(self.pragma.text).split())
