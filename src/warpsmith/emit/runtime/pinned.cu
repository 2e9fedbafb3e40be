/* Static arrays are page-locked when they are first copied, as a whole: they live as long as the program. Where the device
   refuses, since a neighbor has the page already or there is too much, their copies are only slower. */
#pragma once

#include <cuda_runtime.h>
#include <mutex>
#include <stdint.h>
#include <vector>

#include "variables.cu"

static void ws_pin_variable(const void *host, long long bytes)
{
    static std::mutex lock;
    static std::vector<uintptr_t> tried;
    const long long page = 4096;
    uintptr_t start = 0;
    size_t all = 0;
    /* Its second byte: where it begins, another one may end. */
    if (bytes < page || !ws_variable_find((const char *)host + 1, &start, &all))
        return;
    const std::lock_guard<std::mutex> guard(lock);
    for (const uintptr_t one : tried)
        if (one == start)
            return;
    tried.push_back(start);
    if (cudaHostRegister((void *)start, all, 0) != cudaSuccess)
        (void)cudaGetLastError();
}
