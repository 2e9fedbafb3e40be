#pragma once

#include <cuda_runtime.h>

/* Elements on their way to a tile that is not in use. From compute capability 8.0 on they are copied while threads
   compute; before, and where warpsmith itself reads the text, a register has each of them meanwhile. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800 && !defined(WARPSMITH_KERNELS)
#define WS_COPIES_BESIDE 1
#include <cuda_pipeline.h>
#else
#define WS_COPIES_BESIDE 0
#endif

template <typename Element> static __device__ Element ws_tile_fetch(Element *tile, const Element *from)
{
#if WS_COPIES_BESIDE
    __pipeline_memcpy_async(tile, from, sizeof(Element));
    return Element();
#else
    (void)tile;
    return *from;
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

static __device__ void ws_tile_arrived(void)
{
#if WS_COPIES_BESIDE
    __pipeline_commit();
    __pipeline_wait_prior(0);
#endif
}
