/* Copies that go on beside kernels and host code: each direction has a stream of its own.

       begin copy C           in a stream of copies
       kernel 1               in the default stream, as all kernels of a port: C moves while it runs
       kernels wait for C     by an event
       kernel 2 (C)

   Invariant: a copy that begins comes after the kernels that have been launched; kernels come after it, and the host
   knows that it is done, only behind the wait for its buffer. The text of the port has the waits, where it is proved
   that nothing in between touches what the copy does. A buffer that no copy is under way for is waited for in no time.
   Each has one entry at most: a copy of it begins where the one before is done, or where kernels have waited for that
   one, and so comes after it.

   From or to pageable memory such a copy is right as well, but it may not go on beside anything: the driver may take it
   through a buffer of its own before the call returns. */
#pragma once

#include <cuda_runtime.h>
#include <mutex>
#include <vector>

#include "check.cu"

struct ws_moving {
    const void *device;
    cudaEvent_t done;
};

static std::vector<ws_moving> ws_under_way;
static std::vector<cudaEvent_t> ws_idle_events;
static std::mutex ws_overlap_lock;

static cudaEvent_t ws_take_event(const char *file, int line)
{
    cudaEvent_t event = nullptr;
    if (ws_idle_events.empty()) {
        ws_check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "make an event", file, line);
        return event;
    }
    event = ws_idle_events.back();
    ws_idle_events.pop_back();
    return event;
}

/* The event of a buffer's copies, which is taken up now if there is none. */
static cudaEvent_t ws_event_of(const void *device, const char *file, int line)
{
    for (const ws_moving &one : ws_under_way)
        if (one.device == device)
            return one.done;
    ws_under_way.push_back({device, ws_take_event(file, line)});
    return ws_under_way.back().done;
}

/* Begin a copy of `bytes`, if there are any, to the device or from it. */
static void ws_begin_copy(void *to, const void *from, bool to_device, long long bytes, const char *file, int line)
{
    static cudaStream_t streams[2];
    const void *device = to_device ? to : from;
    if (bytes <= 0)
        return;
#ifdef WS_TELL_COPY
    WS_TELL_COPY(to_device, bytes, file, line);
#endif
#ifdef WS_WITH_PINNED
    ws_pin_variable(to_device ? from : to, bytes);
#endif
    const std::lock_guard<std::mutex> guard(ws_overlap_lock);
    cudaStream_t *stream = &streams[to_device];
    if (*stream == nullptr)
        ws_check(cudaStreamCreateWithFlags(stream, cudaStreamNonBlocking), "make a stream", file, line);
    cudaEvent_t event = ws_event_of(device, file, line);
    ws_check(cudaEventRecord(event, nullptr), "record the kernels so far", file, line);
    ws_check(cudaStreamWaitEvent(*stream, event, 0), "wait for the kernels so far", file, line);
    const cudaMemcpyKind kind = to_device ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost;
    ws_check(cudaMemcpyAsync(to, from, (size_t)bytes, kind, *stream), "begin a copy", file, line);
    ws_check(cudaEventRecord(event, *stream), "record a copy", file, line);
}

extern "C" void ws_begin_copy_to_device(void *device, const void *host, long long bytes, const char *file, int line)
{
    ws_begin_copy(device, host, true, bytes, file, line);
}

extern "C" void ws_begin_copy_to_host(void *host, const void *device, long long bytes, const char *file, int line)
{
    ws_begin_copy(host, device, false, bytes, file, line);
}

/* Kernels that are launched from here on come after the copies of a buffer. */
extern "C" void ws_kernels_wait(const void *device, const char *file, int line)
{
    const std::lock_guard<std::mutex> guard(ws_overlap_lock);
    for (const ws_moving &one : ws_under_way)
        if (one.device == device)
            ws_check(cudaStreamWaitEvent(nullptr, one.done, 0), "wait for a copy", file, line);
}

/* So does the host, and with it all that it does and launches from here on. */
extern "C" void ws_host_wait(const void *device, const char *file, int line)
{
    const std::lock_guard<std::mutex> guard(ws_overlap_lock);
    for (ws_moving &one : ws_under_way) {
        if (one.device != device)
            continue;
        ws_check(cudaEventSynchronize(one.done), "wait for a copy", file, line);
        ws_idle_events.push_back(one.done);
        one = ws_under_way.back();
        ws_under_way.pop_back();
        return;
    }
}
