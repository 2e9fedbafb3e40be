/* The CUDA runtime API on the emulated device: memory, copies, errors. Everything is done at once, in order, so streams
   and events have nothing to wait for. Wrong calls return what the real runtime returns and are noted as events. */
#include <string>
#include <vector>
#include <map>
#include <stdlib.h>
#include <string.h>

#include "emulator.h"

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
    start_reports();
    start_memory();
}

cudaError_t done(cudaError_t error, const char *call, uint32_t pc) {
    if (device.sticky != cudaSuccess) error = device.sticky;
    if (error == cudaSuccess) return error;
    device.last = error;
    report_event("api_error", std::string(call) + ": " + cudaGetErrorString(error), pc, 0);
    return error;
}
#define DONE(error) done(error, __func__, WS_CALLER)

enum class Where { host, device, both };

Where where(const void *pointer) {
    const Region *region = region_at(pointer);
    if ((Address)pointer - device.arena < device.arena_bytes) return Where::device;
    if (!region) return Where::host;
    if (region->space == Space::device || region->space == Space::constant) return Where::device;
    return region->space == Space::arguments ? Where::host : Where::both;
}

/* Whether [pointer, pointer + bytes) lies in one live piece; host memory is not known and passes. */
bool inside(const void *pointer, size_t bytes) {
    if (where(pointer) == Where::host) return true;
    const Region *region = region_at(pointer);
    return region && region->live && (Address)pointer - region->base + bytes <= region->size;
}

cudaError_t check_copy(const void *to, const void *from, size_t bytes, int kind) {
    if (kind < 0 || kind > 4) return cudaErrorInvalidMemcpyDirection;
    if (bytes == 0) return cudaSuccess;
    if (!to || !from || !inside(to, bytes) || !inside(from, bytes)) return cudaErrorInvalidValue;
    if (kind == cudaMemcpyDefault) return cudaSuccess;
    const bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
    const bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
    if (where(to) == (to_device ? Where::host : Where::device)) return cudaErrorInvalidValue;
    if (where(from) == (from_device ? Where::host : Where::device)) return cudaErrorInvalidValue;
    return cudaSuccess;
}

cudaError_t copy(void *to, const void *from, size_t bytes, int kind) {
    const std::lock_guard<std::recursive_mutex> hold(device_lock());
    if (device.sticky != cudaSuccess) return device.sticky;
    const cudaError_t wrong = check_copy(to, from, bytes, kind);
    if (wrong != cudaSuccess || bytes == 0) return wrong;
    open_memory();
    memmove(to, from, bytes);
    close_memory();
    return cudaSuccess;
}

