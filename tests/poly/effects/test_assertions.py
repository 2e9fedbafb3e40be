"""Assertions of the user's effects file are named wherever a verdict rests on them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.poly.programs import function
from warpsmith.base.verdict import Proved, Reason, Refuted, Unknown
from warpsmith.front.load import FrontOptions, load_program
from warpsmith.poly.effects.assertions import resting_on, used_descriptions, user_assertions
from warpsmith.poly.effects.summaries import Summaries
from warpsmith.tree.effects.file import users_effects
from warpsmith.tree.program import Assumption

TEXT = """
double weight(const double *table, double x); double other(double);
double below(const double *t) { return weight(t, 1); }
double around(const double *t) { return below(t) + below(t); }
double rest(double x) { return other(x); }
double again(double x, int n) { return n ? again(x, n - 1) : other(weight(0, x)); }
"""
EFFECTS = (
    '[[functions]]\nnames = "weight"\narguments = "table x"\nreads = "table"\n'
    '[[functions]]\nnames = "other"\narguments = "x"\n[[functions]]\nnames = "unused"\narguments = "x"\n'
)


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> Summaries:
    folder = tmp_path_factory.mktemp("described")
    source, effects = folder / "a.c", folder / "my.toml"
    source.write_text(TEXT)
    effects.write_text(EFFECTS)
    return Summaries.of(load_program([str(source)], FrontOptions(effects=users_effects([str(effects)]))).program)


def _words(assumptions: tuple[Assumption, ...]) -> list[str]:
    assert all(a.kind == "granted" for a in assumptions)
    return [a.text.split()[0] for a in assumptions]


def test_descriptions_of_what_a_function_leads_to(known: Summaries) -> None:
    found = {
        n: _words(user_assertions(known, function(known.program, n))) for n in ("below", "around", "rest", "again")
    }
    assert found["below"] == found["around"] == ["weight"] and found["rest"] == ["other"]
    assert sorted(found["again"]) == ["other", "weight"]


def test_descriptions_of_a_program_are_named_once(known: Summaries) -> None:
    assert sorted(_words(used_descriptions(known))) == ["other", "weight"]


def test_without_a_file_nothing_is_said(tmp_path: Path) -> None:
    path = tmp_path / "a.c"
    path.write_text(TEXT)
    plain = Summaries.of(load_program([str(path)], FrontOptions()).program)
    assert used_descriptions(plain) == () and user_assertions(plain, function(plain.program, "again")) == ()


def test_verdicts_name_what_they_rest_on_once() -> None:
    first, second = Assumption("weight reads", "granted"), Assumption("n >= 1", "guarded")
    reason = Reason("POR003", "carried")
    assert resting_on(Proved((second,)), (first, second)) == Proved((second, first))
    assert resting_on(Unknown((reason,)), (first,)) == Unknown((reason,), (first,))
    # a witness is one whatever the user says
    assert resting_on(Refuted((reason,)), (first,)) == Refuted((reason,))
    proved = Proved((second,))
    assert resting_on(proved, ()) is proved
