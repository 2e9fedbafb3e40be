"""Definitions: what a launch can start."""

from __future__ import annotations

import pytest

from tests.front.brook.running import read


@pytest.mark.parametrize(
    ("head", "starts"),
    [
        ("kernel void k(float a<>, out float o<>)", True),
        ("kernel void k(float a<>, out float o[])", True),
        ("reduce void k(float a<>, reduce float o<>)", True),
        ("kernel void k(float a<>)", False),
        ("kernel void k(float a<>, out float o)", False),
        ("kernel void k(out float o<>, out float p)", False),
        ("void k(float a[])", False),
    ],
)
def test_what_writes_streams_and_nothing_else_starts(head: str, starts: bool) -> None:
    assert read(f"{head} {{ }}").definitions["k"].starts is starts
