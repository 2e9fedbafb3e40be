/* Device math: overloads without std::, fast forms, rounding forms, conversions, bit tricks. C++ only.
   Fast forms are computed exactly like the precise ones: the emulation has no reason to be less accurate. */
#ifndef WARPSMITH_WS_MATH_H
#define WARPSMITH_WS_MATH_H

#include <math.h>

#include <cmath>

#include "ws_types.h"

#define WS_MINMAX(T, A, B) \
    __forceinline__ T min(A a, B b) { return (T)b < (T)a ? (T)b : (T)a; } \
    __forceinline__ T max(A a, B b) { return (T)a < (T)b ? (T)b : (T)a; }
WS_MINMAX(int, int, int)
WS_MINMAX(unsigned int, unsigned int, unsigned int)
WS_MINMAX(unsigned int, int, unsigned int)
WS_MINMAX(unsigned int, unsigned int, int)
WS_MINMAX(long, long, long)
WS_MINMAX(unsigned long, unsigned long, unsigned long)
WS_MINMAX(unsigned long, long, unsigned long)
WS_MINMAX(unsigned long, unsigned long, long)
WS_MINMAX(long long, long long, long long)
WS_MINMAX(unsigned long long, unsigned long long, unsigned long long)
#undef WS_MINMAX
#define WS_MINMAX(T, F, A, B) \
    __forceinline__ T min(A a, B b) { return F##min##T((T)a, (T)b); } \
    __forceinline__ T max(A a, B b) { return F##max##T((T)a, (T)b); }
__forceinline__ float ws_fminfloat(float a, float b) { return fminf(a, b); }
__forceinline__ float ws_fmaxfloat(float a, float b) { return fmaxf(a, b); }
__forceinline__ double ws_fmindouble(double a, double b) { return fmin(a, b); }
__forceinline__ double ws_fmaxdouble(double a, double b) { return fmax(a, b); }
WS_MINMAX(float, ws_f, float, float)
WS_MINMAX(double, ws_f, double, double)
WS_MINMAX(double, ws_f, float, double)
WS_MINMAX(double, ws_f, double, float)
#undef WS_MINMAX
__forceinline__ unsigned int umin(unsigned int a, unsigned int b) { return b < a ? b : a; }
__forceinline__ unsigned int umax(unsigned int a, unsigned int b) { return a < b ? b : a; }

__forceinline__ float rsqrtf(float x) { return 1.0f / sqrtf(x); }
__forceinline__ double rsqrt(double x) { return 1.0 / sqrt(x); }
__forceinline__ float rsqrt(float x) { return 1.0f / sqrtf(x); }
__forceinline__ float rcbrtf(float x) { return 1.0f / cbrtf(x); }
__forceinline__ double rcbrt(double x) { return 1.0 / cbrt(x); }
__forceinline__ float fdividef(float x, float y) { return x / y; }
__forceinline__ float sinpif(float x) { return (float)sin(3.14159265358979323846 * x); }
__forceinline__ double sinpi(double x) { return sin(3.14159265358979323846 * x); }
__forceinline__ float cospif(float x) { return (float)cos(3.14159265358979323846 * x); }
__forceinline__ double cospi(double x) { return cos(3.14159265358979323846 * x); }
__forceinline__ double normcdf(double x) { return 0.5 * erfc(-x * 0.70710678118654752440); }
__forceinline__ float normcdff(float x) { return 0.5f * erfcf(-x * 0.70710678f); }
__forceinline__ float norm3df(float a, float b, float c) { return sqrtf(a * a + b * b + c * c); }
__forceinline__ double norm3d(double a, double b, double c) { return sqrt(a * a + b * b + c * c); }
__forceinline__ float rnorm3df(float a, float b, float c) { return 1.0f / sqrtf(a * a + b * b + c * c); }
__forceinline__ float rhypotf(float a, float b) { return 1.0f / hypotf(a, b); }
__forceinline__ double rhypot(double a, double b) { return 1.0 / hypot(a, b); }

/* The C library declares these names for itself, so they are renamed by macros once its header is in. */
#define WS_FAST1(name, expression) \
    __forceinline__ float ws_##name(float x) { return expression; }
WS_FAST1(expf, expf(x))
WS_FAST1(exp10f, powf(10.0f, x))
WS_FAST1(logf, logf(x))
WS_FAST1(log2f, log2f(x))
WS_FAST1(log10f, log10f(x))
WS_FAST1(sinf, sinf(x))
WS_FAST1(cosf, cosf(x))
WS_FAST1(tanf, tanf(x))
WS_FAST1(saturatef, x > 0.0f ? (x < 1.0f ? x : 1.0f) : 0.0f)
WS_FAST1(frsqrt_rn, 1.0f / sqrtf(x))
#undef WS_FAST1
__forceinline__ float ws_powf(float x, float y) { return powf(x, y); }
__forceinline__ float ws_fdividef(float x, float y) { return x / y; }
__forceinline__ void ws_sincosf(float x, float *s, float *c) {
    *s = sinf(x);
    *c = cosf(x);
}
#define __expf ws_expf
#define __exp10f ws_exp10f
#define __logf ws_logf
#define __log2f ws_log2f
#define __log10f ws_log10f
#define __sinf ws_sinf
#define __cosf ws_cosf
#define __tanf ws_tanf
#define __powf ws_powf
#define __sincosf ws_sincosf
#define __saturatef ws_saturatef
#define __frsqrt_rn ws_frsqrt_rn
#define __fdividef ws_fdividef

/* Rounding forms: to nearest exactly; the directed ones through the next representable number. */
#define WS_ROUNDED(T, P, suffix, up, down) \
    __forceinline__ T __##P##add_##suffix(T a, T b) { return a + b; } \
    __forceinline__ T __##P##sub_##suffix(T a, T b) { return a - b; } \
    __forceinline__ T __##P##mul_##suffix(T a, T b) { return a * b; } \
    __forceinline__ T __##P##div_##suffix(T a, T b) { return a / b; }
WS_ROUNDED(float, f, rn, 0, 0)
WS_ROUNDED(float, f, rz, 0, 0)
WS_ROUNDED(double, d, rn, 0, 0)
WS_ROUNDED(double, d, rz, 0, 0)
#undef WS_ROUNDED
__forceinline__ float __fsqrt_rn(float x) { return sqrtf(x); }
__forceinline__ double __dsqrt_rn(double x) { return sqrt(x); }
__forceinline__ float __frcp_rn(float x) { return 1.0f / x; }
__forceinline__ double __drcp_rn(double x) { return 1.0 / x; }
__forceinline__ float __fmaf_rn(float a, float b, float c) { return fmaf(a, b, c); }
__forceinline__ double __fma_rn(double a, double b, double c) { return fma(a, b, c); }

#define WS_CONVERT(name, F, T) \
    __forceinline__ T __##name##_rn(F x) { return (T)nearbyint(x); } \
    __forceinline__ T __##name##_rz(F x) { return (T)trunc(x); } \
    __forceinline__ T __##name##_ru(F x) { return (T)ceil(x); } \
    __forceinline__ T __##name##_rd(F x) { return (T)floor(x); }
WS_CONVERT(float2int, float, int)
WS_CONVERT(float2uint, float, unsigned int)
WS_CONVERT(float2ll, float, long long)
WS_CONVERT(double2int, double, int)
WS_CONVERT(double2uint, double, unsigned int)
WS_CONVERT(double2ll, double, long long)
#undef WS_CONVERT
__forceinline__ float __int2float_rn(int x) { return (float)x; }
__forceinline__ float __uint2float_rn(unsigned int x) { return (float)x; }
__forceinline__ double __int2double_rn(int x) { return (double)x; }
__forceinline__ double __uint2double_rn(unsigned int x) { return (double)x; }
__forceinline__ double __ll2double_rn(long long x) { return (double)x; }
__forceinline__ float __double2float_rn(double x) { return (float)x; }

#define WS_BITCAST(name, F, T) \
    __forceinline__ T name(F x) { T y; __builtin_memcpy(&y, &x, sizeof y); return y; }
WS_BITCAST(__int_as_float, int, float)
WS_BITCAST(__float_as_int, float, int)
WS_BITCAST(__uint_as_float, unsigned int, float)
WS_BITCAST(__float_as_uint, float, unsigned int)
WS_BITCAST(__longlong_as_double, long long, double)
WS_BITCAST(__double_as_longlong, double, long long)
#undef WS_BITCAST
__forceinline__ int __double2hiint(double x) { return (int)(__double_as_longlong(x) >> 32); }
__forceinline__ int __double2loint(double x) { return (int)__double_as_longlong(x); }
__forceinline__ double __hiloint2double(int hi, int lo) {
    return __longlong_as_double((long long)(((unsigned long long)(unsigned int)hi << 32) | (unsigned int)lo));
}

__forceinline__ int __popc(unsigned int x) { return __builtin_popcount(x); }
__forceinline__ int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
__forceinline__ int __clz(int x) { return x ? __builtin_clz((unsigned int)x) : 32; }
__forceinline__ int __clzll(long long x) { return x ? __builtin_clzll((unsigned long long)x) : 64; }
__forceinline__ int __ffs(int x) { return __builtin_ffs(x); }
__forceinline__ int __ffsll(long long x) { return __builtin_ffsll(x); }
__forceinline__ unsigned int __brev(unsigned int x) {
    unsigned int y = 0;
    for (int i = 0; i < 32; ++i) y |= (x >> i & 1u) << (31 - i);
    return y;
}
__forceinline__ unsigned long long __brevll(unsigned long long x) {
    return ((unsigned long long)__brev((unsigned int)x) << 32) | __brev((unsigned int)(x >> 32));
}
__forceinline__ unsigned int __byte_perm(unsigned int a, unsigned int b, unsigned int s) {
    const unsigned long long both = ((unsigned long long)b << 32) | a;
    unsigned int y = 0;
    for (int i = 0; i < 4; ++i) y |= (unsigned int)(both >> (8 * (s >> (4 * i) & 7)) & 0xff) << (8 * i);
    return y;
}
__forceinline__ unsigned int __funnelshift_l(unsigned int lo, unsigned int hi, unsigned int by) {
    return (unsigned int)(((((unsigned long long)hi << 32) | lo) << (by & 31)) >> 32);
}
__forceinline__ unsigned int __funnelshift_r(unsigned int lo, unsigned int hi, unsigned int by) {
    return (unsigned int)((((unsigned long long)hi << 32) | lo) >> (by & 31));
}
__forceinline__ int __mul24(int a, int b) { return ((a << 8) >> 8) * ((b << 8) >> 8); }
__forceinline__ unsigned int __umul24(unsigned int a, unsigned int b) { return (a & 0xffffffu) * (b & 0xffffffu); }
__forceinline__ int __mulhi(int a, int b) { return (int)(((long long)a * b) >> 32); }
__forceinline__ unsigned int __umulhi(unsigned int a, unsigned int b) {
    return (unsigned int)(((unsigned long long)a * b) >> 32);
}
__forceinline__ long long __mul64hi(long long a, long long b) { return (long long)(((__int128)a * b) >> 64); }
__forceinline__ unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
    return (unsigned long long)(((unsigned __int128)a * b) >> 64);
}
__forceinline__ unsigned int __sad(int a, int b, unsigned int c) {
    return c + (a < b ? (unsigned int)b - (unsigned int)a : (unsigned int)a - (unsigned int)b);
}
__forceinline__ unsigned int __usad(unsigned int a, unsigned int b, unsigned int c) { return c + (a < b ? b - a : a - b); }
__forceinline__ int __hadd(int a, int b) { return (int)(((long long)a + b) >> 1); }

#endif
