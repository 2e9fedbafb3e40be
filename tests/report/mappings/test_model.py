"""Which mapping a model chooses."""

from __future__ import annotations

from tests.flows.placing.test_mappings import PIXELS, explained


def test_a_model_that_says_nothing_chooses_nothing() -> None:
    (nest,) = explained(PIXELS, "f/p").nests
    assert nest.winner("time") is None
    assert nest.winner("lines") is nest.mappings[0]
    assert nest.winner("tables") is not nest.mappings[0]
