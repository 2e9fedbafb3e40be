"""New names and keys that collide with nothing."""

from __future__ import annotations

from pathlib import Path

from tests.loops.steps.refusals import one
from warpsmith.loops.fresh import Fresh, declared_symbols
from warpsmith.tree.types import DOUBLE, INT, Symbol


def test_fresh_names_avoid_all_words_of_the_text(tmp_path: Path) -> None:
    program = one("int ii = n; /* ii2 */ for (int i = 0; i < ii; i++) x[i] = 1;", tmp_path).program
    fresh = Fresh.of(program)
    assert fresh.name("ii") == "ii2"
    assert fresh.name("ii") == "ii3"
    assert Fresh.of(program).name("ii") == "ii2", "the same program gives the same names"


def test_a_number_behind_a_digit_is_set_apart(tmp_path: Path) -> None:
    fresh = Fresh.of(one("int k1 = n; x[0] = k1;", tmp_path).program)
    assert [fresh.name("k1") for _ in range(2)] == ["k1_2", "k1_3"]
    assert fresh.name("free") == "free" and fresh.name("free") == "free2"


def test_keys_are_as_new_as_names(tmp_path: Path) -> None:
    stand = one("double t = 1; for (int i = 0; i < n; i++) x[i] = t;", tmp_path)
    fresh = Fresh.of(stand.program)
    t, i = declared_symbols(stand.function)
    assert (t.name, i.name) == ("t", "i")
    made = fresh.variable("t", INT, t, label="the row")
    assert (made.name, made.type, made.storage, made.label) == ("t2", INT, "local", "the row")
    assert made.key not in {t.key, i.key}
    again = fresh.again(t)
    assert again.name == "t" and again.key != t.key and fresh.again(t).key not in {t.key, again.key}
    near = Symbol("q", "q", DOUBLE, "local")
    assert fresh.variable("q", INT, near).key != fresh.variable("q", INT, near).key


def test_only_what_is_declared_inside_is_declared_there(tmp_path: Path) -> None:
    stand = one("int j; for (j = 0; j < n; j++) { int w = j; for (int l = 0; l < w; l++) x[l] = 1; }", tmp_path)
    loop = stand.function.body.statements[1]
    assert [s.name for s in declared_symbols(loop)] == ["w", "l"]
