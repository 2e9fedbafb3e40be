"""What may change a variable unseen: each way makes its block unknown; what only reads it does not."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.front.conftest import device_dump

HEAD = """#include <cuda_runtime.h>
__global__ void k() {}
struct S { int n; void set(); int get() const; };
void take(int &); void look(const int &); void point(int *); void keep(int); void array(int *);
"""


@pytest.mark.parametrize(
    ("body", "known"),
    [
        ("int b = 32; take(b); k<<<1, b>>>();", False),
        ("int b = 32; look(b); keep(b); k<<<1, b>>>();", True),
        ("int b = 32; point(&b); k<<<1, b>>>();", False),
        ("int v[1] = {32}; array(v); k<<<1, v[0]>>>();", False),
        ("int v[1] = {32}; keep(v[0]); k<<<1, v[0]>>>();", True),
        ("S s; s.n = 32; s.set(); k<<<1, s.n>>>();", False),
        ("S s; s.n = 32; s.get(); k<<<1, s.n>>>();", True),
        ("int v[1] = {32}; for (int &x : v) x = 5; k<<<1, v[0]>>>();", False),
        ("int b = 32; switch (n) { while (b) { case 1: b = 7; break; } } k<<<1, b>>>();", False),
        ("dim3 b(32); dim3 c = b; k<<<1, b>>>();", True),
    ],
)
def test_what_may_change_a_variable(body: str, known: bool, tmp_path: Path) -> None:
    dump = device_dump(tmp_path, f"{HEAD}void f(int n) {{ {body} }}")
    (launch,) = dump.launches
    assert (launch[5][0] == 32) is known
