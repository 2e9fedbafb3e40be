// Host code and streams with and without an order: the first argument chooses the case. Read by test_asynchrony.py.
#include <cstdio>
#include <cstdlib>
#include <cstring>

__global__ void fill(int *a, int value) { a[threadIdx.x] = value; }
__global__ void add(int *to, const int *from) { to[threadIdx.x] += from[threadIdx.x]; }

const int n = 64;
const size_t bytes = n * sizeof(int);
int host[n];
int *a, *b, *pinned, *managed;
cudaStream_t s, t, blocking;
cudaEvent_t event;

void device_to_host(int *to, const int *from) { cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost); }
void two_streams(bool ordered) {
    fill<<<1, n, 0, s>>>(a, 3);
    if (ordered) {
        cudaEventRecord(event, s);
        cudaStreamWaitEvent(t, event, 0);
    }
    add<<<1, n, 0, t>>>(b, a); // reads what fill writes
    cudaDeviceSynchronize();
    device_to_host(host, b);
}
void copy_beside_kernel(bool ordered) {
    fill<<<1, n, 0, s>>>(a, 4);
    if (ordered) cudaStreamSynchronize(s);
    cudaMemcpyAsync(pinned, a, bytes, cudaMemcpyDeviceToHost, t);
    cudaStreamSynchronize(t);
    memcpy(host, pinned, bytes);
}
void early_read(int *to, bool ordered) {
    fill<<<1, n, 0, s>>>(a, 5);
    cudaMemcpyAsync(to, a, bytes, cudaMemcpyDeviceToHost, s);
    if (ordered) cudaStreamSynchronize(s);
    host[0] = to[0]; // before the copy is known to be done
    cudaDeviceSynchronize();
}
void early_write(bool ordered) {
    pinned[1] = 6;
    cudaMemcpyAsync(a, pinned, bytes, cudaMemcpyHostToDevice, s);
    if (ordered) cudaStreamSynchronize(s);
    pinned[1] = 7;
    cudaDeviceSynchronize();
    device_to_host(host, a);
}
void managed_memory(bool ordered) {
    managed[2] = 1;
    fill<<<1, n>>>(managed, 8);
    if (ordered) cudaDeviceSynchronize();
    host[0] = managed[2];
    cudaDeviceSynchronize();
}
void default_stream(cudaStream_t other) {
    fill<<<1, n, 0, other>>>(a, 9);
    add<<<1, n>>>(b, a); // the legacy default stream waits for blocking streams only
    fill<<<1, n, 0, other>>>(a, 1);
    cudaDeviceSynchronize();
    device_to_host(host, b);
}
void set_then_stream(bool ordered) {
    cudaMemset(a, 0, bytes); // does not wait
    if (ordered) cudaDeviceSynchronize();
    fill<<<1, n, 0, s>>>(a, 2);
    cudaDeviceSynchronize();
    device_to_host(host, a);
}
void free_in_another_stream(bool ordered) {
    int *p;
    cudaMallocAsync(&p, bytes, s);
    fill<<<1, n, 0, s>>>(p, 2);
    cudaEventRecord(event, s);
    if (ordered) cudaStreamWaitEvent(t, event, 0);
    cudaFreeAsync(p, t);
    cudaDeviceSynchronize();
}
void count(void *data) { ++*(int *)data; }
void host_function(bool ordered) {
    cudaLaunchHostFunc(s, count, pinned);
    if (ordered) cudaStreamSynchronize(s);
    pinned[0] += 1;
    cudaDeviceSynchronize();
    host[0] = pinned[0];
}
void neighbors() { // streams work on parts of one array, the host on another part
    cudaMemset(a, 0, bytes);
    cudaDeviceSynchronize();
    fill<<<1, n / 2, 0, s>>>(a, 1);
    fill<<<1, n / 2, 0, t>>>(a + n / 2, 2);
    cudaMemcpyAsync(pinned, a, bytes / 2, cudaMemcpyDeviceToHost, s);
    cudaMemcpyAsync(pinned + n / 2, a + n / 2, bytes / 2, cudaMemcpyDeviceToHost, t);
    fill<<<1, 1>>>(managed, 3);
    managed[1] = 4;
    cudaStreamSynchronize(s);
    host[0] = pinned[0];
    cudaStreamSynchronize(t);
    host[1] = pinned[n / 2];
    while (cudaStreamQuery(0) == cudaErrorNotReady) {}
    host[2] = managed[0] + managed[1];
    cudaFreeAsync(0, s);
}
void reuse() { // one buffer there and back in one stream, twice
    for (int i = 0; i < 2; i++) {
        pinned[0] = i;
        cudaMemcpyAsync(a, pinned, bytes, cudaMemcpyHostToDevice, s);
        add<<<1, n, 0, s>>>(a, a);
        cudaMemcpyAsync(pinned, a, bytes, cudaMemcpyDeviceToHost, s);
        cudaEventRecord(event, s);
        while (cudaEventQuery(event) == cudaErrorNotReady) {}
        host[i] = pinned[0];
    }
}
void tell(void *data) { *(volatile int *)data = 1; }
void waits_without_a_call() { // the device goes on by itself
    static volatile int told;
    cudaLaunchHostFunc(s, tell, (void *)&told);
    while (!told) {}
    host[0] = told;
    cudaDeviceSynchronize();
}

int main(int argc, char **argv) {
    cudaMalloc(&a, bytes);
    cudaMalloc(&b, bytes);
    cudaMallocHost(&pinned, bytes);
    cudaMallocManaged(&managed, bytes);
    memset(pinned, 0, bytes);
    memset(managed, 0, bytes);
    cudaMemset(a, 0, bytes);
    cudaMemset(b, 0, bytes);
    cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking);
    cudaStreamCreate(&blocking);
    cudaEventCreate(&event);
    cudaDeviceSynchronize();
    const char *name = argc > 1 ? argv[1] : "";
    const bool ordered = argc > 2;
    if (!strcmp(name, "two_streams")) two_streams(ordered);
    if (!strcmp(name, "copy_beside_kernel")) copy_beside_kernel(ordered);
    if (!strcmp(name, "early_read_pinned")) early_read(pinned, ordered);
    if (!strcmp(name, "early_read_pageable")) early_read(host + 1, ordered);
    if (!strcmp(name, "early_write")) early_write(ordered);
    if (!strcmp(name, "managed")) managed_memory(ordered);
    if (!strcmp(name, "default_stream")) default_stream(ordered ? blocking : s);
    if (!strcmp(name, "set_then_stream")) set_then_stream(ordered);
    if (!strcmp(name, "free_in_another_stream")) free_in_another_stream(ordered);
    if (!strcmp(name, "host_function")) host_function(ordered);
    if (!strcmp(name, "neighbors")) neighbors();
    if (!strcmp(name, "reuse")) reuse();
    if (!strcmp(name, "waits_without_a_call")) waits_without_a_call();
    printf("%d %d %d\n", host[0], host[1], host[2]);
    return cudaGetLastError();
}
