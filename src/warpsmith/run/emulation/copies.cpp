/* Copies and sets of the runtime API, each an operation of a stream (timeline.h).

   When the host may go on, by "API synchronization behavior" of the CUDA Runtime API:

       copy, host memory on one side   after the copy              Async: at once, whatever the host's memory is
       copy, device to device          at once                     Async: at once
       copy, host to host              after the copy              Async: after the copy
       set of device memory            at once                     Async: at once
       set of pinned, managed memory   after the set               Async: at once

   Between device memory and pageable memory an Async copy "might be synchronous": nothing may rest on it. */
#include <errno.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include <string>
#include <utility>
#include <vector>

#include "timeline.h"

using namespace ws;

/* Of the capture runtime, where the program has it: bytes of the device arrive at this place; the block of the heap that
   a pointer lies in. */
extern "C" void ws_left_arrives(const void *host) __attribute__((weak));
extern "C" int ws_heap_find(const void *pointer, uintptr_t *start, size_t *size) __attribute__((weak));

namespace {
enum class Where { host, device, both };

Where where(const void *pointer) {
    const Region *region = region_at(pointer);
    if ((Address)pointer - device.arena < device.arena_bytes) return Where::device;
    if (!region) return Where::host;
    if (region->space == Space::device || region->space == Space::constant) return Where::device;
    return region->space == Space::arguments ? Where::host : Where::both;
}

/* Whether the memory belongs to the host alone, and whether the device can reach it by itself. */
bool of_host(const void *pointer) {
    const Region *region = region_at(pointer);
    return !region || region->space == Space::pinned || region->space == Space::arguments;
}
bool pageable(const void *pointer) { return !region_at(pointer); }

/* Whether [pointer, pointer + bytes) lies in one live piece; host memory is not known and passes. */
bool inside(const void *pointer, size_t bytes) {
    if (where(pointer) == Where::host) return true;
    const Region *region = region_at(pointer);
    return region && region->guard != Guard::freed && (Address)pointer - region->base + bytes <= region->size;
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


struct Copy {
    char *to;
    size_t to_pitch;
    const char *from;
    size_t from_pitch, width, height;
    int kind;
    bool asynchronous;
    cudaStream_t stream;
    const char *call;
    uint32_t pc;
};

cudaError_t check_rows(const Copy &c) {
    if (c.height > 1 && (c.width > c.to_pitch || c.width > c.from_pitch)) return cudaErrorInvalidPitchValue;
    for (size_t row = 0; row < c.height; ++row) {
        const cudaError_t wrong = check_copy(c.to + row * c.to_pitch, c.from + row * c.from_pitch, c.width, c.kind);
        if (wrong != cudaSuccess) return wrong;
    }
    return cudaSuccess;
}

/* A late copy from or to pageable memory, which the program may have given back since. */
bool move_host(char *to, const char *from, size_t bytes, bool from_host) {
    iovec local = {from_host ? to : (void *)from, bytes}, remote = {from_host ? (void *)from : to, bytes};
    const ssize_t moved = from_host ? process_vm_readv(getpid(), &local, 1, &remote, 1, 0)
                                    : process_vm_writev(getpid(), &local, 1, &remote, 1, 0);
    if (moved < 0 && (errno == ENOSYS || errno == EPERM)) memmove(to, from, bytes);
    else if (moved != (ssize_t)bytes) return false;
    return true;
}

void run_copy(const Copy &c) {
    const bool late = c.asynchronous && (pageable(c.from) || pageable(c.to));
    if (Region *from = region_at(c.from)) from->copied = true;
    if (Region *to = region_at(c.to)) note_stays(*to);
    if (ws_left_arrives && where(c.from) == Where::device && of_host(c.to)) ws_left_arrives(c.to);
    const OpenPages target(c.to, (c.height - 1) * c.to_pitch + c.width);
    const OpenPages source(c.from, (c.height - 1) * c.from_pitch + c.width);
    for (size_t row = 0; row < c.height; ++row) {
        char *to = c.to + row * c.to_pitch;
        const char *from = c.from + row * c.from_pitch;
        if (!late) memmove(to, from, c.width);
        else if (!move_host(to, from, c.width, pageable(c.from))) {
            report_event("host_memory_gone", std::string(c.call) + " of memory that the host gave back before the copy was known to be done", c.pc, 0);
            break;
        }
    }
}

/* What an unfinished copy will overwrite holds nothing to rely on. */
void spoil(const Copy &c, const Piece &piece) {
    if (!may_spoil(piece, !pageable(c.to))) return;
    for (size_t row = 0; row < c.height; ++row) fill_poison(c.to + row * c.to_pitch, c.width);
}

/* Whether a copy to the host writes past the end of the block that it begins in: what lies there is lost. */
bool runs_past(const Copy &c) {
    uintptr_t start = 0;
    size_t size = 0;
    if (!ws_heap_find || where(c.from) != Where::device || !of_host(c.to) || !ws_heap_find(c.to, &start, &size))
        return false;
    const uintptr_t end = (uintptr_t)c.to + (c.height - 1) * c.to_pitch + c.width;
    if (end <= start + size) return false;
    report_event("host_overrun", std::string(c.call) + " writes " + std::to_string(end - start - size) +
                 " bytes past the end of a block of host memory, which has " + std::to_string(size), c.pc, 0);
    return true;
}

/* An asynchronous copy moves its bytes in whatever order and at whatever moments: permuted schedules make it in two parts,
   each an operation of its own. */
std::vector<Copy> parts_of(const Copy &c) {
    if (!c.asynchronous || device.schedule <= 0 || c.height != 1 || c.width <= 8) return {c};
    const size_t number = 8; /* no number is torn: captures know whole ones by their pattern */
    const size_t first = number * (1 + next_random() % ((c.width - 1) / number));
    Copy low = c, high = c;
    low.width = low.to_pitch = low.from_pitch = first;
    high.width = high.to_pitch = high.from_pitch = c.width - first;
    high.to += first;
    high.from += first;
    if (next_random() & 1u) std::swap(low, high);
    return {low, high};
}

void issue_part(CUstream_st &stream, const Copy &c) {
    const Piece read = {(Address)c.from, c.from_pitch, c.width, c.height, false};
    const Piece written = {(Address)c.to, c.to_pitch, c.width, c.height, true};
    issue(stream, Kind::copy, c.call, c.pc, {read, written}, [c](const Operation &) { run_copy(c); });
}

cudaError_t copy(const Copy &c) {
    LOCKED;
    if (device.sticky != cudaSuccess) return device.sticky;
    CUstream_st *stream = stream_at(c.stream);
    if (!stream) return cudaErrorInvalidResourceHandle;
    const cudaError_t wrong = check_rows(c);
    if (wrong != cudaSuccess || c.width * c.height == 0) return wrong;
    if (runs_past(c)) return cudaErrorInvalidValue;
    if (!counts_copies()) {
        look(*stream);
        run_copy(c);
        return device.sticky;
    }
    const bool hosts = of_host(c.to) && of_host(c.from), devices = where(c.to) == Where::device && where(c.from) == Where::device;
    if (where(c.to) == Where::device && of_host(c.from)) count_copy(true, c.width * c.height);
    if (where(c.from) == Where::device && of_host(c.to)) count_copy(false, c.width * c.height);
    if (c.asynchronous && !hosts && of_host(c.to)) spoil(c, {(Address)c.to, c.to_pitch, c.width, c.height, true});
    for (const Copy &part : parts_of(c)) issue_part(*stream, part);
    if (hosts || !(c.asynchronous || devices)) wait_for(Clock(stream->last));
    return cudaSuccess;
}

struct Set {
    char *to;
    size_t pitch;
    int value;
    size_t width, height;
    bool asynchronous;
    cudaStream_t stream;
    const char *call;
    uint32_t pc;
};

cudaError_t set(const Set &s) {
    LOCKED;
    if (device.sticky != cudaSuccess) return device.sticky;
    CUstream_st *stream = stream_at(s.stream);
    if (!stream) return cudaErrorInvalidResourceHandle;
    if (s.width * s.height == 0) return cudaSuccess;
    if (s.height > 1 && s.width > s.pitch) return cudaErrorInvalidValue;
    for (size_t row = 0; row < s.height; ++row)
        if (!s.to || where(s.to) == Where::host || !inside(s.to + row * s.pitch, s.width)) return cudaErrorInvalidValue;
    const Operation &made = issue(*stream, Kind::copy, s.call, s.pc, {Piece{(Address)s.to, s.pitch, s.width, s.height, true}},
                                  [s](const Operation &) {
        const OpenPages pages(s.to, (s.height - 1) * s.pitch + s.width);
        for (size_t row = 0; row < s.height; ++row) memset(s.to + row * s.pitch, s.value, s.width);
    });
    if (!s.asynchronous && where(s.to) == Where::both) wait_for(Clock(made.after));
    return cudaSuccess;
}

Region *variable_at(const void *symbol) {
    for (const auto &v : variables())
        if (v->base == (Address)symbol) return v.get();
    return nullptr;
}

cudaError_t copy_symbol(const void *symbol, size_t offset, const Copy &c) {
    const Region *v = variable_at(symbol);
    const cudaError_t error = !v                              ? cudaErrorInvalidSymbol
                              : offset + c.width > v->size ? cudaErrorInvalidValue
                                                              : copy(c);
    return done(error, c.call, c.pc);
}
} // namespace

extern "C" {
/* Called before a capture reads, or overwrites, memory of the host. */
void ws_emulation_look(const void *host, size_t bytes) {
    LOCKED;
    if (bytes) look_at((Address)host, bytes);
}
cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind) {
    return DONE(copy({(char *)to, bytes, (const char *)from, bytes, bytes, 1, kind, false, nullptr, __func__, WS_CALLER}));
}
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind, cudaStream_t stream) {
    return DONE(copy({(char *)to, bytes, (const char *)from, bytes, bytes, 1, kind, true, stream, __func__, WS_CALLER}));
}
cudaError_t cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
                         enum cudaMemcpyKind kind) {
    return DONE(copy({(char *)to, to_pitch, (const char *)from, from_pitch, width, height, kind, false, nullptr, __func__,
                      WS_CALLER}));
}
cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                              size_t height, enum cudaMemcpyKind kind, cudaStream_t stream) {
    return DONE(copy({(char *)to, to_pitch, (const char *)from, from_pitch, width, height, kind, true, stream, __func__,
                      WS_CALLER}));
}
cudaError_t cudaMemset(void *pointer, int value, size_t bytes) {
    return DONE(set({(char *)pointer, bytes, value, bytes, 1, false, nullptr, __func__, WS_CALLER}));
}
cudaError_t cudaMemsetAsync(void *pointer, int value, size_t bytes, cudaStream_t stream) {
    return DONE(set({(char *)pointer, bytes, value, bytes, 1, true, stream, __func__, WS_CALLER}));
}
cudaError_t cudaMemset2D(void *pointer, size_t pitch, int value, size_t width, size_t height) {
    return DONE(set({(char *)pointer, pitch, value, width, height, false, nullptr, __func__, WS_CALLER}));
}
cudaError_t cudaMemset2DAsync(void *pointer, size_t pitch, int value, size_t width, size_t height, cudaStream_t stream) {
    return DONE(set({(char *)pointer, pitch, value, width, height, true, stream, __func__, WS_CALLER}));
}
cudaError_t ws_memcpy_to_symbol(const void *symbol, const void *from, size_t bytes, size_t offset, int kind,
                                int asynchronous, cudaStream_t stream) {
    const char *call = asynchronous ? "cudaMemcpyToSymbolAsync" : "cudaMemcpyToSymbol";
    return copy_symbol(symbol, offset, {(char *)symbol + offset, bytes, (const char *)from, bytes, bytes, 1, kind,
                                        asynchronous != 0, stream, call, WS_CALLER});
}
cudaError_t ws_memcpy_from_symbol(void *to, const void *symbol, size_t bytes, size_t offset, int kind, int asynchronous,
                                  cudaStream_t stream) {
    const char *call = asynchronous ? "cudaMemcpyFromSymbolAsync" : "cudaMemcpyFromSymbol";
    return copy_symbol(symbol, offset, {(char *)to, bytes, (const char *)symbol + offset, bytes, bytes, 1, kind,
                                        asynchronous != 0, stream, call, WS_CALLER});
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
}
