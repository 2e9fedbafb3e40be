/* What the parser needs to read CUDA source without the CUDA toolkit: declarations only, nothing to link or run. */
#ifndef WARPSMITH_MINI_CUDA_H
#define WARPSMITH_MINI_CUDA_H

#include <stddef.h>
#ifdef WARPSMITH_KERNELS
#include <assert.h>
#include <limits.h>
#include <math.h>
#undef isnan
#undef isinf
#undef isfinite
#undef isnormal
#undef signbit
#undef fpclassify
#include <stdlib.h>
#include <string.h>
#include <time.h>
#endif

#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __managed__ __attribute__((device)) __attribute__((managed))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __forceinline__ __inline__ __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __align__(n) __attribute__((aligned(n)))
#define __restrict __restrict__
#ifdef WARPSMITH_KERNELS
#undef __managed__
#define __managed__ __attribute__((device)) __attribute__((annotate("managed")))
#define WARPSMITH_WORDS_(...) #__VA_ARGS__
#define WARPSMITH_WORDS(...) WARPSMITH_WORDS_(__VA_ARGS__)
#define __maxnreg__(...) __attribute__((annotate("maxnreg " WARPSMITH_WORDS(__VA_ARGS__))))
#define __grid_constant__ __attribute__((annotate("grid_constant")))
#define __cluster_dims__(...) __attribute__((annotate("cluster_dims " WARPSMITH_WORDS(__VA_ARGS__))))
#define __block_size__(...) __attribute__((annotate("block_size " WARPSMITH_WORDS(__VA_ARGS__))))
#define __DRIVER_TYPES_H__
#define __CUDA_RUNTIME_H__
#define __nv_pure__
#define __builtin_align__(n) __attribute__((aligned(n)))
#define __inline_hint__
#define __cudart_builtin__
#define __device_builtin__
#endif

