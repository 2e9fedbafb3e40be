"""The decisions of steps about where loops run, found again in the program as it is now.

    map f/i            decision: node i, axes (y, x)
    unroll f/i/j       rebuilds i: another node, the same header → the decision still means it
    distribute f/i     two loops with that header → the decision means neither: `find_undecided`

Invariant: a decision never moves to a loop that was not made from the one that it was taken for. A decision says where
a loop runs, not that it may: the planner proves that as for any other loop.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from msgspec import Struct, field
from msgspec.structs import replace

from warpsmith.base.source import Span
from warpsmith.base.verdict import Reason
from warpsmith.loops.place import LoopContext
from warpsmith.tree.nodes import For, Function, Loop
from warpsmith.tree.program import Decision, Program
from warpsmith.tree.walk import loops

__all__ = ["Decided", "decide", "decided_nests", "find_made_from", "find_undecided"]

_ASPECTS: Final = ("tiles", "elements", "halo", "passes", "constant", "buffers", "vectors", "shares")
"""Kinds of decisions that say nothing of where a loop runs, in the order of the fields of `Decided`."""


class Decided(Struct, frozen=True):
    """The decisions about the loops of one function; `only`: a loop without a decision stays on the host. `tiles`: how
    loops of threads are gone through, `halos`: loops whose threads load their neighbors together, `passes`: loops of
    which a kernel does several iterations, `elements`: how much each thread does, `constants`: what lies in constant
    memory, `buffers`: loops with two tiles for each read, `vectors`: how many neighbors a thread loads at once,
    `shares`: how many threads share a loop; all of these say nothing of where a loop runs."""

    by_loop: Mapping[Loop, Decision]
    around: Mapping[Loop, tuple[Loop, ...]]
    only: bool = False
    tiles: Mapping[Loop, Decision] = field(default_factory=dict)
    elements: Mapping[Loop, Decision] = field(default_factory=dict)
    halos: Mapping[Loop, Decision] = field(default_factory=dict)
    passes: Mapping[Loop, Decision] = field(default_factory=dict)
    constants: Mapping[Loop, Decision] = field(default_factory=dict)
    buffers: Mapping[Loop, Decision] = field(default_factory=dict)
    vectors: Mapping[Loop, Decision] = field(default_factory=dict)
    shares: Mapping[Loop, Decision] = field(default_factory=dict)

    @classmethod
    def of(cls, program: Program, function: Function, *, only: bool = False) -> Decided:
        """Return the decisions about `function`; of two about one loop the later counts."""
        found: dict[str, dict[Loop, Decision]] = {aspect: {} for aspect in ("place", *_ASPECTS)}
        for decision in program.decisions:
            loop = _find_meant(function, decision) if decision.function == function.symbol.name else None
            if loop is not None:
                found[_aspect(decision)][loop] = decision
        around = dict(loops(function.body)) if only or any(found.values()) else {}
        own = [found[aspect] for aspect in _ASPECTS]
        return cls(found["place"], around, only, *own)

    def of_loop(self, loop: Loop) -> Decision | None:
        """Return the decision that makes `loop` a kernel, if there is one."""
        decision = self.by_loop.get(loop)
        return None if decision is None or decision.kind == "host" else decision

    def threads(self, loop: Loop) -> Decision | None:
        """Return the decision that maps `loop` to axes, if there is one."""
        decision = self.by_loop.get(loop)
        return decision if decision is not None and decision.kind == "threads" else None

    def is_for_one_thread(self, loop: Loop) -> bool:
        """Whether one thread shall run `loop` as a whole."""
        decision = self.by_loop.get(loop)
        return decision is not None and decision.kind == "one thread"

    def stays(self, loop: Loop) -> Reason | None:
        """Return why `loop` may not become a kernel of its own, if a decision keeps it from that."""
        if self.of_loop(loop) is not None:
            return None
        own = self.by_loop.get(loop)
        if own is not None:
            return Reason("STP005", "kept on the host by a step", loop.header)
        for inner, decision in self.by_loop.items():
            if decision.kind != "host" and any(outer is loop for outer in self.around[inner]):
                return Reason("STP005", f"a step made {decision.loop} the kernel", loop.header)
        for inner, decision in self.passes.items():
            if any(outer is loop for outer in self.around[inner]):
                return Reason("STP005", f"a step made {decision.loop} passes of a kernel", loop.header)
        nearest = next((self.by_loop[o] for o in reversed(self.around.get(loop, ())) if o in self.by_loop), None)
        if nearest is not None and nearest.kind == "host":
            return Reason("STP005", f"kept on the host with {nearest.loop} by a step", loop.header)
        if self.only:
            return Reason("STP005", "the recipe does not move it to the device", loop.header)
        return None

    def find_kept(self) -> frozenset[int]:
        """Return the identities of the loops that stay on the host with all that is inside."""
        return frozenset(id(loop) for loop, own in self.by_loop.items() if own.kind == "host" and self._alone(loop))

    def _alone(self, loop: Loop) -> bool:
        return not any(
            own.kind != "host" and any(outer is loop for outer in self.around[inner])
            for inner, own in self.by_loop.items()
        )


def decide(program: Program, place: LoopContext, decision: Decision) -> Program:
    """Return the program with one more decision, in place of an earlier one that says the same of the same loop: where
    it runs, how its threads go through it, or how much each of them does."""
    alike = (d for d in program.decisions if _aspect(d) == _aspect(decision))
    earlier = [d for d in alike if _find_meant(place.function, d) is place.loop]
    kept = tuple(d for d in program.decisions if not any(d is one for one in earlier))
    return replace(program, decisions=(*kept, decision))


def _aspect(decision: Decision) -> str:
    """Return what of a loop a decision is about."""
    return decision.kind if decision.kind in _ASPECTS else "place"


def find_undecided(program: Program) -> tuple[Decision, ...]:
    """Return the decisions of which the program does not tell any more which loop they mean."""
    functions = [function for _, function in program.functions()]
    return tuple(
        decision
        for decision in program.decisions
        if not any(_find_meant(f, decision) for f in functions if f.symbol.name == decision.function)
    )


def decided_nests(program: Program) -> frozenset[Span]:
    """Return the spans of the outermost loops in which a decision was taken: the search for steps leaves them alone."""
    found: set[Span] = set()
    for _, function in program.functions():
        decided = Decided.of(program, function)
        others = (decided.tiles, decided.halos, decided.passes, decided.elements, decided.constants, decided.shares)
        taken = (*decided.by_loop, *(loop for one in others for loop in one))
        found.update((decided.around[loop] or (loop,))[0].span for loop in taken)
    return frozenset(found)


def _find_meant(function: Function, decision: Decision) -> Loop | None:
    """Return the loop of `function` that is the decision's, or the only one that was made from it."""
    found = [loop for loop, _ in loops(function.body)]
    if any(loop is decision.node for loop in found):
        return decision.node
    alike = find_made_from(function, decision.node)
    return alike[0] if len(alike) == 1 else None


def find_made_from(function: Function, node: Loop) -> tuple[Loop, ...]:
    """Return the loops of `function` that steps may have made from the loop `node`."""
    return tuple(loop for loop, _ in loops(function.body) if _alike(loop, node))


def _alike(loop: Loop, node: Loop) -> bool:
    """Whether `loop` was made from `node`: it has its header in the user's text, and its counter."""
    if type(loop) is not type(node) or loop.header != node.header:
        return False
    return not (isinstance(loop, For) and isinstance(node, For)) or loop.variable.name == node.variable.name
