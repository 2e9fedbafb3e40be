"""Members, elements and what variables are made from."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.front.conftest import device_dump

HEAD = """#include <cuda_runtime.h>
__global__ void k() {}
struct In { int n; int m = 6; }; struct Out { In in; dim3 shape; int ab, a; }; struct Made { int n = 3; Made(); };
"""


@pytest.mark.parametrize(
    ("body", "block"),
    [
        ("Out o; o.in.n = 8; k<<<1, o.in.n>>>();", [8, 1, 1]),
        ("Out o; o.shape.x = 8; k<<<1, o.shape>>>();", [8, 1, 1]),
        ("Out o; o.in.n = 8; In i = o.in; k<<<1, i.n>>>();", [8, 1, 1]),
        ("Out o, p; o.a = 2; o.ab = 4; p = o; k<<<1, p.a>>>();", [None, 1, 1]),
        ("In i; k<<<1, i.m>>>();", [6, 1, 1]),
        ("Made m; k<<<1, m.n>>>();", [None, 1, 1]),
        ("In i = {4, 5}; k<<<1, dim3(i.m, i.n)>>>();", [5, 4, 1]),
        ("In *i = new In{4, 5}; k<<<1, i->n>>>();", [None, 1, 1]),
        ("int v[2]; v[1] = 4; k<<<1, v[1]>>>();", [4, 1, 1]),
        ("unsigned char c = 260; k<<<1, c>>>();", [4, 1, 1]),
        ("dim3 b{8, 4}; k<<<1, b>>>();", [8, 4, 1]),
        ("dim3 b; k<<<1, b>>>();", [1, 1, 1]),
    ],
)
def test_blocks_of_places(body: str, block: list[int | None], tmp_path: Path) -> None:
    (launch,) = device_dump(tmp_path, f"{HEAD}void f() {{ {body} }}").launches
    assert launch[5] == block
