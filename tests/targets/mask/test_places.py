"""Where a thread is: by `thread_id` where that is all, by quotients else."""

from __future__ import annotations

from pathlib import Path

from tests.targets.mask.kernel_text import kernel_of
from warpsmith.targets.mask.export import export_kernel
from warpsmith.targets.mask.places import dimensions_of, find_thread_numbers


def test_the_number_of_a_thread_is_thread_id(tmp_path: Path) -> None:
    function = kernel_of(tmp_path, "a[i] = n;")
    assert dimensions_of(function) == 1
    assert len(find_thread_numbers(function)) == 1
    text = export_kernel(function).text
    assert "thread_id" in text and "div.u32" not in text


def test_other_sums_are_no_thread_numbers(tmp_path: Path) -> None:
    function = kernel_of(tmp_path, "a[blockIdx.x * blockDim.x + blockIdx.x] = threadIdx.x * blockDim.x + threadIdx.x;")
    assert find_thread_numbers(function) == frozenset()


def test_a_kernel_that_asks_for_y_has_two_dimensions(tmp_path: Path) -> None:
    function = kernel_of(tmp_path, "a[i] = threadIdx.y;")
    made = export_kernel(function)
    assert made.dimensions == 2
    assert {word.name for word in made.words} == {"ntid.x", "ntid.y", "nctaid.x"}
