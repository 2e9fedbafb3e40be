#pragma once

#ifndef WS_WITH_VALUES
/* How the lanes of a warp combine a value of each: five steps, then all of them get lane 0's. Lanes are 32, or 1: then
   each lane is alone, and has its value already.

   After M. Harris, Optimizing Parallel Reduction in CUDA (2007), with shuffles. */

#include <cuda_runtime.h>

#define WS_WORD sum
#define WS_TYPE double
#define WS_NAME ws_warp_sum
#define WS_COMBINED(one, other) one + other
#endif

/* The WS_WORD of the values of a warp's lanes, for each of them. All lanes of the warp must call it. */
static __device__ inline WS_TYPE WS_NAME(WS_TYPE value, int width)
{
    if (width == 1)
        return value;
    for (int distance = width / 2; distance > 0; distance /= 2) {
        const WS_TYPE other = __shfl_down_sync(0xffffffff, value, distance);
        value = WS_COMBINED(value, other);
    }
    return __shfl_sync(0xffffffff, value, 0);
}
