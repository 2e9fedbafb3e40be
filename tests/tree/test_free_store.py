"""`new` and `delete` have names that no user can write."""

from __future__ import annotations

import pytest

from warpsmith.tree.effects.file import house_effects
from warpsmith.tree.free_store import FREES, MAKES, is_replacement, write


def test_the_table_knows_them() -> None:
    table = house_effects()
    for name in MAKES:
        known = table.of(name)
        assert known is not None and known.returns == "fresh" and known.allocates and known.fits(2)
    for name in FREES:
        known = table.of(name)
        assert known is not None and known.allocates and known.writes == {0} and not known.fits(2)
    assert not any(name.isidentifier() for name in (MAKES | FREES) - {"new", "delete"})  # words of the language


@pytest.mark.parametrize("name", ["operator new", "operator new[]", "operator delete", "operator delete[]"])
def test_a_replacement_is_seen(name: str) -> None:
    assert is_replacement(name)


@pytest.mark.parametrize("name", ["operator()", "renew", "Pool::operator new", "operator newer", "new"])
def test_other_functions_replace_nothing(name: str) -> None:
    assert not is_replacement(name)


def test_they_are_written_as_cxx() -> None:
    assert write("new[]", "double [n]", ("n", "8")) == "new double [n]"
    assert write("new()", "int", ("1", "4", "x")) == "new int{x}"
    assert write("delete[]", "", ("p + 1",)) == "delete[] (p + 1)"
