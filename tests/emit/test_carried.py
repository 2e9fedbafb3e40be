"""Which parts of the run time a port carries."""

from __future__ import annotations

import pytest

from warpsmith.emit.carried import Needs, check_text, declarations, pool_prototypes, pool_text, run_time
from warpsmith.emit.words import Support


@pytest.mark.parametrize(
    ("needs", "prefix", "features"),
    [
        (Needs(), "ws", set()),
        (Needs(present=True), "ws", {"PRESENT"}),
        (Needs(allocations=True, rows=True), "ws", {"ALLOCATIONS", "ROWS"}),
        # where rows start is asked of the blocks of memory
        (Needs(rows=True), "ws", set()),
        (Needs(switch=True), "ws", {"SWITCH"}),
        (Needs(), "ws1", {"OTHER_ALLOCATIONS"}),
    ],
)
def test_features_by_the_names_of_the_run_time(needs: Needs, prefix: str, features: set[str]) -> None:
    assert needs.features(Support(prefix)) == features


def test_a_part_comes_only_where_it_is_needed() -> None:
    support = Support("ws")
    plain, whole = run_time(support, Needs()).text, run_time(support, Needs(True, True, True, True)).text
    assert len(plain) < len(whole)
    assert "ws_data_begin" in whole and "ws_data_begin" not in plain
    assert "ws_allocation_bytes" in declarations(support, Needs(allocations=True))
    assert "ws_allocation_bytes" not in declarations(support, Needs())


def test_names_have_the_prefix_of_the_program() -> None:
    other = Support("ws1")
    texts = [
        check_text(other, Needs()),
        run_time(other, Needs()).text,
        declarations(other, Needs()),
        pool_prototypes(other),
    ]
    assert all("ws1_" in text.lower() for text in texts)


def test_the_check_stands_once_in_a_file() -> None:
    support = Support("ws")
    check = check_text(support, Needs())
    head = next(line for line in check.splitlines() if "static void ws_check(" in line)
    assert head in run_time(support, Needs()).text and head not in pool_text(support, Needs()).text
    assert support.acquire in pool_text(support, Needs()).text and support.acquire in pool_prototypes(support)