/* --- vectors */
struct char1 { char x; };
static inline __host__ __device__ char1 make_char1(char x) { return {x}; }
struct __align__(2) char2 { char x, y; };
static inline __host__ __device__ char2 make_char2(char x, char y) { return {x, y}; }
struct char3 { char x, y, z; };
static inline __host__ __device__ char3 make_char3(char x, char y, char z) { return {x, y, z}; }
struct __align__(4) char4 { char x, y, z, w; };
static inline __host__ __device__ char4 make_char4(char x, char y, char z, char w) { return {x, y, z, w}; }
struct uchar1 { unsigned char x; };
static inline __host__ __device__ uchar1 make_uchar1(unsigned char x) { return {x}; }
struct __align__(2) uchar2 { unsigned char x, y; };
static inline __host__ __device__ uchar2 make_uchar2(unsigned char x, unsigned char y) { return {x, y}; }
struct uchar3 { unsigned char x, y, z; };
static inline __host__ __device__ uchar3 make_uchar3(unsigned char x, unsigned char y, unsigned char z) { return {x, y, z}; }
struct __align__(4) uchar4 { unsigned char x, y, z, w; };
static inline __host__ __device__ uchar4 make_uchar4(unsigned char x, unsigned char y, unsigned char z, unsigned char w) { return {x, y, z, w}; }
struct short1 { short x; };
static inline __host__ __device__ short1 make_short1(short x) { return {x}; }
struct __align__(4) short2 { short x, y; };
static inline __host__ __device__ short2 make_short2(short x, short y) { return {x, y}; }
struct short3 { short x, y, z; };
static inline __host__ __device__ short3 make_short3(short x, short y, short z) { return {x, y, z}; }
struct __align__(8) short4 { short x, y, z, w; };
static inline __host__ __device__ short4 make_short4(short x, short y, short z, short w) { return {x, y, z, w}; }
struct ushort1 { unsigned short x; };
static inline __host__ __device__ ushort1 make_ushort1(unsigned short x) { return {x}; }
struct __align__(4) ushort2 { unsigned short x, y; };
static inline __host__ __device__ ushort2 make_ushort2(unsigned short x, unsigned short y) { return {x, y}; }
struct ushort3 { unsigned short x, y, z; };
static inline __host__ __device__ ushort3 make_ushort3(unsigned short x, unsigned short y, unsigned short z) { return {x, y, z}; }
struct __align__(8) ushort4 { unsigned short x, y, z, w; };
static inline __host__ __device__ ushort4 make_ushort4(unsigned short x, unsigned short y, unsigned short z, unsigned short w) { return {x, y, z, w}; }
struct int1 { int x; };
static inline __host__ __device__ int1 make_int1(int x) { return {x}; }
struct __align__(8) int2 { int x, y; };
static inline __host__ __device__ int2 make_int2(int x, int y) { return {x, y}; }
struct int3 { int x, y, z; };
static inline __host__ __device__ int3 make_int3(int x, int y, int z) { return {x, y, z}; }
struct __align__(16) int4 { int x, y, z, w; };
static inline __host__ __device__ int4 make_int4(int x, int y, int z, int w) { return {x, y, z, w}; }
struct uint1 { unsigned int x; };
static inline __host__ __device__ uint1 make_uint1(unsigned int x) { return {x}; }
struct __align__(8) uint2 { unsigned int x, y; };
static inline __host__ __device__ uint2 make_uint2(unsigned int x, unsigned int y) { return {x, y}; }
struct uint3 { unsigned int x, y, z; };
static inline __host__ __device__ uint3 make_uint3(unsigned int x, unsigned int y, unsigned int z) { return {x, y, z}; }
struct __align__(16) uint4 { unsigned int x, y, z, w; };
static inline __host__ __device__ uint4 make_uint4(unsigned int x, unsigned int y, unsigned int z, unsigned int w) { return {x, y, z, w}; }
struct long1 { long x; };
static inline __host__ __device__ long1 make_long1(long x) { return {x}; }
struct __align__(16) long2 { long x, y; };
static inline __host__ __device__ long2 make_long2(long x, long y) { return {x, y}; }
struct long3 { long x, y, z; };
static inline __host__ __device__ long3 make_long3(long x, long y, long z) { return {x, y, z}; }
struct __align__(16) long4 { long x, y, z, w; };
static inline __host__ __device__ long4 make_long4(long x, long y, long z, long w) { return {x, y, z, w}; }
struct ulong1 { unsigned long x; };
static inline __host__ __device__ ulong1 make_ulong1(unsigned long x) { return {x}; }
struct __align__(16) ulong2 { unsigned long x, y; };
static inline __host__ __device__ ulong2 make_ulong2(unsigned long x, unsigned long y) { return {x, y}; }
struct ulong3 { unsigned long x, y, z; };
static inline __host__ __device__ ulong3 make_ulong3(unsigned long x, unsigned long y, unsigned long z) { return {x, y, z}; }
struct __align__(16) ulong4 { unsigned long x, y, z, w; };
static inline __host__ __device__ ulong4 make_ulong4(unsigned long x, unsigned long y, unsigned long z, unsigned long w) { return {x, y, z, w}; }
struct longlong1 { long long x; };
static inline __host__ __device__ longlong1 make_longlong1(long long x) { return {x}; }
struct __align__(16) longlong2 { long long x, y; };
static inline __host__ __device__ longlong2 make_longlong2(long long x, long long y) { return {x, y}; }
struct longlong3 { long long x, y, z; };
static inline __host__ __device__ longlong3 make_longlong3(long long x, long long y, long long z) { return {x, y, z}; }
struct __align__(16) longlong4 { long long x, y, z, w; };
static inline __host__ __device__ longlong4 make_longlong4(long long x, long long y, long long z, long long w) { return {x, y, z, w}; }
struct ulonglong1 { unsigned long long x; };
static inline __host__ __device__ ulonglong1 make_ulonglong1(unsigned long long x) { return {x}; }
struct __align__(16) ulonglong2 { unsigned long long x, y; };
static inline __host__ __device__ ulonglong2 make_ulonglong2(unsigned long long x, unsigned long long y) { return {x, y}; }
struct ulonglong3 { unsigned long long x, y, z; };
static inline __host__ __device__ ulonglong3 make_ulonglong3(unsigned long long x, unsigned long long y, unsigned long long z) { return {x, y, z}; }
struct __align__(16) ulonglong4 { unsigned long long x, y, z, w; };
static inline __host__ __device__ ulonglong4 make_ulonglong4(unsigned long long x, unsigned long long y, unsigned long long z, unsigned long long w) { return {x, y, z, w}; }
struct float1 { float x; };
static inline __host__ __device__ float1 make_float1(float x) { return {x}; }
struct __align__(8) float2 { float x, y; };
static inline __host__ __device__ float2 make_float2(float x, float y) { return {x, y}; }
struct float3 { float x, y, z; };
static inline __host__ __device__ float3 make_float3(float x, float y, float z) { return {x, y, z}; }
struct __align__(16) float4 { float x, y, z, w; };
static inline __host__ __device__ float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }
struct double1 { double x; };
static inline __host__ __device__ double1 make_double1(double x) { return {x}; }
struct __align__(16) double2 { double x, y; };
static inline __host__ __device__ double2 make_double2(double x, double y) { return {x, y}; }
struct double3 { double x, y, z; };
static inline __host__ __device__ double3 make_double3(double x, double y, double z) { return {x, y, z}; }
struct __align__(16) double4 { double x, y, z, w; };
static inline __host__ __device__ double4 make_double4(double x, double y, double z, double w) { return {x, y, z, w}; }

