// The sum of 32 numbers, in five rounds: in each round fewer lanes of the warp have something to do.

__global__ void sum(int *out, const int *in)
{
    __shared__ int part[32];
    int t = threadIdx.x;
    part[t] = in[t];
    __syncthreads();
    for (int step = 1; step < 32; step *= 2) {
        if (t % (2 * step) == 0)
            part[t] += part[t + step];
        __syncthreads();
    }
    if (t == 0)
        *out = part[0];
}
