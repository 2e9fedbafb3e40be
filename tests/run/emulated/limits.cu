// Barriers, masks and limits, a kernel each: the first argument chooses. Read by test_emulated_limits.py.
#include <cstdio>
#include <cstdlib>

__device__ int twice(int x) { return 2 * x; }

__global__ void returns_before(int *a, int n) {
    __shared__ int s[64];
    int i = threadIdx.x;
    if (i >= n) return;
    s[i] = i;
    __syncthreads();
    a[i] = s[n - 1 - i];
}
__global__ void goes_around(int *a, int n) {
    __shared__ int s[64];
    int i = threadIdx.x;
    if (i < n) {
        s[i] = twice(i);
        __syncthreads(); // here
        a[i] = s[n - 1 - i];
    }
}
__global__ void goes_on(int *a, int n) {
    int i = threadIdx.x;
    if (i > 100) return;
    if (i < n) __syncthreads(); // here
    a[i] = i;
}
__global__ void leaves_a_loop(int *a, int n) {
    for (int i = threadIdx.x; i < n; i += 64) {
        a[i] = i;
        __syncthreads(); // here
    }
}
__global__ void loops_together(int *a, int n) {
    __shared__ int s[64];
    for (int base = 0; base < n; base += 64) {
        int i = base + threadIdx.x;
        if (i < n) s[threadIdx.x] = i;
        __syncthreads();
        if (i < n) a[i] = s[threadIdx.x];
        __syncthreads();
    }
}
__global__ void names_too_many(int *a, int n) {
    int i = threadIdx.x, v = i;
    if (i < n) {
        for (int d = 8; d; d /= 2) v += __shfl_down_sync(0xffffffffu, v, d); // here
        if (i == 0) a[0] = v;
    }
}
__global__ void names_those_that_come(int *a, int n) {
    int i = threadIdx.x, v = i;
    unsigned mask = __ballot_sync(0xffffffffu, i < n);
    if (i < n) {
        for (int d = 8; d; d /= 2) v += __shfl_down_sync(mask, v, d);
        if (i == 0) a[0] = v;
    }
}
__global__ void leaves_itself_out(int *a, int) {
    a[threadIdx.x] = __any_sync(1u << 5, 1); // here
}
__global__ void halves(int *a, int) { // both branches come to one shuffle of the whole warp
    int i = threadIdx.x & 31, v;
    if (i < 16) v = __shfl_xor_sync(0xffffffffu, i, 16);
    else v = __shfl_xor_sync(0xffffffffu, i, 16);
    a[threadIdx.x] = v;
}
__global__ void on_one_line(int *a, int n) { if (threadIdx.x < n) { a[0] = 1; __syncthreads(); } } // here

int main(int argc, char **argv) {
    int *a, h[128], n = argc > 2 ? atoi(argv[2]) : 40;
    cudaMalloc(&a, sizeof h);
    cudaMemset(a, 0, sizeof h);
    switch (atoi(argv[1])) {
    case 0: returns_before<<<1, 64>>>(a, n); break;
    case 1: goes_around<<<1, 64>>>(a, n); break;
    case 2: goes_on<<<1, 64>>>(a, n); break;
    case 3: leaves_a_loop<<<1, 64>>>(a, n); break;
    case 4: loops_together<<<1, 64>>>(a, n); break;
    case 5: names_too_many<<<1, 32>>>(a, n); break;
    case 6: names_those_that_come<<<1, 32>>>(a, n); break;
    case 7: leaves_itself_out<<<1, 32>>>(a, n); break;
    case 8: on_one_line<<<1, 64>>>(a, n); break;
    default: halves<<<1, 64>>>(a, n);
    }
    cudaMemcpy(h, a, sizeof h, cudaMemcpyDeviceToHost);
    printf("%d %d\n", h[0], h[31]);
}
