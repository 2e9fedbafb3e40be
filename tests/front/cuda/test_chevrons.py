"""Launches whose marks stand apart are read; shifts, templates and comments stay."""

from __future__ import annotations

from pathlib import Path

import pytest

from warpsmith.front.cuda.chevrons import join_chevrons, launches_something
from warpsmith.front.inputs import Source
from warpsmith.front.kernels import load_kernels
from warpsmith.front.load import FrontOptions


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("k << < g, b >> > (a);", "k <<<  g, b >>>  (a);"),
        ("k < << g, b > >> (a);", "k <<<  g, b >>>  (a);"),
        ("k <<\n< g, b >>\n> (a);", "k <<<\n g, b >>>\n (a);"),
        ("k << < g, b >>> (a);", "k <<< g, b >>> (a);".replace("<<< ", "<<<  ")),
    ],
)
def test_marks_are_joined(written: str, read: str) -> None:
    assert join_chevrons(written) == read and len(written) == len(read)


@pytest.mark.parametrize(
    "text",
    ["a << b < c >> d;", "V<V<V<int> > > x; k<<<1, 2>>>(x);", "// k << < g, b >> > (a)\n", "x << < y; z >> > (a);"],
)
def test_what_is_no_launch_stays(text: str) -> None:
    assert join_chevrons(text) == text


def test_such_a_launch_has_its_block(tmp_path: Path) -> None:
    path = tmp_path / "k.cu"
    path.write_text("__global__ void k(int *a) { a[threadIdx.x] = 1; }\nvoid f(int *a) { k << < 2, 64 >> > (a); }\n")
    (launch,) = load_kernels(Source(str(path)), FrontOptions()).launches
    assert (launch.kernel, launch.grid, launch.block) == ("k", (2, 1, 1), (64, 1, 1))
    assert launches_something("k << < 1") and not launches_something("a << 1 < 2")
