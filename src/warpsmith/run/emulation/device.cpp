/* The part of the runtime API that describes the device and its errors. The device has few
   multiprocessors, and the limits of the GPU that the referee was given (machine/devices.toml). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <string>

#include "emulator.h"

using namespace ws;

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
int fact(cudaDeviceAttr attribute) {
    const Limits &l = device.limits;
    switch (attribute) {
    case cudaDevAttrMaxThreadsPerBlock: return most_threads;
    case cudaDevAttrMaxBlockDimX: return most_block[0];
    case cudaDevAttrMaxBlockDimY: return most_block[1];
    case cudaDevAttrMaxBlockDimZ: return most_block[2];
    case cudaDevAttrMaxGridDimX: return most_grid[0];
    case cudaDevAttrMaxGridDimY: return most_grid[1];
    case cudaDevAttrMaxGridDimZ: return most_grid[2];
    case cudaDevAttrMaxSharedMemoryPerBlock: return usual_shared;
    case cudaDevAttrTotalConstantMemory: return 65536;
    case cudaDevAttrWarpSize: return 32;
    case cudaDevAttrMaxRegistersPerBlock: return l.registers;
    case cudaDevAttrClockRate: return l.clock_khz;
    case cudaDevAttrGpuOverlap: return 1;
    case cudaDevAttrAsyncEngineCount: return 3;
    case cudaDevAttrMultiProcessorCount: return processors;
    case cudaDevAttrCanMapHostMemory: return 1;
    case cudaDevAttrConcurrentKernels: return 1;
    case cudaDevAttrMemoryClockRate: return 1215000;
    case cudaDevAttrGlobalMemoryBusWidth: return 5120;
    case cudaDevAttrL2CacheSize: return l.l2;
    case cudaDevAttrMaxThreadsPerMultiProcessor: return l.threads_per_unit;
    case cudaDevAttrUnifiedAddressing: return 1;
    case cudaDevAttrComputeCapabilityMajor: return l.capability / 10;
    case cudaDevAttrComputeCapabilityMinor: return l.capability % 10;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor: return l.shared_per_unit;
    case cudaDevAttrManagedMemory: return 1;
    case cudaDevAttrConcurrentManagedAccess: return 1;
    case cudaDevAttrCooperativeLaunch: return 1;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin: return l.shared_per_block;
    default: return 0;
    }
}

struct Key {
    const char *name;
    int Limits::*value;
};
constexpr Key keys[] = {
    {"capability", &Limits::capability},
    {"shared_per_block", &Limits::shared_per_block},
    {"shared_per_unit", &Limits::shared_per_unit},
    {"threads_per_unit", &Limits::threads_per_unit},
    {"blocks_per_unit", &Limits::blocks_per_unit},
    {"registers", &Limits::registers},
    {"l2", &Limits::l2},
    {"clock_khz", &Limits::clock_khz},
};
} // namespace

/* `name=number` pairs with spaces between; a name that is not known is left. */
void ws::start_limits() {
    const char *text = getenv("WARPSMITH_EMULATION_DEVICE");
    for (const Key &key : keys) {
        const std::string name = std::string(key.name) + "=";
        const char *at = text ? strstr(text, name.c_str()) : nullptr;
        if (at) device.limits.*key.value = atoi(at + name.size());
    }
}

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
    *value = fact(attribute);
    return failed(cudaSuccess);
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp *p, int number) {
    if (number != 0) return failed(cudaErrorInvalidDevice);
    memset(p, 0, sizeof *p);
    snprintf(p->name, sizeof p->name, "warpsmith emulation");
    p->totalGlobalMem = device.capacity;
    const Limits &l = device.limits;
    p->sharedMemPerBlock = usual_shared;
    p->regsPerBlock = p->regsPerMultiprocessor = l.registers;
    p->warpSize = 32;
    p->memPitch = 0x7fffffff;
    p->maxThreadsPerBlock = most_threads;
    for (int i = 0; i < 3; ++i) {
        p->maxThreadsDim[i] = most_block[i];
        p->maxGridSize[i] = most_grid[i];
    }
    p->clockRate = l.clock_khz;
    p->totalConstMem = 65536;
    p->major = l.capability / 10;
    p->minor = l.capability % 10;
    p->textureAlignment = 512;
    p->texturePitchAlignment = 32;
    p->multiProcessorCount = processors;
    p->deviceOverlap = p->canMapHostMemory = p->concurrentKernels = p->unifiedAddressing = 1;
    p->asyncEngineCount = 3;
    p->memoryClockRate = 1215000;
    p->memoryBusWidth = 5120;
    p->l2CacheSize = l.l2;
    p->maxThreadsPerMultiProcessor = l.threads_per_unit;
    p->sharedMemPerMultiprocessor = l.shared_per_unit;
    p->sharedMemPerBlockOptin = l.shared_per_block;
    p->maxBlocksPerMultiProcessor = l.blocks_per_unit;
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

cudaError_t ws_function_attribute(int attribute, int value) {
    if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize) return failed(cudaSuccess);
    if (value < 0 || value > device.limits.shared_per_block) return failed(cudaErrorInvalidValue);
    if (value > device.dynamic_limit) device.dynamic_limit = value;
    device.asked = true;
    return failed(cudaSuccess);
}
cudaError_t ws_function_attributes(cudaFuncAttributes *a) {
    memset(a, 0, sizeof *a);
    a->maxThreadsPerBlock = most_threads;
    a->numRegs = 32;
    a->ptxVersion = a->binaryVersion = device.limits.capability;
    a->maxDynamicSharedSizeBytes = device.dynamic_limit;
    return failed(cudaSuccess);
}
cudaError_t ws_active_blocks(int *blocks, int threads) {
    const Limits &l = device.limits;
    if (threads <= 0) return failed(cudaErrorInvalidValue);
    *blocks = l.threads_per_unit / threads < l.blocks_per_unit ? l.threads_per_unit / threads : l.blocks_per_unit;
    return failed(cudaSuccess);
}
cudaError_t ws_occupancy(int *min_grid, int *block, int limit) {
    *block = limit > 0 && limit < most_threads ? limit / 32 * 32 : most_threads;
    *min_grid = processors * (device.limits.threads_per_unit / *block);
    return failed(cudaSuccess);
}
}
