from __future__ import annotations

from pathlib import Path

import pytest

from tests.poly.programs import function, load
from warpsmith.base.errors import RefusedError
from warpsmith.tree.in_place.versioned import Versioned
from warpsmith.tree.in_place.written_twice import check_twice

TEXT = """int f(int n, int *a) {
    int s = 0;
    int t = 1;
    for (int i = 0; i < n; i++) a[i] = t;
    static int calls;
    return s + calls++; }"""


def version(first: int, past: int, folder: Path) -> Versioned:
    f = function(load(TEXT, folder), "f")
    return Versioned(f, f.body.statements[first:past], (), None)


@pytest.mark.parametrize(("first", "past", "name"), [(0, 3, "s"), (3, 4, "calls")])
def test_what_is_named_behind_may_not_be_declared_in_a_branch(first: int, past: int, name: str, tmp_path: Path) -> None:
    with pytest.raises(RefusedError, match=f"the declaration of '{name}'"):
        check_twice(version(first, past, tmp_path), kept=False)


def test_what_nothing_behind_names_may(tmp_path: Path) -> None:
    check_twice(version(1, 3, tmp_path), kept=True)


def test_a_static_variable_cannot_stand_twice(tmp_path: Path) -> None:
    with pytest.raises(RefusedError, match="cannot stand twice"):
        check_twice(version(1, 5, tmp_path), kept=True)


@pytest.mark.parametrize("use", ["sizeof(t)", "sizeof(char[t])", "*(int (*)[t])a != 0"])
def test_what_is_named_in_a_type_or_a_size_counts(use: str, tmp_path: Path) -> None:
    text = f"int f(int n, int *a) {{ int t = 1; for (int i = 0; i < n; i++) a[i] = t; return (int)({use}); }}"
    f = function(load(text, tmp_path), "f")
    with pytest.raises(RefusedError, match="the declaration of 't'"):
        check_twice(Versioned(f, f.body.statements[0:2], (), None), kept=False)
