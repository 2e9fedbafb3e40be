#pragma GCC system_header
/* Random numbers on the device: states are opaque, functions are declared. */
#ifndef WARPSMITH_CURAND_KERNEL_H
#define WARPSMITH_CURAND_KERNEL_H
#include "mini_cuda.h"
#include "curand.h"

#define WS_STATE(name, bytes) struct name { unsigned int data[(bytes) / 4]; }
WS_STATE(curandStateXORWOW, 48);
WS_STATE(curandStateMRG32k3a, 72);
WS_STATE(curandStatePhilox4_32_10, 64);
WS_STATE(curandStateSobol32, 144);
WS_STATE(curandStateScrambledSobol32, 144);
WS_STATE(curandStateSobol64, 544);
WS_STATE(curandStateMtgp32, 4108);
#undef WS_STATE
typedef curandStateXORWOW curandState;
typedef curandStateXORWOW curandState_t;
typedef curandStateXORWOW curandStateXORWOW_t;
typedef curandStateMRG32k3a curandStateMRG32k3a_t;
typedef curandStatePhilox4_32_10 curandStatePhilox4_32_10_t;
typedef curandStateSobol32 curandStateSobol32_t;
typedef curandStateMtgp32 curandStateMtgp32_t;
template <class S> __device__ void curand_init(unsigned long long seed, unsigned long long sequence,
                                               unsigned long long offset, S *state);
template <class S> __device__ unsigned int curand(S *state);
template <class S> __device__ uint4 curand4(S *state);
template <class S> __device__ float curand_uniform(S *state);
template <class S> __device__ float4 curand_uniform4(S *state);
template <class S> __device__ double curand_uniform_double(S *state);
template <class S> __device__ double2 curand_uniform2_double(S *state);
template <class S> __device__ float curand_normal(S *state);
template <class S> __device__ float2 curand_normal2(S *state);
template <class S> __device__ float4 curand_normal4(S *state);
template <class S> __device__ double curand_normal_double(S *state);
template <class S> __device__ double2 curand_normal2_double(S *state);
template <class S> __device__ float curand_log_normal(S *state, float mean, float deviation);
template <class S> __device__ unsigned int curand_poisson(S *state, double lambda);
template <class S> __device__ void skipahead(unsigned long long n, S *state);

#endif
