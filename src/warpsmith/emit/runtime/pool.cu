/* A pool of device memory, and copies.

   Device memory is kept for the next request of the same size, and freed when the program ends: a function that is
   called ten thousand times does not allocate ten thousand times. Where WS_POOL is defined as 0, every time anew. */
#pragma once

#include <cuda_runtime.h>
#include <mutex>
#include <stdio.h>
#include <stdlib.h>

#include "check.cu"

#ifndef WS_POOL
#define WS_POOL 1
#endif

struct ws_block {
    void *memory;
    size_t bytes;
    ws_block *next;
};

static ws_block *ws_used[1024], *ws_unused;
static bool ws_has_exit;
static std::mutex ws_lock;

/* Where the blocks in use are that may be the one with this memory: there may be one for each row of a matrix. */
static ws_block **ws_used_at(const void *memory)
{
    return &ws_used[(unsigned long long)memory / 256 % (sizeof ws_used / sizeof ws_used[0])];
}

static void ws_free_unused(void)
{
    while (ws_unused != nullptr) {
        ws_block *block = ws_unused;
        cudaFree(block->memory);
        ws_unused = block->next;
        free(block);
    }
}

static void ws_at_exit(void)
{
    if (ws_lock.try_lock()) {
        ws_free_unused();
        ws_lock.unlock();
    }
}

static ws_block *ws_new_block(size_t bytes, const char *name, const char *file, int line)
{
    void *memory = nullptr;
    cudaError_t status = cudaMalloc(&memory, bytes);
    if (status == cudaErrorMemoryAllocation) {
        (void)cudaGetLastError();
        ws_free_unused();
        status = cudaMalloc(&memory, bytes);
    }
    if (status == cudaErrorMemoryAllocation) {
        size_t available = 0, total = 0;
        (void)cudaGetLastError();
        (void)cudaMemGetInfo(&available, &total);
        fprintf(stderr, "%s:%d: %s needs %zu bytes of device memory, but %zu of %zu are free\n", file, line, name,
                bytes, available, total);
        exit(EXIT_FAILURE);
    }
    ws_check(status, "cudaMalloc", file, line);
    ws_block *block = (ws_block *)malloc(sizeof *block);
    if (block == nullptr)
        abort();
    if (!ws_has_exit)
        atexit(ws_at_exit);
    ws_has_exit = true;
    block->memory = memory;
    block->bytes = bytes;
    return block;
}

extern "C" void *ws_device_acquire(long long bytes, const char *name, const char *file, int line)
{
    const std::lock_guard<std::mutex> guard(ws_lock);
    const size_t wanted = bytes > 0 ? (size_t)bytes : 1;
    ws_block **link = &ws_unused;
    while (*link != nullptr && (*link)->bytes != wanted)
        link = &(*link)->next;
    ws_block *block = *link;
    if (block == nullptr)
        block = ws_new_block(wanted, name, file, line);
    else
        *link = block->next;
    block->next = *ws_used_at(block->memory);
    *ws_used_at(block->memory) = block;
#ifdef WS_NAME_MEMORY
    WS_NAME_MEMORY(block->memory, name);
#endif
    return block->memory;
}

extern "C" void ws_device_release(void *memory)
{
    const std::lock_guard<std::mutex> guard(ws_lock);
    ws_block **link = ws_used_at(memory);
    while (*link != nullptr && (*link)->memory != memory)
        link = &(*link)->next;
    if (ws_block *block = *link) {
        *link = block->next;
        block->next = ws_unused;
        ws_unused = block;
    }
    if (!WS_POOL)
        ws_free_unused();
}

#ifdef WS_WITH_PINNED
static void ws_pin_variable(const void *host, long long bytes);

#endif
#ifdef WS_WITH_OVERLAP
extern "C" void ws_host_wait(const void *device, const char *file, int line);

#endif
extern "C" void ws_copy_to_device(void *device, const void *host, long long bytes, const char *file, int line)
{
#ifdef WS_TELL_COPY
    if (bytes > 0)
        WS_TELL_COPY(1, bytes, file, line);
#endif
#ifdef WS_WITH_PINNED
    ws_pin_variable(host, bytes);
#endif
    if (bytes > 0)
        ws_check(cudaMemcpy(device, host, (size_t)bytes, cudaMemcpyHostToDevice), "copy to the device", file, line);
}

extern "C" void ws_copy_to_host(void *host, const void *device, long long bytes, const char *file, int line)
{
#ifdef WS_TELL_COPY
    if (bytes > 0)
        WS_TELL_COPY(0, bytes, file, line);
#endif
#ifdef WS_WITH_PINNED
    ws_pin_variable(host, bytes);
#endif
#ifdef WS_WITH_OVERLAP
    /* this copy comes after what kernels have waited for; where there is nothing to copy, the host has not waited yet */
    ws_host_wait(device, file, line);
#endif
    if (bytes > 0)
        ws_check(cudaMemcpy(host, device, (size_t)bytes, cudaMemcpyDeviceToHost), "copy to the host", file, line);
}
