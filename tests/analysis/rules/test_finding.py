"""The finding of a rule: its estimate, and the chain from it back to the source."""

from __future__ import annotations

from warpsmith.analysis.rules.finding import MODEL, Estimate, Why, why_of
from warpsmith.base.source import SourceFile, Span

TEXT = "if (a[i]   <\n    3) x = 1; a_function(with_a_first_argument, with_a_second_argument)"
FILE = SourceFile("k.cu", TEXT)
SHORT = Span(FILE, 4, 18)
LONG = Span(FILE, TEXT.index("a_f"), len(TEXT))


def test_an_estimate_says_what_it_rests_on() -> None:
    assert Estimate("traffic", 2.5, "times the minimum").text == f"traffic 2.5 times the minimum ({MODEL})"
    assert Estimate("occupancy", 50.0, "%", "arithmetic").text == "occupancy 50 % (arithmetic)"


def test_a_value_is_said_in_the_users_words() -> None:
    assert why_of(["%c"], [SHORT]) == (Why("`a[i] < 3`", SHORT),)
    assert why_of(["%row.3"], [None]) == (Why("`row`"),)
    assert why_of(["the thread's own index"], [None]) == (Why("the thread's own index"),)


def test_long_words_are_cut() -> None:
    ((text, _),) = ((why.text, why.span) for why in why_of(["%c"], [LONG]))
    assert text == "`a_function(with_a_first_argument, with_a_second…`"
    exactly = Span(FILE, LONG.start, LONG.start + 48)
    assert why_of(["%c"], [exactly])[0].text == f"`{exactly.text}`"


def test_steps_that_say_nothing_new_are_left_out() -> None:
    assert why_of(["%c", "%d", "%e"], [SHORT, SHORT, None]) == (Why("`a[i] < 3`", SHORT), Why("`e`"))
    assert why_of(["one", "one"], [SHORT, LONG]) == (Why("one", SHORT), Why("one", LONG))


def test_as_many_steps_as_texts() -> None:
    assert why_of(["one"], [SHORT, LONG]) == (Why("one", SHORT),)
    assert why_of(["one", "two"], [SHORT]) == (Why("one", SHORT), Why("two"))
    assert why_of([], [SHORT]) == ()
