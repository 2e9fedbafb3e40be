#pragma once

#include "tile_copies.cu"
#include "tile_loads.cu"

/* Neighbors on their way to a tile that is not in use: no register has them meanwhile on older devices either. */
#if WS_COPIES_BESIDE && defined(WARPSMITH_KERNELS)
template <typename Element>
static __device__ void ws_tile_fetch_bytes(Element *tile, const Element *from, unsigned bytes)
{
    if (!ws_tile_at_once(tile, from, bytes))
        for (unsigned n = 0; n < bytes / sizeof(Element); n++)
            tile[n] = ws_load_beside(from + n);
    else if (bytes == sizeof(uint4))
        *(uint4 *)tile = ws_load_beside((const uint4 *)from);
    else
        *(uint2 *)tile = ws_load_beside((const uint2 *)from);
}
#endif

template <typename Element> static __device__ void ws_tile_fetch2(Element *tile, const Element *from)
{
#if WS_COPIES_BESIDE && defined(WARPSMITH_KERNELS)
    ws_tile_fetch_bytes(tile, from, 2 * sizeof(Element));
#elif WS_COPIES_BESIDE
    if (ws_tile_at_once(tile, from, 2 * sizeof(Element)))
        __pipeline_memcpy_async(tile, from, 2 * sizeof(Element));
    else
        for (int n = 0; n < 2; n++)
            __pipeline_memcpy_async(tile + n, from + n, sizeof(Element));
#else
    ws_tile_load2(tile, from);
#endif
}

template <typename Element> static __device__ void ws_tile_fetch4(Element *tile, const Element *from)
{
#if WS_COPIES_BESIDE && defined(WARPSMITH_KERNELS)
    ws_tile_fetch_bytes(tile, from, 4 * sizeof(Element));
#elif WS_COPIES_BESIDE
    if (ws_tile_at_once(tile, from, 4 * sizeof(Element)))
        __pipeline_memcpy_async(tile, from, 4 * sizeof(Element));
    else
        for (int n = 0; n < 4; n++)
            __pipeline_memcpy_async(tile + n, from + n, sizeof(Element));
#else
    ws_tile_load4(tile, from);
#endif
}
