"""Addresses through min and max, as they are where nothing is cut off."""

from __future__ import annotations

import pytest

from tests.analysis.test_kernel import told
from warpsmith.analysis.memory.clamps import CUT_OFF
from warpsmith.analysis.rules.blocks import between_blocks
from warpsmith.analysis.uniformity.facts import AccessFact, LaunchShape

SHAPE = LaunchShape((64, 1, 1))


def load(index: str) -> AccessFact:
    """Return the load of a word of shared memory at index %m, which the lines compute."""
    lines = "".join(f"  {line.strip()}\n" for line in index.split(";"))
    body = f"{lines}  %e:i32 = mul %m 4:i32\n  %p:i32 = add %t %e\n  %v:f32 = load [shared +0 align 4] %p"
    return told(body, SHAPE).accesses[-1]


@pytest.mark.parametrize(
    "index",
    [
        "%a:i32 = sub %x 1:i32; %m:i32 = smax %a %n",
        "%m:i32 = smin %x %n",
        "%c:i1 = slt %x %n; %m:i32 = select %c %n %x",
        "%c:i1 = sgt %n %x; %m:i32 = select %c %x %n",
        "%l:i32 = smax %x %n; %m:i32 = smin %l %b",
    ],
)
def test_what_is_cut_off_at_the_edge_is_dense(index: str) -> None:
    found = load(index)
    assert (str(found.bank_ways), found.certainty, found.stride_bytes) == ("1", "conditional", 4)
    assert CUT_OFF in found.assumptions


@pytest.mark.parametrize(
    "index",
    [
        "%w:i32 = load [global +0 align 4] %a; %y:i32 = add %x %w; %m:i32 = smin %x %y",  # both differ
        "%c:i1 = slt %x %n; %m:i32 = select %c %b %x",  # not what was compared
        "%c:i1 = eq %x %n; %m:i32 = select %c %n %x",
    ],
)
def test_what_is_no_bound_stays_unknown(index: str) -> None:
    found = load(index)
    assert CUT_OFF not in found.assumptions and found.certainty == "heuristic"


def test_a_bound_may_be_the_border_of_the_block() -> None:
    head = "  %o:i64 = smulwide %i 4:i32\n  %p:i64 = add %a %o\n  store [global +0 align 4] %p %x\n"
    ahead = "  %j:i32 = add %i 1:i32\n  %m:i32 = smin %j %n\n  %q:i64 = smulwide %m 4:i32\n  %r:i64 = add %a %q\n"
    facts = told(head + ahead + "  %v:i32 = load [global +0 align 4] %r\n", SHAPE)
    assert CUT_OFF in facts.accesses[-1].assumptions
    assert not list(between_blocks(facts))
