#pragma once

#ifndef WS_WITH_VALUES
/* How the threads of a block learn what stands before each of their values.

   After G. Blelloch, Prefix Sums and Their Applications (1990). */

#include <cuda_runtime.h>

#define WS_TYPE double
#define WS_NAME ws_block_scan_sum_double
#define WS_COMBINED(earlier, later) earlier + later
#endif

/* What stands before each thread's value: *running and the values of all threads below it, combined. *running becomes
   what stands behind the block. All threads of the block must call it. */
static __device__ WS_TYPE WS_NAME(WS_TYPE value, WS_TYPE *running)
{
    __shared__ WS_TYPE of_warp[32];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
    for (int distance = 1; distance < 32; distance *= 2) {
        const WS_TYPE other = __shfl_up_sync(0xffffffff, value, distance);
        if (lane >= distance)
            value = WS_COMBINED(other, value);
    }
    __syncthreads();
    if (lane == 31)
        of_warp[warp] = value;
    __syncthreads();
    const WS_TYPE left = __shfl_up_sync(0xffffffff, value, 1);
    WS_TYPE below = *running;
    for (int w = 0; w < warps; w++) {
        if (w == warp)
            below = *running;
        *running = WS_COMBINED(*running, of_warp[w]);
    }
    return lane == 0 ? below : (WS_COMBINED(below, left));
}
