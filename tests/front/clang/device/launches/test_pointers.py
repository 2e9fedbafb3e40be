"""Kernels that are launched through a variable: those, and in those shapes only, that the program can launch."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.front.conftest import device_dump

HEAD = """#include <cuda_runtime.h>
__global__ void k1(int *a) {}
__global__ void k2(int *a) {}
"""
Launches = list[tuple[str, int | None]]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("void (*p)(int *); while (n--) { p = n ? k1 : k2; p<<<1, 64>>>(a); }", [("k1", None), ("k2", None)]),
        (
            "void (*p)(int *); switch (n) { case 0: p = k1; break; default: p = &k2; } p<<<1, 64>>>(a);",
            [("k1", 64), ("k2", 64)],
        ),
        ("auto p = k1; auto q = k2; p<<<1, 64>>>(a); q<<<1, 32>>>(a);", [("k1", 64), ("k2", 32)]),
        ("auto p = k1; auto f = [&] { p = k2; }; f(); p<<<1, 64>>>(a);", [("k1", 64), ("k2", 64)]),
        ("auto p = k1; auto q = p; q<<<1, 64>>>(a);", [("k1", None)]),
        ("auto p = (void (*)(int *))(void *)k1; p<<<1, 64>>>(a);", [("k1", 64)]),
        ("auto p = k1; if (p == &k1) n = 3; p<<<1, 64>>>(a);", [("k1", 64)]),
        ("auto p = k1; void (**q)(int *) = &p; if (p == k1) (*q)<<<1, 64>>>(a);", [("k1", None)]),
        ("void (*p)(int *) = nullptr; if (n) p = k1; if (p) p<<<1, 64>>>(a);", [("k1", None)]),
    ],
)  # fmt: skip
def test_what_is_launched_through_a_variable(body: str, expected: Launches, tmp_path: Path) -> None:
    dump = device_dump(tmp_path, f"{HEAD} void host(int *a, int n) {{ {body} }}")
    found = [(dump.declared[row[0]][1], row[5][0]) for row in dump.launches]
    assert sorted(found, key=str) == expected
