/* Memory of the program's own that CUDA gives: shared by the host and the device, or page-locked.

       p = malloc(4000)      p = ws_managed_malloc(4000), or ws_pinned_malloc: the program's own text asks, libraries do not
       kernel(p)             shared: no copy, the host waits behind it; page-locked: copies are faster
       free(p)               whoever calls it: the allocation functions of malloc.cu know such blocks

   Invariant: the host goes on behind a data exit only when no kernel runs, so that nobody touches shared memory beside
   one, on devices too where that is an error. CUDA gives a block only where its end will be seen; any other is ordinary
   memory, as is one for which there is no room. */
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
/* Under the emulation other allocation functions come first, which ask for ws_given_end. */
extern "C" void ws_heap_note(void *start, size_t bytes) __attribute__((weak));
#endif

static bool ws_has_given;

#ifdef WS_WITH_PINNED
static cudaError_t ws_give(void **memory, size_t bytes)
{
    return cudaMallocHost(memory, bytes);
}

static cudaError_t ws_take_back(void *memory)
{
    return cudaFreeHost(memory);
}
#else
static cudaError_t ws_give(void **memory, size_t bytes)
{
    return cudaMallocManaged(memory, bytes);
}

static cudaError_t ws_take_back(void *memory)
{
    return cudaFree(memory);
}
#endif

/* Whether free and realloc are the functions that know such memory, whoever calls them. */
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

/* Put a block that CUDA gave into the table; false where there is no room for that. */
WS_UNCHECKED static bool ws_given_record(void *memory, size_t bytes)
{
#ifdef WS_TELL_COPY
    if (ws_heap_note != nullptr)
        ws_heap_note(memory, bytes);
#endif
    ws_allocation_record(memory, bytes, true);
    ws_allocations_enter();
    ws_allocation *node = ws_allocation_at((uintptr_t)memory);
    if (node != nullptr)
        node->given = ws_has_given = true;
    ws_allocations_leave();
    return node != nullptr;
}

/* Memory of this size from CUDA, if there is any. */
static void *ws_given_take(size_t bytes, size_t alignment)
{
    void *memory = nullptr;
    const int before = errno;
    if (bytes == 0 || !ws_sees_ends())
        return nullptr;
    if (ws_give(&memory, bytes) != cudaSuccess) {
        (void)cudaGetLastError();
        memory = nullptr;
    } else if ((uintptr_t)memory % alignment != 0 || !ws_given_record(memory, bytes)) {
        (void)ws_take_back(memory);
        memory = nullptr;
    }
    errno = before;
    return memory;
}

/* Whether a block that CUDA gave starts at `start`. */
WS_UNCHECKED static bool ws_is_given(const void *start)
{
    if (!ws_has_given || start == nullptr)
        return false;
    ws_allocations_enter();
    const ws_allocation *node = ws_allocation_at((uintptr_t)start);
    const bool given = node != nullptr && node->given;
    ws_allocations_leave();
    return given;
}

#ifdef WS_TELL_COPY
extern "C" int ws_given_is(const void *start)
{
    return ws_is_given(start);
}
#endif

/* Give a block back to CUDA; 0 where it is not from there, and nothing happens. */
extern "C" int ws_given_end(void *start)
{
    if (!ws_is_given(start))
        return 0;
    ws_allocation_forget(start);
    /* At the end of the program all is given back already. */
    const cudaError_t status = ws_take_back(start);
    if (status != cudaErrorCudartUnloading)
        ws_check(status, "give memory back", __FILE__, __LINE__);
    return 1;
}

#ifdef WS_WITH_MANAGED
/* Whether all of a range is shared memory. */
WS_UNCHECKED static bool ws_managed_holds(const void *at, long long bytes)
{
    if (!ws_has_given)
        return false;
    ws_allocations_enter();
    const ws_allocation *found = ws_allocation_before(at);
    const bool inside =
        found != nullptr && found->given && (uintptr_t)at - found->start + (size_t)bytes <= found->bytes;
    ws_allocations_leave();
    return inside;
}

/* Wait for the kernels: the host may touch shared memory behind this. */
static void ws_managed_wait(const char *file, int line)
{
    if (ws_has_given)
        ws_check(cudaDeviceSynchronize(), "wait for the kernels", file, line);
}
#endif

static void *ws_given_malloc(size_t bytes)
{
    void *memory = ws_given_take(bytes, 1);
    return memory != nullptr ? memory : malloc(bytes);
}

static void *ws_given_calloc(size_t count, size_t bytes)
{
    void *memory = bytes != 0 && count > SIZE_MAX / bytes ? nullptr : ws_given_take(count * bytes, 1);
    return memory != nullptr ? memset(memory, 0, count * bytes) : calloc(count, bytes);
}

extern "C" void *ws_given_realloc(void *old, size_t bytes)
{
    uintptr_t start = 0;
    size_t had = 0;
    if (old == nullptr)
        return ws_given_malloc(bytes);
    if (!ws_is_given(old) || !ws_allocation_find(old, &start, &had))
        return realloc(old, bytes);
    if (bytes == 0) {
        free(old);
        return nullptr;
    }
    void *memory = ws_given_malloc(bytes);
    if (memory == nullptr)
        return nullptr;
    ws_allocation_moves(old);
    memcpy(memory, old, had < bytes ? had : bytes);
    free(old);
    return memory;
}

static void *ws_given_aligned_alloc(size_t alignment, size_t bytes)
{
    void *memory = alignment == 0 ? nullptr : ws_given_take(bytes, alignment);
    return memory != nullptr ? memory : aligned_alloc(alignment, bytes);
}

static int ws_given_posix_memalign(void **result, size_t alignment, size_t bytes)
{
    const bool right = alignment >= sizeof(void *) && (alignment & (alignment - 1)) == 0;
    void *memory = right ? ws_given_take(bytes, alignment) : nullptr;
    if (memory == nullptr)
        return posix_memalign(result, alignment, bytes);
    *result = memory;
    return 0;
}

#ifdef WS_WITH_MANAGED
extern "C" void *ws_managed_malloc(size_t bytes)
{
    return ws_given_malloc(bytes);
}

extern "C" void *ws_managed_calloc(size_t count, size_t bytes)
{
    return ws_given_calloc(count, bytes);
}

extern "C" void *ws_managed_realloc(void *old, size_t bytes)
{
    return ws_given_realloc(old, bytes);
}

extern "C" void *ws_managed_aligned_alloc(size_t alignment, size_t bytes)
{
    return ws_given_aligned_alloc(alignment, bytes);
}

extern "C" int ws_managed_posix_memalign(void **result, size_t alignment, size_t bytes)
{
    return ws_given_posix_memalign(result, alignment, bytes);
}
#endif

#ifdef WS_WITH_PINNED
extern "C" void *ws_pinned_malloc(size_t bytes)
{
    return ws_given_malloc(bytes);
}

extern "C" void *ws_pinned_calloc(size_t count, size_t bytes)
{
    return ws_given_calloc(count, bytes);
}

extern "C" void *ws_pinned_realloc(void *old, size_t bytes)
{
    return ws_given_realloc(old, bytes);
}

extern "C" void *ws_pinned_aligned_alloc(size_t alignment, size_t bytes)
{
    return ws_given_aligned_alloc(alignment, bytes);
}

extern "C" int ws_pinned_posix_memalign(void **result, size_t alignment, size_t bytes)
{
    return ws_given_posix_memalign(result, alignment, bytes);
}
#endif
