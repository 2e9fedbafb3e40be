// Each thread counts its number down to zero: a warp stays until its greatest number is there.
__global__ void dec2zero(int *v, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        while (v[i] > 0)
            v[i]--;
}
