/* Make one copy of the block that holds `at` valid, where it is present; of everything where no block is known. */
#pragma once

#include <stdint.h>

#include "present.cu"
#include "allocations.cu"

extern "C" void ws_update_host_block(const void *at, const char *file, int line)
{
    uintptr_t start = 0;
    size_t bytes = 0;
    if (ws_allocation_of(at, &start, &bytes))
        ws_update_host((const void *)start, (long long)bytes, file, line);
    else
        ws_update_host_all(file, line);
}

extern "C" void ws_update_device_block(const void *at, const char *file, int line)
{
    uintptr_t start = 0;
    size_t bytes = 0;
    if (ws_allocation_of(at, &start, &bytes))
        ws_update_device((const void *)start, (long long)bytes, file, line);
    else
        ws_update_device_all(file, line);
}
