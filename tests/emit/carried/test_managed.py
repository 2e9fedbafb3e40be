"""Memory that host and device share, on a device that gives it from an arena of its own: what the C library must never
free, who is asked to free it, what is copied, and when the host waits."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.emit.host_device import CALLERS, HOST_DEVICE, tables
from warpsmith.emit.carried import RuntimeNeeds, declarations
from warpsmith.emit.words import Support
from warpsmith.run.native.tools import cxx_compiler

_DEVICE = r"""
#include <stdint.h>
enum { cudaSuccess = 0, cudaErrorMemoryAllocation = 2, cudaErrorCudartUnloading = 4 };
alignas(4096) static char arena[1 << 20];
static size_t taken, room = sizeof arena, step = 512;
static int given_back, waits;
static int cudaMallocManaged(void **memory, size_t bytes)
{
    if (taken + bytes > room)
        return cudaErrorMemoryAllocation;
    *memory = arena + taken;
    memset(*memory, 0x5a, bytes);
    taken += (bytes + step - 1) / step * step;
    return cudaSuccess;
}
static int cudaFree(void *memory)
{
    given_back += (char *)memory >= arena && (char *)memory < arena + sizeof arena;
    return cudaSuccess;
}
static int cudaGetLastError(void) { return 0; }
static int cudaDeviceSynchronize(void) { return waits++, 0; }
"""

_PROGRAM = r"""
#include <unistd.h>
static int failures;
static void expect(bool right, const char *what)
{
    if (!right)
        printf("%s\n", what), failures++;
}
static bool shared(const void *p) { return (const char *)p >= arena && (const char *)p < arena + sizeof arena; }
static bool copies(const void *p, long long bytes, bool waits_behind)
{
    const long long before = copied;
    const int waited = waits;
    void *device = ws_data_enter(p, bytes, WS_COPY, "p", "", 0);
    const bool same = device == p;
    ws_data_exit(device, 1, "", 0);
    expect((waits > waited) == waits_behind, "when the host waits");
    expect(same == (copied == before), "what is shared is not copied, and nothing else is shared");
    return copied != before;
}
int main(void)
{
    char *plain = (char *)malloc(100), local[100] = {1};
    expect(copies(plain, 100, false) && copies(local, 100, false), "nothing is shared yet");
    char *p = (char *)ws_managed_malloc(1000);
    expect(shared(p) && !copies(p, 1000, true) && !copies(p + 10, 990, true), "malloc");
    expect(copies(plain, 100, true) && copies(local, 100, true), "ordinary memory is copied, and the host waits");
    expect(ws_allocation_bytes(p + 1) == 999, "a block is known");
    int *zeros = (int *)ws_managed_calloc(10, sizeof(int));
    expect(shared(zeros) && zeros[0] == 0 && zeros[9] == 0, "calloc");
    /* one byte more than there is: two copies, as for memory that nobody knows */
    expect(!shared(zeros) || copies(zeros, 10 * sizeof(int) + 8, true), "a range that is not all shared");
    p[0] = 7, p[999] = 8;
    const int before = given_back;
    p = (char *)ws_managed_realloc(p, 2000);
    expect(shared(p) && p[0] == 7 && p[999] == 8 && given_back == before + 1, "realloc");
    p = (char *)realloc(p, 3000);
    expect(shared(p) && p[0] == 7 && p[999] == 8 && given_back == before + 2, "a library's realloc");
    p = (char *)ws_managed_realloc(p, 5);
    expect(p[0] == 7 && given_back == before + 3, "a smaller block");
    free(p);
    expect(given_back == before + 4, "free");
    free(zeros);
    free(plain);
    expect(given_back == before + 5, "free of ordinary memory");
    char *grown = (char *)ws_managed_realloc(nullptr, 50);
    expect(shared(grown) && ws_managed_realloc(grown, 0) == nullptr && given_back == before + 6, "realloc for all");
    void *q = nullptr;
    expect(ws_managed_posix_memalign(&q, 64, 100) == 0 && shared(q) && (uintptr_t)q % 64 == 0, "posix_memalign");
    free(q);
    expect(ws_managed_posix_memalign(&q, 3, 100) == EINVAL, "an alignment that is none");
    (void)ws_managed_malloc(1);
    q = ws_managed_aligned_alloc(4096, 8192);
    expect((uintptr_t)q % 4096 == 0 && !shared(q), "an alignment that the device does not give");
    free(q);
    expect(!shared(q = ws_managed_malloc(1 << 24)) && q != nullptr && copies(q, 10, true), "no room on the device");
    free(q);
    expect(ws_managed_calloc(SIZE_MAX / 2, 4) == nullptr, "more than there is");
    q = ws_managed_malloc(0);
    expect(!shared(q), "no bytes");
    free(q);
    printf(failures == 0 ? "ok\n" : "failed\n");
}
"""

_BUGS: dict[str, Callable[[str], str]] = {
    "nobody waits": lambda t: t.replace("    ws_managed_wait(file, line);\n", ""),
    "the end of a block counts as inside": lambda t: t.replace("+ (size_t)bytes <= found->bytes", "<= found->bytes"),
    "free is the C library's": lambda t: t.replace("    if (ws_managed_end(memory))\n        return;\n", ""),
    "realloc is the C library's": lambda t: t.replace(
        "    if (ws_is_managed(old))\n        return ws_managed_realloc(old, bytes);\n", ""
    ),
    "what grows is not moved": lambda t: t.replace("    memcpy(memory, old, had < bytes ? had : bytes);\n", ""),
    "zeros are forgotten": lambda t: t.replace("memset(memory, 0, count * bytes)", "memory"),
    "products overflow": lambda t: t.replace("bytes != 0 && count > SIZE_MAX / bytes ? nullptr : ", ""),
    "alignments are forgotten": lambda t: t.replace("memory != nullptr && (uintptr_t)memory % alignment != 0", "false"),
    "realloc to nothing": lambda t: t.replace(
        "    if (bytes == 0) {\n        free(old);\n        return nullptr;\n    }\n", ""
    ),
    "everything is shared": lambda t: t.replace("found != nullptr && found->managed &&", "found != nullptr &&"),
}

known = pytest.mark.skipif(not CALLERS, reason="the C library's allocation functions cannot be replaced")


def _run(text: str, directory: Path, *options: str) -> str:
    source, program = directory / "table.cpp", directory / "table"
    declared = declarations(Support("ws"), RuntimeNeeds(managed=True))
    source.write_text("\n".join((HOST_DEVICE, _DEVICE, declared, text, _PROGRAM)))
    command = [cxx_compiler(), "-std=c++17", "-O1", "-w", str(source), "-o", str(program), "-lpthread", *options]
    subprocess.run(command, check=True)
    done = subprocess.run([str(program)], capture_output=True, text=True, timeout=60, check=False)
    return done.stdout.strip() if done.returncode == 0 else f"ended with {done.returncode}"


def _right() -> str:
    return tables("runtime.cu", "PRESENT", "ALLOCATIONS", "MANAGED")


@known
def test_memory_is_shared_and_given_back(tmp_path: Path) -> None:
    assert _run(_right(), tmp_path) == "ok"


@known
@pytest.mark.slow
def test_where_ends_are_not_seen_nothing_is_shared(tmp_path: Path) -> None:
    said = _run(_right(), tmp_path, "-static")
    assert "malloc" in said.split("\n") and "ended" not in said, "the C library frees ordinary memory"


@known
@pytest.mark.slow
@pytest.mark.parametrize("bug", sorted(_BUGS))
def test_a_broken_run_time_is_seen(bug: str, tmp_path: Path) -> None:
    wrong = _BUGS[bug](_right())
    assert wrong != _right()
    assert _run(wrong, tmp_path) != "ok"
