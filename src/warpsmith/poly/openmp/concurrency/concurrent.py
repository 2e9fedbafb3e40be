"""Instances of a shared loop and of statements around it that touch one element while nobody waits in between.

    #pragma omp for nowait
    for (i …) a[i] = …;            who runs what: iteration i some thread,
    #pragma omp master
    h = a[3];                      this the first one, which does not wait for the others

Of each phase (phases.py) the loop and the phase's statements are modelled together, and each access of the loop is
compared with each of theirs. Pairs that one thread certainly runs are left out (schedules.py). Invariant: a meeting has
a `conflict` only where two instances certainly run, in whatever order, on two threads for some number of threads, and
touch one element, one of them writing; where no meeting is found no two instances do.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from warpsmith.base.verdict import Reason
from warpsmith.poly.aliasing.overlap import overlaps
from warpsmith.poly.analyze import Facts
from warpsmith.poly.claimed import ParallelRegion, claims_of, find_protected_in, marked_statements, regions_of
from warpsmith.poly.dependences.dependences import (
    Conflict,
    Reference,
    atoms_of_reference,
    meaningful,
    overlap,
    references,
)
from warpsmith.poly.isl.formula import atoms_of
from warpsmith.poly.isl.space import Map, OutOfBudgetError, later_round
from warpsmith.poly.openmp.concurrency.phases import WaitPhase, Walls, phases, waiting_functions
from warpsmith.poly.openmp.concurrency.schedules import Runner, on_other_threads
from warpsmith.poly.regions.model import build_region
from warpsmith.poly.regions.region import Region, Statement
from warpsmith.poly.regions.state import State
from warpsmith.tree.claims import Claim, Protected
from warpsmith.tree.nodes import DeclStmt, For, Function, Node, Pragma, Stmt
from warpsmith.tree.program import Assumption
from warpsmith.tree.text.directives import Directive
from warpsmith.tree.types import Pointer, Symbol
from warpsmith.tree.walk import names, walk

__all__ = ["Asked", "PhaseModel", "PossibleRace", "find_phases", "is_between_teams"]

_MOST_PAIRS = 4_000
_OWN_LISTS = ("private", "firstprivate", "lastprivate", "linear", "reduction")
_ONE_THREAD = frozenset({("single",), ("sections",), ("section",), ("critical",), ("atomic",)})
_ONLY_SAID = frozenset({("simd",), ("ordered",), ("ordered", "simd")})


class Asked(Struct, frozen=True):
    """The loop that is asked about; `owned`: the variables of which each iteration has its own."""

    facts: Facts
    function: Function
    claim: Claim
    owned: frozenset[Symbol]
    guards: bool = False

    @property
    def region(self) -> ParallelRegion | None:
        """The region whose threads, or teams, share the loop; None where it is somewhere else."""
        teams, loop = is_between_teams(self.claim), self.claim.marked
        for one in reversed(regions_of(self.function)):
            around = any(n is loop for n in walk(one.body)) and "teams" in one.directive.words
            if around if teams else one.pragma is self.claim.region:
                return one
        return None

    @property
    def root(self) -> Node:
        """The parallel region's body, or the function's where the region is somewhere else."""
        region = self.region
        return self.function.body if region is None else region.body


class PossibleRace(Struct, frozen=True):
    """An access of the loop and one beside it that may be of one element; `conflict`: they certainly are, somewhere.
    `kept_apart`: they are protected by the same, so that only their order is open."""

    loop_side: Reference
    other_side: Reference
    conflict: Conflict | None
    kept_apart: bool = False


def is_between_teams(claim: Claim) -> bool:
    """Whether the iterations go to teams, not to the threads of one team."""
    return claim.directive.words[:1] == ("distribute",)


def find_phases(asked: Asked, *, forward: bool) -> tuple[list[WaitPhase], bool]:
    """Return what may run while the loop runs, and whether the function is left without a wait."""
    summaries, program = asked.facts.summaries, asked.facts.program
    waiting = summaries.remember(("functions that wait",), lambda: waiting_functions(program))
    walls = Walls(is_between_teams(asked.claim), waiting)
    found, left = phases(asked.function, asked.root, asked.claim.marked, walls, forward=forward)
    return found, left and asked.region is None


class PhaseModel(Struct):
    """One phase with its model. `assumptions` and `doubts`: of names for one memory."""

    asked: Asked
    phase: WaitPhase
    forward: bool
    region: Region
    state: State
    marks: Mapping[int, tuple[Pragma, ...]]
    own: frozenset[Symbol]
    differing: frozenset[str]
    uneven: bool
    protected: tuple[Protected, ...]
    assumptions: list[Assumption] = field(default_factory=list)
    doubts: list[Reason] = field(default_factory=list)

    @classmethod
    def of(cls, asked: Asked, phase: WaitPhase, *, forward: bool) -> PhaseModel:
        """Model a phase. Raises OutOfBudgetError."""
        origin = asked.facts.origin(asked.function)
        granted = asked.facts.options.granted if asked.guards else ()
        region, state = build_region(origin, phase.scope, phase.around, guards=asked.guards, granted=granted)
        root = asked.root
        marks = {id(stmt): pragmas for pragmas, stmt in marked_statements(asked.function.body)}
        own = frozenset(
            symbol for symbol in (*_declared(root), *asked.owned) if symbol.storage not in ("static", "static local")
        )
        differing = _differing(asked, root, own)
        inside = [loop for loop in phase.around if any(n is loop for n in walk(root))]
        bounds = (name for loop in inside if isinstance(loop, For) for end in (loop.lower, loop.bound)
                  for name in names(end))  # fmt: skip
        counters = {loop.variable.name for loop in inside if isinstance(loop, For)}
        uneven = any(name.symbol.name in differing - counters for name in bounds)
        found = cls(asked, phase, forward, region, state, marks, own, differing, uneven,
                    find_protected_in(asked.function.body))  # fmt: skip
        found._judge_names()
        return found

    def _judge_names(self) -> None:
        """Collect what must hold so that two names of the loop and of what stands beside it are not one memory."""
        loop, other = (
            frozenset(a.base for s in self.region.statements if is_there(s) for a in s.accesses)
            for is_there in (self.is_in_loop, self.is_beside)
        )
        both_sides = [s for s in self.region.statements if self.is_in_loop(s) or self.is_beside(s)]
        region = replace(self.region, statements=tuple(both_sides), assumptions=tuple(self.state.assumptions))
        origin = self.asked.facts.origin(self.asked.function)
        assumptions, doubts = overlaps(
            origin, self.phase.scope, region, self.asked.facts.options, guards=self.asked.guards,
            among=lambda a, b: (a in loop and b in other) or (b in loop and a in other),
        )  # fmt: skip
        if other:
            self.assumptions += assumptions
            self.doubts += doubts

    def is_in_loop(self, statement: Statement) -> bool:
        """Whether a statement is part of the loop that is asked about, its header too."""
        return any(stmt is self.asked.claim.marked for stmt in statement.within)

    def is_beside(self, statement: Statement) -> bool:
        """Whether a statement is one of the phase."""
        phase = self.phase
        return any(stmt in phase.whole for stmt in statement.within) or (
            bool(statement.within) and statement.within[-1] in phase.heads
        )

    def is_sure(self, statement: Statement) -> bool:
        """Whether nothing that the model does not see decides that a thread comes to a statement of the phase."""
        reached = any(stmt in self.phase.sure for stmt in statement.within)
        return reached and self.phase.straight and self.region.reached and not self.uneven

    def meetings(self) -> Iterator[PossibleRace]:
        """Yield the accesses of the loop that may meet one of the phase."""
        skip = self.asked.owned | self.own
        groups = references(self.state, self.region, skip, self._owner)
        pairs = [pair for group in groups for pair in self._pairs(group)]
        if len(pairs) > _MOST_PAIRS:
            raise OutOfBudgetError(f"{len(pairs):,} pairs of accesses would have to be compared")
        for one, other in pairs:
            found = self._meet(one, other)
            if found is not None:
                yield found

    def _owner(self, statement: Statement) -> object:
        marked = [id(s) for s in statement.within if id(s) in self.marks or s is self.asked.claim.marked]
        return (self.is_in_loop(statement), self.is_beside(statement), self.is_sure(statement), tuple(marked),
                len(statement.loops))  # fmt: skip

    def _pairs(self, group: Sequence[Reference]) -> Iterator[tuple[Reference, Reference]]:
        for one in (r for r in group if self.is_in_loop(r.statement)):
            for other in (r for r in group if self.is_beside(r.statement)):
                if (one.access.write or other.access.write) and not self._has_own(other):
                    yield one, other

    def _has_own(self, reference: Reference) -> bool:
        """Whether a construct around an access lists its variable as the thread's own."""
        if isinstance(reference.access.base.type, Pointer):
            return False
        listed = (d.list_variables("private", "linear") for d in self._directives(reference.statement))
        return any(reference.access.base.name in variables for variables in listed)

    def _meet(self, one: Reference, other: Reference) -> PossibleRace | None:
        found = overlap(self.state, one, other)
        relation = None if found is None or found.relation is None else self._in_rounds(found.relation, one, other)
        if found is None or relation is None:
            return None
        runners = self._run_loop(one.statement), self.runner(other.statement)
        certain, possible = on_other_threads(self.state, relation, (one.statement, other.statement), runners)
        if possible.is_empty():
            return None
        if self._keeps_apart(one.statement, other.statement):
            return PossibleRace(one, other, None, kept_apart=True)
        sure = found.certain and runners[1].sure and self.is_sure(other.statement) and not self.state.unproved
        if not sure or self._differs(one) or self._differs(other) or certain.is_empty():
            return PossibleRace(one, other, None)
        # kinds of conflicts go by who runs first, which is open here: the thread that runs the loop, say
        return PossibleRace(one, other, meaningful(self.state, Conflict(found.first, found.second, certain)))

    def _in_rounds(self, relation: Map, one: Reference, other: Reference) -> Map | None:
        """Return the pairs of the rounds that may overlap, or None where there are none."""
        outer = self.phase.rounds
        sides = (one.statement.loops[:1], other.statement.loops[:1])
        if isinstance(outer, For) and sides == ((outer,), (outer,)):
            step = outer.step if self.forward else -outer.step
            depths = len(one.statement.counters), len(other.statement.counters)
            relation = relation.intersect(later_round(*depths, step, next_only=not self.phase.any_round))
        return None if relation.is_empty() else relation

    # --- who runs what

    def _run_loop(self, statement: Statement) -> Runner:
        """Return who runs a statement of the loop: its header all threads."""
        claim = self.asked.claim
        return Runner("shared", claim.directive, claim.loops) if claim.marked in statement.loops else Runner("any")

    def runner(self, statement: Statement) -> Runner:
        """Return who runs a statement of the phase."""
        if self.is_in_loop(statement):
            return self._run_loop(statement)
        teams = is_between_teams(self.asked.claim)
        found = Runner("any")
        for stmt in statement.within:
            for directive in (p.directive for p in self.marks.get(id(stmt), ()) if p.directive is not None):
                found = self._under(found, directive, stmt, teams=teams, statement=statement)
        return found

    def _under(self, found: Runner, directive: Directive, stmt: Stmt, *, teams: bool, statement: Statement) -> Runner:
        """Return who runs a statement under one more directive."""
        words = directive.words
        if words in _ONLY_SAID or any(n is self.asked.claim.marked for n in walk(stmt)):
            return found
        shared = words[:1] == (("distribute",) if teams else ("for",))
        if shared and directive.shares_loop:
            covered = self._covered(directive, stmt)
            inside = bool(covered) and covered[0] in statement.loops
            return Runner("shared", directive, covered, found.sure) if inside else Runner("any", sure=found.sure)
        if words in (("master",), ("masked",)) and not teams and not directive.has("filter"):
            return Runner("first", directive, sure=found.sure)
        if words[:1] in _ONE_THREAD or (teams and words[:1] in (("parallel",), ("for",))):
            return found
        return Runner("any", sure=False)

    def _covered(self, directive: Directive, stmt: Stmt) -> tuple[For, ...]:
        """Return the loops that a directive in front of `stmt` shares among threads."""
        facts, function = self.asked.facts, self.asked.function
        claims = facts.summaries.remember(("claims in a function", function), lambda: claims_of(function))
        return next((c.loops for c in claims if c.marked is stmt and c.directive is directive), ())

    def _directives(self, statement: Statement) -> Iterator[Directive]:
        for stmt in statement.within:
            yield from (p.directive for p in self.marks.get(id(stmt), ()) if p.directive is not None)

    def _keeps_apart(self, one: Statement, other: Statement) -> bool:
        """Whether both are protected by the same."""
        found = [self._protection(statement) for statement in (one, other)]
        return found[0] is not None and found[0] == found[1]

    def _protection(self, statement: Statement) -> tuple[str, str] | None:
        inside = (p for p in self.protected if any(p.statement is stmt for stmt in statement.within))
        kept = next(inside, None)
        # critical sections of two teams run at once
        teams = is_between_teams(self.asked.claim) or "teams" in self.asked.claim.directive.words
        if kept is None or kept.kind == "ordered" or (teams and kept.kind != "atomic"):
            return None
        return kept.kind, kept.name

    # --- what differs between threads

    def _differs(self, reference: Reference) -> bool:
        """Whether the element, or whether it is touched, depends on the thread that gets there."""
        if reference.access.base in self.own or reference.access.base.name in self.differing:
            return True
        return any(self._is_differing(name) for name in atoms_of_reference(reference))

    def _is_differing(self, name: str) -> bool:
        kinds = self.state.vocabulary
        atom = kinds[name]
        if atom.kind == "counter":
            return False
        if atom.parts:
            return any(self._is_differing(part) for part in atom.parts)
        used = {n.symbol.name for n in names(atom.expr)} if atom.expr is not None else set()
        used |= {atom.symbol.name} if atom.symbol is not None else set()
        inner = {n for n in atoms_of(atom.definition) if n != name}
        return bool(used & self.differing) or any(self._is_differing(n) for n in inner)


def _declared(root: Node) -> Iterator[Symbol]:
    for node in walk(root):
        if isinstance(node, DeclStmt):
            yield from (d.symbol for d in node.declarations)
        elif isinstance(node, For) and node.declares:
            yield node.variable


def _differing(asked: Asked, root: Node, own: frozenset[Symbol]) -> frozenset[str]:
    """Return the names of variables that may have another value in each thread."""
    region = asked.region.directive if asked.region is not None else None
    inside = (n.directive for n in walk(root) if isinstance(n, Pragma) and n.directive is not None)
    listed = (name for d in (region, *inside) if d is not None for name in d.list_variables(*_OWN_LISTS))
    return frozenset({s.name for s in (*own, *asked.claim.differing)}) | frozenset(listed)
