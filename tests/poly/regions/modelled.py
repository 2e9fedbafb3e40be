"""The model of a loop of a C text, and its accesses as text."""

from __future__ import annotations

from tests.poly.programs import function, loop
from warpsmith.poly.effects.origin import Origin
from warpsmith.poly.isl.space import budget
from warpsmith.poly.regions.model import build_region
from warpsmith.poly.regions.region import Access, Region, Subscript
from warpsmith.poly.regions.state import State
from warpsmith.tree.program import Assumption, Program
from warpsmith.tree.walk import loops


def modelled(
    program: Program, address: str, *, guards: bool = True, granted: tuple[str, ...] = ()
) -> tuple[Region, State]:
    """Return the model of the loop `f/i`, in its place, and the state at its end."""
    one, scope = function(program, address.split("/")[0]), loop(program, address)
    around = dict(loops(one.body))[scope]
    given = tuple(Assumption(text, "granted") for text in granted)
    with budget(20_000_000):
        return build_region(Origin.of(program, one), (scope,), around, guards=guards, granted=given)


def shown(state: State, access: Access) -> str:
    """Return `a[i][j].x`; `s{s->data}[i]` for a place, `a[?]` for a subscript and `a…` for a path that is not known."""
    text = access.base.name + (f"{{{access.place}}}" if access.place else "")
    for step in access.path:
        if not isinstance(step, Subscript):
            text += f".{step.text}"
        else:
            text += "[?]" if step.value is None else f"[{state.vocabulary.text(step.value)}]"
    return text + ("" if access.known else "…")


def accesses(region: Region, state: State) -> list[str]:
    """Return the accesses of a region in order, `=` behind those that write."""
    return [shown(state, a) + ("=" if a.write else "") for s in region.statements for a in s.accesses]
