"""Where a thread is, and which elements are its own."""

from __future__ import annotations

import pytest

from warpsmith.base.errors import InputError
from warpsmith.kernels.units import KernelFile, KernelUnit, read_unit
from warpsmith.targets.brook.places import StreamPlaces


def places(body: str, path: str = "k.cu") -> StreamPlaces:
    """Return the places of a kernel with arrays a and b and numbers n and w."""
    head = "__global__ void k(float *a, float *b, int n, int w)"
    if path.endswith(".cl"):
        head = "kernel void k(global float *a, global float *b, int n, int w)"
    unit = read_unit(KernelFile(path, text=f"{head} {{ {body} }}"))
    assert isinstance(unit, KernelUnit) and not unit.findings
    (kernel,) = unit.functions
    return StreamPlaces(kernel)


X, Y = "blockIdx.x * blockDim.x + threadIdx.x", "threadIdx.y + blockDim.y * blockIdx.y"


@pytest.mark.parametrize(
    ("body", "written", "row"),
    [
        (f"int i = {X}; a[i] = 1;", ["a"], ""),
        (f"a[{X}] = b[0];", ["a"], ""),
        (f"unsigned i = {X}; b[i] += a[i];", ["b"], ""),
        (f"int i = {X}, j = {Y}; a[i + w * j] = 1; b[j * w + i] = 2;", ["a", "b"], "w"),
        (f"int i = {X}; a[i]++; b[i] = 1;", ["a", "b"], ""),
    ],
)
def test_own_elements_are_seen(body: str, written: list[str], row: str) -> None:
    found = places(body)
    assert [one.name for one in found.written.values()] == written
    assert (found.row.name if found.row is not None else "") == row


def test_opencl_says_it_in_a_word() -> None:
    assert [one.name for one in places("int i = get_global_id(0); a[i] = 1;", "k.cl").written.values()] == ["a"]


@pytest.mark.parametrize(
    "body",
    [
        "a[threadIdx.x] = 1;",
        f"int i = {X}; a[i * w] = 1;",
        f"int i = {X}; a[n - i] = 1;",
        f"int i = {X}, j = {Y}; a[i * w + j] = 1;",
        f"int i = {X}, j = {Y}; a[j * w + i] = 1; b[j * n + i] = 1;",
        f"int i = {X}, j = {Y}; a[j * w + i] = 1; b[i] = 1;",
        f"int i = {X}, j = {Y}; a[i] = j;",
        f"int i = {X}; i++; a[i] = 1;",
        f"char i = {X}; a[i] = 1;",
        f"float i = {X}; a[(int)i] = 1;",
        f"int i = {Y}; a[i] = 1;",
        "*a = 1;",
    ],
)
def test_other_elements_are_refused(body: str) -> None:
    with pytest.raises(InputError, match="at another place than the thread's own"):
        places(body)
