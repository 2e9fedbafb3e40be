#pragma once

#ifndef WS_WITH_VALUES
/* How the threads of a block learn what the iterations before each of theirs have left in variables that are set to
   values of their own, or to what one of them was before.

   After G. Blelloch, Prefix Sums and Their Applications (1990). */

#include <cuda_runtime.h>

#define WS_TYPE double
#define WS_COUNT 2
#define WS_LATEST ws_latest_2_double
#define WS_AFTER ws_latest_2_double_after
#define WS_NAME ws_block_scan_latest_2_double
#endif

/* What iterations make of variables: number k becomes value[k] where source[k] is -1, else what number source[k] was. */
struct WS_LATEST {
    WS_TYPE value[WS_COUNT];
    int source[WS_COUNT];
};

/* What iterations make of variables behind others. */
static __device__ WS_LATEST WS_AFTER(WS_LATEST later, WS_LATEST earlier)
{
    WS_LATEST both = later;
    for (int k = 0; k < WS_COUNT; k++)
        for (int from = 0; from < WS_COUNT; from++)
            if (later.source[k] == from) {
                both.value[k] = earlier.value[from];
                both.source[k] = earlier.source[from];
            }
    return both;
}

/* What all threads below each one make of the variables, after *running, which becomes what stands behind the block. All
   threads of the block must call it. */
static __device__ WS_LATEST WS_NAME(WS_LATEST own, WS_LATEST *running)
{
    __shared__ WS_LATEST of_warp[32];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
    for (int distance = 1; distance < 32; distance *= 2) {
        WS_LATEST other = own;
        for (int k = 0; k < WS_COUNT; k++) {
            other.value[k] = __shfl_up_sync(0xffffffff, own.value[k], distance);
            other.source[k] = __shfl_up_sync(0xffffffff, own.source[k], distance);
        }
        if (lane >= distance)
            own = WS_AFTER(own, other);
    }
    __syncthreads();
    if (lane == 31)
        of_warp[warp] = own;
    __syncthreads();
    WS_LATEST left = own;
    for (int k = 0; k < WS_COUNT; k++) {
        left.value[k] = __shfl_up_sync(0xffffffff, own.value[k], 1);
        left.source[k] = __shfl_up_sync(0xffffffff, own.source[k], 1);
    }
    WS_LATEST below = *running;
    for (int w = 0; w < warps; w++) {
        if (w == warp)
            below = *running;
        *running = WS_AFTER(of_warp[w], *running);
    }
    return lane == 0 ? below : WS_AFTER(left, below);
}
