/* A CUDA runtime that executes nothing and counts: what a ported program launches, and what it copies.
 *
 * Linked in place of the device. Kernels are never called and copies move no byte, so the values that the host part
 * computes mean nothing: the counts are right where the host's control flow depends on sizes only, as in this suite.
 * At exit the counts go to the file that COUNTS names, one line each:
 *     launch KERNEL THREADS TIMES
 *     copy DIRECTION BYTES TIMES
 */
#include <sys/mman.h>

#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <map>
#include <string>
#include <utility>

#include "cuda_runtime.h"

namespace {

using Counts = std::map<std::pair<std::string, unsigned long long>, unsigned long long>;

Counts &launches()
{
    static Counts *counts = new Counts;
    return *counts;
}

Counts &copies()
{
    static Counts *counts = new Counts;
    return *counts;
}

/* Where only a part of an array is copied, kernels get a pointer to where the array would start. */
constexpr size_t before = 1 << 24;

std::map<const char *, size_t> &allocations()
{
    static auto *found = new std::map<const char *, size_t>;
    return *found;
}

void write()
{
    FILE *file = fopen(getenv("COUNTS"), "w");
    if (file == nullptr)
        abort();
    for (const auto &[what, times] : launches())
        fprintf(file, "launch %s %llu %llu\n", what.first.c_str(), what.second, times);
    for (const auto &[what, times] : copies())
        fprintf(file, "copy %s %llu %llu\n", what.first.c_str(), what.second, times);
    fclose(file);
}

struct AtExit {
    AtExit() { atexit(write); }
} at_exit;

} // namespace

extern const uint3 threadIdx = {}, blockIdx = {}, blockDim = {}, gridDim = {};

extern "C" {

cudaError_t ws_launch(const ws_launch_t *launch)
{
    unsigned long long threads = 1;
    for (int axis = 0; axis < 3; axis++)
        threads *= static_cast<unsigned long long>(launch->grid[axis]) * launch->block[axis];
    launches()[{launch->name, threads}]++;
    return cudaSuccess;
}

void ws_name_memory(const void *, const char *) {}
void ws_tell_copy(int, long long, const char *, int) {}
void ws_register(const void *, size_t, const char *, int) {}

/* What cudaMalloc is in the emulation's headers. */
cudaError_t ws_malloc_named(void **memory, size_t bytes, const char *)
{
    /* Addresses only: no page is ever touched. */
    void *const room = mmap(nullptr, bytes + before, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (room == MAP_FAILED)
        return cudaErrorMemoryAllocation;
    *memory = static_cast<char *>(room) + before;
    allocations()[static_cast<const char *>(room)] = bytes + before;
    return cudaSuccess;
}

/* Return the bytes from a place to the end of the allocation that it is in, or in front of; 0 where it is in none. */
long long ws_bytes_behind(const void *place)
{
    const auto next = allocations().upper_bound(static_cast<const char *>(place));
    if (next == allocations().begin())
        return 0;
    const auto [start, bytes] = *std::prev(next);
    const auto left = start + bytes - static_cast<const char *>(place);
    return left > 0 ? left : 0;
}

cudaError_t cudaFree(void *) { return cudaSuccess; }

cudaError_t cudaMemcpy(void *, const void *, size_t bytes, cudaMemcpyKind kind)
{
    copies()[{kind == cudaMemcpyHostToDevice ? "in" : kind == cudaMemcpyDeviceToHost ? "out" : "within", bytes}]++;
    return cudaSuccess;
}

/* What kernels call: they are linked, and never executed. */
int ws_barrier(int, int, int) { abort(); }
void ws_grid_barrier(void) { abort(); }
uint64_t ws_warp(unsigned int, int, uint64_t, int, unsigned int *) { abort(); }
unsigned int ws_active_mask(void) { abort(); }
void ws_fence(int) { abort(); }
long long ws_clock(void) { abort(); }
char *ws_dynamic_shared(void) { abort(); }
void ws_trap(void) { abort(); }
uint64_t ws_atomic(void *, uint64_t, uint64_t, int, int) { abort(); }

cudaError_t cudaMemset(void *, int, size_t) { return cudaSuccess; }
cudaError_t cudaDeviceSynchronize(void) { return cudaSuccess; }
cudaError_t cudaGetLastError(void) { return cudaSuccess; }
cudaError_t cudaPeekAtLastError(void) { return cudaSuccess; }
const char *cudaGetErrorString(cudaError_t) { return "no error"; }

cudaError_t cudaMemGetInfo(size_t *available, size_t *total)
{
    *available = *total = 80ull << 30;
    return cudaSuccess;
}
}