struct dim3 {
    unsigned int x, y, z;
    __host__ __device__ constexpr dim3(unsigned int x = 1, unsigned int y = 1, unsigned int z = 1) : x(x), y(y), z(z) {}
    __host__ __device__ constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
};

extern const __device__ uint3 threadIdx, blockIdx;
extern const __device__ dim3 blockDim, gridDim;
extern const __device__ int warpSize;

/* --- barriers, votes, shuffles */
__device__ void __syncthreads(void);
__device__ int __syncthreads_count(int predicate);
__device__ int __syncthreads_and(int predicate);
__device__ int __syncthreads_or(int predicate);
__device__ void __syncwarp(unsigned mask = 0xffffffffu);
__device__ void __threadfence(void);
__device__ void __threadfence_block(void);
__device__ void __threadfence_system(void);
__device__ unsigned __activemask(void);
/* all threads of the grid wait for each other; what follows is an asynchronous copy */
extern "C" __device__ void ws_grid_sync(void);
extern "C" __device__ void ws_asynchronous(void);
__device__ unsigned __ballot_sync(unsigned mask, int predicate);
__device__ int __any_sync(unsigned mask, int predicate);
__device__ int __all_sync(unsigned mask, int predicate);
template <class T> __device__ T __shfl_sync(unsigned mask, T value, int lane, int width = 32);
template <class T> __device__ T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32);
template <class T> __device__ T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32);
template <class T> __device__ T __shfl_xor_sync(unsigned mask, T value, int lanes, int width = 32);
template <class T> __device__ T __ldg(const T *address);
/* loads what is stored to shared memory while the thread goes on */
template <class T> __device__ T ws_load_beside(const T *address);

/* --- the bits of a number */
__device__ float __int_as_float(int bits);
__device__ int __float_as_int(float value);
__device__ float __uint_as_float(unsigned int bits);
__device__ unsigned int __float_as_uint(float value);
__device__ double __longlong_as_double(long long bits);
__device__ long long __double_as_longlong(double value);

