// What the device itself can do, each as `NAME VALUE UNIT`: memory (after J. McCalpin, STREAM), launches, copies, clocks,
// and matrix products of cuBLAS. Each is the best of ten, after three that do not count.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <functional>
#include <vector>

static void check(cudaError_t status, const char *what)
{
    if (status == cudaSuccess)
        return;
    fprintf(stderr, "error %s: %s\n", what, cudaGetErrorString(status));
    exit(1);
}

__global__ void stream_copy(const double *a, double *c, size_t n)
{
    const size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (i < n)
        c[i] = a[i];
}

__global__ void stream_scale(double *b, const double *c, double q, size_t n)
{
    const size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (i < n)
        b[i] = q * c[i];
}

__global__ void stream_add(const double *a, const double *b, double *c, size_t n)
{
    const size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (i < n)
        c[i] = a[i] + b[i];
}

__global__ void stream_triad(double *a, const double *b, const double *c, double q, size_t n)
{
    const size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;
    if (i < n)
        a[i] = b[i] + q * c[i];
}

__global__ void nothing()
{
}

/* The seconds that some work takes on the device, by events. */
static double on_device(const std::function<void()> &work)
{
    cudaEvent_t begin, end;
    check(cudaEventCreate(&begin), "event");
    check(cudaEventCreate(&end), "event");
    double best = 1e30;
    for (int run = 0; run < 13; run++) {
        check(cudaEventRecord(begin), "record");
        work();
        check(cudaEventRecord(end), "record");
        check(cudaEventSynchronize(end), "wait");
        float milliseconds = 0;
        check(cudaEventElapsedTime(&milliseconds, begin, end), "elapsed");
        if (run >= 3)
            best = std::min(best, 1e-3 * milliseconds);
    }
    check(cudaEventDestroy(begin), "event");
    check(cudaEventDestroy(end), "event");
    return best;
}

/* The seconds that some work takes as the host sees it, until the device is done. */
static double on_host(const std::function<void()> &work)
{
    double best = 1e30;
    for (int run = 0; run < 13; run++) {
        const auto begin = std::chrono::steady_clock::now();
        work();
        check(cudaDeviceSynchronize(), "wait");
        const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
        if (run >= 3)
            best = std::min(best, taken.count());
    }
    return best;
}

/* Memory of the device that holds zeros. */
static double *zeros(size_t bytes)
{
    void *memory;
    check(cudaMalloc(&memory, bytes), "malloc");
    check(cudaMemset(memory, 0, bytes), "set");
    return static_cast<double *>(memory);
}

static void measure_memory()
{
    const size_t n = size_t(1) << 26, bytes = n * sizeof(double);
    double *const a = zeros(bytes), *const b = zeros(bytes), *const c = zeros(bytes);
    const unsigned blocks = unsigned((n + 255) / 256);
    const double copy = on_device([=] { stream_copy<<<blocks, 256>>>(a, c, n); });
    const double scale = on_device([=] { stream_scale<<<blocks, 256>>>(b, c, 3.0, n); });
    const double add = on_device([=] { stream_add<<<blocks, 256>>>(a, b, c, n); });
    const double triad = on_device([=] { stream_triad<<<blocks, 256>>>(a, b, c, 3.0, n); });
    check(cudaGetLastError(), "kernels");
    printf("stream_copy %.1f GB/s\n", 2e-9 * double(bytes) / copy);
    printf("stream_scale %.1f GB/s\n", 2e-9 * double(bytes) / scale);
    printf("stream_add %.1f GB/s\n", 3e-9 * double(bytes) / add);
    printf("stream_triad %.1f GB/s\n", 3e-9 * double(bytes) / triad);
    check(cudaFree(a), "free");
    check(cudaFree(b), "free");
    check(cudaFree(c), "free");
}

static void measure_launches()
{
    const double alone = on_host([] { nothing<<<1, 32>>>(); });
    const double many = on_host([] {
        for (int k = 0; k < 1000; k++)
            nothing<<<1, 32>>>();
    });
    const double inside = on_device([] { nothing<<<1, 32>>>(); });
    printf("launch_and_wait %.2f us\n", 1e6 * alone);
    printf("launch_of_many %.2f us\n", 1e6 * many / 1000);
    printf("empty_kernel %.2f us\n", 1e6 * inside);
}

static void measure_copies()
{
    const size_t bytes = size_t(256) << 20;
    void *device, *pinned;
    check(cudaMalloc(&device, bytes), "malloc");
    check(cudaMallocHost(&pinned, bytes), "pinned");
    std::vector<char> pageable(bytes, 1);
    const struct {
        const char *name;
        void *host;
        bool back;
    } ways[] = {
        {"copy_pinned_in", pinned, false},
        {"copy_pinned_out", pinned, true},
        {"copy_pageable_in", pageable.data(), false},
        {"copy_pageable_out", pageable.data(), true},
    };
    for (const auto &way : ways) {
        const double taken = on_host([&] {
            if (way.back)
                check(cudaMemcpy(way.host, device, bytes, cudaMemcpyDeviceToHost), "copy");
            else
                check(cudaMemcpy(device, way.host, bytes, cudaMemcpyHostToDevice), "copy");
        });
        printf("%s %.2f GB/s\n", way.name, 1e-9 * double(bytes) / taken);
    }
    const double small = on_host([&] { check(cudaMemcpy(device, pinned, 8, cudaMemcpyHostToDevice), "copy"); });
    printf("copy_of_8_bytes %.2f us\n", 1e6 * small);
    check(cudaFree(device), "free");
    check(cudaFreeHost(pinned), "free");
}

static void say_clocks()
{
    int core = 0, memory = 0, processors = 0, cache = 0;
    check(cudaDeviceGetAttribute(&core, cudaDevAttrClockRate, 0), "clock");
    check(cudaDeviceGetAttribute(&memory, cudaDevAttrMemoryClockRate, 0), "clock");
    check(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0), "multiprocessors");
    check(cudaDeviceGetAttribute(&cache, cudaDevAttrL2CacheSize, 0), "L2");
    printf("clock %d kHz\nmemory_clock %d kHz\nmultiprocessors %d -\nl2 %d bytes\n", core, memory, processors, cache);
}

static void measure_products()
{
    cublasHandle_t handle;
    if (cublasCreate(&handle) != CUBLAS_STATUS_SUCCESS) {
        fprintf(stderr, "error cuBLAS\n");
        exit(1);
    }
    for (int n : {1024, 2048, 4096}) {
        const size_t bytes = size_t(n) * size_t(n) * sizeof(double);
        double *const a = zeros(bytes), *const b = zeros(bytes), *const c = zeros(bytes);
        const double one = 1.0;
        const float single_one = 1.0f;
        const double dgemm =
            on_device([&] { cublasDgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, a, n, b, n, &one, c, n); });
        const double sgemm = on_device([&] {
            cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &single_one, (float *)a, n, (float *)b, n,
                        &single_one, (float *)c, n);
        });
        printf("dgemm_%d %.1f us\nsgemm_%d %.1f us\n", n, 1e6 * dgemm, n, 1e6 * sgemm);
        check(cudaFree(a), "free");
        check(cudaFree(b), "free");
        check(cudaFree(c), "free");
    }
    cublasDestroy(handle);
}

int main()
{
    say_clocks();
    measure_memory();
    measure_launches();
    measure_copies();
    measure_products();
    return 0;
}
