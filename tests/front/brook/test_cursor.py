"""A place among words, and names with their blocks."""

from __future__ import annotations

import pytest

from warpsmith.base.source import SourceFile
from warpsmith.front.brook.cursor import BrookCursor, BrookScope, Variable
from warpsmith.front.brook.tokens import BrookTextError, split_words
from warpsmith.tree.types import FLOAT, Symbol


def cursor(text: str) -> BrookCursor:
    """Return a cursor at the start of a text."""
    return BrookCursor(split_words(SourceFile("k.br", text)))


def test_it_goes_on_where_the_word_is_the_one() -> None:
    at = cursor("a ; b")
    assert not at.accepts(";") and at.take().text == "a" and at.accepts(",", ";") and at.stands("b")
    assert at.ahead().kind == "end" and at.since(at.words[0]).text == "a ;"


def test_what_was_expected_is_said() -> None:
    with pytest.raises(BrookTextError) as caught:
        cursor("a").expect("(", "before the arguments")
    assert caught.value.finding.message == "'a' cannot stand here"
    assert caught.value.finding.help == ("expected '(' before the arguments",)


def test_levels_and_operators_have_a_bound() -> None:
    at = cursor("a")
    with pytest.raises(BrookTextError, match="levels are nested"):
        for _ in range(1000):
            at.enter()
    with pytest.raises(BrookTextError, match="operators"):
        for _ in range(1000):
            at.count_operator()
    at.begin_statement()
    at.count_operator()


def test_an_inner_block_hides_a_name() -> None:
    scope, (word, _) = BrookScope(), split_words(SourceFile("k.br", "total"))
    outer, inner = (Variable(Symbol("total", key, FLOAT, "local")) for key in "ab")
    scope.declare(word, outer)
    scope.open()
    scope.declare(word, inner)
    assert scope.find("total") is inner
    scope.close()
    assert scope.find("total") is outer and scope.near("totel") == "did you mean 'total'?" and not scope.near("x")
    with pytest.raises(BrookTextError, match="declared twice"):
        scope.declare(word, outer)
