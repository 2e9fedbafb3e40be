"""Rows of a shared array one element longer."""

from __future__ import annotations

import pytest

from tests.fixes.places import Known, offered
from warpsmith.fixes.padding import pad

HEAD = """#define TILE 32
__device__ void use(float *p);
__global__ void k(float *out, int n)
{
    int x = threadIdx.x, y = threadIdx.y;
"""
PLAIN = "__shared__ float tile[32][32];"


def padded(declared: str, body: str, place: str = "tile[y][x]", known: Known | None = None) -> list[tuple[str, bool]]:
    return offered(pad, f"{HEAD}    {declared}\n    {body}\n}}\n", place, known=known)


@pytest.mark.parametrize(
    ("declared", "after"),
    [
        (PLAIN, "__shared__ float tile[32][33];"),
        ("__shared__ float tile[TILE][TILE];", "__shared__ float tile[TILE][TILE + 1];"),
        ("__shared__ float tile[8][1 << 5];", "__shared__ float tile[8][(1 << 5) + 1];"),
        ("__shared__ float first[2], tile[32] [ 32 ];", "__shared__ float first[2], tile[32] [ 33 ];"),
    ],
)
def test_the_last_dimension_is_longer(declared: str, after: str) -> None:
    assert padded(declared, "tile[y][x] = 1; out[x] = tile[y][x];") == [(after, True)]


@pytest.mark.parametrize(
    "body",
    [
        "tile[y][x] = 1; use(tile[y]);", "tile[y][x] = 1; use(&tile[0][0]);", "tile[y][x] = sizeof(tile);",
        "tile[y][x] = 1; float *p = tile[2]; p[0] = 1;", "tile[y][x] = 1; float (*p)[32] = tile; p[0][0] = 1;",
    ],
)  # fmt: skip
def test_a_use_of_more_than_one_element_keeps_the_distance_of_rows(body: str) -> None:
    assert padded(PLAIN, body) == []


def test_an_indivisible_update_of_one_element_is_one() -> None:
    assert padded(PLAIN, "tile[y][x] = 1; atomicAdd(&tile[y][x], 1.0f);") == [("__shared__ float tile[32][33];", True)]


@pytest.mark.parametrize("index", ["n", "x + 1", "x + y * 32"])
def test_a_subscript_that_may_leave_its_row_is_not_safe(index: str) -> None:
    assert padded(PLAIN, f"tile[y][x] = 1; out[0] = tile[0][{index}];") == [("__shared__ float tile[32][33];", False)]
    # the first one may be anything
    assert padded(PLAIN, "tile[y][x] = 1; out[0] = tile[n][x];")[0][1]


def test_a_block_that_was_only_assumed_proves_nothing() -> None:
    assert padded(PLAIN, "tile[y][x] = 1;", known=Known(block_assumed=("block",)))[0][1] is False


@pytest.mark.parametrize(
    ("declared", "body", "place"),
    [
        ("__shared__ float tile[32];", "tile[x] = 1;", "tile[x]"),
        ("float tile[32][32];", "tile[y][x] = 1;", "tile[y][x]"),
        ("__shared__ float tile[4][32]; int y2 = y;", "out[y2] = 1;", "out[y2]"),
    ],
)
def test_only_shared_arrays_with_rows(declared: str, body: str, place: str) -> None:
    assert padded(declared, body, place) == []
