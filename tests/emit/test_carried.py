"""Which parts of the run time a port carries."""

from __future__ import annotations

import pytest

from warpsmith.emit.carried import RuntimeNeeds, check_text, declarations, pool_prototypes, pool_text, run_time
from warpsmith.emit.words import Support


@pytest.mark.parametrize(
    ("needs", "prefix", "features"),
    [
        (RuntimeNeeds(), "ws", set()),
        (RuntimeNeeds(present=True), "ws", {"PRESENT"}),
        (RuntimeNeeds(allocations=True, rows=True), "ws", {"ALLOCATIONS", "ROWS"}),
        # where rows start is asked of the blocks of memory
        (RuntimeNeeds(rows=True), "ws", set()),
        (RuntimeNeeds(switch=True), "ws", {"SWITCH"}),
        (RuntimeNeeds(), "ws1", {"OTHER_ALLOCATIONS"}),
    ],
)
def test_features_by_the_names_of_the_run_time(needs: RuntimeNeeds, prefix: str, features: set[str]) -> None:
    assert needs.features(Support(prefix)) == features


def test_a_part_comes_only_where_it_is_needed() -> None:
    support = Support("ws")
    plain, whole = run_time(support, RuntimeNeeds()).text, run_time(support, RuntimeNeeds(True, True, True, True)).text
    assert len(plain) < len(whole)
    assert "ws_data_begin" in whole and "ws_data_begin" not in plain
    assert "ws_allocation_bytes" in declarations(support, RuntimeNeeds(allocations=True))
    assert "ws_allocation_bytes" not in declarations(support, RuntimeNeeds())


def test_names_have_the_prefix_of_the_program() -> None:
    other = Support("ws1")
    texts = [
        check_text(other, RuntimeNeeds()),
        run_time(other, RuntimeNeeds()).text,
        declarations(other, RuntimeNeeds()),
        pool_prototypes(other),
    ]
    assert all("ws1_" in text.lower() for text in texts)


def test_the_check_stands_once_in_a_file() -> None:
    support = Support("ws")
    check = check_text(support, RuntimeNeeds())
    head = next(line for line in check.splitlines() if "static void ws_check(" in line)
    assert head in run_time(support, RuntimeNeeds()).text and head not in pool_text(support, RuntimeNeeds()).text
    assert support.acquire in pool_text(support, RuntimeNeeds()).text and support.acquire in pool_prototypes(support)
