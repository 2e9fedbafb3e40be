"""Division of unsigned numbers by a reciprocal, for each way that it may be rounded."""

from __future__ import annotations

import random

import pytest

from tests.front.il.programs import IlCase
from tests.front.il.running import parse
from tests.targets.r600.agree import outputs_of
from warpsmith.targets.r600.analyze import compile_il
from warpsmith.targets.r600.division import EXPANSIONS, Expansion

TEXT = """\
il_ps_2_0
dcl_output_generic o0
dcl_cb cb0[1]
udiv o0.x___, cb0[0].x, cb0[0].y
umod o0._y__, cb0[0].0x00, cb0[0].0y00
endmain
end
"""
EDGES = (0, 1, 2, 3, 5, 7, 255, 256, 65535, 65536, 65537, 0x7FFFFFFF, 0x80000000, 0x80000001, 0xFFFFFFFE, 0xFFFFFFFF)


def wrong(expansion: Expansion, error: int, count: int = 300) -> list[tuple[int, int]]:
    """Return the pairs whose quotient or remainder is wrong where RECIP_UINT is off by `error`."""
    code = compile_il(parse(TEXT), "r600", expansion).code
    r = random.Random(error)
    pairs = [(n, d) for n in EDGES for d in EDGES]
    pairs += [(r.getrandbits(32), r.getrandbits(r.randrange(1, 33))) for _ in range(count)]
    found = []
    for n, d in pairs:
        quotient, remainder = outputs_of(code, IlCase(TEXT, [], [n, d, 0, 0], 1, 1, 1, 1), error)[:2]
        expected = (n // d, n % d) if d else (0xFFFFFFFF, 0xFFFFFFFF)
        if (quotient, remainder) != expected:
            found.append((n, d))
    return found


@pytest.mark.parametrize("expansion", EXPANSIONS)
def test_all_are_right_where_the_reciprocal_is_rounded_towards_zero(expansion: Expansion) -> None:
    assert wrong(expansion, 0) == []


@pytest.mark.parametrize("expansion", ["two-sided", "mesa"])
def test_two_sides_are_right_where_the_reciprocal_is_one_too_large(expansion: Expansion) -> None:
    assert [pair for pair in wrong(expansion, 1) if pair[1] > 1] == []


def test_without_refinement_one_too_large_is_wrong() -> None:
    assert [pair for pair in wrong("plain", 1) if pair[1] > 1]
