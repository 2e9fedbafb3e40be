"""The meaning of a directive: whether it makes threads, shares a loop among them, or stands alone."""

from __future__ import annotations

import pytest

from tests.front.test_pragmas import read
from warpsmith.tree.text.directives import Clause, Directive, Family, ListItem, words_of


@pytest.mark.parametrize(
    ("text", "alone", "threads", "shares"),
    [
        ("#pragma omp barrier", True, False, False),
        ("#pragma omp target update to(a)", True, False, False),
        ("#pragma omp target enter data map(to: a)", True, False, False),
        ("#pragma omp target data map(to: a)", False, False, False),
        ("#pragma omp parallel", False, True, False),
        ("#pragma omp parallel for", False, True, True),
        ("#pragma omp for", False, False, True),
        ("#pragma omp simd", False, False, False),
        ("#pragma omp teams distribute", False, True, True),
        ("#pragma acc parallel loop", False, False, True),
        ("#pragma acc loop seq", False, False, False),
        ("#pragma acc kernels loop", False, False, False),
        ("#pragma acc kernels loop independent", False, False, True),
        ("#pragma acc update self(a)", True, False, False),
    ],
)
def test_what_a_directive_does(text: str, alone: bool, threads: bool, shares: bool) -> None:
    directive = read(text)
    assert (directive.stands_alone, directive.starts_threads, directive.shares_loop) == (alone, threads, shares)


def directive(words: str, family: Family = "omp", *clauses: Clause) -> Directive:
    return Directive(family, tuple(words.split()), clauses)


@pytest.mark.parametrize(
    ("family", "words", "threads", "shares", "alone"),
    [
        ("omp", "parallel", True, False, False), ("omp", "target data", False, False, False),
        ("omp", "target enter data", False, False, True), ("omp", "target", True, False, False),
        ("omp", "taskloop", True, False, False), ("omp", "declare target", False, False, True),
        ("omp", "distribute", False, True, False), ("omp", "teams distribute", True, True, False),
        ("omp", "simd", False, False, False), ("omp", "barrier", False, False, True),
        ("acc", "parallel", False, False, False), ("acc", "parallel loop", False, True, False),
        ("acc", "loop", False, True, False), ("acc", "kernels loop", False, False, False),
        ("acc", "update", False, False, True), ("acc", "enter data", False, False, True),
        ("acc", "wait", False, False, True), ("acc", "data", False, False, False),
    ],
)  # fmt: skip
def test_kinds(family: Family, words: str, threads: bool, shares: bool, alone: bool) -> None:
    made = directive(words, family)
    assert (made.starts_threads, made.shares_loop, made.stands_alone) == (threads, shares, alone)
    assert made.is_simd == (words == "simd") and made.title == f"{family} {words}"


def test_clauses_of_openacc_say_whether_iterations_are_independent() -> None:
    assert directive("kernels loop", "acc", Clause("independent", "independent")).shares_loop
    assert not directive("parallel loop", "acc", Clause("seq", "seq")).shares_loop


def test_lists_and_arguments() -> None:
    made = directive(
        "parallel for", "omp", Clause("private", "", (ListItem("a"), ListItem("b", "[0:n]"))),
        Clause("private", "", (ListItem("c"),)),
        Clause("collapse", "", argument="2"), Clause("collapse", "", argument="3"), Clause("nowait", ""),
    )  # fmt: skip
    assert made.list_variables("private") == ("a", "b", "c") and made.list_variables("shared", "collapse") == ()
    assert made.argument("collapse") == "2" and made.argument("schedule") == ""
    assert made.has("nowait") and not made.has("ordered")
    assert "reduction" in words_of("lists") and "parallel" in words_of("omp")
