"""Accesses at indices that are loaded: told where lanes that lie side by side may have indices of their own."""

from __future__ import annotations

import pytest

from tests.analysis.test_kernel import ROW, told
from warpsmith.analysis.rules.memory.indirect import find_indirect

GATHER = """
  INDEX
  %o:i64 = smulwide %k 4:i32
  %p:i64 = add %a %o
  %at:i32 = load [global +0 align 4] %p
  %w:i64 = smulwide %at 4:i32
  %q:i64 = add %a %w
  %v:f32 = load [global +0 align 4] %q
"""


@pytest.mark.parametrize(
    ("index", "expected"),
    [
        ("%k:i32 = add %i 1:i32", True),
        ("%k:i32 = sdiv %i %n", False),
        ("%k:i32 = sdiv %n %i", True),
        ("%k:i32 = sdiv %i 8:i32", False),
        ("%k:i32 = udiv %i 7:i32", True),
        ("%k:i32 = lshr %i 3:i32", False),
        ("%k:i32 = ashr %i 2:i32", True),
        # a remainder of a quotient; a quotient and a remainder; a product of two quotients
        ("%d:i32 = sdiv %i %n\n  %k:i32 = srem %d 9:i32", False),
        ("%d:i32 = sdiv %i %n\n  %m:i32 = srem %i %n\n  %k:i32 = add %d %m", True),
        ("%d:i32 = sdiv %i %n\n  %m:i32 = udiv %i 64:i32\n  %k:i32 = mul %d %m", False),
        ("%k:i32 = query [ctaid.x]", False),
    ],
)
def test_lanes_that_are_neighbors_have_one_index_or_their_own(index: str, *, expected: bool) -> None:
    facts = told(GATHER.replace("INDEX", index), ROW)
    *_, gathered = (a for a in facts.accesses if a.space == "global")
    found = find_indirect(facts, gathered)
    assert (found is not None) == expected
    if found is not None:
        assert found.rule == "MEM004" and found.message.endswith("up to 32 sectors per warp request")