/* --- atomics */
__device__ int atomicAdd(int *address, int value);
__device__ unsigned int atomicAdd(unsigned int *address, unsigned int value);
__device__ unsigned long long atomicAdd(unsigned long long *address, unsigned long long value);
__device__ float atomicAdd(float *address, float value);
__device__ double atomicAdd(double *address, double value);
__device__ int atomicExch(int *address, int value);
__device__ unsigned int atomicExch(unsigned int *address, unsigned int value);
__device__ unsigned long long atomicExch(unsigned long long *address, unsigned long long value);
__device__ float atomicExch(float *address, float value);
__device__ int atomicMin(int *address, int value);
__device__ unsigned int atomicMin(unsigned int *address, unsigned int value);
__device__ long long atomicMin(long long *address, long long value);
__device__ unsigned long long atomicMin(unsigned long long *address, unsigned long long value);
__device__ int atomicMax(int *address, int value);
__device__ unsigned int atomicMax(unsigned int *address, unsigned int value);
__device__ long long atomicMax(long long *address, long long value);
__device__ unsigned long long atomicMax(unsigned long long *address, unsigned long long value);
__device__ int atomicAnd(int *address, int value);
__device__ unsigned int atomicAnd(unsigned int *address, unsigned int value);
__device__ unsigned long long atomicAnd(unsigned long long *address, unsigned long long value);
__device__ int atomicOr(int *address, int value);
__device__ unsigned int atomicOr(unsigned int *address, unsigned int value);
__device__ unsigned long long atomicOr(unsigned long long *address, unsigned long long value);
__device__ int atomicXor(int *address, int value);
__device__ unsigned int atomicXor(unsigned int *address, unsigned int value);
__device__ unsigned long long atomicXor(unsigned long long *address, unsigned long long value);
__device__ int atomicSub(int *address, int value);
__device__ unsigned int atomicSub(unsigned int *address, unsigned int value);
__device__ unsigned int atomicInc(unsigned int *address, unsigned int value);
__device__ unsigned int atomicDec(unsigned int *address, unsigned int value);
__device__ int atomicCAS(int *address, int compare, int value);
__device__ unsigned int atomicCAS(unsigned int *address, unsigned int compare, unsigned int value);
__device__ unsigned long long atomicCAS(unsigned long long *address, unsigned long long compare, unsigned long long value);
__device__ unsigned short atomicCAS(unsigned short *address, unsigned short compare, unsigned short value);

