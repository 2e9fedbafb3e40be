#pragma once

#ifndef WS_WITH_VALUES
/* How the threads of a block learn what the iterations before each of theirs make of a value.

   After P. Kogge, H. Stone, A Parallel Algorithm for the Efficient Solution of a General Class of Recurrence Equations
   (1973). */

#include <cuda_runtime.h>

#define WS_TYPE double
#define WS_MAP ws_map_double
#define WS_AFTER ws_map_after_double
#define WS_NAME ws_block_scan_map_double
#endif

/* What iterations make of a value: y becomes factor * y + summand. */
struct WS_MAP {
    WS_TYPE factor, summand;
};

/* One map and then another; what is 0 stays 0, also where a factor has grown out of range. */
static __device__ WS_MAP WS_AFTER(WS_MAP later, WS_MAP earlier)
{
    const WS_TYPE moved = earlier.summand == 0 ? 0 : earlier.summand * later.factor;
    return WS_MAP{earlier.factor * later.factor, moved + later.summand};
}

/* The map of all threads below each thread's, after *running, which becomes what stands behind the block. All threads of
   the block must call it. */
static __device__ WS_MAP WS_NAME(WS_MAP value, WS_MAP *running)
{
    __shared__ WS_MAP of_warp[32];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
    for (int distance = 1; distance < 32; distance *= 2) {
        const WS_TYPE factor = __shfl_up_sync(0xffffffff, value.factor, distance);
        const WS_TYPE summand = __shfl_up_sync(0xffffffff, value.summand, distance);
        if (lane >= distance)
            value = WS_AFTER(value, WS_MAP{factor, summand});
    }
    __syncthreads();
    if (lane == 31)
        of_warp[warp] = value;
    __syncthreads();
    const WS_TYPE factor = __shfl_up_sync(0xffffffff, value.factor, 1);
    const WS_TYPE summand = __shfl_up_sync(0xffffffff, value.summand, 1);
    WS_MAP below = *running;
    for (int w = 0; w < warps; w++) {
        if (w == warp)
            below = *running;
        *running = WS_AFTER(of_warp[w], *running);
    }
    return lane == 0 ? below : WS_AFTER(WS_MAP{factor, summand}, below);
}
