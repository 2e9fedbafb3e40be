"""Which element of which stream an address is."""

from __future__ import annotations

import pytest

from warpsmith.base.source import SourceFile
from warpsmith.front.brook.read import read_brook
from warpsmith.lower.program import lower
from warpsmith.ssa.nodes import Constant, Memory
from warpsmith.targets.il.pixels.subscripts import PixelSubscripts, StreamPlace


def places(value: str) -> list[StreamPlace]:
    """Return where a kernel reads that writes a value."""
    head = "kernel void k(float a<>, float g[], float4 v[], float h[][], int n, out float o<>) "
    read = read_brook(SourceFile("k.br", f"{head}{{ o = {value}; }}"), guarded=False)
    assert not read.findings
    function = lower(read.program).module.function("k")
    assert function is not None
    sizes = {"a": 4, "g": 4, "v": 16, "h": 4, "o": 4}
    found = PixelSubscripts(function, sizes, {"a": "width", "h": "h_width"}, ["width"])
    loads = [(i, i.detail) for _, i in function.instructions() if i.op == "load"]
    return [found.place(i, detail) for i, detail in loads if isinstance(detail, Memory)]


def shape(place: StreamPlace) -> tuple[str, int, int, int]:
    """Return a stream, the first component, and how many terms a row and a column have."""
    return place.stream, place.component, len(place.rows), len(place.columns)


def test_the_threads_own_place_is_seen() -> None:
    (place,) = places("a")
    assert place.own and place.stream == "a"


@pytest.mark.parametrize(
    ("value", "wanted"),
    [
        ("g[n]", ("g", 0, 0, 1)),
        ("g[3]", ("g", 0, 0, 1)),
        ("v[n].z", ("v", 0, 0, 1)),
        ("h[n][2]", ("h", 0, 1, 1)),
        ("h[n * 2][n + 3]", ("h", 0, 1, 2)),
        ("h[instance().y][instance().x]", ("h", 0, 1, 1)),
    ],
)
def test_rows_and_columns_are_told_apart(value: str, wanted: tuple[str, int, int, int]) -> None:
    (place,) = places(value)
    assert shape(place) == wanted and not place.split and not place.own


def test_constants_count_elements() -> None:
    (place,) = places("g[3]")
    (index,) = place.columns
    assert isinstance(index, Constant) and index.bits == 3


def test_an_index_without_a_row_is_divided() -> None:
    (place,) = places("h[0][n]")
    assert place.split and place.stream == "h"
