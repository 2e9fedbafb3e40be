"""Ports whose loops stand otherwise, or stay on the host: each is planned whole, since launches and copies change.

    the port ── interchange, fuse, distribute: another text ──► planned anew
             ── keep: a nest less ──► planned with the others where they are

Invariant: what is on the host in the port that the search starts from stays there. Orders of keeps are one: after a
keep no other loop step is tried.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import permutations
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from warpsmith.base.source import Span
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
from warpsmith.recipes.placement import placing_steps
from warpsmith.tree.nodes import For, Loop
from warpsmith.tree.walk import loop_names, loops, statements_of

__all__ = ["Structure", "after_loop_step", "keep_nest", "list_steps", "start"]

_MOST_PERMUTED: Final = 3


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
    if not any(isinstance(step, Keep) for step in structure.steps):
        seen: set[str] = set()
        for nest in nests:
            for step in _loop_steps(nest):
                text = repr(step)
                if text not in seen:
                    seen.add(text)
                    yield step
    kept = [step.loop for step in structure.steps if isinstance(step, Keep)]
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


def _interchanges(address: str, loop: For, mapped: int) -> Iterator[Step]:
    """Yield the other orders of a perfect nest; those of loops that all are threads are another mapping."""
    nest = [loop]
    while len(nest) < _MOST_PERMUTED and (inner := only_loop(nest[-1].body)) is not None:
        nest.append(inner)
    counters = tuple(one.variable.name for one in nest)
    for order in permutations(counters):
        if order != counters and order[mapped:] != counters[mapped:]:
            yield Interchange(address, order)


def after_loop_step(setting: Setting, parent: Structure, step: Step, there: frozenset[Span]) -> Structure:
    """Return the port after one more step of loops; of its nests those in which there is a loop of `there`, by their
    headers. Raises RefusedError."""
    prepared = setting.apply(parent.prepared, (step,))
    plan = setting.plan(prepared, decided=False).port.plan
    kept = tuple(f for f in plan.fragments if f.kind != "nest" or headers_of(f) & there)
    placing = placing_steps(replace(plan, fragments=kept))
    return Structure((*parent.steps, step), prepared, placing, setting.place(prepared, placing))


def keep_nest(setting: Setting, parent: Structure, step: Keep) -> Structure:
    """Return the port without one of its nests. Raises RefusedError."""
    nest = next(f for f in nests_of(parent.planned.port) if f.region == step.loop)
    gone = _steps_of(nest, parent.placing)
    placing = (*(one for one in parent.placing if one not in gone), step)
    return Structure((*parent.steps, step), parent.prepared, placing, setting.place(parent.prepared, placing))


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
