#pragma GCC system_header
/* Asynchronous copies to shared memory: each is made at once. */
#ifndef WARPSMITH_CUDA_PIPELINE_PRIMITIVES_H
#define WARPSMITH_CUDA_PIPELINE_PRIMITIVES_H
#include "mini_cuda.h"

__device__ inline void __pipeline_memcpy_async(void *to, const void *from, unsigned long size, unsigned long zeros = 0)
{
    ws_asynchronous();
    if (zeros == 0 && size == 16)
        *(uint4 *)to = *(const uint4 *)from;
    else if (zeros == 0 && size == 8)
        *(uint2 *)to = *(const uint2 *)from;
    else if (zeros == 0 && size == 4)
        *(unsigned *)to = *(const unsigned *)from;
    else
        for (unsigned long n = 0; n < size; n++)
            ((char *)to)[n] = n < size - zeros ? ((const char *)from)[n] : (char)0;
}
__device__ inline void __pipeline_commit(void) {}
__device__ inline void __pipeline_wait_prior(unsigned long) {}

#endif
