// One step of the 3n + 1 sequence for each element: odd and even ones go different ways.

__global__ void parity(int *out, const int *in, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int x = in[i];
    if (x & 1)
        x = 3 * x + 1;
    else
        x = x / 2;
    out[i] = x;
}
