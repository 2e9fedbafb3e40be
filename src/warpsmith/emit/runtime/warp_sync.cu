#pragma once

#include <cuda_runtime.h>

/* The lanes of a warp wait for one another, and see what each of them has stored; a lane that is alone goes on. */
static __device__ inline void ws_warp_sync(int width)
{
    if (width > 1)
        __syncwarp();
}
