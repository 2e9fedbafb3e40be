"""What caches make of a launch, as text and as data.

caches of H100 SXM: L1 256 KB for 4 blocks, L2 50 MB
array  loads    L1 hits  L2 hits  from memory  stores  to memory
A      84,000   0.0%     85.7%    375.0 KB     0       0 B
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from warpsmith.base.source import readable
from warpsmith.report.analysis.text import columns
from warpsmith.report.simulation.model import CacheRow, CacheRun
from warpsmith.report.words import Speech

__all__ = ["cache_lines", "caches_json"]

_SECTOR: Final = 32
_UNITS: Final = ("B", "KB", "MB", "GB", "TB")


def cache_lines(run: CacheRun, words: Speech) -> Iterator[str]:
    """Yield a line that says which caches, and a table of the arrays; loads and stores are counted in sectors."""
    if run.why:
        yield f"caches of {run.device}: not simulated: {run.why}"
        return
    blocks = words.count(run.resident, "block")
    yield f"caches of {run.device}: L1 {_size(run.first_bytes)} for {blocks}, L2 {_size(run.second_bytes)}"
    rows = [("array", "load sectors", "L1 hits", "L2 hits", "from memory", "store sectors", "to memory")]
    rows += map(_cells, (*run.rows, total_of(run)) if len(run.rows) > 1 else run.rows)
    yield from columns(rows)


def total_of(run: CacheRun) -> CacheRow:
    """Return the sums over all arrays."""
    numbers = ("loads", "first_hits", "second_hits", "read", "stores", "written", "atomics")
    return CacheRow("all", *(sum(getattr(row, name) for row in run.rows) for name in numbers))


def _cells(row: CacheRow) -> tuple[str, str, str, str, str, str, str]:
    return (
        readable(row.name),
        f"{row.loads:,}",
        _share(row.first_hits, row.loads),
        _share(row.second_hits, row.asked),
        _size(row.read * _SECTOR),
        f"{row.stores + row.atomics:,}",
        _size(row.written * _SECTOR),
    )


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f}%" if whole else "-"


def _size(count: float) -> str:
    """Return bytes in a unit of 1024 that suits them."""
    for unit in _UNITS:
        if count < 1024 or unit == _UNITS[-1]:
            break
        count /= 1024
    return f"{count:.1f} {unit}" if count % 1 else f"{count:.0f} {unit}"


def caches_json(run: CacheRun) -> dict[str, Any]:
    """Return it as data: numbers of sectors of 32 bytes."""
    if run.why:
        return {"device": run.device, "why": run.why}
    return {
        "device": run.device,
        "resident_blocks": run.resident,
        "l1_bytes": run.first_bytes,
        "l2_bytes": run.second_bytes,
        "dram_read_bytes": _SECTOR * total_of(run).read,
        "dram_written_bytes": _SECTOR * total_of(run).written,
        "arrays": [
            {
                "name": readable(row.name),
                "load_sectors": row.loads,
                "l1_hits": row.first_hits,
                "l2_hits": row.second_hits,
                "read_sectors": row.read,
                "store_sectors": row.stores,
                "written_sectors": row.written,
                "atomic_sectors": row.atomics,
            }
            for row in run.rows
        ],
    }
