"""Findings: each once, the certain one where there are two."""

from __future__ import annotations

from tests.poly.mapped.test_copies import SPAN, STALE
from warpsmith.poly.mapped.copies import CopyPair
from warpsmith.poly.mapped.words import Words


def test_a_certain_finding_takes_the_place_of_one_that_may_be() -> None:
    words = Words()
    for sure in (False, True, False):
        words.host_reads(STALE, "a", SPAN, CopyPair(), sure=sure)
    (found,) = words.found.values()
    assert found.sure and "reads it on the host" in found.text and found.helps


def test_words_say_what_may_be() -> None:
    words = Words()
    words.device_reads(STALE, "a", SPAN, CopyPair(), sure=False)
    words.absent(SPAN, "b", SPAN, sure=False)
    words.doubt(None, "c", "nothing")
    assert ["may read" in one.text or "may be" in one.text for one in words.found.values()] == [True, True]
