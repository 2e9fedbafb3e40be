/* What the emulation asks of the present table. */
#pragma once

#include <cuda_runtime.h>
#include <mutex>
#include <stdlib.h>

#include "present.cu"

#ifdef WS_TELL_COPY
/* Under the emulation: where the device has a byte of the host; whether a device address is in a remembered range; lay
   what kernels have changed in such ranges over a copy of the host's bytes. */
extern "C" const void *warpsmith_device_of(const void *host)
{
    const std::lock_guard<std::mutex> guard(ws_table);
    const ws_range *range = ws_newest((const char *)host);
    return range == nullptr ? nullptr : range->device + ((const char *)host - range->host);
}

extern "C" int warpsmith_remembers(const void *device)
{
    const std::lock_guard<std::mutex> guard(ws_table);
    const char *at = (const char *)device;
    for (const ws_range *range = ws_ranges; range != nullptr; range = range->next)
        if (at >= range->device && at < range->device + range->bytes)
            return range->before != nullptr;
    return 0;
}

extern "C" void warpsmith_lay_over(const void *host, long long bytes, char *to)
{
    const std::lock_guard<std::mutex> guard(ws_table);
    const char *begin = (const char *)host, *end = begin + bytes;
    for (const char *at = begin; at < end;) {
        const char *stop = ws_edge(at, end);
        const ws_range *range = ws_newest(at);
        if (range != nullptr && range->before != nullptr) {
            const char *before = range->before + (at - range->host);
            char *now = (char *)malloc((size_t)(stop - at));
            if (now == nullptr)
                abort();
            ws_check(cudaMemcpy(now, range->device + (at - range->host), (size_t)(stop - at), cudaMemcpyDeviceToHost),
                     "look at the device", "", 0);
            for (long long i = 0; i < stop - at; i++)
                if (now[i] != before[i])
                    to[at - begin + i] = now[i];
            free(now);
        }
        at = stop;
    }
}
#endif
