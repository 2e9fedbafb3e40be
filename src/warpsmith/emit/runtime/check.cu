/* The check of CUDA calls: an error ends the program with a message. */
#pragma once

#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>

static void ws_check(cudaError_t status, const char *call, const char *file, int line)
{
    if (status == cudaSuccess)
        return;
    if (status == cudaErrorNoDevice || status == cudaErrorInsufficientDriver)
        fprintf(stderr,
                "%s:%d: no CUDA device found (%s)\n"
#ifdef WS_WITH_SWITCH
                "  help: install the NVIDIA driver, look at CUDA_VISIBLE_DEVICES, or "
                "set WARPSMITH_OFF=1, which runs the original loops\n",
#else
                "  help: install the NVIDIA driver, look at CUDA_VISIBLE_DEVICES, or run the original program\n",
#endif
                file, line, cudaGetErrorString(status));
    else
        fprintf(stderr, "%s:%d: %s failed: %s\n", file, line, call, cudaGetErrorString(status));
    exit(EXIT_FAILURE);
}

#define WS_CHECK(call) ws_check((call), #call, __FILE__, __LINE__)
