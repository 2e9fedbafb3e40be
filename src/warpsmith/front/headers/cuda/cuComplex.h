#pragma GCC system_header
#ifndef WARPSMITH_CUCOMPLEX_H
#define WARPSMITH_CUCOMPLEX_H
#include "mini_cuda.h"

#define WS_COMPLEX(type, T, real, suffix) \
    typedef type real; \
    static inline __host__ __device__ T cuCreal##suffix(real v) { return v.x; } \
    static inline __host__ __device__ T cuCimag##suffix(real v) { return v.y; } \
    static inline __host__ __device__ real make_##real(T x, T y) { return {x, y}; } \
    static inline __host__ __device__ real cuConj##suffix(real v) { return {v.x, -v.y}; } \
    static inline __host__ __device__ real cuCadd##suffix(real a, real b) { return {a.x + b.x, a.y + b.y}; } \
    static inline __host__ __device__ real cuCsub##suffix(real a, real b) { return {a.x - b.x, a.y - b.y}; } \
    static inline __host__ __device__ real cuCmul##suffix(real a, real b) \
    { \
        return {a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x}; \
    } \
    static inline __host__ __device__ real cuCdiv##suffix(real a, real b) \
    { \
        T n = b.x * b.x + b.y * b.y; \
        return {(a.x * b.x + a.y * b.y) / n, (a.y * b.x - a.x * b.y) / n}; \
    } \
    __host__ __device__ T cuCabs##suffix(real v);
WS_COMPLEX(float2, float, cuFloatComplex, f)
WS_COMPLEX(double2, double, cuDoubleComplex, )
#undef WS_COMPLEX
typedef cuFloatComplex cuComplex;
static inline __host__ __device__ cuComplex make_cuComplex(float x, float y) { return {x, y}; }
static inline __host__ __device__ cuComplex cuCfmaf(cuComplex a, cuComplex b, cuComplex c)
{
    return {a.x * b.x - a.y * b.y + c.x, a.x * b.y + a.y * b.x + c.y};
}
static inline __host__ __device__ cuDoubleComplex cuCfma(cuDoubleComplex a, cuDoubleComplex b, cuDoubleComplex c)
{
    return {a.x * b.x - a.y * b.y + c.x, a.x * b.y + a.y * b.x + c.y};
}

#endif
