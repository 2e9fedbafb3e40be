/* The vector types of CUDA, dim3, and the words that qualify functions and variables. C and C++. */
#ifndef WARPSMITH_WS_TYPES_H
#define WARPSMITH_WS_TYPES_H

#include <stddef.h>
#include <stdint.h>

#define __global__
#define __device__
#define __host__
#define __constant__
#define __managed__
#define __grid_constant__
#define __launch_bounds__(...)
#define __cluster_dims__(...)
#define __align__(n) __attribute__((aligned(n)))
#define __builtin_align__(n) __attribute__((aligned(n)))
#define __forceinline__ inline __attribute__((always_inline))
#define __inline_hint__ inline
#define CUDARTAPI
#define CUDART_CB
#define CUDART_VERSION 12040
#define CUDA_VERSION 12040

#ifdef __cplusplus
/* Shared variables live in thread-local storage: its range is known to the emulator, which gives each block its own copy.
   `__restrict` is a word of g++; the C spelling is a macro there. */
#define __shared__ static thread_local
#endif

#define WS_VECTOR_1(T, N, A) \
    typedef struct __attribute__((aligned(A))) N##1 { T x; } N##1;
#define WS_VECTOR_2(T, N, A) \
    typedef struct __attribute__((aligned(A))) N##2 { T x, y; } N##2;
#define WS_VECTOR_3(T, N, A) \
    typedef struct __attribute__((aligned(A))) N##3 { T x, y, z; } N##3;
#define WS_VECTOR_4(T, N, A) \
    typedef struct __attribute__((aligned(A))) N##4 { T x, y, z, w; } N##4;
#define WS_MAKE(T, N) \
    static inline N##1 make_##N##1(T x) { N##1 v; v.x = x; return v; } \
    static inline N##2 make_##N##2(T x, T y) { N##2 v; v.x = x; v.y = y; return v; } \
    static inline N##3 make_##N##3(T x, T y, T z) { N##3 v; v.x = x; v.y = y; v.z = z; return v; } \
    static inline N##4 make_##N##4(T x, T y, T z, T w) { N##4 v; v.x = x; v.y = y; v.z = z; v.w = w; return v; }
#define WS_VECTORS(T, N, S) \
    WS_VECTOR_1(T, N, S) \
    WS_VECTOR_2(T, N, 2 * S) \
    WS_VECTOR_3(T, N, S) \
    WS_VECTOR_4(T, N, (4 * S > 16 ? 16 : 4 * S)) \
    WS_MAKE(T, N)

WS_VECTORS(signed char, char, 1)
WS_VECTORS(unsigned char, uchar, 1)
WS_VECTORS(short, short, 2)
WS_VECTORS(unsigned short, ushort, 2)
WS_VECTORS(int, int, 4)
WS_VECTORS(unsigned int, uint, 4)
WS_VECTORS(long, long, 8)
WS_VECTORS(unsigned long, ulong, 8)
WS_VECTORS(long long, longlong, 8)
WS_VECTORS(unsigned long long, ulonglong, 8)
WS_VECTORS(float, float, 4)
WS_VECTORS(double, double, 8)

#ifdef __cplusplus
struct dim3 {
    unsigned int x, y, z;
    constexpr dim3(unsigned int vx = 1, unsigned int vy = 1, unsigned int vz = 1) : x(vx), y(vy), z(vz) {}
    constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
    constexpr operator uint3() const { return uint3{x, y, z}; }
};
#else
typedef struct dim3 {
    unsigned int x, y, z;
} dim3;
#endif

#endif
