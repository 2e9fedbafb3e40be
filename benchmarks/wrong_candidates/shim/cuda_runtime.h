/* CUDA for the judge of wrong candidates: as little as ports and their mutants call, and none of it shared with the
   emulation that it is to check.

   A kernel runs block by block; its threads are fibers that change only at barriers and shuffles. */
#ifndef JUDGE_CUDA_H
#define JUDGE_CUDA_H

#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <mutex>
#include <tuple>
#include <type_traits>

#define __global__
#define __device__
#define __host__
#define __constant__
#define __forceinline__ inline
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)
#define __restrict__ __restrict
#define __shared__ static thread_local

struct dim3 {
    unsigned x, y, z;
    constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
};
struct uint3 {
    unsigned x, y, z;
};
extern uint3 threadIdx, blockIdx;
extern dim3 blockDim, gridDim;
constexpr int warpSize = 32;

enum cudaError_t {
    cudaSuccess = 0,
    cudaErrorInvalidValue = 1,
    cudaErrorMemoryAllocation = 2,
    cudaErrorInvalidConfiguration = 9,
    cudaErrorInsufficientDriver = 35,
    cudaErrorNoDevice = 100
};
enum cudaMemcpyKind {
    cudaMemcpyHostToHost,
    cudaMemcpyHostToDevice,
    cudaMemcpyDeviceToHost,
    cudaMemcpyDeviceToDevice,
    cudaMemcpyDefault
};
typedef struct judge_stream *cudaStream_t;
enum { cudaStreamDefault = 0, cudaStreamNonBlocking = 1 };

extern "C" {
cudaError_t cudaMalloc(void **, size_t);
cudaError_t cudaFree(void *);
cudaError_t cudaMemcpy(void *, const void *, size_t, cudaMemcpyKind);
cudaError_t cudaMemcpyAsync(void *, const void *, size_t, cudaMemcpyKind, cudaStream_t);
cudaError_t cudaMemset(void *, int, size_t);
cudaError_t cudaMemGetInfo(size_t *, size_t *);
cudaError_t cudaGetLastError(void);
cudaError_t cudaDeviceSynchronize(void);
cudaError_t cudaStreamCreate(cudaStream_t *);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *, unsigned);
cudaError_t cudaStreamSynchronize(cudaStream_t);
const char *cudaGetErrorString(cudaError_t);
}
template <class T> cudaError_t cudaMalloc(T **to, size_t bytes) { return cudaMalloc((void **)(void *)to, bytes); }
inline cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind kind) {
    return cudaMemcpyAsync(to, from, bytes, kind, nullptr);
}

namespace judge {
void launch(dim3 grid, dim3 block, cudaStream_t stream, std::function<void()> thread);
void block_barrier();
/* Give a value to the warp and take that of another lane: both sides meet. */
void exchange(unsigned mask, int source, void *value, size_t bytes);
int lane();
extern int quiet; /* blocks of the shim's own are not the program's */
struct Quiet {
    Quiet() { ++quiet; }
    ~Quiet() { --quiet; }
};

struct Launch {
    dim3 grid, block;
    cudaStream_t stream;
    Launch(dim3 grid, dim3 block, size_t = 0, cudaStream_t stream = nullptr)
        : grid(grid), block(block), stream(stream) {}
    template <class... P, class... A> void operator()(void (*kernel)(P...), A &&...arguments) const {
        const Quiet own;
        std::tuple<std::decay_t<P>...> kept(static_cast<P>(arguments)...);
        launch(grid, block, stream, [kernel, kept] { std::apply(kernel, kept); });
    }
};
} // namespace judge

inline void __syncthreads() { judge::block_barrier(); }
inline void __syncwarp(unsigned mask = ~0u) {
    int nothing = 0;
    judge::exchange(mask, judge::lane(), &nothing, sizeof nothing);
}
inline void __threadfence() {}
template <class T> T __shfl_sync(unsigned mask, T value, int source) {
    judge::exchange(mask, source & 31, &value, sizeof value);
    return value;
}
template <class T> T __shfl_down_sync(unsigned mask, T value, unsigned by) {
    const int source = judge::lane() + (int)by;
    judge::exchange(mask, source > 31 ? judge::lane() : source, &value, sizeof value);
    return value;
}
template <class T> T __shfl_up_sync(unsigned mask, T value, unsigned by) {
    const int source = judge::lane() - (int)by;
    judge::exchange(mask, source < 0 ? judge::lane() : source, &value, sizeof value);
    return value;
}
template <class T> T __shfl_xor_sync(unsigned mask, T value, int by) {
    judge::exchange(mask, judge::lane() ^ by, &value, sizeof value);
    return value;
}

template <class T> using judge_value = std::common_type_t<T>;
template <class T> T atomicAdd(T *at, judge_value<T> value) {
    const T old = *at;
    *at = old + value;
    return old;
}
template <class T> T atomicSub(T *at, judge_value<T> value) {
    const T old = *at;
    *at = old - value;
    return old;
}
template <class T> T atomicMax(T *at, judge_value<T> value) {
    const T old = *at;
    *at = old < value ? value : old;
    return old;
}
template <class T> T atomicMin(T *at, judge_value<T> value) {
    const T old = *at;
    *at = value < old ? value : old;
    return old;
}
template <class T> T atomicExch(T *at, judge_value<T> value) {
    const T old = *at;
    *at = value;
    return old;
}
template <class T> T atomicOr(T *at, judge_value<T> value) {
    const T old = *at;
    *at = old | value;
    return old;
}
template <class T> T atomicAnd(T *at, judge_value<T> value) {
    const T old = *at;
    *at = old & value;
    return old;
}
template <class T> T atomicCAS(T *at, judge_value<T> compare, judge_value<T> value) {
    const T old = *at;
    if (old == compare) *at = value;
    return old;
}
#endif
