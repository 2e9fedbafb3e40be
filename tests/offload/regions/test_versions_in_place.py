"""The replacements of a port in the user's file: offload regions, or the whole run that steps made."""

from __future__ import annotations

from tests.offload.transfers.abstract_programs import Program
from warpsmith.loops.prepared import RunChange
from warpsmith.offload.fragments import OffloadRegion
from warpsmith.offload.regions.coherence import Coherent
from warpsmith.offload.regions.versions_in_place import beside, find_written_in_versions, versions_in_place
from warpsmith.offload.transfers.flow import ProgramPoint
from warpsmith.tree.nodes import DeclStmt, Function, Stmt, VarDecl
from warpsmith.tree.types import INT, Symbol
from warpsmith.tree.walk import walk

Run = tuple[Stmt, ...]


class Case(Program):
    """A function of the user's, and what steps made of it."""

    def change(self, old: Run, new: Run) -> RunChange:
        user, made = self.function(old), self.function(new)
        return RunChange(user.symbol, user, made, old, new, ())

    def declared(self) -> Stmt:
        symbol = Symbol(f"c{self.position}", f"c{self.position}", INT, "local")
        return DeclStmt(span=self.span(), declarations=(VarDecl(span=self.span(), symbol=symbol, init=self.expr()),))

    def made(
        self, change: RunChange | None, offload_regions: dict[OffloadRegion, Run], added: Coherent | None = None
    ) -> list[tuple[object, ...]]:
        function: Function = change.rewritten if change else self.function(next(iter(offload_regions)).scope)
        changes = [change] if change else []
        # an offload region without guards is replaced by its statements
        replaced = [(offload_region.scope, new) for offload_region, new in offload_regions.items()]
        found = versions_in_place(function, offload_regions, replaced, changes, added)
        return [(v.written, v.ported) for v in found]


def offload_region(*scope: Stmt) -> OffloadRegion:
    return OffloadRegion(scope, (), (), ())


def test_a_home_of_the_users_own_text_stands_for_itself() -> None:
    p = Case()
    a, b, port = p.host(), p.host(), p.host()
    assert p.made(None, {offload_region(a, b): (port,)}) == [((a, b), (port,))]


def test_a_home_around_what_steps_made_stands_for_the_users_text_of_it() -> None:
    p = Case()
    before, user, new, behind, port = (p.host() for _ in range(5))
    change = p.change((user,), (new,))
    assert p.made(change, {offload_region(before, new, behind): (port,)}) == [((before, user, behind), (port,))]


def test_declarations_that_steps_put_in_front_come_before_the_test_of_the_guards() -> None:
    p = Case()
    user, new, port = p.host(), p.host(), p.host()
    declared = p.declared()
    change = p.change((user,), (declared, new))
    function = change.rewritten
    (found,) = versions_in_place(function, {offload_region(new): (port,)}, [], [change])
    assert (found.written, found.before, found.ported) == ((user,), (declared,), (port,))


def test_homes_that_are_parts_of_what_steps_made_stand_in_the_whole_of_it_once() -> None:
    p = Case()
    user, first, between, second, one, two = (p.host() for _ in range(6))
    change = p.change((user,), (first, between, second))
    found = p.made(change, {offload_region(first): (one,), offload_region(second): (two,)})
    assert found == [((user,), (one, between, two))]


def test_what_holds_add_inside_belongs_to_it_and_their_frames_beside_it_do_not() -> None:
    p = Case()
    user, first, second, update, begin, port = (p.host() for _ in range(6))
    change = p.change((user,), (first, second))
    added = Coherent({ProgramPoint("after", first): [update]}, {ProgramPoint("before", first): [begin]})
    assert p.made(change, {offload_region(first): (port,)}, added) == [((user,), (port, update, second))]


def test_what_stands_at_an_end_of_what_steps_made_stands_beside_the_users_text() -> None:
    p = Case()
    one, other, first, last = (p.host() for _ in range(4))
    change = p.change((one, other), (first, last))
    assert beside([change], ProgramPoint("before", first)) is one
    assert beside([change], ProgramPoint("after", last)) is other
    assert beside([change], ProgramPoint("before", last)) is None
    assert beside([change], ProgramPoint("after", first)) is None
    assert beside([p.change((), (first, last))], ProgramPoint("before", first)) is None
    assert beside([], ProgramPoint("before", first)) is None


def test_which_statements_the_users_text_does_not_have() -> None:
    p = Case()
    user, inner, kept = p.host(), p.host(), p.host()
    loop, declared = p.loop(inner), p.declared()
    change = p.change((user,), (loop, kept))
    assert find_written_in_versions([offload_region(inner)], [change]) == change.parts()
    # around it, the user's text stands; of declarations in front only those are new
    assert find_written_in_versions([offload_region(loop, kept)], [change]) == frozenset()
    front = p.change((user,), (declared, loop))
    assert find_written_in_versions([offload_region(loop)], [front]) == frozenset(walk(declared))
    assert find_written_in_versions([offload_region(kept)], []) == frozenset()
