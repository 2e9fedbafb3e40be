// A block sorts n numbers in shared memory, n its threads: each direction has a comparison of its own.
__global__ void bitonic(int *x, int n)
{
    extern __shared__ int held[];
    unsigned t = threadIdx.x;
    held[t] = x[t];
    __syncthreads();
    for (unsigned run = 2; run <= n; run *= 2)
        for (unsigned apart = run / 2; apart > 0; apart /= 2) {
            unsigned other = t ^ apart;
            if (other > t) {
                int mine = held[t], its = held[other];
                if ((t & run) == 0) {
                    if (mine > its) {
                        held[t] = its;
                        held[other] = mine;
                    }
                } else {
                    if (mine < its) {
                        held[t] = its;
                        held[other] = mine;
                    }
                }
            }
            __syncthreads();
        }
    x[t] = held[t];
}
