// Sorts of one block.

// launch: grid 1, block 64, a 64
__global__ void bitonic(int *a)
{
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = a[t];
    __syncthreads();
    for (int k = 2; k <= 64; k <<= 1) {
        for (int j = k >> 1; j > 0; j >>= 1) {
            int other = t ^ j;
            if (other > t) {
                int x = s[t], y = s[other]; // races
                if ((x > y) == ((t & k) == 0)) {
                    s[t] = y; // races
                    s[other] = x; // races
                }
            }
            __syncthreads(); // free
        }
    }
    a[t] = s[t]; // races
}

// launch: grid 1, block 32, a 64
__global__ void odd_and_even(int *a)
{
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = a[t];
    s[t + 32] = a[t + 32];
    __syncthreads();
    for (int i = 0; i < 64; i++) {
        int at = 2 * t + (i & 1);
        if (at + 1 < 64) {
            int x = s[at], y = s[at + 1]; // races // races
            if (x > y) {
                s[at] = y; // races
                s[at + 1] = x; // races
            }
        }
        __syncthreads(); // free
    }
    a[t] = s[t]; // races
    a[t + 32] = s[t + 32]; // races
}

// launch: grid 1, block 64, out 64, in 64
__global__ void ranks(int *out, const int *in)
{
    __shared__ int s[64];
    int t = threadIdx.x, rank = 0;
    s[t] = in[t]; // races
    __syncthreads(); // free
    for (int i = 0; i < 64; i++)
        rank += s[i] < s[t]; // races
    out[t] = rank;
}

// launch: grid 1, block 64, out 64, in 64
__global__ void one_bit(int *out, const int *in)
{
    __shared__ int s[64];
    int t = threadIdx.x, v = in[t], mine = v & 1;
    s[t] = mine;
    __syncthreads();
    for (int d = 1; d < 64; d *= 2) {
        int other = t >= d ? s[t - d] : 0; // races
        __syncthreads();
        s[t] += other; // races
        __syncthreads(); // free
    }
    out[t] = mine ? 63 - s[63] + s[t] : t - s[t]; // races
}

// launch: grid 1, block 64, a 64
__global__ void neighbors(int *a)
{
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = a[t]; // races
    __syncthreads(); // free
    int mine = s[t], other = s[t ^ 1]; // races
    a[t] = t & 1 ? max(mine, other) : min(mine, other);
}
