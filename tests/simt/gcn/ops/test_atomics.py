"""What atomic operations make of two numbers."""

from __future__ import annotations

import pytest

from warpsmith.simt.gcn.ops.atomics import NAMED_BY_TYPE, NAMED_BY_WORD, UPDATES

ALL = 0xFFFFFFFF


@pytest.mark.parametrize(
    ("name", "old", "value", "made"),
    [
        ("smin", 1, ALL, ALL), ("smax", 1, ALL, 1), ("umin", 1, ALL, 1), ("umax", 1, ALL, ALL),
        ("inc", 4, 4, 0), ("inc", 3, 4, 4), ("dec", 0, 4, 4), ("dec", 9, 4, 4), ("dec", 3, 4, 2),
        ("fadd", 0x3F800000, 0x40000000, 0x40400000), ("fmin", 0x7FC00000, 0x40000000, 0x40000000),
        ("fmax", 0xBF800000, 0x40000000, 0x40000000), ("rsub", 1, 5, 4),
    ],
)  # fmt: skip
def test_an_update(name: str, old: int, value: int, made: int) -> None:
    assert UPDATES[name](old, value, 32) == made


def test_names_of_both_kinds_lead_to_updates() -> None:
    assert set(NAMED_BY_WORD.values()) <= set(UPDATES)
    assert {update for update, _ in NAMED_BY_TYPE.values()} <= set(UPDATES)
    assert NAMED_BY_TYPE["min_i64"] == ("smin", 64)
    assert NAMED_BY_TYPE["min_u32"] == ("umin", 32)
