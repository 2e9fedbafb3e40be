#pragma once

#include <cuda_runtime.h>

/* Elements on their way to a tile that is not in use. From compute capability 8.0 on the device copies them while
   threads compute (warpsmith itself reads that as a copy at once that no thread waits for); before, a register has each
   of them meanwhile. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
#define WS_COPIES_BESIDE 1
#ifndef WARPSMITH_KERNELS
#include <cuda_pipeline.h>
#endif
#else
#define WS_COPIES_BESIDE 0
#endif

template <typename Element> static __device__ Element ws_tile_fetch(Element *tile, const Element *from)
{
#if !WS_COPIES_BESIDE
    (void)tile;
    return *from;
#elif defined(WARPSMITH_KERNELS)
    *tile = ws_load_beside(from);
    return Element();
#else
    __pipeline_memcpy_async(tile, from, sizeof(Element));
    return Element();
#endif
}

template <typename Element> static __device__ void ws_tile_land(Element *tile, Element element)
{
#if WS_COPIES_BESIDE
    (void)tile;
    (void)element;
#else
    *tile = element;
#endif
}

static __device__ inline void ws_tile_arrived(void)
{
#if WS_COPIES_BESIDE && !defined(WARPSMITH_KERNELS)
    __pipeline_commit();
    __pipeline_wait_prior(0);
#endif
}