cudaError_t set(void *pointer, int value, size_t bytes) {
    const std::lock_guard<std::recursive_mutex> hold(device_lock());
    if (device.sticky != cudaSuccess) return device.sticky;
    if (bytes == 0) return cudaSuccess;
    if (!pointer || where(pointer) == Where::host || !inside(pointer, bytes)) return cudaErrorInvalidValue;
    open_memory();
    memset(pointer, value, bytes);
    close_memory();
    return cudaSuccess;
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

/* The copies that the program has told of, a line for each place of its text, in the file that
   WARPSMITH_EMULATION_COPIES names: direction, file, line, count, bytes, in the order of the first ones. */
struct Copies {
    struct Place {
        std::string text;
        long long count, bytes;
    };
    std::vector<Place> places;
    std::map<std::string, size_t> known;
    void add(int to_device, long long bytes, const char *file, int line) {
        const std::lock_guard<std::recursive_mutex> hold(device_lock());
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
    const std::lock_guard<std::recursive_mutex> hold(device_lock());
    if (!pointer) return cudaErrorInvalidValue;
    if (device.sticky != cudaSuccess) return device.sticky;
    *pointer = nullptr;
    if (bytes == 0) return space == Space::global ? cudaSuccess : cudaErrorInvalidValue;
    const Region *region = acquire(bytes, space, array_name(name).c_str(), pc);
    if (!region) return cudaErrorMemoryAllocation;
    *pointer = (void *)region->base;
    return cudaSuccess;
}

Region *variable_at(const void *symbol) {
    for (const auto &v : variables())
        if (v->base == (Address)symbol) return v.get();
    return nullptr;
}
} // namespace

extern "C" {
cudaError_t ws_malloc_named(void **pointer, size_t bytes, const char *name) {
    const uint32_t pc = WS_CALLER;
    return done(take(pointer, bytes, Space::global, name, pc), "cudaMalloc", pc);
}
void ws_tell_copy(int to_device, long long bytes, const char *file, int line) {
    copies().add(to_device, bytes, file, line);
}
void ws_name_memory(const void *pointer, const char *name) {
    const std::lock_guard<std::recursive_mutex> hold(device_lock());
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
cudaError_t cudaFree(void *pointer) {
    const std::lock_guard<std::recursive_mutex> hold(device_lock());
    if (!pointer) return DONE(cudaSuccess);
    const Region *region = region_at(pointer);
    const bool managed = region && region->space == Space::managed;
    return DONE(release((Address)pointer, managed ? Space::managed : Space::global) ? cudaSuccess : cudaErrorInvalidValue);
}
cudaError_t cudaFreeHost(void *pointer) {
    if (!pointer) return DONE(cudaSuccess);
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
    return DONE(drop_host_range(pointer) ? cudaSuccess : cudaErrorHostMemoryNotRegistered);
}
cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind) {
    return DONE(copy(to, from, bytes, kind));
}
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind, cudaStream_t) {
    return DONE(copy(to, from, bytes, kind));
}
cudaError_t cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
                         enum cudaMemcpyKind kind) {
    if (width > to_pitch || width > from_pitch) return DONE(cudaErrorInvalidPitchValue);
    cudaError_t error = cudaSuccess;
    for (size_t row = 0; row < height && error == cudaSuccess; ++row)
        error = copy((char *)to + row * to_pitch, (const char *)from + row * from_pitch, width, kind);
    return DONE(error);
}
cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                              size_t height, enum cudaMemcpyKind kind, cudaStream_t) {
    return cudaMemcpy2D(to, to_pitch, from, from_pitch, width, height, kind);
}
cudaError_t cudaMemset(void *pointer, int value, size_t bytes) { return DONE(set(pointer, value, bytes)); }
cudaError_t cudaMemsetAsync(void *pointer, int value, size_t bytes, cudaStream_t) {
    return DONE(set(pointer, value, bytes));
}
cudaError_t cudaMemset2D(void *pointer, size_t pitch, int value, size_t width, size_t height) {
    cudaError_t error = width > pitch ? cudaErrorInvalidValue : cudaSuccess;
    for (size_t row = 0; row < height && error == cudaSuccess; ++row)
        error = set((char *)pointer + row * pitch, value, width);
    return DONE(error);
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
cudaError_t ws_memcpy_to_symbol(const void *symbol, const void *from, size_t bytes, size_t offset, int kind) {
    const Region *v = variable_at(symbol);
    if (!v) return done(cudaErrorInvalidSymbol, "cudaMemcpyToSymbol", WS_CALLER);
    if (offset + bytes > v->size) return done(cudaErrorInvalidValue, "cudaMemcpyToSymbol", WS_CALLER);
    return done(copy((char *)symbol + offset, from, bytes, kind), "cudaMemcpyToSymbol", WS_CALLER);
}
cudaError_t ws_memcpy_from_symbol(void *to, const void *symbol, size_t bytes, size_t offset, int kind) {
    const Region *v = variable_at(symbol);
    if (!v) return done(cudaErrorInvalidSymbol, "cudaMemcpyFromSymbol", WS_CALLER);
    if (offset + bytes > v->size) return done(cudaErrorInvalidValue, "cudaMemcpyFromSymbol", WS_CALLER);
    return done(copy(to, (const char *)symbol + offset, bytes, kind), "cudaMemcpyFromSymbol", WS_CALLER);
}
cudaError_t ws_symbol_address(void **pointer, const void *symbol) {
    *pointer = const_cast<void *>(symbol);
    return done(variable_at(symbol) ? cudaSuccess : cudaErrorInvalidSymbol, "cudaGetSymbolAddress", WS_CALLER);
}
cudaError_t ws_symbol_size(size_t *bytes, const void *symbol) {
    const Region *v = variable_at(symbol);
    if (v) *bytes = v->size;
    return done(v ? cudaSuccess : cudaErrorInvalidSymbol, "cudaGetSymbolSize", WS_CALLER);
}

cudaError_t cudaGetLastError(void) {
    const cudaError_t error = device.last;
    device.last = device.sticky;
    return error;
}
cudaError_t cudaPeekAtLastError(void) { return device.last; }
cudaError_t cudaDeviceSynchronize(void) { return DONE(cudaSuccess); }
cudaError_t cudaThreadSynchronize(void) { return DONE(cudaSuccess); }
cudaError_t cudaThreadExit(void) { return DONE(cudaSuccess); }
cudaError_t cudaDeviceReset(void) {
    device.sticky = device.last = cudaSuccess;
    return cudaSuccess;
}
}
