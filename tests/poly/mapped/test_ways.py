"""What holds on all ways to a place, and which statements have ways out."""

from __future__ import annotations

import pytest

from tests.poly.analysis import program_of
from warpsmith.poly.mapped.copies import CopyPair, Stale
from warpsmith.poly.mapped.objects import MappedObject, Objects
from warpsmith.poly.mapped.ways import Way, jumps_out, meet
from warpsmith.tree.nodes import Block, While
from warpsmith.tree.types import INT, Pointer, Symbol

A, B = MappedObject("a", "a"), MappedObject("b", "b")
P = Symbol("p", "p", Pointer(INT), "local")


def test_a_pointer_leads_where_it_leads_on_any_way() -> None:
    ways = [Way({}, Objects({P: frozenset({place})})) for place in (A, B)]
    assert meet(ways)[0].objects.places(P) == {A, B}
    assert meet(ways[:1])[0].objects.places(P) == {A}


def test_what_is_stale_on_one_way_may_be() -> None:
    span = program_of("void f(void) { }").units[0].functions[0].body.span
    stale = Stale("device", "a", span, None)
    one, other = Way({A: CopyPair(count=1, host=frozenset({stale}))}, Objects()), Way({A: CopyPair(count=1)}, Objects())
    found, apart = meet([one, other])
    assert [s.sure for s in found.state[A].host] == [False] and not apart
    assert meet([one, Way({}, Objects())])[1] == (A,)


JUMPS = {
    "if (x) break;": True,
    "if (x) continue;": True,
    "if (x) return;": True,
    "for (;;) break;": False,
    "for (;;) { if (x) return; }": True,
    "switch (x) { case 1: break; }": False,
    "switch (x) { case 1: continue; }": True,
    "while (x) { switch (x) { case 1: continue; } }": False,
    "x = 1;": False,
}


@pytest.mark.parametrize("text", JUMPS)
def test_ways_out(text: str) -> None:
    body = program_of(f"void f(int x) {{ while (x) {{ {text} }} }}").units[0].functions[0].body
    (loop,) = body.statements
    assert isinstance(loop, While) and isinstance(loop.body, Block)
    (stmt,) = loop.body.statements
    assert jumps_out(stmt) == JUMPS[text]
