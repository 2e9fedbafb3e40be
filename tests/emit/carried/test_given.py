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
#include <sys/mman.h>
enum { ROOM = 1 << 20 };
static char *const arena =
    (char *)mmap(nullptr, ROOM, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
static size_t taken, room = ROOM, step = 512;
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
    given_back += (char *)memory >= arena && (char *)memory < arena + ROOM;
    return cudaSuccess;
}
static int errors_left;
static int cudaGetLastError(void) { return errors_left = 0; }
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
static bool shared(const void *p) { return (const char *)p >= arena && (const char *)p < arena + ROOM; }
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
    "free is the C library's": lambda t: t.replace("    if (ws_given_end(memory))\n        return;\n", ""),
    "realloc is the C library's": lambda t: t.replace(
        "    if (ws_is_given(old))\n        return ws_given_realloc(old, bytes);\n", ""
    ),
    "what grows is not moved": lambda t: t.replace("    memcpy(memory, old, had < bytes ? had : bytes);\n", ""),
    "zeros are forgotten": lambda t: t.replace("memset(memory, 0, count * bytes)", "memory"),
    "products overflow": lambda t: t.replace("bytes != 0 && count > SIZE_MAX / bytes ? nullptr : ", ""),
    "alignments are forgotten": lambda t: t.replace("(uintptr_t)memory % alignment != 0 || ", ""),
    "realloc to nothing": lambda t: t.replace(
        "    if (bytes == 0) {\n        free(old);\n        return nullptr;\n    }\n", ""
    ),
    "everything is shared": lambda t: t.replace("found != nullptr && found->given &&", "found != nullptr &&"),
}

# --- page-locked memory

_PINNED = r"""
static int registered, refusals;
static void ws_pin_variable(const void *host, long long bytes);
static const void *last;
static size_t last_bytes;
static int cudaMallocHost(void **memory, size_t bytes) { return cudaMallocManaged(memory, bytes); }
static int cudaFreeHost(void *memory) { return cudaFree(memory); }
static int cudaHostRegister(void *memory, size_t bytes, unsigned)
{
    registered++, last = memory, last_bytes = bytes;
    return refusals-- > 0 ? (errors_left++, 712) : cudaSuccess;
}
"""

_PINNING = r"""
static int failures;
static char first[10000], second[8192], third[9000], small[100];
static void expect(bool right, const char *what)
{
    if (!right)
        printf("%s\n", what), failures++;
}
static void copy(const void *p, long long bytes)
{
    ws_data_exit(ws_data_enter(p, bytes, WS_COPY, "p", "", 0), 1, "", 0);
}
int main(void)
{
    char local[10000], *heap = (char *)malloc(10000);
    char *p = (char *)ws_pinned_malloc(10000);
    memset(local, 1, sizeof local), memset(heap, 1, 10000);
    expect(p >= arena && p < arena + ROOM, "page-locked");
    expect(ws_data_enter(p, 10, WS_COPY, "p", "", 0) != p, "not shared");
    copy(local, 10000), copy(heap, 10000), copy(small, 100), copy(p, 10000);
    expect(registered == 0, "what dies, or is small, is not registered");
    copy(first + 5000, 5000);
    expect(registered == 1 && last == first && last_bytes == sizeof first, "a static array, as a whole");
    copy(first, 10000), copy(first, 5000);
    expect(registered == 1, "only once");
    refusals = 1;
    copy(second, 8192);
    expect(registered == 2 && errors_left == 0, "a refusal leaves no error");
    copy(second, 8192);
    expect(registered == 2, "and is not asked for again");
    copy(third, 9000);
    expect(registered == 3 && waits == 0, "the next one");
    free(p), free(heap);
    expect(given_back == 1, "free");
    printf(failures == 0 ? "ok\n" : "failed\n");
}
"""

_REGISTER = "cudaHostRegister((void *)start, all, 0)"
_PIN_BUGS: dict[str, tuple[str, str]] = {
    "small ones as well": ("bytes < page || ", ""),
    "only the part that is copied": (_REGISTER, "cudaHostRegister((void *)host, (size_t)bytes, 0)"),
    "again and again": ("    tried.push_back(start);\n", ""),
    "errors stay": (f"if ({_REGISTER} != cudaSuccess)\n        (void)cudaGetLastError();", f"{_REGISTER};"),
    "the stack as well": (
        "!ws_variable_find((const char *)host + 1, &start, &all)",
        "(start = (uintptr_t)host, all = bytes, false)",
    ),
    "nothing at all": (
        "    if (kind != cudaMemcpyDeviceToDevice)\n        ws_pin_variable",
        "    if (false)\n        ws_pin_variable",
    ),
}

known = pytest.mark.skipif(not CALLERS, reason="the C library's allocation functions cannot be replaced")


def _run(text: str, directory: Path, *options: str, pinned: bool = False) -> str:
    source, program = directory / "table.cpp", directory / "table"
    needs = RuntimeNeeds(present=True, pinned=True) if pinned else RuntimeNeeds(managed=True)
    parts = (_DEVICE, _PINNED if pinned else "", declarations(Support("ws"), needs), text)
    source.write_text("\n".join((HOST_DEVICE, *parts, _PINNING if pinned else _PROGRAM)))
    command = [cxx_compiler(), "-std=c++17", "-O1", "-w", str(source), "-o", str(program), "-lpthread", *options]
    subprocess.run(command, check=True)
    done = subprocess.run([str(program)], capture_output=True, text=True, timeout=60, check=False)
    return done.stdout.strip() if done.returncode == 0 else f"ended with {done.returncode}"


def _right() -> str:
    return tables("runtime.cu", "PRESENT", "ALLOCATIONS", "GIVEN", "MANAGED")


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


def _right_pinned() -> str:
    return tables("runtime.cu", "PRESENT", "ALLOCATIONS", "GIVEN", "PINNED")


@known
@pytest.mark.slow
def test_static_arrays_are_registered_and_heap_arrays_page_locked(tmp_path: Path) -> None:
    assert _run(_right_pinned(), tmp_path, pinned=True) == "ok"


@known
@pytest.mark.slow
@pytest.mark.parametrize("bug", sorted(_PIN_BUGS))
def test_broken_page_locking_is_seen(bug: str, tmp_path: Path) -> None:
    wrong = _right_pinned().replace(*_PIN_BUGS[bug])
    assert wrong != _right_pinned()
    assert _run(wrong, tmp_path, pinned=True) != "ok"
