// The mean of neighbors, through shared memory; a barrier is missing.

__global__ void smooth(float *out, const float *in)
{
    __shared__ float part[64];
    int t = threadIdx.x;
    part[t] = in[t];
    out[t] = 0.5f * (part[t] + part[(t + 1) % 64]);
}
