"""Races that one barrier would mend are told apart from those that need another one."""

from __future__ import annotations

import pytest

from tests.analysis.test_kernel import TILE, told
from warpsmith.analysis.rules.race_causes import find_causes
from warpsmith.analysis.rules.synchronization import synchronization
from warpsmith.analysis.uniformity.facts import LaunchShape

BLOCK = LaunchShape((64, 1, 1))
WAIT = "  barrier [waits] 0:i32\n"
NEXT = """  %o{0}:i32 = mul %x 4:i32
  %s{0}:i32 = add %t %o{0}
  %n{0}:i32 = xor %o{0} 4:i32
  %q{0}:i32 = add %t %n{0}
"""


def step(number: int) -> str:
    """Return an access of each thread to its own word, and one to its neighbor's."""
    return (
        NEXT.format(number)
        + f"  store [shared +0 align 4] %s{number} %x\n  %v{number}:i32 = load [shared +0 align 4] %q{number}\n"
    )


def test_a_chain_has_one_cause() -> None:
    facts = told(step(1) + step(2) + step(3), BLOCK)
    assert len(facts.races) > 2
    assert set(find_causes(facts.races)) == {0}
    assert len({one.cause for one in synchronization(facts) if one.rule == "SYN004"}) == 1


@pytest.mark.parametrize("between", [WAIT])
def test_behind_a_barrier_in_other_code_it_is_another_one(between: str) -> None:
    body = f"{step(1)}{between}  jump next\nnext:\n{step(2)}"
    facts = told(body, BLOCK)
    causes = find_causes(facts.races)
    assert len(set(causes)) == 2
    assert causes[0] == 0 and find_causes(()) == []
    assert TILE
