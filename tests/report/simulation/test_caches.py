"""What caches make of a launch, as text and as data."""

from __future__ import annotations

import pytest

from warpsmith.report.simulation.caches import cache_lines, caches_json, total_of
from warpsmith.report.simulation.model import CacheRow, CacheRun
from warpsmith.report.words import NVIDIA, Speech

RUN = CacheRun(
    "H100 SXM", 4, 128 << 10, 50 << 20,
    (CacheRow("a", 1000, 250, 600, 150, 0, 0, 0), CacheRow("sums", 0, 0, 90, 10, 20, 64, 100)),
)  # fmt: skip


def test_arrays_and_their_sum() -> None:
    head, *rows = cache_lines(RUN, NVIDIA)
    assert head == "caches of H100 SXM: L1 128 KB for 4 blocks, L2 50 MB"
    assert [row.split() for row in rows] == [
        ["array", "load", "sectors", "L1", "hits", "L2", "hits", "from", "memory", "store", "sectors", "to", "memory"],
        ["a", "1,000", "25.0%", "80.0%", "4.7", "KB", "0", "0", "B"],
        ["sums", "0", "-", "90.0%", "320", "B", "120", "2", "KB"],
        ["all", "1,000", "25.0%", "81.2%", "5", "KB", "120", "2", "KB"],
    ]
    assert len([*cache_lines(CacheRun("A", 1, 1, 1, RUN.rows[:1]), NVIDIA)]) == 3


def test_words_of_another_vendor() -> None:
    assert next(iter(cache_lines(RUN, Speech("amd")))).startswith("caches of H100 SXM: L1 128 KB for 4 work-groups")


def test_why_there_are_none() -> None:
    none = CacheRun("MI300X", why="nobody knows")
    assert [*cache_lines(none, NVIDIA)] == ["caches of MI300X: not simulated: nobody knows"]
    assert caches_json(none) == {"device": "MI300X", "why": "nobody knows"}


def test_data_are_sectors_and_bytes_of_memory() -> None:
    found = caches_json(RUN)
    assert (found["l1_bytes"], found["l2_bytes"], found["resident_blocks"]) == (128 << 10, 50 << 20, 4)
    assert (found["dram_read_bytes"], found["dram_written_bytes"]) == (32 * 160, 32 * 64)
    assert found["arrays"][1] == {
        "name": "sums", "load_sectors": 0, "l1_hits": 0, "l2_hits": 90, "read_sectors": 10, "store_sectors": 20,
        "written_sectors": 64, "atomic_sectors": 100,
    }  # fmt: skip


@pytest.mark.parametrize("column", ["loads", "read", "written", "atomics"])
def test_the_sum_has_all(column: str) -> None:
    assert getattr(total_of(RUN), column) == sum(getattr(row, column) for row in RUN.rows)
