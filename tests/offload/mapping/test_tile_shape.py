"""The shape of tiles, by numbers that are worked out by hand."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.offload.analyzed import analyzed
from warpsmith.offload.fragments import OffloadRegion
from warpsmith.offload.mapping.tile_shape import TileBlock, TileShape, choose_shape, lay_out
from warpsmith.offload.mapping.tiles import LoopReads, TileSearch, array_of, find_shared_reads
from warpsmith.tree.nodes import For
from warpsmith.tree.program import Axis

_AXES: tuple[Axis, ...] = ("z", "y", "x")
ROWS = "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++)"
PRODUCT = f"{ROWS} for (int k = 0; k < n; k++) C[i][j] += A[i][k] * B[k][j];"
SQUARES = f"{ROWS} for (int k = 0; k < n; k++) C[i][j] += A[i][k] * A[j][k];"


def found(
    text: str, folder: Path, element: str = "double", block: tuple[int, int, int] = (64, 4, 1)
) -> tuple[tuple[LoopReads, ...], TileBlock, object]:
    head = f"void f(int n, {element} C[restrict n][n], {element} A[restrict n][n], {element} B[restrict n][n])\n"
    program = analyzed(f"{head}{{\n{text}\n}}\n", folder)
    request = program.request()
    (draft, *_) = program.choice().drafts
    heads = tuple(f.loop for f in draft.loops if isinstance(f.loop, For))
    region = OffloadRegion((request.facts.function.body,), (draft,), (), ())
    reads = find_shared_reads(TileSearch(request, region, draft, heads))
    assert isinstance(reads, tuple)
    axes = _AXES[-len(heads) :]
    references = [r for r in draft.loops[0].accesses if r.base.name != "C"]
    return reads, TileBlock(heads, axes, block), references


def choose(text: str, folder: Path, element: str = "double", **given: object) -> TileShape | None:
    reads, block, references = found(text, folder, element)
    return choose_shape(reads, block, references, "sm_80", **{"fixed": False, **given})  # type: ignore[arg-type]


def test_a_product_gets_a_square_block(tmp_path: Path) -> None:
    shape = choose(PRODUCT, tmp_path)
    # 16 x 16: (64 + 64) sectors for 16 iterations of 256 threads; 32 x 8: (64 + 256) for 32; 64 x 4: more
    assert shape is not None and shape.block.block == (16, 16, 1) and [*shape.widths.values()] == [16]
    assert sorted(array_of(r.nodes[0]) for one in shape.reads.values() for r in one) == ["A", "B"]


def test_a_block_that_was_given_stays(tmp_path: Path) -> None:
    shape = choose(PRODUCT, tmp_path, fixed=True)
    assert shape is not None and shape.block.block == (64, 4, 1)


def test_columns_of_floats_are_rows_of_32(tmp_path: Path) -> None:
    # two rows of 16 words and one of padding, stored by one warp, meet in a bank
    shape = choose(SQUARES, tmp_path, "float")
    assert shape is not None and [*shape.widths.values()] == [32]


@pytest.mark.parametrize(
    ("block", "width", "extents", "padding"),
    [((16, 16, 1), 16, (16, 16), 1), ((32, 8, 1), 32, (32, 32), 1), ((64, 4, 1), 16, (64, 16), 1)],
)
def test_what_is_read_along_a_column_is_padded(
    block: tuple[int, int, int], width: int, extents: tuple[int, ...], padding: int, tmp_path: Path
) -> None:
    reads, given, _ = found(SQUARES, tmp_path, block=block)
    column = next(r for r in reads[0].reads if r.by[0].variable.name == "j")
    layout = lay_out(column, given, width)
    assert layout is not None and (layout.extents, layout.padding) == (extents, padding)
    assert layout.elements == extents[0] * (extents[1] + 1)
    row = next(r for r in reads[0].reads if r.by[0].variable.name == "i")
    as_asked = [lay_out(column, replace(given, padding=asked), width) for asked in (0, 3)]
    assert [one.padding for one in as_asked if one is not None] == [0, 3]
    straight = lay_out(row, given, width)
    assert straight is not None and (straight.extents, straight.padding) == ((block[1], width), 0)


def test_an_axis_of_one_thread_has_no_rows(tmp_path: Path) -> None:
    reads, given, _ = found(PRODUCT, tmp_path, block=(256, 1, 1))
    row = next(r for r in reads[0].reads if r.by[0].variable.name == "i")
    layout = lay_out(row, given, 32)
    assert layout is not None and layout.extents == (32,) and layout.rows == 1


def test_rows_that_threads_cannot_fill_evenly(tmp_path: Path) -> None:
    reads, given, _ = found(PRODUCT, tmp_path)
    assert lay_out(reads[0].reads[0], given, 7) is None
    assert choose(PRODUCT, tmp_path, asked=7) is None


def test_what_is_asked_for_must_fit(tmp_path: Path) -> None:
    shape = choose(PRODUCT, tmp_path, asked=64)
    assert shape is not None and [*shape.widths.values()] == [64]
    # 16 x 1024 and 1024 x 16 doubles are 256 KiB
    assert choose(PRODUCT, tmp_path, asked=1024) is None


def test_tiles_that_leave_fewer_warps_are_not_chosen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from warpsmith.offload.mapping import tile_shape

    asked: list[int] = []

    def occupancy(gpu: object, threads: int, registers: int, shared: int = 0) -> object:
        asked.append(shared)
        return type("Found", (), {"warps": 64 - (shared > 2048)})

    monkeypatch.setattr(tile_shape, "occupancy", occupancy)
    shape = choose(PRODUCT, tmp_path)
    assert max(asked) > 2048 and (shape is None or [*shape.widths.values()] == [8])


def test_what_no_thread_shares_is_no_gain(tmp_path: Path) -> None:
    alone = "for (int j = 0; j < n; j++) for (int k = 0; k < n; k++) C[0][j] += A[0][k] * B[k][j];"
    reads, block, references = found(alone, tmp_path, block=(256, 1, 1))
    assert reads[0].reads
    # B is read as before: A alone is no half of the sectors
    assert choose_shape(reads, block, references, "sm_80", fixed=False) is None  # type: ignore[arg-type]


def test_other_makers_have_none(tmp_path: Path) -> None:
    reads, block, references = found(PRODUCT, tmp_path)
    assert choose_shape(reads, block, references, "gfx90a", fixed=False) is None  # type: ignore[arg-type]