/* --- mathematics: overloads of the host's functions for the device */
__device__ double sqrt(double);
__device__ float sqrt(float);
__device__ float sqrtf(float);
__device__ double cbrt(double);
__device__ float cbrt(float);
__device__ float cbrtf(float);
__device__ double exp(double);
__device__ float exp(float);
__device__ float expf(float);
__device__ double exp2(double);
__device__ float exp2(float);
__device__ float exp2f(float);
__device__ double exp10(double);
__device__ float exp10(float);
__device__ float exp10f(float);
__device__ double expm1(double);
__device__ float expm1(float);
__device__ float expm1f(float);
__device__ double log(double);
__device__ float log(float);
__device__ float logf(float);
__device__ double log2(double);
__device__ float log2(float);
__device__ float log2f(float);
__device__ double log10(double);
__device__ float log10(float);
__device__ float log10f(float);
__device__ double log1p(double);
__device__ float log1p(float);
__device__ float log1pf(float);
__device__ double sin(double);
__device__ float sin(float);
__device__ float sinf(float);
__device__ double cos(double);
__device__ float cos(float);
__device__ float cosf(float);
__device__ double tan(double);
__device__ float tan(float);
__device__ float tanf(float);
__device__ double asin(double);
__device__ float asin(float);
__device__ float asinf(float);
__device__ double acos(double);
__device__ float acos(float);
__device__ float acosf(float);
__device__ double atan(double);
__device__ float atan(float);
__device__ float atanf(float);
__device__ double sinh(double);
__device__ float sinh(float);
__device__ float sinhf(float);
__device__ double cosh(double);
__device__ float cosh(float);
__device__ float coshf(float);
__device__ double tanh(double);
__device__ float tanh(float);
__device__ float tanhf(float);
__device__ double asinh(double);
__device__ float asinh(float);
__device__ float asinhf(float);
__device__ double acosh(double);
__device__ float acosh(float);
__device__ float acoshf(float);
__device__ double atanh(double);
__device__ float atanh(float);
__device__ float atanhf(float);
__device__ double ceil(double);
__device__ float ceil(float);
__device__ float ceilf(float);
__device__ double floor(double);
__device__ float floor(float);
__device__ float floorf(float);
__device__ double trunc(double);
__device__ float trunc(float);
__device__ float truncf(float);
__device__ double round(double);
__device__ float round(float);
__device__ float roundf(float);
__device__ double rint(double);
__device__ float rint(float);
__device__ float rintf(float);
__device__ double nearbyint(double);
__device__ float nearbyint(float);
__device__ float nearbyintf(float);
__device__ double erf(double);
__device__ float erf(float);
__device__ float erff(float);
__device__ double erfc(double);
__device__ float erfc(float);
__device__ float erfcf(float);
__device__ double tgamma(double);
__device__ float tgamma(float);
__device__ float tgammaf(float);
__device__ double lgamma(double);
__device__ float lgamma(float);
__device__ float lgammaf(float);
__device__ double logb(double);
__device__ float logb(float);
__device__ float logbf(float);
__device__ double fabs(double);
__device__ float fabs(float);
__device__ float fabsf(float);
__device__ double rsqrt(double);
__device__ float rsqrt(float);
__device__ float rsqrtf(float);
__device__ double sinpi(double);
__device__ float sinpi(float);
__device__ float sinpif(float);
__device__ double cospi(double);
__device__ float cospi(float);
__device__ float cospif(float);
__device__ double pow(double, double);
__device__ float pow(float, float);
__device__ float powf(float, float);
__device__ double atan2(double, double);
__device__ float atan2(float, float);
__device__ float atan2f(float, float);
__device__ double fmod(double, double);
__device__ float fmod(float, float);
__device__ float fmodf(float, float);
__device__ double hypot(double, double);
__device__ float hypot(float, float);
__device__ float hypotf(float, float);
__device__ double fmin(double, double);
__device__ float fmin(float, float);
__device__ float fminf(float, float);
__device__ double fmax(double, double);
__device__ float fmax(float, float);
__device__ float fmaxf(float, float);
__device__ double fdim(double, double);
__device__ float fdim(float, float);
__device__ float fdimf(float, float);
__device__ double copysign(double, double);
__device__ float copysign(float, float);
__device__ float copysignf(float, float);
__device__ double remainder(double, double);
__device__ float remainder(float, float);
__device__ float remainderf(float, float);
__device__ double nextafter(double, double);
__device__ float nextafter(float, float);
__device__ float nextafterf(float, float);
__device__ double fma(double, double, double);
__device__ float fma(float, float, float);
__device__ float fmaf(float, float, float);
__device__ double ldexp(double, int);
__device__ float ldexp(float, int);
__device__ float ldexpf(float, int);
__device__ double scalbn(double, int);
__device__ float scalbnf(float, int);
__device__ double frexp(double, int *);
__device__ float frexpf(float, int *);
__device__ double modf(double, double *);
__device__ float modff(float, float *);
__device__ void sincos(double, double *, double *);
__device__ void sincosf(float, float *, float *);
__device__ long lround(double);
__device__ long lroundf(float);
__device__ long lrint(double);
__device__ long lrintf(float);
__device__ long long llround(double);
__device__ long long llrint(double);
__device__ int ilogb(double);
__device__ int ilogbf(float);
__device__ int isnan(double);
__device__ int isinf(double);
__device__ int isfinite(double);
__device__ int signbit(double);
__device__ int abs(int);
__device__ long labs(long);
__device__ long long llabs(long long);
__device__ int min(int, int);
__device__ unsigned int min(unsigned int, unsigned int);
__device__ long min(long, long);
__device__ unsigned long min(unsigned long, unsigned long);
__device__ long long min(long long, long long);
__device__ unsigned long long min(unsigned long long, unsigned long long);
__device__ float min(float, float);
__device__ double min(double, double);
__device__ int max(int, int);
__device__ unsigned int max(unsigned int, unsigned int);
__device__ long max(long, long);
__device__ unsigned long max(unsigned long, unsigned long);
__device__ long long max(long long, long long);
__device__ unsigned long long max(unsigned long long, unsigned long long);
__device__ float max(float, float);
__device__ double max(double, double);
__device__ float __expf(float);
__device__ float __logf(float);
__device__ float __sinf(float);
__device__ float __cosf(float);
__device__ float __powf(float, float);
__device__ float __fdividef(float, float);
__device__ float __fsqrt_rn(float);
__device__ double __dsqrt_rn(double);
__device__ double __dadd_rn(double, double);
__device__ double __dmul_rn(double, double);
__device__ double __fma_rn(double, double, double);
__device__ float __fadd_rn(float, float);
__device__ float __fmul_rn(float, float);
__device__ float __fmaf_rn(float, float, float);
__device__ int __popc(unsigned int);
__device__ int __popcll(unsigned long long);
__device__ int __clz(int);
__device__ int __clzll(long long);
__device__ int __ffs(int);
__device__ long long clock64(void);
template <class... T> __device__ int printf(const char *, T...);
__device__ void *malloc(size_t);
__device__ void free(void *);
__device__ void *memcpy(void *, const void *, size_t);
__device__ void *memset(void *, int, size_t);
extern "C" __device__ void __assert_fail(const char *, const char *, unsigned int, const char *)
    __attribute__((noreturn));

