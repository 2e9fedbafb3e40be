"""The program of Brook+ sorts what the C program sorts, from a definition of its own."""

from __future__ import annotations

from functools import cache

import pytest

from warpsmith.flows.journey import streams
from warpsmith.flows.journey.followed import FollowedVersions, follow_all
from warpsmith.flows.journey.origin import Begun, begin
from warpsmith.flows.journey.ran import Expected, find_reference
from warpsmith.flows.journey.reasons import UnableError
from warpsmith.flows.journey.streams import run_streams
from warpsmith.flows.journey.subjects import own_subject, program_text


@cache
def _bitonic() -> tuple[Begun, FollowedVersions, Expected]:
    _, begun = begin(own_subject("bitonic"))
    return begun, follow_all(begun.versions, begun.inputs.arrays), find_reference(begun)


def test_it_agrees_with_the_original_and_with_both_versions() -> None:
    stage = run_streams(*_bitonic())
    assert [row.verdict for row in stage.rows] == ["equal"] * 3
    assert {(row.elements, row.passes) for row in stage.rows} == {(64, 21)}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("(first == upward)", "(first != upward)"),
        ("run <= (float)n", "run < (float)n"),
        ("2.0f * run) < run", "run) < run"),
    ],
)
def test_a_network_that_is_wrong_differs(old: str, new: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text = program_text("bitonic.br")
    assert old in text
    monkeypatch.setattr(streams, "program_text", lambda _: text.replace(old, new))
    assert {row.verdict for row in run_streams(*_bitonic()).rows} == {"differs"}


def test_without_an_original_there_is_a_reason() -> None:
    begun, followed, _ = _bitonic()
    with pytest.raises(UnableError, match="no compiler"):
        run_streams(begun, followed, Expected("bitonic.c", {}, "there is no compiler"))
