/* Streams, events and host functions of the runtime API. */
#include <time.h>

#include <memory>
#include <string>

#include "timeline.h"

using namespace ws;

namespace {
/* One recording of an event: what it comes after, and when it happened. */
struct Recording {
    Clock work;
    uint32_t era = 0;
    double milliseconds = 0;
    bool done = false;
};
} // namespace

struct CUevent_st {
    bool timed;
    std::shared_ptr<Recording> latest;
};

namespace {
double milliseconds_now() {
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

cudaError_t record(cudaEvent_t event, cudaStream_t handle, uint32_t pc) {
    CUstream_st *stream = stream_at(handle);
    if (!event || !stream) return cudaErrorInvalidResourceHandle;
    const auto made = std::make_shared<Recording>();
    Operation &operation = issue(*stream, Kind::event, "cudaEventRecord", pc, {}, [made](const Operation &) {
        made->milliseconds = milliseconds_now();
        made->done = true;
    });
    made->work = operation.after;
    made->era = era();
    event->latest = made;
    return cudaSuccess;
}

/* Whether what the event recorded is long done and known. */
bool over(const Recording &recording) { return recording.era != era(); }

cudaError_t add_host_function(cudaStream_t handle, const char *call, uint32_t pc, cudaHostFn_t function, void *data) {
    CUstream_st *stream = stream_at(handle);
    if (!stream || !function) return stream ? cudaErrorInvalidValue : cudaErrorInvalidResourceHandle;
    issue(*stream, Kind::host_function, call, pc, {}, [=](const Operation &o) { run_host_function(o, function, data); });
    return cudaSuccess;
}

struct Callback {
    cudaStreamCallback_t function;
    cudaStream_t stream;
    void *data;
};
void call_back(void *data) {
    const std::unique_ptr<Callback> callback(static_cast<Callback *>(data));
    callback->function(callback->stream, device.sticky, callback->data);
}
} // namespace

extern "C" {
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned int flags) {
    LOCKED;
    *stream = make_stream((flags & cudaStreamNonBlocking) == 0);
    return DONE(cudaSuccess);
}
cudaError_t cudaStreamCreate(cudaStream_t *stream) { return cudaStreamCreateWithFlags(stream, cudaStreamDefault); }
cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned int flags, int) {
    return cudaStreamCreateWithFlags(stream, flags);
}
cudaError_t cudaStreamGetFlags(cudaStream_t handle, unsigned int *flags) {
    LOCKED;
    const CUstream_st *stream = stream_at(handle);
    if (!stream) return DONE(cudaErrorInvalidResourceHandle);
    *flags = stream->blocking ? cudaStreamDefault : cudaStreamNonBlocking;
    return DONE(cudaSuccess);
}
/* What the stream still has to do is done, and nobody waits for it. */
cudaError_t cudaStreamDestroy(cudaStream_t handle) {
    LOCKED;
    CUstream_st *stream = handle ? stream_at(handle) : nullptr;
    if (!stream || stream != handle) return DONE(cudaErrorInvalidResourceHandle);
    stream->live = false;
    return DONE(cudaSuccess);
}
cudaError_t cudaStreamSynchronize(cudaStream_t handle) {
    LOCKED;
    const CUstream_st *stream = stream_at(handle);
    if (!stream) return DONE(cudaErrorInvalidResourceHandle);
    wait_for(work_of(*stream));
    return DONE(cudaSuccess);
}
cudaError_t cudaStreamQuery(cudaStream_t handle) {
    LOCKED;
    const CUstream_st *stream = stream_at(handle);
    if (!stream) return DONE(cudaErrorInvalidResourceHandle);
    const bool complete = poll(work_of(*stream));
    if (device.sticky != cudaSuccess) return DONE(cudaSuccess);
    return complete ? cudaSuccess : cudaErrorNotReady;
}
cudaError_t cudaStreamWaitEvent(cudaStream_t handle, cudaEvent_t event, unsigned int) {
    LOCKED;
    CUstream_st *stream = stream_at(handle);
    if (!stream || !event) return DONE(cudaErrorInvalidResourceHandle);
    if (event->latest && !over(*event->latest)) stream->last.join(event->latest->work);
    return DONE(cudaSuccess);
}
/* Memory for one stream, for the host or for all is a hint where the host may touch managed memory at any time. */
cudaError_t cudaStreamAttachMemAsync(cudaStream_t handle, void *pointer, size_t, unsigned int) {
    LOCKED;
    const Region *region = region_at(pointer);
    if (!stream_at(handle)) return DONE(cudaErrorInvalidResourceHandle);
    return DONE(region && region->space == Space::managed ? cudaSuccess : cudaErrorInvalidValue);
}
cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void *data, unsigned int) {
    LOCKED;
    Callback *made = new Callback{callback, stream, data};
    return DONE(add_host_function(stream, "cudaStreamAddCallback", WS_CALLER, call_back, made));
}
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void *data) {
    LOCKED;
    return DONE(add_host_function(stream, "cudaLaunchHostFunc", WS_CALLER, function, data));
}
cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest) {
    *least = 0;
    *greatest = -5;
    return DONE(cudaSuccess);
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned int flags) {
    *event = new CUevent_st{(flags & cudaEventDisableTiming) == 0, nullptr};
    return DONE(cudaSuccess);
}
cudaError_t cudaEventCreate(cudaEvent_t *event) { return cudaEventCreateWithFlags(event, cudaEventDefault); }
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
    LOCKED;
    return DONE(record(event, stream, WS_CALLER));
}
cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned int) {
    LOCKED;
    return DONE(record(event, stream, WS_CALLER));
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
    LOCKED;
    if (!event) return DONE(cudaErrorInvalidResourceHandle);
    if (event->latest && !over(*event->latest)) wait_for(event->latest->work);
    return DONE(cudaSuccess);
}
cudaError_t cudaEventQuery(cudaEvent_t event) {
    LOCKED;
    if (!event) return DONE(cudaErrorInvalidResourceHandle);
    const bool complete = !event->latest || over(*event->latest) || poll(event->latest->work);
    if (device.sticky != cudaSuccess) return DONE(cudaSuccess);
    return complete ? cudaSuccess : cudaErrorNotReady;
}
cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t start, cudaEvent_t end) {
    LOCKED;
    if (!start || !end || !start->latest || !end->latest || !start->timed || !end->timed)
        return DONE(cudaErrorInvalidResourceHandle);
    if (!start->latest->done || !end->latest->done) return cudaErrorNotReady;
    *milliseconds = (float)(end->latest->milliseconds - start->latest->milliseconds);
    return DONE(cudaSuccess);
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
    if (!event) return DONE(cudaErrorInvalidResourceHandle);
    delete event;
    return DONE(cudaSuccess);
}
}
