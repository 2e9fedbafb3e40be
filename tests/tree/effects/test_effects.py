"""The table of effects, asked about a function: by its arguments, its name, and the user before the built-in one."""

from __future__ import annotations

import pytest

from warpsmith.tree.effects.effects import EffectsTable, FunctionEffects

ONE = frozenset({1})


def test_arguments_beyond_those_that_are_counted_are_the_last_set() -> None:
    made = FunctionEffects("f", 2, variadic=True, reads=frozenset({0, 2}), writes=ONE, keeps=frozenset({2}))
    assert [made.fits(n) for n in (1, 2, 3)] == [False, True, True]
    assert not FunctionEffects("f", 2).fits(3)
    assert [made.reads_argument(n) for n in (0, 1, 2, 5)] == [True, False, True, True]
    assert [made.writes_argument(n) for n in (0, 1, 2)] == [False, True, False]
    assert [made.keeps_argument(n) for n in (0, 2, 9)] == [False, True, True]


@pytest.mark.parametrize(
    ("effects", "pure"),
    [
        (FunctionEffects("f", 1, reads=frozenset({0})), True), (FunctionEffects("f", io=True), False),
        (FunctionEffects("f", allocates=True), False), (FunctionEffects("f", program=True), False),
        (FunctionEffects("f", 2, calls=ONE), False), (FunctionEffects("f", exposed_writes=True), False),
        (FunctionEffects("f", 2, writes=ONE), False), (FunctionEffects("f", returns="fresh"), False),
        (FunctionEffects("f", 1, returns=0), False), (FunctionEffects("f", exposed_reads=True), True),
    ],
)  # fmt: skip
def test_pure_functions_only_read(effects: FunctionEffects, pure: bool) -> None:
    assert effects.pure is pure


def test_the_users_entries_stand_first() -> None:
    sqrt, mine = FunctionEffects("sqrt", 1), FunctionEffects("sqrt", 1, io=True, granted="effects.toml:3")
    waits = FunctionEffects("wait", threads=True, program_with=frozenset({"signal"}))
    later = FunctionEffects("recv", later=ONE)
    table = EffectsTable({"sqrt": sqrt, "wait": waits, "recv": later})
    assert table.of("sqrt") is sqrt and table.of("__builtin_sqrt") is sqrt
    assert table.of("cbrt") is None and table.of("__builtin_cbrt") is None and table.of("builtin_sqrt") is None
    assert table.find_watched() == {"wait", "recv", "signal"} and table.find_granted() == ()
    own = table.after({"sqrt": mine})
    assert (
        own.of("sqrt") is mine
        and own.find_granted() == (mine,)
        and own.of("wait") is waits
        and table.of("sqrt") is sqrt
    )
