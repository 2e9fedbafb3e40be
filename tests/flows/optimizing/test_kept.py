"""Outcomes that are kept: all of them come back, for the same question about the same program alone."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.flows.optimizing.begun import OPTIONS, PAIR, begin
from warpsmith.flows.optimizing.kept import CandidateOutcome, KeptOutcomes, search_key

FOUND = CandidateOutcome(1.5, "latency", sectors=3.0, instructions=7.0, parts=(("f/i", 1.0), ("copies", 0.5)), key="k")
REFUSED = CandidateOutcome(None, why="a dependence", refused=True)


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("WARPSMITH_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_what_was_found_comes_back() -> None:
    first = KeptOutcomes(b"key")
    first.put("one", FOUND)
    first.put("two", REFUSED)
    assert not first.is_earlier("one") and KeptOutcomes(b"key").get("one") is None
    first.write()
    second = KeptOutcomes(b"key")
    assert (second.get("one"), second.get("two"), second.get("three")) == (FOUND, REFUSED, None)
    assert second.is_earlier("one") and second.knows("two") and not second.knows("three")
    assert KeptOutcomes(b"other").get("one") is None and KeptOutcomes(None).get("one") is None


def test_more_is_added_to_what_was_kept() -> None:
    for question in ("one", "two", "three"):
        answers = KeptOutcomes(b"key")
        answers.put(question, FOUND)
        answers.write()
    assert all(KeptOutcomes(b"key").is_earlier(question) for question in ("one", "two", "three"))


def test_a_file_that_is_not_whole_counts_as_none(_cache: Path) -> None:
    answers = KeptOutcomes(b"key")
    answers.put("one", FOUND)
    answers.write()
    (file,) = (_cache / "optimize").iterdir()
    file.write_bytes(file.read_bytes()[:-1])
    assert KeptOutcomes(b"key").get("one") is None
    file.write_bytes(b"")
    assert KeptOutcomes(b"key").get("one") is None


def test_the_key_has_all_that_outcomes_rest_on(tmp_path: Path) -> None:
    prepared = begin(PAIR, tmp_path).made.prepared
    key = search_key(prepared, (OPTIONS, OPTIONS), "root")
    assert key == search_key(begin(PAIR, tmp_path).made.prepared, (OPTIONS, OPTIONS), "root")
    sized = replace(OPTIONS, sizes={"n": 5})
    others = [
        search_key(prepared, (OPTIONS, OPTIONS), "map"),
        search_key(prepared, (sized, OPTIONS), "root"),
        search_key(prepared, (OPTIONS, sized), "root"),
        *(
            search_key(begin(PAIR.replace(old, new), tmp_path).made.prepared, (OPTIONS, OPTIONS), "root")
            for old, new in (("0.5f * B", "0.25f * B"), ("i < 2400", "i < 2399"), ("A[2400][2000]", "A[2400][2001]"))
        ),
    ]
    assert len({key, *others}) == 1 + len(others)
