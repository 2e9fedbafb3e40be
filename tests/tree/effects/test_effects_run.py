from __future__ import annotations

import pytest
from msgspec.structs import replace

from tests.tree.effects.effects_run import CALLS, contradictions, observed
from warpsmith.tree.effects.file import house_effects

Seen = dict[str, tuple[set[int], set[int]]]


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> Seen:
    return observed(tmp_path_factory.mktemp("calls"), CALLS)


def test_no_call_does_more_than_the_table_says(seen: Seen) -> None:
    assert contradictions(house_effects().functions, seen) == []


def test_the_runs_show_something(seen: Seen) -> None:
    assert seen["memcpy"] == ({1}, {0}) and seen["strcmp"] == ({0, 1}, set())
    assert sum(len(reads) + len(writes) for reads, writes in seen.values()) >= 60


@pytest.mark.parametrize(
    "name", ["strtok", "rand_r", "sscanf", "qsort", "strtol", "mktime", "memcpy", "frexp", "strcat"]
)
@pytest.mark.parametrize("part", ["reads", "writes"])
def test_a_wrong_entry_is_seen(name: str, part: str, seen: Seen) -> None:
    table = dict(house_effects().functions)
    nothing: frozenset[int] = frozenset()
    entry = table[name]
    table[name] = replace(entry, reads=nothing) if part == "reads" else replace(entry, writes=nothing)
    shown = seen[name][0 if part == "reads" else 1]
    assert [c for c in contradictions(table, seen) if c.startswith(f"{name} {part}")] or not shown
