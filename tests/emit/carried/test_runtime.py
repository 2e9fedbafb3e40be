"""The support code, compiled against a CUDA runtime of the test's own and run."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from warpsmith.emit.carried import RuntimeNeeds, declarations, run_time
from warpsmith.emit.words import Support

CUDA = """\
#include <stdlib.h>
#include <string.h>
enum cudaError_t {
    cudaSuccess, cudaErrorMemoryAllocation = 2, cudaErrorInsufficientDriver = 35, cudaErrorNoDevice = 100
};
enum cudaMemcpyKind { cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost };
static size_t limit = 1 << 20, used = 0;
static int allocations = 0, frees = 0;
static cudaError_t next = cudaSuccess;
struct Head { size_t bytes; };
static cudaError_t cudaMalloc(void **p, size_t n)
{
    if (next != cudaSuccess) return next;
    if (used + n > limit) return cudaErrorMemoryAllocation;
    Head *head = (Head *)malloc(sizeof(Head) + n);
    head->bytes = n; used += n; allocations++; *p = head + 1;
    return cudaSuccess;
}
static cudaError_t cudaFree(void *p)
{
    Head *h = (Head *)p - 1;
    used -= h->bytes; frees++; free(h);
    return cudaSuccess;
}
static cudaError_t cudaMemcpy(void *d, const void *s, size_t n, cudaMemcpyKind) { memcpy(d, s, n); return next; }
static cudaError_t cudaGetLastError() { return cudaSuccess; }
static cudaError_t cudaMemGetInfo(size_t *a, size_t *b) { *a = limit - used; *b = limit; return cudaSuccess; }
static const char *cudaGetErrorString(cudaError_t e) { return e == cudaErrorNoDevice ? "no device" : "bad"; }
"""


def run(
    main: str, tmp_path: Path, prefix: str = "ws", options: tuple[str, ...] = ()
) -> subprocess.CompletedProcess[str]:
    support = Support(prefix)
    needs = RuntimeNeeds()
    text = "\n".join([
        CUDA, "#include <mutex>\n#include <stdio.h>", declarations(support, needs), run_time(support, needs).text,
        f"int main() {{ {main} }}",
    ])  # fmt: skip
    source = tmp_path / "a.cpp"
    source.write_text(text)
    subprocess.run(["g++", "-Wall", "-Wextra", "-Werror", *options, source, "-o", tmp_path / "a"], check=True)
    return subprocess.run([tmp_path / "a"], capture_output=True, text=True, check=False)


USE = 'void *p = ws_device_acquire(100, "A", WS_HERE); ws_device_release(p);'


def test_a_hot_function_allocates_once(tmp_path: Path) -> None:
    done = run(f"for (int i = 0; i < 10000; i++) {{ {USE} }} return allocations;", tmp_path)
    assert done.returncode == 1


def test_without_the_pool_every_allocation_is_fresh(tmp_path: Path) -> None:
    done = run(
        f"for (int i = 0; i < 10; i++) {{ {USE} }} return allocations + frees;", tmp_path, options=("-DWS_POOL=0",)
    )
    assert done.returncode == 20


def test_two_live_buffers_are_two(tmp_path: Path) -> None:
    buffers = 'void *p = ws_device_acquire(8, "A", WS_HERE), *q = ws_device_acquire(8, "B", WS_HERE);'
    done = run(f"{buffers} return p == q;", tmp_path)
    assert done.returncode == 0


def test_waiting_memory_is_given_back_when_it_is_needed(tmp_path: Path) -> None:
    done = run(
        'ws_device_release(ws_device_acquire(700000, "A", WS_HERE));'
        'ws_device_release(ws_device_acquire(800000, "B", WS_HERE)); return frees;',
        tmp_path,
    )
    assert done.returncode == 1


def test_too_much_memory_names_the_array(tmp_path: Path) -> None:
    done = run('(void)next; ws_device_acquire(2000000, "A", "lu.c", 12); return 0;', tmp_path)
    assert done.returncode == 1
    assert done.stderr == "lu.c:12: A needs 2000000 bytes of device memory, but 1048576 of 1048576 are free\n"


@pytest.mark.parametrize("status", ["cudaErrorNoDevice", "cudaErrorInsufficientDriver"])
def test_no_device_says_what_to_do(status: str, tmp_path: Path) -> None:
    done = run(f'next = {status}; ws_device_acquire(8, "A", "lu.c", 12); return 0;', tmp_path)
    assert done.returncode == 1
    assert done.stderr.startswith("lu.c:12: no CUDA device found (")
    assert "help: install the NVIDIA driver" in done.stderr


def test_copies(tmp_path: Path) -> None:
    done = run(
        'int a = 7, b = 0; void *p = ws_device_acquire(4, "A", WS_HERE); ws_copy_to_device(p, &a, 4, WS_HERE);'
        "ws_copy_to_host(&b, p, 4, WS_HERE); ws_copy_to_host(0, p, 0, WS_HERE); ws_copy_to_host(0, p, -8, WS_HERE);"
        "return b;",
        tmp_path,
    )
    assert done.returncode == 7


def test_another_prefix(tmp_path: Path) -> None:
    assert run(USE.replace("ws_", "ws3_").replace("WS_", "WS3_") + " return 0;", tmp_path, "ws3").returncode == 0
