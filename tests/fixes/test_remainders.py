"""A mask in place of a remainder."""

from __future__ import annotations

import pytest

from tests.fixes.places import Known, case, offered, together
from warpsmith.fixes.remainders import mask

CASES = (
    ("out[t % 32] = 1;", "t % 32", "out[t & 31] = 1;", True),
    ("out[n % 32] = 1;", "n % 32", "out[n & 31] = 1;", False),
    # only zero or not is asked
    ("if (n % 8) out[1] = 1;", "n % 8", "if (n & 7) out[1] = 1;", True),
    ("if (n % 8 == 0) out[1] = 1;", "n % 8", "if ((n & 7) == 0) out[1] = 1;", True),
    ("if (0 != n % 8) out[1] = 1;", "n % 8", "if (0 != (n & 7)) out[1] = 1;", True),
    ("if (n % 8 == 3) out[1] = 1;", "n % 8", "if ((n & 7) == 3) out[1] = 1;", False),
    ("if (n % 8 && t) out[1] = 1;", "n % 8", "if ((n & 7) && t) out[1] = 1;", True),
    ("out[1] = !(n % 8);", "n % 8", "out[1] = !(n & 7);", True),
    ("out[1] = t % 8 + 1;", "t % 8", "out[1] = (t & 7) + 1;", True),
    ("out[1] = t % 8u;", "t % 8u", "out[1] = t & 7u;", True),
    ("out[1] = t % (WARP * 2);", "t % (WARP * 2)", "out[1] = t & (WARP * 2 - 1);", True),
)
NONE = (("out[1] = t / 8;", "t / 8"), ("out[1] = t /* odd */ % 8;", "t /* odd */ % 8"))
TEXT = together(
    "#define WARP 32\n",
    "(int *out, int n, unsigned u)\n{\n    int t = threadIdx.x;\n",
    (*(one[0] for one in CASES), *(one[0] for one in NONE)),
)


def fixed(statement: str, place: str, known: Known | None = None) -> list[tuple[str, bool]]:
    return offered(mask, TEXT, place, case(statement), known=known)


@pytest.mark.parametrize(("statement", "place", "after", "safe"), CASES)
def test_the_mask_of_a_remainder(statement: str, place: str, after: str, safe: bool) -> None:
    (found,) = fixed(statement, place)
    assert found[1] == safe
    assert found[0] == after or "WARP" in after


def test_a_block_that_was_only_assumed_proves_nothing() -> None:
    statement = "out[t % 32] = 1;"
    assert fixed(statement, "t % 32", Known(block_assumed=("block",)))[0][1] is False


@pytest.mark.parametrize(("statement", "place"), NONE)
def test_what_is_no_plain_remainder(statement: str, place: str) -> None:
    assert fixed(statement, place) == []
