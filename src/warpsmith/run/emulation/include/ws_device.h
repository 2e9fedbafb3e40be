/* What a kernel sees: indices, barriers, warps, votes, shuffles, fences. C++ only. */
#ifndef WARPSMITH_WS_DEVICE_H
#define WARPSMITH_WS_DEVICE_H

#include "ws_launch.h"

extern "C" {
int ws_barrier(int kind, int predicate, int number);
void ws_grid_barrier(void);
uint64_t ws_warp(unsigned int mask, int kind, uint64_t value, int source, unsigned int *valid);
unsigned int ws_active_mask(void);
void ws_fence(int scope);
long long ws_clock(void);
char *ws_dynamic_shared(void);
[[noreturn]] void ws_trap(void);
typedef struct {
    void *to;
    const void *from;
    size_t bytes, zeros;
} ws_copy_t;
void ws_copy_later(void *to, const void *from, size_t bytes, size_t zeros);
void ws_copies_commit(void);
int ws_copy_due(size_t prior, ws_copy_t *next);
}

/* The place of the thread that runs now; the emulator writes it at every switch. Constant to the program, and of
   a type without constructors, so that the race instrumentation leaves reads of it alone. */
extern const uint3 threadIdx, blockIdx, blockDim, gridDim;
static constexpr int warpSize = 32;

namespace ws {
__forceinline__ unsigned int lane() {
    return (threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) & 31u;
}
enum { barrier_plain = 0, barrier_count = 1, barrier_and = 2, barrier_or = 3 };
enum { warp_sync = 0, warp_shuffle = 1, warp_ballot = 2, warp_match = 3, warp_reduce = 4 };
constexpr unsigned int all = 0xffffffffu;

template <class T> __forceinline__ uint64_t bits(T value) {
    static_assert(sizeof(T) <= 8, "a word has eight bytes");
    uint64_t word = 0;
    __builtin_memcpy(&word, &value, sizeof value);
    return word;
}
template <class T> __forceinline__ T from_bits(uint64_t word) {
    T value;
    __builtin_memcpy(&value, &word, sizeof value);
    return value;
}
template <class T> __forceinline__ T shuffle(unsigned int mask, T value, int source) {
    if constexpr (sizeof(T) <= 8) return from_bits<T>(ws_warp(mask, warp_shuffle, bits(value), source, nullptr));
    else {
        uint64_t words[(sizeof(T) + 7) / 8] = {};
        __builtin_memcpy(words, &value, sizeof value);
        for (uint64_t &word : words) word = ws_warp(mask, warp_shuffle, word, source, nullptr);
        __builtin_memcpy(&value, words, sizeof value);
        return value;
    }
}
} // namespace ws

__forceinline__ void __syncthreads() { ws_barrier(ws::barrier_plain, 0, 0); }
__forceinline__ int __syncthreads_count(int p) { return ws_barrier(ws::barrier_count, p != 0, 0); }
__forceinline__ int __syncthreads_and(int p) { return ws_barrier(ws::barrier_and, p != 0, 0); }
__forceinline__ int __syncthreads_or(int p) { return ws_barrier(ws::barrier_or, p != 0, 0); }
/* Every barrier of the text has a number of its own: two may stand in one line, and a compiler may copy or join calls. */
#define __syncthreads() ws_numbered_barrier(__COUNTER__ + 1)
#define __syncthreads_count(...) ws_numbered_vote(ws::barrier_count, (__VA_ARGS__) != 0, __COUNTER__ + 1)
#define __syncthreads_and(...) ws_numbered_vote(ws::barrier_and, (__VA_ARGS__) != 0, __COUNTER__ + 1)
#define __syncthreads_or(...) ws_numbered_vote(ws::barrier_or, (__VA_ARGS__) != 0, __COUNTER__ + 1)
__forceinline__ void ws_numbered_barrier(int number) { ws_barrier(ws::barrier_plain, 0, number); }
__forceinline__ int ws_numbered_vote(int kind, int p, int number) { return ws_barrier(kind, p, number); }
__forceinline__ void __syncwarp(unsigned int mask = ws::all) { ws_warp(mask, ws::warp_sync, 0, 0, nullptr); }
__forceinline__ void __threadfence() { ws_fence(1); }
__forceinline__ void __threadfence_block() { ws_fence(0); }
__forceinline__ void __threadfence_system() { ws_fence(2); }
__forceinline__ void __trap() { ws_trap(); }
__forceinline__ void __nanosleep(unsigned int) { ws_fence(0); }
__forceinline__ unsigned int __activemask() { return ws_active_mask(); }

