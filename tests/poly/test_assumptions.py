"""Assumptions that nobody could heed are errors: of no form, or about what no function has."""

from __future__ import annotations

import functools

import pytest

from tests.poly.analysis import program_of
from warpsmith.base.errors import UsageError
from warpsmith.poly.assumptions import check_forms, check_names, check_sizes, find_heeded
from warpsmith.tree.program import Assumption, Program


@functools.cache
def _program() -> Program:
    text = "int width; void f(int n, double *a, int *index) { for (int i = 0; i < n; i++) a[index[i]] = width; }"
    return program_of(text + "void g(int count) { while (count) count--; }")


def granted(*texts: str) -> list[Assumption]:
    return [Assumption(text, "granted") for text in texts]


@pytest.mark.parametrize(
    "text", ["n >= 1", "n % 32 == 0 && n < 2*m", "injective(idx)", "noalias(a, b)", "parallel(f/i)"]
)
def test_forms_that_are_read(text: str) -> None:
    check_forms([text])


@pytest.mark.parametrize("text", ["garbage((", "n", "injective(a, b)", "n ~ 3", ""])
def test_forms_that_are_not(text: str) -> None:
    with pytest.raises(UsageError, match="is not of a form that is known") as told:
        check_forms(["n >= 1", text])
    (finding,) = told.value.findings
    assert finding.rule == "INP000" and any("injective(idx)" in line for line in finding.help)


@pytest.mark.parametrize(
    "text", ["n >= 1", "injective(index)", "noalias(a, index)", "parallel(f/i)", "count < width", "i >= 0"]
)
def test_names_that_functions_have(text: str) -> None:
    check_names(_program(), granted(text))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("m >= 1", "no function has 'm'"),
        ("parallel(f/j)", "no function has 'f/j'"),
        ("injective(indx)", "no function has 'indx'"),
        ("noalias(a, bb)", "no function has 'bb'"),
    ],
)
def test_names_that_none_has(text: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        check_names(_program(), granted("n >= 1", text))


def _help(text: str) -> str:
    with pytest.raises(UsageError) as told:
        check_names(_program(), granted(text))
    return told.value.findings[0].help[0]


def test_near_names_are_proposed() -> None:
    assert _help("injective(indx)") == "did you mean 'index'?"
    assert _help("parallel(f/j)") == "did you mean 'f/i'?"
    assert "name a variable" in _help("zzz >= 1")


def test_no_assumption_asks_for_no_program() -> None:
    check_names(program_of("void h(void) { }"), [])
    check_sizes(program_of("void h(void) { }"), [])
    with pytest.raises(UsageError):
        check_names(program_of("void h(void) { }"), granted("n >= 1"))


def test_what_speaks_of_a_program_is_heeded() -> None:
    found = find_heeded(_program(), ["n >= 1", "m >= 1", "n < m", "injective(index)", "garbage(("])
    assert [(a.text, a.kind) for a in found] == [("n >= 1", "granted"), ("injective(index)", "granted")]


def test_sizes() -> None:
    check_sizes(_program(), ["n", "count"])
    with pytest.raises(UsageError, match="--arg coun: no function has 'coun'") as told:
        check_sizes(_program(), ["n", "coun"])
    assert told.value.findings[0].help == ("did you mean 'count'?",)
    with pytest.raises(UsageError) as other:
        check_sizes(_program(), ["qqq"])
    assert other.value.findings[0].help == ("name a variable of the program",)
