"""Which accesses come to what others have touched."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.analysis.counts.touched.walks import look_at
from warpsmith.analysis.counts.touched.order import Touches, order_of

HEAD = "__global__ void k(float *a, float *b, int n) { int x = threadIdx.x; float s = 0;\n"
LOOP = "for (int i = {}; i < n; i++) "


def _orders(text: str, folder: Path) -> tuple[list[Touches], list[Touches]]:
    """Return those of loads and of stores, as they are met."""
    found = look_at(HEAD + text + "}", folder, (32, 1, 1), (4, 1, 1), 50)
    orders = order_of(found.owner, (*found.loads, *found.stores), found.walked.writer)
    return [orders[i] for i in found.loads], [orders[i] for i in found.stores]


def test_a_second_loop_comes_again(tmp_path: Path) -> None:
    text = LOOP.format(0) + "s += a[i * 32 + x];" + LOOP.format(0) + "b[i * 32 + x] = a[i * 32 + x] - s;"
    (first, second), (store,) = _orders(text, tmp_path)
    assert (first.again, first.stored) == (-1, False)
    assert (second.again, second.loaded, second.stored) == (1, True, False)
    assert first.data == second.data == first.nest != second.nest
    assert store.again == -1 and store.data != first.data


def test_a_loop_over_something_else_is_the_first(tmp_path: Path) -> None:
    text = LOOP.format(0) + "s += a[i * 32 + x];" + LOOP.format(0) + "s += a[(n + i) * 32 + x];  a[x] = s;"
    (first, second), _ = _orders(text, tmp_path)
    assert first.again == second.again == -1 and first.data != second.data


@pytest.mark.parametrize(("index", "stored", "near"), [
    ("i - 1", True, True), ("i - 2", True, False), ("i + 1", False, False), ("i", False, False),
])  # fmt: skip
def test_a_load_finds_what_iterations_before_it_stored(index: str, stored: bool, near: bool, tmp_path: Path) -> None:
    text = LOOP.format(2) + f"a[i * 32 + x] = a[({index}) * 32 + x] + 1;"
    (load,), _ = _orders(text, tmp_path)
    assert (load.stored, load.near) == (stored, near)


def test_a_load_after_the_store_of_an_iteration_finds_it(tmp_path: Path) -> None:
    text = LOOP.format(0) + "{ a[i * 32 + x] = i; __syncthreads(); s += a[i * 32 + x]; } b[x] = s;"
    (load,), _ = _orders(text, tmp_path)
    assert load.stored


def test_loads_that_touch_the_same_have_a_part_each(tmp_path: Path) -> None:
    text = LOOP.format(1) + "s += a[i * 32 + x] + a[(i + 1) * 32 + x]; b[x] = s;"
    loads, (store,) = _orders(text, tmp_path)
    # 50 rows, of which each load touches 49
    assert [load.part for load in loads] == [pytest.approx(50 / 98)] * 2 and store.part == 1
