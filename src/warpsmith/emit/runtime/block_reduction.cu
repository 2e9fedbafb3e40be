#pragma once

#ifndef WS_WITH_VALUES
/* How the threads of a block combine a value of each: five steps in every warp, then one warp combines the warps'.

   The order depends on the launch's shape alone, so that the result is the same in every run. Blocks are a power of two
   of threads, at least a warp, so that every shuffle has its 32 lanes.
   After M. Harris, Optimizing Parallel Reduction in CUDA (2007), with shuffles. */

#include <cuda_runtime.h>

#define WS_WORD sum
#define WS_TYPE double
#define WS_NAME ws_block_sum
#define WS_COMBINED(one, other) one + other
#endif

/* The WS_WORD of the values of a block's threads, for thread 0. All threads of the block must call it. */
static __device__ WS_TYPE WS_NAME(WS_TYPE value)
{
    __shared__ WS_TYPE of_warp[32];
    const int thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    const int warps = blockDim.x * blockDim.y * blockDim.z / 32;
    for (int distance = 16; distance > 0; distance /= 2) {
        const WS_TYPE other = __shfl_down_sync(0xffffffff, value, distance);
        value = WS_COMBINED(value, other);
    }
    __syncthreads();
    if (thread % 32 == 0)
        of_warp[thread / 32] = value;
    __syncthreads();
    if (thread < 32) {
        value = of_warp[thread % warps];
        for (int distance = warps / 2; distance > 0; distance /= 2) {
            const WS_TYPE other = __shfl_down_sync(0xffffffff, value, distance);
            value = WS_COMBINED(value, other);
        }
    }
    return value;
}