__forceinline__ unsigned int __ballot_sync(unsigned int mask, int p) {
    return (unsigned int)ws_warp(mask, ws::warp_ballot, p != 0, 0, nullptr);
}
__forceinline__ int __any_sync(unsigned int mask, int p) { return __ballot_sync(mask, p) != 0; }
__forceinline__ int __all_sync(unsigned int mask, int p) {
    unsigned int valid = 0;
    return (unsigned int)ws_warp(mask, ws::warp_ballot, p != 0, 0, &valid) == valid;
}
__forceinline__ unsigned int __ballot(int p) { return __ballot_sync(ws::all, p); }
__forceinline__ int __any(int p) { return __any_sync(ws::all, p); }
__forceinline__ int __all(int p) { return __all_sync(ws::all, p); }
template <class T> unsigned int __match_any_sync(unsigned int mask, T value) {
    return (unsigned int)ws_warp(mask, ws::warp_match, ws::bits(value), 0, nullptr);
}
template <class T> unsigned int __match_all_sync(unsigned int mask, T value, int *same) {
    unsigned int valid = 0;
    const unsigned int equal = (unsigned int)ws_warp(mask, ws::warp_match, ws::bits(value), 0, &valid);
    *same = equal == valid;
    return *same ? equal : 0;
}

template <class T> __forceinline__ T __shfl_sync(unsigned int mask, T v, int from, int width = 32) {
    const int lane = (int)ws::lane();
    return ws::shuffle(mask, v, (lane & ~(width - 1)) | (from & (width - 1)));
}
template <class T> __forceinline__ T __shfl_up_sync(unsigned int mask, T v, unsigned int by, int width = 32) {
    const int lane = (int)ws::lane(), from = lane - (int)by;
    return ws::shuffle(mask, v, from < (lane & ~(width - 1)) ? lane : from);
}
template <class T> __forceinline__ T __shfl_down_sync(unsigned int mask, T v, unsigned int by, int width = 32) {
    const int lane = (int)ws::lane(), from = lane + (int)by;
    return ws::shuffle(mask, v, from > (lane | (width - 1)) ? lane : from);
}
template <class T> __forceinline__ T __shfl_xor_sync(unsigned int mask, T v, int by, int width = 32) {
    const int lane = (int)ws::lane(), from = lane ^ by;
    return ws::shuffle(mask, v, from > (lane | (width - 1)) ? lane : from);
}
template <class T> __forceinline__ T __shfl(T v, int from, int width = 32) { return __shfl_sync(ws::all, v, from, width); }
template <class T> __forceinline__ T __shfl_up(T v, unsigned int by, int width = 32) {
    return __shfl_up_sync(ws::all, v, by, width);
}
template <class T> __forceinline__ T __shfl_down(T v, unsigned int by, int width = 32) {
    return __shfl_down_sync(ws::all, v, by, width);
}
template <class T> __forceinline__ T __shfl_xor(T v, int by, int width = 32) {
    return __shfl_xor_sync(ws::all, v, by, width);
}

/* Reductions over the lanes of the mask; `combine` is associative and commutative. */
namespace ws {
template <class T, class F> __forceinline__ T reduce(unsigned int mask, T value, F combine) {
    T total = value;
    bool first = true;
    for (int lane = 0; lane < 32; ++lane)
        if (mask >> lane & 1u) {
            const T other = shuffle(mask, value, lane);
            total = first ? other : combine(total, other);
            first = false;
        }
    return total;
}
} // namespace ws
template <class T> T __reduce_add_sync(unsigned int mask, T v) {
    return ws::reduce(mask, v, [](T a, T b) { return (T)(a + b); });
}
template <class T> T __reduce_min_sync(unsigned int mask, T v) {
    return ws::reduce(mask, v, [](T a, T b) { return b < a ? b : a; });
}
template <class T> T __reduce_max_sync(unsigned int mask, T v) {
    return ws::reduce(mask, v, [](T a, T b) { return a < b ? b : a; });
}
template <class T> T __reduce_and_sync(unsigned int mask, T v) {
    return ws::reduce(mask, v, [](T a, T b) { return (T)(a & b); });
}
template <class T> T __reduce_or_sync(unsigned int mask, T v) {
    return ws::reduce(mask, v, [](T a, T b) { return (T)(a | b); });
}
template <class T> T __reduce_xor_sync(unsigned int mask, T v) {
    return ws::reduce(mask, v, [](T a, T b) { return (T)(a ^ b); });
}

template <class T> __forceinline__ T __ldg(const T *p) { return *p; }
template <class T> __forceinline__ T __ldcg(const T *p) { return *p; }
template <class T> __forceinline__ T __ldca(const T *p) { return *p; }
template <class T> __forceinline__ T __ldcs(const T *p) { return *p; }
template <class T> __forceinline__ void __stcg(T *p, T v) { *p = v; }
template <class T> __forceinline__ void __stcs(T *p, T v) { *p = v; }

__forceinline__ long long clock64() { return ws_clock(); }

#endif
