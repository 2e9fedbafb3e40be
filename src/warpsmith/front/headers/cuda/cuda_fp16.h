#pragma GCC system_header
/* Half precision: the parser's own 16-bit type, and the functions as the arithmetic that they are. */
#ifndef WARPSMITH_CUDA_FP16_H
#define WARPSMITH_CUDA_FP16_H
#include "mini_cuda.h"

#ifdef __CUDA_ARCH__
typedef __fp16 __half;
#else
typedef unsigned short __half;
#endif
typedef __half half;
struct __align__(4) __half2 {
    __half x, y;
    __half2() = default;
    __host__ __device__ constexpr __half2(__half a, __half b) : x(a), y(b) {}
};
typedef __half2 half2;
typedef unsigned short __half_raw;

#define WS_H static inline __host__ __device__
WS_H __half __float2half(float a) { return (__half)a; }
WS_H __half __float2half_rn(float a) { return (__half)a; }
WS_H __half __double2half(double a) { return (__half)a; }
WS_H float __half2float(__half a) { return (float)a; }
WS_H __half __int2half_rn(int a) { return (__half)a; }
WS_H __half __uint2half_rn(unsigned int a) { return (__half)a; }
WS_H __half __short2half_rn(short a) { return (__half)a; }
WS_H int __half2int_rn(__half a) { return __float2int_rn((float)a); }
WS_H int __half2int_rz(__half a) { return (int)(float)a; }
__device__ __half __ushort_as_half(unsigned short bits);
__device__ unsigned short __half_as_ushort(__half value);
__device__ __half __short_as_half(short bits);
__device__ short __half_as_short(__half value);
WS_H __half2 __halves2half2(__half a, __half b) { return __half2(a, b); }
WS_H __half2 make_half2(__half a, __half b) { return __half2(a, b); }
WS_H __half2 __half2half2(__half a) { return __half2(a, a); }
WS_H __half2 __float2half2_rn(float a) { return __half2((__half)a, (__half)a); }
WS_H __half2 __floats2half2_rn(float a, float b) { return __half2((__half)a, (__half)b); }
WS_H __half2 __float22half2_rn(float2 a) { return __half2((__half)a.x, (__half)a.y); }
WS_H float2 __half22float2(__half2 a) { return make_float2((float)a.x, (float)a.y); }
WS_H float __low2float(__half2 a) { return (float)a.x; }
WS_H float __high2float(__half2 a) { return (float)a.y; }
WS_H __half __low2half(__half2 a) { return a.x; }
WS_H __half __high2half(__half2 a) { return a.y; }
WS_H __half2 __low2half2(__half2 a) { return __half2(a.x, a.x); }
WS_H __half2 __high2half2(__half2 a) { return __half2(a.y, a.y); }
WS_H __half2 __lowhigh2highlow(__half2 a) { return __half2(a.y, a.x); }
#ifdef __CUDA_ARCH__
#define WS_BINARY(name, op) \
    static inline __device__ __half __h##name(__half a, __half b) { return a op b; } \
    static inline __device__ __half2 __h##name##2(__half2 a, __half2 b) { return __half2(a.x op b.x, a.y op b.y); } \
    static inline __device__ __half2 operator op(__half2 a, __half2 b) { return __half2(a.x op b.x, a.y op b.y); } \
    static inline __device__ __half2 &operator op##=(__half2 &a, __half2 b) { a = a op b; return a; }
WS_BINARY(add, +)
WS_BINARY(sub, -)
WS_BINARY(mul, *)
#undef WS_BINARY
static inline __device__ __half __hdiv(__half a, __half b) { return a / b; }
static inline __device__ __half2 __h2div(__half2 a, __half2 b) { return __half2(a.x / b.x, a.y / b.y); }
static inline __device__ __half2 operator/(__half2 a, __half2 b) { return __half2(a.x / b.x, a.y / b.y); }
static inline __device__ __half __hneg(__half a) { return -a; }
static inline __device__ __half2 __hneg2(__half2 a) { return __half2(-a.x, -a.y); }
static inline __device__ __half2 operator-(__half2 a) { return __half2(-a.x, -a.y); }
static inline __device__ __half __hfma(__half a, __half b, __half c) { return a * b + c; }
static inline __device__ __half2 __hfma2(__half2 a, __half2 b, __half2 c)
{
    return __half2(a.x * b.x + c.x, a.y * b.y + c.y);
}
#define WS_COMPARE(name, op) \
    static inline __device__ bool __h##name(__half a, __half b) { return a op b; } \
    static inline __device__ __half2 __h##name##2(__half2 a, __half2 b) \
    { \
        return __half2((__half)(a.x op b.x ? 1.0f : 0.0f), (__half)(a.y op b.y ? 1.0f : 0.0f)); \
    }
WS_COMPARE(lt, <)
WS_COMPARE(le, <=)
WS_COMPARE(gt, >)
WS_COMPARE(ge, >=)
WS_COMPARE(eq, ==)
WS_COMPARE(ne, !=)
#undef WS_COMPARE
static inline __device__ __half __hmax(__half a, __half b) { return a > b ? a : b; }
static inline __device__ __half __hmin(__half a, __half b) { return a < b ? a : b; }
static inline __device__ __half2 __hmax2(__half2 a, __half2 b) { return __half2(__hmax(a.x, b.x), __hmax(a.y, b.y)); }
static inline __device__ __half2 __hmin2(__half2 a, __half2 b) { return __half2(__hmin(a.x, b.x), __hmin(a.y, b.y)); }
static inline __device__ __half __habs(__half a) { return a < (__half)0.0f ? -a : a; }
static inline __device__ __half2 __habs2(__half2 a) { return __half2(__habs(a.x), __habs(a.y)); }
static inline __device__ bool __hisnan(__half a) { return a != a; }
#define WS_FUNCTION(name) \
    static inline __device__ __half h##name(__half a) { return (__half)name##f((float)a); } \
    static inline __device__ __half2 h2##name(__half2 a) { return __half2(h##name(a.x), h##name(a.y)); }
WS_FUNCTION(exp)
WS_FUNCTION(exp2)
WS_FUNCTION(log)
WS_FUNCTION(log2)
WS_FUNCTION(sin)
WS_FUNCTION(cos)
WS_FUNCTION(sqrt)
WS_FUNCTION(rsqrt)
WS_FUNCTION(floor)
WS_FUNCTION(ceil)
WS_FUNCTION(trunc)
WS_FUNCTION(rint)
WS_FUNCTION(tanh)
#undef WS_FUNCTION
static inline __device__ __half hrcp(__half a) { return (__half)(1.0f / (float)a); }
__device__ __half atomicAdd(__half *address, __half value);
__device__ __half2 atomicAdd(__half2 *address, __half2 value);
#endif
#undef WS_H

#endif
