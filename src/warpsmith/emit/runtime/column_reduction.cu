#pragma once

#ifndef WS_WITH_VALUES
/* How the threads of a column of a block combine a value of each, in the order of the rows, for all of them. Rows are a
   warp wide; where there is one, each thread is alone, and has its value already. */

#include <cuda_runtime.h>

#define WS_WORD sum
#define WS_TYPE double
#define WS_NAME ws_column_sum
#define WS_COMBINED(one, other) one + other
#endif

/* The WS_WORD of the values of a column's threads, for each of them. All threads of the block must call it. */
static __device__ inline WS_TYPE WS_NAME(WS_TYPE value, int height)
{
    if (height == 1)
        return value;
    __shared__ WS_TYPE of_thread[16][32];
    __syncthreads();
    of_thread[threadIdx.y][threadIdx.x] = value;
    __syncthreads();
    value = of_thread[0][threadIdx.x];
    for (int at = 1; at < height; at++) {
        const WS_TYPE other = of_thread[at][threadIdx.x];
        value = WS_COMBINED(value, other);
    }
    return value;
}
