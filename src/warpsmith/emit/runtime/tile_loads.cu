#pragma once

#include <cuda_runtime.h>

/* Neighbors in a row of a tile, loaded and stored at once where both addresses are multiples of their size. */
static __device__ inline bool ws_tile_at_once(const void *tile, const void *from, unsigned bytes)
{
    return (unsigned long long)tile % bytes == 0 && (unsigned long long)from % bytes == 0;
}

static __device__ inline void ws_tile_load2(double *tile, const double *from)
{
    if (ws_tile_at_once(tile, from, sizeof(double2)))
        *(double2 *)tile = *(const double2 *)from;
    else
        for (int n = 0; n < 2; n++)
            tile[n] = from[n];
}

static __device__ inline void ws_tile_load2(float *tile, const float *from)
{
    if (ws_tile_at_once(tile, from, sizeof(float2)))
        *(float2 *)tile = *(const float2 *)from;
    else
        for (int n = 0; n < 2; n++)
            tile[n] = from[n];
}

static __device__ inline void ws_tile_load4(float *tile, const float *from)
{
    if (ws_tile_at_once(tile, from, sizeof(float4)))
        *(float4 *)tile = *(const float4 *)from;
    else
        for (int n = 0; n < 4; n++)
            tile[n] = from[n];
}

/* ... times a factor. */
static __device__ inline void ws_tile_load2(double *tile, const double *from, double factor)
{
    if (ws_tile_at_once(tile, from, sizeof(double2))) {
        const double2 both = *(const double2 *)from;
        *(double2 *)tile = make_double2(factor * both.x, factor * both.y);
    } else
        for (int n = 0; n < 2; n++)
            tile[n] = factor * from[n];
}

static __device__ inline void ws_tile_load2(float *tile, const float *from, float factor)
{
    if (ws_tile_at_once(tile, from, sizeof(float2))) {
        const float2 both = *(const float2 *)from;
        *(float2 *)tile = make_float2(factor * both.x, factor * both.y);
    } else
        for (int n = 0; n < 2; n++)
            tile[n] = factor * from[n];
}

static __device__ inline void ws_tile_load4(float *tile, const float *from, float factor)
{
    if (ws_tile_at_once(tile, from, sizeof(float4))) {
        const float4 all = *(const float4 *)from;
        *(float4 *)tile = make_float4(factor * all.x, factor * all.y, factor * all.z, factor * all.w);
    } else
        for (int n = 0; n < 4; n++)
            tile[n] = factor * from[n];
}