#include "device_intrinsics.h"

/* --- what host code calls */
enum cudaError {
    cudaSuccess = 0,
    cudaErrorInvalidValue = 1,
    cudaErrorMemoryAllocation = 2,
    cudaErrorInitializationError = 3,
    cudaErrorCudartUnloading = 4,
    cudaErrorInvalidConfiguration = 9,
    cudaErrorInsufficientDriver = 35,
    cudaErrorNoDevice = 100,
    cudaErrorAssert = 710,
    cudaErrorInvalidDevice = 101,
    cudaErrorIllegalAddress = 700,
    cudaErrorLaunchFailure = 719,
    cudaErrorUnknown = 999
};
typedef enum cudaError cudaError_t;
enum cudaMemcpyKind {
    cudaMemcpyHostToHost,
    cudaMemcpyHostToDevice,
    cudaMemcpyDeviceToHost,
    cudaMemcpyDeviceToDevice,
    cudaMemcpyDefault
};
typedef struct CUstream_st *cudaStream_t;
typedef struct CUevent_st *cudaEvent_t;
#define cudaStreamNonBlocking 1
#define cudaEventDisableTiming 2
struct cudaDeviceProp {
    char name[256];
    size_t totalGlobalMem, sharedMemPerBlock;
    int regsPerBlock, warpSize, maxThreadsPerBlock, maxThreadsDim[3], maxGridSize[3];
    int clockRate, major, minor, multiProcessorCount, l2CacheSize, maxThreadsPerMultiProcessor;
};
extern "C" {
cudaError_t cudaConfigureCall(dim3 grid, dim3 block, size_t shared = 0, cudaStream_t stream = 0);
__host__ __device__ cudaError_t cudaGetLastError(void);
__host__ __device__ cudaError_t cudaPeekAtLastError(void);
__host__ __device__ const char *cudaGetErrorString(cudaError_t);
__host__ __device__ const char *cudaGetErrorName(cudaError_t);
cudaError_t cudaDeviceSynchronize(void);
cudaError_t cudaDeviceReset(void);
cudaError_t cudaGetDeviceCount(int *);
cudaError_t cudaSetDevice(int);
cudaError_t cudaGetDevice(int *);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp *, int);
cudaError_t cudaMalloc(void **, size_t);
cudaError_t cudaMallocManaged(void **, size_t, unsigned int = 1);
cudaError_t cudaMallocHost(void **, size_t);
cudaError_t cudaFree(void *);
cudaError_t cudaFreeHost(void *);
cudaError_t cudaHostRegister(void *, size_t, unsigned int);
cudaError_t cudaHostUnregister(void *);
cudaError_t cudaMemGetInfo(size_t *, size_t *);
cudaError_t cudaMemcpy(void *, const void *, size_t, cudaMemcpyKind);
cudaError_t cudaMemcpyAsync(void *, const void *, size_t, cudaMemcpyKind, cudaStream_t = 0);
cudaError_t cudaMemcpy2D(void *, size_t, const void *, size_t, size_t, size_t, cudaMemcpyKind);
cudaError_t cudaMemset(void *, int, size_t);
cudaError_t cudaMemcpyToSymbol(const void *, const void *, size_t, size_t = 0, cudaMemcpyKind = cudaMemcpyHostToDevice);
cudaError_t cudaMemcpyFromSymbol(void *, const void *, size_t, size_t = 0, cudaMemcpyKind = cudaMemcpyDeviceToHost);
cudaError_t cudaLaunchKernel(const void *, dim3, dim3, void **, size_t = 0, cudaStream_t = 0);
cudaError_t cudaLaunchCooperativeKernel(const void *, dim3, dim3, void **, size_t = 0, cudaStream_t = 0);
cudaError_t cudaStreamCreate(cudaStream_t *);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *, unsigned int);
cudaError_t cudaStreamDestroy(cudaStream_t);
cudaError_t cudaStreamSynchronize(cudaStream_t);
cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned int = 0);
cudaError_t cudaEventCreate(cudaEvent_t *);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *, unsigned int);
cudaError_t cudaEventDestroy(cudaEvent_t);
cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t = 0);
cudaError_t cudaEventSynchronize(cudaEvent_t);
cudaError_t cudaEventElapsedTime(float *, cudaEvent_t, cudaEvent_t);
}
template <class T> static inline cudaError_t cudaMalloc(T **p, size_t n) { return cudaMalloc((void **)p, n); }
template <class T> static inline cudaError_t cudaMallocManaged(T **p, size_t n) { return cudaMallocManaged((void **)p, n); }
template <class T> static inline cudaError_t cudaMallocHost(T **p, size_t n) { return cudaMallocHost((void **)p, n); }
template <class T>
static inline cudaError_t cudaMemcpyToSymbol(const T &symbol, const void *from, size_t n)
{
    return cudaMemcpyToSymbol((const void *)&symbol, from, n);
}
template <class T>
static inline cudaError_t cudaMemcpyFromSymbol(void *to, const T &symbol, size_t n)
{
    return cudaMemcpyFromSymbol(to, (const void *)&symbol, n);
}
template <class T>
static inline cudaError_t cudaLaunchKernel(T *kernel, dim3 grid, dim3 block, void **args, size_t n = 0, cudaStream_t s = 0)
{
    return cudaLaunchKernel((const void *)kernel, grid, block, args, n, s);
}
template <class T>
static inline cudaError_t
cudaLaunchCooperativeKernel(T *kernel, dim3 grid, dim3 block, void **args, size_t n = 0, cudaStream_t s = 0)
{
    return cudaLaunchCooperativeKernel((const void *)kernel, grid, block, args, n, s);
}

#ifdef WARPSMITH_KERNELS
/* `__shared__ alignas(16) char t[64]`: the attribute that __shared__ is may have no other behind it that is not of its
   kind. What stands in the brackets is a type or a number. */
template <class F> struct warpsmith_parameter;
template <class T> struct warpsmith_parameter<int(T)> { enum { alignment = alignof(T) }; };
template <class F> constexpr int warpsmith_alignment() { return warpsmith_parameter<F>::alignment; }
template <int N> constexpr int warpsmith_alignment() { return N; }
#define alignas(...) __attribute__((aligned(warpsmith_alignment<int(__VA_ARGS__)>())))
#endif

#endif
