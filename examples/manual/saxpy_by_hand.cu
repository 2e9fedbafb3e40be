// saxpy, ported by hand; one comparison is wrong.
#include <cuda_runtime.h>

__global__ void add(int n, float a, const float *x, float *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= n)
        y[i] = a * x[i] + y[i];
}

void saxpy(int n, float a, const float *x, float *y)
{
    if (n <= 0)
        return;
    float *x_gpu, *y_gpu;
    cudaMalloc(&x_gpu, n * sizeof(float));
    cudaMalloc(&y_gpu, n * sizeof(float));
    cudaMemcpy(x_gpu, x, n * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(y_gpu, y, n * sizeof(float), cudaMemcpyHostToDevice);
    add<<<(n + 255) / 256, 256>>>(n, a, x_gpu, y_gpu);
    cudaMemcpy(y, y_gpu, n * sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(x_gpu);
    cudaFree(y_gpu);
}
