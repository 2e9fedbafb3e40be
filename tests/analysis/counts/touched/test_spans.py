"""What blocks touch together, against counts by hand and against every block put into a set."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.analysis.counts.touched.walks import Looked, look_at
from warpsmith.analysis.counts.touched.spans import BlockSpans
from warpsmith.machine.time.work import TouchedSectors

HEAD = "__global__ void k(float *a, const float *b, int n) { int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y;\n"


def _read(found: Looked, running: int) -> TouchedSectors:
    return BlockSpans(found.owner, found.walked, found.threads, running).of(found.loads)


def test_blocks_that_share_nothing_touch_what_each_does(tmp_path: Path) -> None:
    found = _read(look_at(HEAD + "a[x] = b[x]; }", tmp_path, (32, 1, 1), (4000, 1, 1), 0), 100)
    assert (found.block, found.together, found.twice, found.grid) == (4, 400, 800, 16_000)
    assert found.wider == (1600, 3200, 6400, 12_800) and found.active == 4000


def test_what_all_blocks_read_counts_once(tmp_path: Path) -> None:
    found = _read(look_at(HEAD + "a[x] = b[threadIdx.x]; }", tmp_path, (32, 1, 1), (4000, 1, 1), 0), 100)
    assert (found.block, found.together, found.grid) == (4, 4, 4)


@pytest.mark.parametrize(("rows", "touched"), [(1, 3), (2, 4), (10, 12)])
def test_rows_of_blocks_share_their_neighbors(rows: int, touched: int, tmp_path: Path) -> None:
    text = HEAD + "a[y * n + x] = b[y * n + x] + b[(y + 1) * n + x] + b[(y + 2) * n + x]; }"
    found = _read(look_at(text, tmp_path, (32, 1, 1), (64, 500, 1), 2048), 64 * rows)
    # a row of the grid is 256 sectors
    assert found.together == touched * 256 and found.grid == 502 * 256


def test_blocks_that_touch_nothing_are_not_active(tmp_path: Path) -> None:
    text = HEAD + "if (x < n) a[x] = b[x]; }"
    found = _read(look_at(text, tmp_path, (32, 1, 1), (4000, 1, 1), 320), 100)
    assert found.active == 10 and found.grid == found.together == 40


@pytest.mark.parametrize("grid", [(1, 1, 1), (4000, 1, 1), (300, 200, 2)])
def test_a_launch_may_touch_nothing(grid: tuple[int, int, int], tmp_path: Path) -> None:
    found = _read(look_at(HEAD + "if (x < n) a[x] = b[x]; }", tmp_path, (32, 1, 1), grid, 0), 100)
    assert found.grid == found.together == found.block == 0


BODIES = [
    "a[y * n + x] = b[y * n + x] + b[y * n + x + 1];",
    "a[y * n + x] = b[x * n + y];",
    "a[y * n + x] = b[y * n] + b[x];",
    "if (x <= y) a[y * n + x] = b[y * n + x];",
    "float s = 0; for (int k = 0; k < 8; k++) s += b[y * n + k] + b[k * n + x]; a[y * n + x] = s;",
]


@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("running", [1, 7, 12, 36, 1000])
def test_blocks_that_stand_for_others_are_near_all_of_them(body: str, running: int, tmp_path: Path) -> None:
    grid, n = (12, 40, 1), 512
    found = look_at(HEAD + body + "}", tmp_path, (32, 1, 1), grid, n)
    read = _read(found, running)
    touched = [_sectors(body, x, y, n) for y in range(grid[1]) for x in range(grid[0])]
    # blocks that touch nothing do not stand between others
    active = [one for one in touched if one]
    windows = [
        len(set[int]().union(*active[first : first + running])) for first in range(max(1, len(active) - running + 1))
    ]
    assert read.grid == pytest.approx(len(set[int]().union(*touched)), rel=0.05)
    assert read.block == pytest.approx(sum(map(len, touched)) / len(touched), rel=0.05)
    assert 0.9 * min(windows) <= read.together <= 1.1 * max(windows)


def _sectors(body: str, block: int, y: int, n: int) -> set[int]:
    """Return the sectors of `b` that a block reads, thread by thread."""
    found: set[int] = set()
    for x in range(32 * block, 32 * block + 32):
        match BODIES.index(body):
            case 0:
                at = [y * n + x, y * n + x + 1]
            case 1:
                at = [x * n + y]
            case 2:
                at = [y * n, x]
            case 3:
                at = [y * n + x] if x <= y else []
            case _:
                at = [y * n + k for k in range(8)] + [k * n + x for k in range(8)]
        found.update(one // 8 for one in at)
    return found


def test_blocks_that_do_less_in_an_iteration_run_ahead(tmp_path: Path) -> None:
    text = HEAD + "float s = 0; for (int k = 0; k < n; k++) { s += b[k * 32 + threadIdx.x]; MORE } a[x] = s; }"
    even = _read(look_at(text.replace("MORE", ""), tmp_path, (32, 1, 1), (8, 1, 1), 100), 8)
    assert (even.apart, even.lag) == (even.together, 0)
    more = "if (blockIdx.x >= 4) s += b[(n + k) * 32 + threadIdx.x];"
    apart = _read(look_at(text.replace("MORE", more), tmp_path, (32, 1, 1), (8, 1, 1), 100), 8)
    # those that read one row an iteration are half of the way ahead, and have read what the others read later
    assert apart.together == 800 and apart.apart == 400 + 800 and apart.lag == pytest.approx(0.5)


def test_the_part_that_is_left_of_an_access(tmp_path: Path) -> None:
    found = look_at(HEAD + "a[x] = b[x] + b[threadIdx.x]; }", tmp_path, (32, 1, 1), (4000, 1, 1), 0)
    spans = BlockSpans(found.owner, found.walked, found.threads, 100)
    assert sorted(spans.shared(i) for i in found.loads) == [(0.01, 4000), (1.0, 4000)]
