"""A device that is other host memory, filled with garbage where nobody has written: the generated tables run on it
unchanged. `copied` counts the bytes that move between the two."""

from __future__ import annotations

import platform

from warpsmith.emit.parts import select

__all__ = ["CALLERS", "HOST_DEVICE", "tables"]

CALLERS = platform.machine() == "x86_64" and platform.libc_ver()[0] == "glibc"
"""Whether the run time knows where the stack of a function's callers lies."""

HOST_DEVICE = r"""
#include <algorithm>
#include <map>
#include <mutex>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vector>
typedef int cudaError_t;
enum cudaMemcpyKind { cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice };
static long long copied;
static unsigned garbage = 99;
static int cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind)
{
    memcpy(to, from, bytes);
    copied += kind == cudaMemcpyDeviceToDevice ? 0 : (long long)bytes;
    return 0;
}
static void ws_check(int, const char *, const char *, int) {}
extern "C" void *ws_device_acquire(long long bytes, const char *, const char *, int)
{
    char *made = (char *)malloc((size_t)bytes);
    for (long long i = 0; i < bytes; i++)
        made[i] = (char)(garbage = garbage * 1103515245u + 12345u);
    return made;
}
extern "C" void ws_device_release(void *memory) { free(memory); }
"""


def tables(name: str, *features: str) -> str:
    """Return a part of the run time with all that it stands on but the pool, which the test has one of its own for."""
    part = select(name, frozenset(features), before={"check.cu", "pool.cu"})
    return "".join(f"#include <{header}>\n" for header in part.headers if header != "cuda_runtime.h") + part.text
