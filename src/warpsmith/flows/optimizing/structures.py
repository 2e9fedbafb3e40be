"""Ports whose loops stand otherwise, or stay on the host: each is planned whole, since launches and copies change.

    the port ── interchange, fuse, distribute, split-structs: another text ──► planned anew
             ── time-tile: several time steps of two nests a launch
             ── one-thread: what stays between kernels is one;
                keep: a nest less ──► planned with the others where they are

Invariant: what is on the host in the port that the search starts from stays there, but for loops beside kernels that
one thread may run; what gathers and scatters members is there or here. Orders of keeps and of single threads are one:
after one of these no other loop step is tried.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import permutations
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from warpsmith.base.source import Span
from warpsmith.base.verdict import Proved
from warpsmith.flows.optimizing.setting import PlannedPort, Setting, nests_of
from warpsmith.loops.analysis.shape import following
from warpsmith.loops.prepared import Prepared
from warpsmith.loops.search.cost import only_loop
from warpsmith.loops.step import Step
from warpsmith.loops.steps.order.distribute import Distribute
from warpsmith.loops.steps.order.fuse import Fuse
from warpsmith.loops.steps.order.interchange import Interchange
from warpsmith.offload.plan import Fragment
from warpsmith.offload.steps.keep import Keep
from warpsmith.offload.steps.offload import runs_at_once
from warpsmith.offload.steps.one_thread import OneThread
from warpsmith.offload.steps.split_structs import SplitStructs
from warpsmith.offload.steps.time_tile import TimeTile
from warpsmith.recipes.placement import placing_steps
from warpsmith.tree.nodes import For, Index, Loop, Member, Name, Node
from warpsmith.tree.types import Symbol
from warpsmith.tree.walk import loop_names, loops, peel, statements_of, walk

__all__ = ["Structure", "after_loop_step", "keep_nest", "list_steps", "run_alone", "start"]

_MOST_PERMUTED: Final = 3
_ITERATIONS: Final = (1, 2, 3, 4)
"""Time steps of a pass."""
_MOST_PASSES: Final = 64


class Structure(Struct, frozen=True):
    """A port: `steps` of loops that the start does not have, `prepared` after them; `placing` says where its nests lie,
    in `planned`."""

    steps: tuple[Step, ...]
    prepared: Prepared
    placing: tuple[Step, ...]
    planned: PlannedPort

    def nests(self) -> tuple[tuple[Fragment, tuple[Step, ...]], ...]:
        """Return the nests with the steps that place each."""
        return tuple((nest, _steps_of(nest, self.placing)) for nest in nests_of(self.planned.port))


def start(setting: Setting, prepared: Prepared, placing: tuple[Step, ...]) -> Structure:
    """Return the port that steps of `prepared` and `placing` make."""
    return Structure((), prepared, placing, setting.place(prepared, placing))


def list_steps(structure: Structure, *, keeps: bool) -> Iterator[Step]:
    """Yield the steps that may come next; `keeps`: nests may stay on the host."""
    nests = nests_of(structure.planned.port)
    if not any(isinstance(step, Keep | OneThread) for step in structure.steps):
        seen: set[str] = set()
        for nest in nests:
            for step in (*_loop_steps(nest), *_splits(nest), *_time_tiles(structure, nest)):
                text = repr(step)
                if text not in seen:
                    seen.add(text)
                    yield step
    kept = [step.loop for step in structure.steps if isinstance(step, Keep)]
    alone = [step.loop for step in structure.steps if isinstance(step, OneThread)]
    # where loops were asked for, all others stay
    if not kept and structure.planned.selected is None:
        yield from (OneThread(loop) for loop in _beside(structure) if not alone or loop > alone[-1])
    if keeps:
        yield from (Keep(nest.region) for nest in nests if not kept or nest.region > kept[-1])


def _loop_steps(nest: Fragment) -> Iterator[Step]:
    names = loop_names(nest.function)
    around = dict(loops(nest.function.body))
    for outer in (one for one in nest.statements if isinstance(one, For) and one in names):
        for loop in (*around[outer], outer):
            if isinstance(loop, For):
                yield from _interchanges(names[loop], loop, len(nest.kernel.mapped) if loop is outer else 0)
        if isinstance(following(nest.function, outer), For):
            yield Fuse(names[outer])
        for loop, _ in loops(outer):
            if isinstance(loop, For) and len(statements_of(loop.body)) > 1:
                yield Distribute(names[loop])


def _time_tiles(structure: Structure, nest: Fragment) -> Iterator[TimeTile]:
    """Yield the steps with which a launch does several iterations of a loop over two nests, with as many passes as
    leave the fewest launches. Some iterations are left: the kernels for those run too, or nothing is known of them."""
    outer = next((one for one in nest.statements if isinstance(one, For)), None)
    names, around = loop_names(nest.function), dict(loops(nest.function.body))
    loop = around[outer][-1] if outer is not None and around.get(outer) else None
    if not isinstance(loop, For) or nest.iterations:
        return
    nests = statements_of(loop.body)
    trips = _trips(structure, nest, loop)
    if len(nests) != len("AB") or not all(isinstance(one, For) for one in nests) or trips is None:
        return
    for iterations in _ITERATIONS:
        passes = [n for n in range(2, _MOST_PASSES + 1, 2) if 0 < trips % (iterations * n + 1) < trips]
        if passes:
            yield TimeTile(names[loop], iterations, min(passes, key=lambda n: _launches(trips, iterations, n)))


def _launches(trips: int, iterations: int, passes: int) -> int:
    """Return how many launches a loop over two nests makes, so many passes and both nests together."""
    together, left = divmod(trips, iterations * passes + 1)
    return together * (passes + 2) + 2 * left


def _trips(structure: Structure, nest: Fragment, loop: For) -> int | None:
    """Return how often a loop around a nest runs, where that is known."""
    launched = structure.planned.estimate.kernels.get(nest.kernel.name)
    for place in launched.places if launched is not None else ():
        for around, trips in place.around:
            if around.header == loop.header and not place.guessed:
                return round(trips)
    return None


def _splits(nest: Fragment) -> Iterator[SplitStructs]:
    """Yield the arrays of structs that a nest uses, split for each loop around it, or for its own where there is none:
    where loops come back to the members, gathering them pays."""
    names = loop_names(nest.function)
    around = dict(loops(nest.function.body))
    for outer in (one for one in nest.statements if isinstance(one, For) and one in names):
        found = dict.fromkeys(symbol.name for part in walk(outer) for symbol in _of_structs(part))
        for variable in found:
            yield from (SplitStructs(names[loop], variable) for loop in around[outer] or (outer,) if loop in names)


def _of_structs(node: Node) -> Iterator[Symbol]:
    """Yield the array that a member of an element is read or written of."""
    base = peel(node.base) if isinstance(node, Member) else None
    while isinstance(base, Index):
        inner = peel(base.base)
        if isinstance(inner, Name):
            yield inner.symbol
        base = inner


def _beside(structure: Structure) -> Iterator[str]:
    """Yield the counted loops that stay on the host beside nests, the loops around them being the same, since their
    iterations wait for each other."""
    fragments = structure.planned.port.plan.fragments
    taken = {id(part) for one in fragments for stmt in one.statements for part in walk(stmt)}
    found: dict[str, None] = {}
    for nest in nests_of(structure.planned.port):
        names, around = loop_names(nest.function), dict(loops(nest.function.body))
        outer = next((around[one] for one in nest.statements if isinstance(one, For) and one in around), None)
        beside = [loop for loop in names if isinstance(loop, For) and around[loop] == outer]
        facts = structure.prepared.facts.of(nest.function)
        waits = (loop for loop in beside if not isinstance(runs_at_once(facts.of(loop)), Proved))
        free = (loop for loop in waits if not any(id(part) in taken for part in walk(loop)))
        found |= dict.fromkeys(names[loop] for loop in free)
    yield from found


def _interchanges(address: str, loop: For, mapped: int) -> Iterator[Step]:
    """Yield the other orders of a perfect nest; those of loops that all are threads are another mapping."""
    nest = [loop]
    while len(nest) < _MOST_PERMUTED and (inner := only_loop(nest[-1].body)) is not None:
        nest.append(inner)
    counters = tuple(one.variable.name for one in nest)
    for order in permutations(counters):
        if order != counters and order[mapped:] != counters[mapped:]:
            yield Interchange(address, order)


def after_loop_step(
    setting: Setting, parent: Structure, step: Step, there: frozenset[Span], *, new: bool = False
) -> Structure:
    """Return the port after one more step of loops; of its nests those in which there is a loop of `there`, by their
    headers; `new`: and those whose loops the step has made. Raises RefusedError."""
    prepared = setting.apply(parent.prepared, (step,))
    if new:
        there |= _headers(prepared) - _headers(parent.prepared)
    plan = setting.plan(prepared, decided=False).port.plan
    kept = tuple(f for f in plan.fragments if f.kind != "nest" or headers_of(f) & there)
    placing = placing_steps(replace(plan, fragments=kept))
    return Structure((*parent.steps, step), prepared, placing, setting.place(prepared, placing))


def run_alone(setting: Setting, parent: Structure, step: OneThread) -> Structure:
    """Return the port with one more loop in a kernel of one thread. Raises RefusedError."""
    placing = (*parent.placing, step)
    return Structure((*parent.steps, step), parent.prepared, placing, setting.place(parent.prepared, placing))


def keep_nest(setting: Setting, parent: Structure, step: Keep) -> Structure:
    """Return the port without one of its nests. Raises RefusedError."""
    nest = next(f for f in nests_of(parent.planned.port) if f.region == step.loop)
    gone = _steps_of(nest, parent.placing)
    placing = (*(one for one in parent.placing if one not in gone), step)
    return Structure((*parent.steps, step), parent.prepared, placing, setting.place(parent.prepared, placing))


def _headers(prepared: Prepared) -> frozenset[Span]:
    return frozenset(loop.header for _, function in prepared.program.functions() for loop in loop_names(function))


def headers_of(fragment: Fragment) -> frozenset[Span]:
    """Return the headers of all loops of a fragment."""
    return frozenset(loop.header for loop in _loops_of(fragment))


def _loops_of(fragment: Fragment) -> Iterator[Loop]:
    for statement in fragment.statements:
        yield from (loop for loop, _ in loops(statement))


def _steps_of(nest: Fragment, placing: Sequence[Step]) -> tuple[Step, ...]:
    """Return those of the steps that are about a nest: its own loop, and those inside it."""
    found: list[Step] = []
    for step in placing:
        address = getattr(step, "loop", "")
        if address == nest.region or address.startswith(f"{nest.region}/"):
            found.append(step)
    return tuple(found)
