/* The part of the runtime API that describes the device, its errors, streams and events. The device resembles a
   small one of compute capability 8.0; the limits of a launch are the documented ones. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "emulator.h"

using namespace ws;

struct CUstream_st {
    unsigned int flags;
};
struct CUevent_st {
    double milliseconds;
    bool recorded, timed;
};

namespace {
struct Message {
    cudaError_t error;
    const char *name, *text;
};
constexpr Message messages[] = {
    {cudaSuccess, "cudaSuccess", "no error"},
    {cudaErrorInvalidValue, "cudaErrorInvalidValue", "invalid argument"},
    {cudaErrorMemoryAllocation, "cudaErrorMemoryAllocation", "out of memory"},
    {cudaErrorInitializationError, "cudaErrorInitializationError", "initialization error"},
    {cudaErrorInvalidConfiguration, "cudaErrorInvalidConfiguration", "invalid configuration argument"},
    {cudaErrorInvalidPitchValue, "cudaErrorInvalidPitchValue", "invalid pitch argument"},
    {cudaErrorInvalidSymbol, "cudaErrorInvalidSymbol", "invalid device symbol"},
    {cudaErrorInvalidDevicePointer, "cudaErrorInvalidDevicePointer", "invalid device pointer"},
    {cudaErrorInvalidMemcpyDirection, "cudaErrorInvalidMemcpyDirection", "invalid copy direction for memcpy"},
    {cudaErrorInvalidDeviceFunction, "cudaErrorInvalidDeviceFunction", "invalid device function"},
    {cudaErrorNoDevice, "cudaErrorNoDevice", "no CUDA-capable device is detected"},
    {cudaErrorInvalidDevice, "cudaErrorInvalidDevice", "invalid device ordinal"},
    {cudaErrorInvalidResourceHandle, "cudaErrorInvalidResourceHandle", "invalid resource handle"},
    {cudaErrorNotReady, "cudaErrorNotReady", "device not ready"},
    {cudaErrorIllegalAddress, "cudaErrorIllegalAddress", "an illegal memory access was encountered"},
    {cudaErrorLaunchOutOfResources, "cudaErrorLaunchOutOfResources", "too many resources requested for launch"},
    {cudaErrorLaunchTimeout, "cudaErrorLaunchTimeout", "the launch timed out and was terminated"},
    {cudaErrorPeerAccessNotEnabled, "cudaErrorPeerAccessNotEnabled", "peer access has not been enabled"},
    {cudaErrorAssert, "cudaErrorAssert", "device-side assert triggered"},
    {cudaErrorHostMemoryAlreadyRegistered, "cudaErrorHostMemoryAlreadyRegistered",
     "part or all of the requested memory range is already mapped"},
    {cudaErrorHostMemoryNotRegistered, "cudaErrorHostMemoryNotRegistered",
     "pointer does not correspond to a registered memory region"},
    {cudaErrorMisalignedAddress, "cudaErrorMisalignedAddress", "misaligned address"},
    {cudaErrorLaunchFailure, "cudaErrorLaunchFailure", "unspecified launch failure"},
    {cudaErrorCooperativeLaunchTooLarge, "cudaErrorCooperativeLaunchTooLarge",
     "too many blocks in cooperative launch"},
    {cudaErrorNotSupported, "cudaErrorNotSupported", "operation not supported"},
    {cudaErrorUnknown, "cudaErrorUnknown", "unknown error"},
};
const Message *message(cudaError_t error) {
    for (const Message &m : messages)
        if (m.error == error) return &m;
    return nullptr;
}
cudaError_t failed(cudaError_t error) {
    if (device.sticky != cudaSuccess) error = device.sticky;
    if (error != cudaSuccess) device.last = error;
    return error;
}
constexpr int largest_grid = 0x7fffffff;

struct Fact {
    cudaDeviceAttr attribute;
    int value;
};
constexpr Fact facts[] = {
    {cudaDevAttrMaxThreadsPerBlock, 1024},
    {cudaDevAttrMaxBlockDimX, 1024},
    {cudaDevAttrMaxBlockDimY, 1024},
    {cudaDevAttrMaxBlockDimZ, 64},
    {cudaDevAttrMaxGridDimX, largest_grid},
    {cudaDevAttrMaxGridDimY, 65535},
    {cudaDevAttrMaxGridDimZ, 65535},
    {cudaDevAttrMaxSharedMemoryPerBlock, 49152},
    {cudaDevAttrTotalConstantMemory, 65536},
    {cudaDevAttrWarpSize, 32},
    {cudaDevAttrMaxRegistersPerBlock, 65536},
    {cudaDevAttrClockRate, 1410000},
    {cudaDevAttrMultiProcessorCount, processors},
    {cudaDevAttrCanMapHostMemory, 1},
    {cudaDevAttrConcurrentKernels, 1},
    {cudaDevAttrMemoryClockRate, 1215000},
    {cudaDevAttrGlobalMemoryBusWidth, 5120},
    {cudaDevAttrL2CacheSize, 40 << 20},
    {cudaDevAttrMaxThreadsPerMultiProcessor, 2048},
    {cudaDevAttrUnifiedAddressing, 1},
    {cudaDevAttrComputeCapabilityMajor, 8},
    {cudaDevAttrComputeCapabilityMinor, 0},
    {cudaDevAttrMaxSharedMemoryPerMultiprocessor, 167936},
    {cudaDevAttrManagedMemory, 1},
    {cudaDevAttrConcurrentManagedAccess, 1},
    {cudaDevAttrCooperativeLaunch, 1},
    {cudaDevAttrMaxSharedMemoryPerBlockOptin, 166912},
};
} // namespace

extern "C" {
const char *cudaGetErrorString(cudaError_t error) {
    const Message *m = message(error);
    return m ? m->text : "unrecognized error code";
}
const char *cudaGetErrorName(cudaError_t error) {
    const Message *m = message(error);
    return m ? m->name : "unrecognized error code";
}
cudaError_t cudaGetDeviceCount(int *count) {
    *count = 1;
    return failed(cudaSuccess);
}
cudaError_t cudaSetDevice(int number) { return failed(number == 0 ? cudaSuccess : cudaErrorInvalidDevice); }
cudaError_t cudaGetDevice(int *number) {
    *number = 0;
    return failed(cudaSuccess);
}
cudaError_t cudaSetDeviceFlags(unsigned int) { return failed(cudaSuccess); }
cudaError_t cudaChooseDevice(int *number, const cudaDeviceProp *) { return cudaGetDevice(number); }
cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int number) {
    if (number != 0) return failed(cudaErrorInvalidDevice);
    *value = 0;
    for (const Fact &f : facts)
        if (f.attribute == attribute) *value = f.value;
    return failed(cudaSuccess);
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp *p, int number) {
    if (number != 0) return failed(cudaErrorInvalidDevice);
    memset(p, 0, sizeof *p);
    snprintf(p->name, sizeof p->name, "warpsmith emulation");
    p->totalGlobalMem = device.capacity;
    p->sharedMemPerBlock = 49152;
    p->regsPerBlock = p->regsPerMultiprocessor = 65536;
    p->warpSize = 32;
    p->memPitch = 0x7fffffff;
    p->maxThreadsPerBlock = p->maxThreadsDim[0] = p->maxThreadsDim[1] = 1024;
    p->maxThreadsDim[2] = 64;
    p->maxGridSize[0] = largest_grid;
    p->maxGridSize[1] = p->maxGridSize[2] = 65535;
    p->clockRate = 1410000;
    p->totalConstMem = 65536;
    p->major = 8;
    p->textureAlignment = 512;
    p->texturePitchAlignment = 32;
    p->multiProcessorCount = processors;
    p->deviceOverlap = p->canMapHostMemory = p->concurrentKernels = p->unifiedAddressing = 1;
    p->asyncEngineCount = 3;
    p->memoryClockRate = 1215000;
    p->memoryBusWidth = 5120;
    p->l2CacheSize = 40 << 20;
    p->maxThreadsPerMultiProcessor = 2048;
    p->sharedMemPerMultiprocessor = 167936;
    p->sharedMemPerBlockOptin = 166912;
    p->maxBlocksPerMultiProcessor = 32;
    p->managedMemory = p->concurrentManagedAccess = p->cooperativeLaunch = 1;
    p->globalL1CacheSupported = p->localL1CacheSupported = p->streamPrioritiesSupported = 1;
    p->singleToDoublePrecisionPerfRatio = 2;
    return failed(cudaSuccess);
}
cudaError_t cudaDeviceSetLimit(enum cudaLimit, size_t) { return failed(cudaSuccess); }
cudaError_t cudaDeviceGetLimit(size_t *value, enum cudaLimit limit) {
    *value = limit == cudaLimitStackSize ? 1024 : limit == cudaLimitPrintfFifoSize ? 1 << 20 : 8 << 20;
    return failed(cudaSuccess);
}
cudaError_t cudaDeviceSetCacheConfig(enum cudaFuncCache) { return failed(cudaSuccess); }
cudaError_t cudaDeviceSetSharedMemConfig(enum cudaSharedMemConfig) { return failed(cudaSuccess); }
cudaError_t cudaDeviceCanAccessPeer(int *can, int, int) {
    *can = 0;
    return failed(cudaSuccess);
}
cudaError_t cudaDeviceEnablePeerAccess(int, unsigned int) { return failed(cudaErrorInvalidDevice); }
cudaError_t cudaDeviceDisablePeerAccess(int) { return failed(cudaErrorPeerAccessNotEnabled); }
cudaError_t cudaDeviceGetPCIBusId(char *text, int length, int) {
    snprintf(text, (size_t)length, "0000:00:00.0");
    return failed(cudaSuccess);
}
cudaError_t cudaRuntimeGetVersion(int *version) {
    *version = CUDART_VERSION;
    return cudaSuccess;
}
cudaError_t cudaDriverGetVersion(int *version) {
    *version = CUDART_VERSION;
    return cudaSuccess;
}
cudaError_t cudaProfilerStart(void) { return failed(cudaSuccess); }
cudaError_t cudaProfilerStop(void) { return failed(cudaSuccess); }

cudaError_t cudaStreamCreate(cudaStream_t *stream) {
    *stream = new CUstream_st{0};
    return failed(cudaSuccess);
}
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned int flags) {
    *stream = new CUstream_st{flags};
    return failed(cudaSuccess);
}
cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned int flags, int) {
    return cudaStreamCreateWithFlags(stream, flags);
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
    if (!stream) return failed(cudaErrorInvalidResourceHandle);
    delete stream;
    return failed(cudaSuccess);
}
cudaError_t cudaStreamSynchronize(cudaStream_t) { return failed(cudaSuccess); }
cudaError_t cudaStreamQuery(cudaStream_t) { return failed(cudaSuccess); }
cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned int) { return failed(cudaSuccess); }
cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void *data, unsigned int) {
    callback(stream, device.sticky, data);
    return failed(cudaSuccess);
}
cudaError_t cudaLaunchHostFunc(cudaStream_t, cudaHostFn_t function, void *data) {
    function(data);
    return failed(cudaSuccess);
}
cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest) {
    *least = 0;
    *greatest = -5;
    return failed(cudaSuccess);
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned int flags) {
    *event = new CUevent_st{0.0, false, (flags & cudaEventDisableTiming) == 0};
    return failed(cudaSuccess);
}
cudaError_t cudaEventCreate(cudaEvent_t *event) { return cudaEventCreateWithFlags(event, 0); }
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t) {
    if (!event) return failed(cudaErrorInvalidResourceHandle);
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    event->milliseconds = (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
    event->recorded = true;
    return failed(cudaSuccess);
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
    return failed(event ? cudaSuccess : cudaErrorInvalidResourceHandle);
}
cudaError_t cudaEventQuery(cudaEvent_t event) { return cudaEventSynchronize(event); }
cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t start, cudaEvent_t end) {
    if (!start || !end || !start->recorded || !end->recorded || !start->timed || !end->timed)
        return failed(cudaErrorInvalidResourceHandle);
    *milliseconds = (float)(end->milliseconds - start->milliseconds);
    return failed(cudaSuccess);
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
    if (!event) return failed(cudaErrorInvalidResourceHandle);
    delete event;
    return failed(cudaSuccess);
}

cudaError_t ws_function_attribute(int attribute, int value) {
    if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize) return failed(cudaSuccess);
    if (value < 0 || value > 166912) return failed(cudaErrorInvalidValue);
    if (value > device.dynamic_limit) device.dynamic_limit = value;
    return failed(cudaSuccess);
}
cudaError_t ws_function_attributes(cudaFuncAttributes *a) {
    memset(a, 0, sizeof *a);
    a->maxThreadsPerBlock = 1024;
    a->numRegs = 32;
    a->ptxVersion = a->binaryVersion = 80;
    a->maxDynamicSharedSizeBytes = device.dynamic_limit;
    return failed(cudaSuccess);
}
cudaError_t ws_occupancy(int *min_grid, int *block, int limit) {
    *block = limit > 0 && limit < 1024 ? limit / 32 * 32 : 1024;
    *min_grid = processors * (2048 / *block);
    return failed(cudaSuccess);
}
}
