#pragma once

#include <cuda_runtime.h>

/* The threads of a block wait for one another, and see what each of them has stored; one that is alone goes on. */
static __device__ inline void ws_block_sync(int height)
{
    if (height > 1)
        __syncthreads();
}
