"""Kernels around a text: one thread an element, and what a launch gives."""

from __future__ import annotations

import numpy as np

from tests.front.brook.running import launch, module_of, read


def test_a_launch_gives_what_the_user_wrote_and_how_many_threads_there_are() -> None:
    kernel = read("kernel void k(float a<>, int g[][], float s, out float o<>) { o = a * s + g[0][0]; }").kernels["k"]
    assert [one.name for one in kernel.function.parameters] == ["a", "g", "g_width", "s", "o", "width", "height"]
    assert [one.name for one in kernel.domain] == ["width", "height"]


def test_a_name_that_is_taken_stays_the_users() -> None:
    kernel = read("kernel void k(int width, float g[][], int g_width, out float o<>) { o = g[0][width]; }").kernels["k"]
    names = [one.name for one in kernel.function.parameters]
    assert names == ["width", "g", "domain_g_width", "g_width", "o", "domain_width", "height"]


def test_streams_of_two_axes_lie_row_by_row() -> None:
    text = "kernel void k(int a<>, out int o<>) { o = a + 100 * instance().y + 10 * instance().x; }"
    found = launch(module_of(text), "k", {"a": np.arange(15, dtype="i4"), "o": np.zeros(15, "i4")}, {}, (3, 5))
    wanted = np.arange(15).reshape(3, 5) + 100 * np.arange(3)[:, None] + 10 * np.arange(5)
    assert found["o"].tolist() == wanted.ravel().tolist()


def test_threads_beyond_the_domain_write_nothing() -> None:
    text = "kernel void k(out int o<>) { o = 1; }"
    assert launch(module_of(text), "k", {"o": np.zeros(40, "i4")}, {}, (3, 5))["o"].tolist() == [1] * 15 + [0] * 25


def test_a_scattered_stream_is_written_where_the_kernel_says() -> None:
    text = "kernel void k(int a<>, out int o[], int n) { o[n - 1 - instance().x] = a; }"
    found = launch(module_of(text), "k", {"a": np.arange(6, dtype="i4"), "o": np.zeros(6, "i4")}, {"n": 6}, (1, 6))
    assert found["o"].tolist() == [5, 4, 3, 2, 1, 0]


def test_elements_of_a_rectangle_are_reduced_row_by_row() -> None:
    text = "reduce void r(int a<>, int k, reduce int t<>) { t = t * k + a; }"
    array = np.arange(24, dtype="i4").reshape(4, 6)
    sizes = {"a_width": 6, "a_height": 4, "k": 3}
    found = launch(module_of(text), "r", {"a": array, "t": np.zeros(4, "i4")}, sizes, (2, 2))["t"]
    for place, total in enumerate(found):
        y, x = divmod(place, 2)
        first, *rest = array[2 * y : 2 * y + 2, 3 * x : 3 * x + 3].ravel().tolist()
        for one in rest:
            first = first * 3 + one
        assert total == first
