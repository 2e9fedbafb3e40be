/* Memory of the program's own that the host and the device share.

       p = malloc(4000)          p = ws_managed_malloc(4000): the program's own text asks, libraries do not
       kernel(p)                 no copy; the host waits behind it
       free(p)                   whoever calls it: the allocation functions of malloc.cu know such blocks

   Invariant: the host goes on behind a data exit only when no kernel runs, so that nobody touches shared memory beside
   one, on devices too where that is an error. A block is only shared where its end will be seen; any other is ordinary
   memory, as is one that the device has no room for, and is copied. */
#pragma once

#include <cuda_runtime.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "check.cu"
#include "heap.cu"
#include "malloc.cu"

#ifdef WS_TELL_COPY
/* Under the emulation other allocation functions come first, which ask for ws_managed_end. */
extern "C" void ws_heap_note(void *start, size_t bytes) __attribute__((weak));
#endif

static bool ws_has_managed;

/* Whether free and realloc are the functions that know shared memory, whoever calls them. */
static bool ws_sees_ends(void)
{
#ifdef WS_TELL_COPY
    if (ws_heap_note != nullptr)
        return true;
#endif
#ifdef WS_SEES_HEAP
    ws_allocations_settle();
    return !ws_allocation_blind;
#else
    return false;
#endif
}

/* Shared memory of this size, if there is any. */
WS_UNCHECKED static void *ws_managed_take(size_t bytes, size_t alignment)
{
    void *memory = nullptr;
    const int before = errno;
    if (bytes == 0 || !ws_sees_ends())
        return nullptr;
    if (cudaMallocManaged(&memory, bytes) != cudaSuccess) {
        (void)cudaGetLastError();
        memory = nullptr;
    }
    if (memory != nullptr && (uintptr_t)memory % alignment != 0) {
        (void)cudaFree(memory);
        memory = nullptr;
    }
    errno = before;
    if (memory == nullptr)
        return nullptr;
#ifdef WS_TELL_COPY
    if (ws_heap_note != nullptr)
        ws_heap_note(memory, bytes);
#endif
    ws_allocation_record(memory, bytes, true);
    ws_allocations_enter();
    if (ws_allocation *node = ws_allocation_at((uintptr_t)memory)) {
        node->managed = true;
        ws_has_managed = true;
        ws_allocations_leave();
        return memory;
    }
    ws_allocations_leave();
    (void)cudaFree(memory);
    return nullptr;
}

/* Whether a block of shared memory starts at `start`. */
WS_UNCHECKED static bool ws_is_managed(const void *start)
{
    if (!ws_has_managed || start == nullptr)
        return false;
    ws_allocations_enter();
    const ws_allocation *node = ws_allocation_at((uintptr_t)start);
    const bool managed = node != nullptr && node->managed;
    ws_allocations_leave();
    return managed;
}

#ifdef WS_TELL_COPY
extern "C" int ws_managed_is(const void *start)
{
    return ws_is_managed(start);
}
#endif

/* Give a block of shared memory back; 0 where it is none, and nothing happens. */
extern "C" int ws_managed_end(void *start)
{
    if (!ws_is_managed(start))
        return 0;
    ws_allocation_forget(start);
    /* At the end of the program all is given back already. */
    const cudaError_t status = cudaFree(start);
    if (status != cudaErrorCudartUnloading)
        ws_check(status, "cudaFree", __FILE__, __LINE__);
    return 1;
}

#ifdef WS_WITH_PRESENT
/* Whether all of a range is shared memory. */
WS_UNCHECKED static bool ws_managed_holds(const void *at, long long bytes)
{
    if (!ws_has_managed)
        return false;
    ws_allocations_enter();
    const ws_allocation *found = ws_allocation_before(at);
    const bool inside =
        found != nullptr && found->managed && (uintptr_t)at - found->start + (size_t)bytes <= found->bytes;
    ws_allocations_leave();
    return inside;
}

/* Wait for the kernels: the host may touch shared memory behind this. */
static void ws_managed_wait(const char *file, int line)
{
    if (ws_has_managed)
        ws_check(cudaDeviceSynchronize(), "wait for the kernels", file, line);
}
#endif

extern "C" void *ws_managed_malloc(size_t bytes)
{
    void *memory = ws_managed_take(bytes, 1);
    return memory != nullptr ? memory : malloc(bytes);
}

extern "C" void *ws_managed_calloc(size_t count, size_t bytes)
{
    void *memory = bytes != 0 && count > SIZE_MAX / bytes ? nullptr : ws_managed_take(count * bytes, 1);
    return memory != nullptr ? memset(memory, 0, count * bytes) : calloc(count, bytes);
}

extern "C" void *ws_managed_realloc(void *old, size_t bytes)
{
    uintptr_t start = 0;
    size_t had = 0;
    if (old == nullptr)
        return ws_managed_malloc(bytes);
    if (!ws_is_managed(old) || !ws_allocation_find(old, &start, &had))
        return realloc(old, bytes);
    if (bytes == 0) {
        free(old);
        return nullptr;
    }
    void *memory = ws_managed_malloc(bytes);
    if (memory == nullptr)
        return nullptr;
    ws_allocation_moves(old);
    memcpy(memory, old, had < bytes ? had : bytes);
    free(old);
    return memory;
}

extern "C" void *ws_managed_aligned_alloc(size_t alignment, size_t bytes)
{
    void *memory = alignment == 0 ? nullptr : ws_managed_take(bytes, alignment);
    return memory != nullptr ? memory : aligned_alloc(alignment, bytes);
}

extern "C" int ws_managed_posix_memalign(void **result, size_t alignment, size_t bytes)
{
    const bool right = alignment >= sizeof(void *) && (alignment & (alignment - 1)) == 0;
    void *memory = right ? ws_managed_take(bytes, alignment) : nullptr;
    if (memory == nullptr)
        return posix_memalign(result, alignment, bytes);
    *result = memory;
    return 0;
}
