"""The walk over device code: kernels whole, of host code only what it asks of them."""

from __future__ import annotations

from pathlib import Path

from tests.front.conftest import device_dump
from warpsmith.front.clang import kinds
from warpsmith.front.clang.dump import reads_device_code

TEXT = """#define N 4
template <class T> __device__ T twice(T x) { return x + x; }
template <class T> __global__ void k(T *a) { a[0] = twice(a[1]) + N; }
__constant__ float weights[N];
__global__ void __launch_bounds__(64) own(float *a) { __shared__ float t[N]; t[0] = a[0]; a[1] = t[0] + weights[1]; }
void host(float *p, int n) {
    for (int i = 0; i < n; i++) n--;
    dim3 block(8, 4);
    k<<<3, block, 128>>>(p);
    int changed = 2; changed++;
    own<<<changed, 32>>>(p);
}
"""


def test_host_code_has_no_rows_but_its_launches(tmp_path: Path) -> None:
    dump = device_dump(tmp_path, TEXT)
    _, kind, *_ = dump.columns()
    assert kinds.FOR not in kind and kinds.COMPOUND in kind
    names = {number: declared[1] for number, declared in enumerate(dump.declared)}
    launches = [(names[row], grid, block, shared) for row, _, _, _, grid, block, shared, *_ in dump.launches]
    assert (launches[0][0], launches[0][2]) == ("k", [8, 4, 1])
    assert launches[0][1] == [3, 1, 1] and launches[0][3] == 128
    assert launches[1][0] == "own" and launches[1][1] == [3, 1, 1]  # the variable is counted up before
    made = {names[dump.columns()[6][row]] for row, _ in dump.instances}
    assert {"k", "twice"} <= made


def test_marks_say_what_is_of_the_device(tmp_path: Path) -> None:
    dump = device_dump(tmp_path, TEXT)
    assert dump.marks is not None
    words = {dump.declared[row][1]: set(words) for row, (words, _) in dump.marks.items() if row < len(dump.declared)}
    assert "kernel" in words["own"] and "constant" in words["weights"] and "shared" in words["t"]
    assert any("launch_bounds" in text for _, text in dump.marks.values())


def test_which_files_are_device_code() -> None:
    assert reads_device_code(["-x", "cl", "-w"]) and reads_device_code(["-x", "cuda", "-DWARPSMITH_KERNELS"])
    assert not reads_device_code(["-x", "cuda"]) and not reads_device_code(["-x", "c"])
