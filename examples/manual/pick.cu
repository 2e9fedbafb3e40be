// One name, three values: where the ways meet, `limit` depends on the way that a thread took.

__global__ void pick(int *out, int count, int n)
{
    int limit = n;
    if (threadIdx.x < 7)
        limit = n + 1;
    if (count < limit)
        out[threadIdx.x] = 1;
    limit = 2 * n;
    if (count < limit)
        out[threadIdx.x] = 2;
}
