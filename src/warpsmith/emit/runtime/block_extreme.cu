#pragma once

#ifndef WS_WITH_VALUES
/* Which thread of a block has the smallest or the greatest value, and which of equal ones. */

#include <cuda_runtime.h>

#define WS_WORD minimum
#define WS_WHICH first
#define WS_TYPE double
#define WS_NAME ws_block_first_min
#define WS_BETTER(one, one_when, best, best_when) one < best || (one == best && one_when < best_when)
#endif

/* Which thread of a one-dimensional block has the WS_WORD: of equal ones the WS_WHICH iteration counts. All threads of
   the block must call it, and all get the answer. */
static __device__ int WS_NAME(WS_TYPE value, long long when)
{
    __shared__ WS_TYPE values[32];
    __shared__ long long whens[32];
    __shared__ int threads[32];
    const int warps = blockDim.x / 32;
    int best = threadIdx.x;
    for (int distance = 16; distance > 0; distance /= 2) {
        const WS_TYPE other = __shfl_down_sync(0xffffffff, value, distance);
        const long long other_when = __shfl_down_sync(0xffffffff, when, distance);
        const int other_best = __shfl_down_sync(0xffffffff, best, distance);
        if (WS_BETTER(other, other_when, value, when)) {
            value = other;
            when = other_when;
            best = other_best;
        }
    }
    __syncthreads();
    if (threadIdx.x % 32 == 0) {
        values[threadIdx.x / 32] = value;
        whens[threadIdx.x / 32] = when;
        threads[threadIdx.x / 32] = best;
    }
    __syncthreads();
    value = values[0];
    when = whens[0];
    best = threads[0];
    for (int warp = 1; warp < warps; warp++) {
        if (WS_BETTER(values[warp], whens[warp], value, when)) {
            value = values[warp];
            when = whens[warp];
            best = threads[warp];
        }
    }
    return best;
}
