/* The few helpers of NVIDIA's samples that programs use everywhere: error checks and the choice of a device. */
#ifndef WARPSMITH_HELPER_CUDA_H
#define WARPSMITH_HELPER_CUDA_H

#include <stdio.h>
#include <stdlib.h>

#include "cuda_runtime.h"
#include "helper_string.h"

template <class T> void check(T result, const char *text, const char *file, int line) {
    if (!result) return;
    fprintf(stderr, "CUDA error at %s:%d code=%d(%s) \"%s\"\n", file, line, (int)result,
            cudaGetErrorName((cudaError_t)result), text);
    exit(EXIT_FAILURE);
}
#define checkCudaErrors(call) check((call), #call, __FILE__, __LINE__)
#define getLastCudaError(text) ws_last_error(text, __FILE__, __LINE__)
inline void ws_last_error(const char *text, const char *file, int line) {
    const cudaError_t error = cudaGetLastError();
    if (error == cudaSuccess) return;
    fprintf(stderr, "%s(%d): %s: (%d) %s\n", file, line, text, (int)error, cudaGetErrorString(error));
    exit(EXIT_FAILURE);
}
inline int findCudaDevice(int, const char **) { return 0; }
inline int gpuDeviceInit(int) { return 0; }
inline int gpuGetMaxGflopsDeviceId() { return 0; }
inline int _ConvertSMVer2Cores(int, int) { return 64; }
inline bool checkCudaCapabilities(int major, int) { return major <= 8; }

#endif
