/* The CUDA runtime API on the emulated device: memory, errors, waiting for the whole device. Wrong calls return what the
   real runtime returns and are noted as events. */
#include <string>
#include <vector>
#include <map>
#include <stdlib.h>
#include <string.h>

#include "timeline.h"

using namespace ws;

namespace {
uint64_t number_from(const char *name, uint64_t otherwise) {
    const char *text = getenv(name);
    return text && *text ? strtoull(text, nullptr, 0) : otherwise;
}

/* The environment decides the schedule; the referee sets it. */
__attribute__((constructor(102))) void start() {
    const char *schedule = getenv("WARPSMITH_EMULATION_SCHEDULE");
    if (schedule && strcmp(schedule, "ascending") == 0) device.schedule = -1;
    else device.schedule = schedule ? atoi(schedule) : 0;
    device.seed = number_from("WARPSMITH_EMULATION_SEED", (uint64_t)device.schedule + 11);
    device.capacity = number_from("WARPSMITH_EMULATION_MEMORY", (uint64_t)16 << 30);
    start_limits();
    start_reports();
    start_memory();
    atexit(note_all_that_stays);
    atexit(run_the_rest); /* what nobody waited for may be wrong all the same */
}

/* `(void**)&buffers->d_a` names the array d_a. */
std::string array_name(const char *text) {
    std::string name = text;
    size_t end = name.size();
    while (end && strchr(") ", name[end - 1])) --end;
    size_t start = end;
    while (start && (isalnum((unsigned char)name[start - 1]) || strchr("_[].>-", name[start - 1]))) --start;
    return name.substr(start, end - start);
}

/* The copies that the program has reported, a line for each place of its text, in the file that
   WARPSMITH_EMULATION_COPIES names: direction, file, line, count, bytes, in the order of the first ones. */
struct Copies {
    struct Place {
        std::string text;
        long long count, bytes;
    };
    std::vector<Place> places;
    std::map<std::string, size_t> known;
    void add(int to_device, long long bytes, const char *file, int line) {
        LOCKED;
        const std::string text = std::string(to_device ? "in " : "out ") + std::to_string(line) + " " + file;
        const auto found = known.emplace(text, places.size());
        if (found.second) places.push_back({text, 0, 0});
        Place &place = places[found.first->second];
        place.count++;
        place.bytes += bytes;
    }
    ~Copies() {
        const char *path = getenv("WARPSMITH_EMULATION_COPIES");
        FILE *file = path && *path ? fopen(path, "w") : nullptr;
        if (!file) return;
        for (const Place &place : places) fprintf(file, "%lld %lld %s\n", place.count, place.bytes, place.text.c_str());
        fclose(file);
    }
};
Copies &copies() {
    static Copies all;
    return all;
}

cudaError_t take(void **pointer, size_t bytes, Space space, const char *name, uint32_t pc) {
    LOCKED;
    if (!pointer) return cudaErrorInvalidValue;
    if (device.sticky != cudaSuccess) return device.sticky;
    *pointer = nullptr;
    if (bytes == 0) return space == Space::global ? cudaSuccess : cudaErrorInvalidValue;
    const Region *region = acquire(bytes, space, array_name(name).c_str(), pc);
    if (!region) return cudaErrorMemoryAllocation;
    *pointer = (void *)region->base;
    return cudaSuccess;
}

} // namespace

cudaError_t ws::done(cudaError_t error, const char *call, uint32_t pc) {
    if (device.sticky != cudaSuccess) error = device.sticky;
    if (error == cudaSuccess) return error;
    device.last = error;
    report_event("api_error", std::string(call) + ": " + cudaGetErrorString(error), pc, 0);
    return error;
}

