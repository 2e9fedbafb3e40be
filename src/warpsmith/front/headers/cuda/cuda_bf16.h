#pragma GCC system_header
/* bfloat16: an object of 16 bits whose arithmetic is that of float. */
#ifndef WARPSMITH_CUDA_BF16_H
#define WARPSMITH_CUDA_BF16_H
#include "mini_cuda.h"

#define WS_BOTH __host__ __device__ inline
WS_BOTH unsigned short ws_rounded_bfloat16(float value) {
    unsigned int bits = __float_as_uint(value);
    unsigned int sum = (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16;
    return (unsigned short)((bits & 0x7fffffffu) > 0x7f800000u ? 0x7fffu : sum);
}
struct __align__(2) __nv_bfloat16 {
    unsigned short bits;
    __nv_bfloat16() = default;
    WS_BOTH __nv_bfloat16(float value) : bits(ws_rounded_bfloat16(value)) {}
    WS_BOTH operator float() const { return __uint_as_float((unsigned int)bits << 16); }
};
typedef __nv_bfloat16 nv_bfloat16;
struct __align__(4) __nv_bfloat162 {
    __nv_bfloat16 x, y;
};
typedef __nv_bfloat162 nv_bfloat162;
WS_BOTH float __bfloat162float(__nv_bfloat16 a) { return __uint_as_float((unsigned int)a.bits << 16); }
WS_BOTH unsigned short __bfloat16_as_ushort(__nv_bfloat16 a) { return a.bits; }
WS_BOTH __nv_bfloat16 __ushort_as_bfloat16(unsigned short bits) { __nv_bfloat16 made; made.bits = bits; return made; }
WS_BOTH __nv_bfloat16 __float2bfloat16(float a) { return __ushort_as_bfloat16(ws_rounded_bfloat16(a)); }
WS_BOTH __nv_bfloat16 __float2bfloat16_rn(float a) { return __float2bfloat16(a); }
WS_BOTH __nv_bfloat16 __double2bfloat16(double a) { return __float2bfloat16((float)a); }
WS_BOTH __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 a, __nv_bfloat16 b) {
    __nv_bfloat162 made; made.x = a; made.y = b; return made;
}
WS_BOTH __nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16 a) { return __halves2bfloat162(a, a); }
WS_BOTH __nv_bfloat162 __floats2bfloat162_rn(float a, float b) {
    return __halves2bfloat162(__float2bfloat16(a), __float2bfloat16(b));
}
WS_BOTH __nv_bfloat162 __float2bfloat162_rn(float a) { return __floats2bfloat162_rn(a, a); }
WS_BOTH __nv_bfloat162 __float22bfloat162_rn(float2 a) { return __floats2bfloat162_rn(a.x, a.y); }
WS_BOTH float __low2float(__nv_bfloat162 a) { return __bfloat162float(a.x); }
WS_BOTH float __high2float(__nv_bfloat162 a) { return __bfloat162float(a.y); }
WS_BOTH float2 __bfloat1622float2(__nv_bfloat162 a) { return make_float2(__low2float(a), __high2float(a)); }
WS_BOTH __nv_bfloat16 __low2bfloat16(__nv_bfloat162 a) { return a.x; }
WS_BOTH __nv_bfloat16 __high2bfloat16(__nv_bfloat162 a) { return a.y; }
/* what they compute in float is rounded once more, as far as that differs at all */
#define WS_BF16_TWO(name, value) \
    WS_BOTH __nv_bfloat16 name(__nv_bfloat16 p, __nv_bfloat16 q) { \
        float a = __bfloat162float(p), b = __bfloat162float(q); return __float2bfloat16(value); } \
    WS_BOTH __nv_bfloat162 name##2(__nv_bfloat162 p, __nv_bfloat162 q) { \
        return __halves2bfloat162(name(p.x, q.x), name(p.y, q.y)); }
WS_BF16_TWO(__hadd, a + b)
WS_BF16_TWO(__hsub, a - b)
WS_BF16_TWO(__hmul, a * b)
WS_BF16_TWO(__hmax, fmaxf(a, b))
WS_BF16_TWO(__hmin, fminf(a, b))
#undef WS_BF16_TWO
WS_BOTH __nv_bfloat16 __hdiv(__nv_bfloat16 a, __nv_bfloat16 b) {
    return __float2bfloat16(__bfloat162float(a) / __bfloat162float(b));
}
WS_BOTH __nv_bfloat16 __hfma(__nv_bfloat16 a, __nv_bfloat16 b, __nv_bfloat16 c) {
    return __float2bfloat16(fmaf(__bfloat162float(a), __bfloat162float(b), __bfloat162float(c)));
}
WS_BOTH __nv_bfloat162 __hfma2(__nv_bfloat162 a, __nv_bfloat162 b, __nv_bfloat162 c) {
    return __halves2bfloat162(__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y));
}
#undef WS_BOTH
__device__ __nv_bfloat16 atomicAdd(__nv_bfloat16 *, __nv_bfloat16);
__device__ __nv_bfloat162 atomicAdd(__nv_bfloat162 *, __nv_bfloat162);

#endif
