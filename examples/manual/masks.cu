// Three small control flows, for the history of their active lanes.

__global__ void odd_lanes(int *out)
{
    unsigned lane = threadIdx.x % 32;
    if (lane & 1)
        out[lane] = 1;
    out[32 + lane] = 2;
}

__global__ void late_starts(int *out)
{
    unsigned lane = threadIdx.x % 32;
    for (unsigned i = lane; i < 16; i++)
        out[lane] += 1;
}

__global__ void halves(int *out)
{
    unsigned lane = threadIdx.x % 32;
    if (lane < 16)
        out[lane] = 1;
    else
        out[lane] = 2;
}

__global__ void counted(int *out, const int *count)
{
    int sum = 0;
    for (int i = 0; i < count[threadIdx.x]; i++)
        sum += i;
    out[threadIdx.x] = sum;
}