extern "C" {
cudaError_t ws_malloc_named(void **pointer, size_t bytes, const char *name) {
    const uint32_t pc = WS_CALLER;
    return done(take(pointer, bytes, Space::global, name, pc), "cudaMalloc", pc);
}
void ws_tell_copy(int to_device, long long bytes, const char *file, int line) {
    copies().add(to_device, bytes, file, line);
}
void ws_name_memory(const void *pointer, const char *name) {
    LOCKED;
    if (Region *region = region_at(pointer)) region->name = array_name(name);
}
cudaError_t ws_malloc_managed_named(void **pointer, size_t bytes, unsigned int, const char *name) {
    const uint32_t pc = WS_CALLER;
    return done(take(pointer, bytes, Space::managed, name, pc), "cudaMallocManaged", pc);
}
cudaError_t ws_malloc_host_named(void **pointer, size_t bytes, unsigned int, const char *name) {
    const uint32_t pc = WS_CALLER;
    return done(take(pointer, bytes, Space::pinned, name, pc), "cudaMallocHost", pc);
}
cudaError_t ws_malloc_pitch_named(void **pointer, size_t *pitch, size_t width, size_t height, const char *name) {
    const uint32_t pc = WS_CALLER;
    *pitch = (width + 511) / 512 * 512;
    return done(take(pointer, *pitch * height, Space::global, name, pc), "cudaMallocPitch", pc);
}
/* Memory of a stream: what is not ordered after the call must not touch it. */
cudaError_t ws_malloc_async_named(void **pointer, size_t bytes, cudaStream_t handle, const char *name) {
    LOCKED;
    const uint32_t pc = WS_CALLER;
    CUstream_st *stream = stream_at(handle);
    if (!stream) return done(cudaErrorInvalidResourceHandle, "cudaMallocAsync", pc);
    const cudaError_t error = take(pointer, bytes, Space::global, name, pc);
    if (error == cudaSuccess && bytes)
        issue(*stream, Kind::allocation, "cudaMallocAsync", pc, {Piece{(Address)*pointer, bytes, bytes, 1, true}},
              [](const Operation &) {});
    return done(error, "cudaMallocAsync", pc);
}
cudaError_t cudaFreeAsync(void *pointer, cudaStream_t handle) {
    LOCKED;
    CUstream_st *stream = stream_at(handle);
    const Region *region = region_at(pointer);
    if (!stream) return DONE(cudaErrorInvalidResourceHandle);
    if (!pointer) return DONE(cudaSuccess);
    if (!region || region->space != Space::global || region->base != (Address)pointer || region->guard == Guard::freed)
        return DONE(cudaErrorInvalidValue);
    issue(*stream, Kind::allocation, "cudaFreeAsync", WS_CALLER, {Piece{region->base, region->size, region->size, 1, true}},
          [pointer](const Operation &) { release((Address)pointer, Space::global); });
    return DONE(cudaSuccess);
}
/* Memory is taken away only when the device is done with it: the call waits. */
cudaError_t cudaFree(void *pointer) {
    LOCKED;
    if (!pointer) return DONE(cudaSuccess);
    wait_for_all();
    const Region *region = region_at(pointer);
    const bool managed = region && region->space == Space::managed;
    return DONE(release((Address)pointer, managed ? Space::managed : Space::global) ? cudaSuccess : cudaErrorInvalidValue);
}
cudaError_t cudaFreeHost(void *pointer) {
    LOCKED;
    if (!pointer) return DONE(cudaSuccess);
    wait_for_all();
    return DONE(release((Address)pointer, Space::pinned) ? cudaSuccess : cudaErrorInvalidValue);
}
cudaError_t cudaHostGetDevicePointer(void **to, void *host, unsigned int) {
    *to = host;
    return DONE(region_at(host) ? cudaSuccess : cudaErrorInvalidValue);
}
cudaError_t cudaHostRegister(void *pointer, size_t bytes, unsigned int) {
    if (!pointer || !bytes) return DONE(cudaErrorInvalidValue);
    return DONE(add_host_range(pointer, bytes) ? cudaSuccess : cudaErrorHostMemoryAlreadyRegistered);
}
cudaError_t cudaHostUnregister(void *pointer) {
    LOCKED;
    wait_for_all();
    return DONE(drop_host_range(pointer) ? cudaSuccess : cudaErrorHostMemoryNotRegistered);
}
cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total_bytes) {
    *free_bytes = device.capacity - device.used;
    *total_bytes = device.capacity;
    return DONE(cudaSuccess);
}
cudaError_t cudaMemPrefetchAsync(const void *pointer, size_t, int, cudaStream_t) {
    const Region *region = region_at(pointer);
    return DONE(region && region->space == Space::managed ? cudaSuccess : cudaErrorInvalidValue);
}
cudaError_t cudaMemAdvise(const void *pointer, size_t, enum cudaMemoryAdvise, int) {
    const Region *region = region_at(pointer);
    return DONE(region && region->space == Space::managed ? cudaSuccess : cudaErrorInvalidValue);
}
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes *a, const void *pointer) {
    const Region *region = region_at(pointer);
    *a = cudaPointerAttributes{};
    a->type = !region                            ? cudaMemoryTypeUnregistered
              : region->space == Space::managed ? cudaMemoryTypeManaged
              : region->space == Space::pinned  ? cudaMemoryTypeHost
                                                : cudaMemoryTypeDevice;
    if (a->type != cudaMemoryTypeUnregistered) a->devicePointer = (void *)pointer;
    if (a->type != cudaMemoryTypeDevice) a->hostPointer = (void *)pointer;
    return DONE(cudaSuccess);
}
cudaError_t cudaGetLastError(void) {
    const cudaError_t error = device.last;
    device.last = device.sticky;
    return error;
}
cudaError_t cudaPeekAtLastError(void) { return device.last; }
cudaError_t cudaDeviceSynchronize(void) {
    LOCKED;
    wait_for_all();
    return DONE(cudaSuccess);
}
cudaError_t cudaThreadSynchronize(void) {
    LOCKED;
    wait_for_all();
    return DONE(cudaSuccess);
}
cudaError_t cudaThreadExit(void) { return cudaThreadSynchronize(); }
cudaError_t cudaDeviceReset(void) {
    LOCKED;
    wait_for_all();
    device.sticky = device.last = cudaSuccess;
    return cudaSuccess;
}
}
