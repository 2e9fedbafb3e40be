"""Words as messages show them."""

from __future__ import annotations

from warpsmith.base.source import SourceFile, Span
from warpsmith.front.brook.words import BrookTextError, BrookWord

PLACE = Span(SourceFile("k.br", "x"), 0, 1)


def test_long_words_are_cut_and_the_end_has_a_name() -> None:
    assert BrookWord("word", "x", PLACE).shown == "'x'"
    assert BrookWord("end", "", PLACE).shown == "the end of the text"
    assert BrookWord("word", "y" * 61, PLACE).shown == f"'{'y' * 60}…'"


def test_an_error_is_a_finding_at_its_place() -> None:
    finding = BrookTextError(PLACE, "no", "yes").finding
    assert (finding.rule, finding.message, finding.span, finding.help) == ("BRK001", "no", PLACE, ("yes",))
