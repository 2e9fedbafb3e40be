// Shared memory that each thread fills in strides, or in chunks, and counters in it.

// launch: grid 1, block 64, out 64, in 256
__global__ void by_strides(int *out, const int *in)
{
    __shared__ int s[256];
    for (int i = threadIdx.x; i < 256; i += blockDim.x)
        s[i] = in[i]; // races
    __syncthreads(); // free
    out[threadIdx.x] = s[255 - threadIdx.x]; // races
}

// launch: grid 1, block 64, out 64, in 256, n=200, shared 1024
__global__ void by_strides_up_to(int *out, const int *in, int n)
{
    extern __shared__ int s[];
    int sum = 0;
    for (int i = threadIdx.x; i < n; i += 64)
        s[i] = in[i]; // races
    __syncthreads(); // free
    for (int i = 0; i < n; i++)
        sum += s[i]; // races
    out[threadIdx.x] = sum;
}

// launch: grid 2, block 64, out 128, in 128, table 16
__global__ void looked_up(int *out, const int *in, const int *table)
{
    __shared__ int s[16];
    if (threadIdx.x < 16)
        s[threadIdx.x] = table[threadIdx.x]; // races
    __syncthreads(); // free
    int i = blockIdx.x * 64 + threadIdx.x;
    out[i] = s[in[i] & 15]; // races
}

// launch: grid 2, block 64, out 64, in 128
__global__ void cleared(int *out, const int *in)
{
    __shared__ int bins[32];
    int t = threadIdx.x;
    if (t < 32)
        bins[t] = 0; // races
    __syncthreads(); // free
    atomicAdd(&bins[in[blockIdx.x * 64 + t] & 31], 1); // races
    __syncthreads();
    if (t < 32)
        out[blockIdx.x * 32 + t] = bins[t];
}

// launch: grid 2, block 64, out 64, in 128
__global__ void counted(int *out, const int *in)
{
    __shared__ int bins[32];
    int t = threadIdx.x;
    if (t < 32)
        bins[t] = 0;
    __syncthreads();
    atomicAdd(&bins[in[blockIdx.x * 64 + t] & 31], 1); // races
    __syncthreads(); // free
    if (t < 32)
        out[blockIdx.x * 32 + t] = bins[t]; // races
}

// launch: grid 2, block 64, out 64, in 128
__global__ void counted_by_hand(int *out, const int *in)
{
    __shared__ int bins[32];
    int t = threadIdx.x;
    if (t < 32)
        bins[t] = 0;
    __syncthreads();
    int b = in[blockIdx.x * 64 + t] & 31;
    bins[b] = bins[b] + 1; // racy races
    atomicAdd(&bins[b], 1); // free
    __syncthreads();
    if (t < 32)
        out[blockIdx.x * 32 + t] = bins[t];
}

// launch: grid 2, block 32, out 256, in 256
__global__ void by_chunks(int *out, const int *in)
{
    __shared__ int s[128];
    int t = threadIdx.x, from = blockIdx.x * 128;
    for (int k = 0; k < 4; k++)
        s[t * 4 + k] = in[from + t * 4 + k]; // races
    __syncthreads(); // free
    for (int k = 0; k < 4; k++)
        out[from + k * 32 + t] = s[k * 32 + t]; // races
}

// launch: grid 1, block 32, out 128, in 128
__global__ void chunks_too_long(int *out, const int *in)
{
    __shared__ int s[130];
    int t = threadIdx.x, last = 3;
    last = 4; // racy
    for (int k = 0; k <= last; k++)
        s[t * 4 + k] = in[t]; // races
    __syncthreads();
    for (int k = 0; k < 4; k++)
        out[k * 32 + t] = s[k * 32 + t];
}

// launch: grid 1, block 32, out 32, in 528
__global__ void triangle(int *out, const int *in)
{
    __shared__ int s[564];
    int t = threadIdx.x, more = 0, sum = 0;
    more = 1; // racy
    for (int k = 0; k <= t + more; k++)
        s[t * (t + 1) / 2 + k] = in[t]; // races
    __syncthreads();
    for (int k = 0; k <= t; k++)
        sum += s[t * (t + 1) / 2 + k];
    out[t] = sum;
}

// launch: grid 1, block 64, out 2, in 64
__global__ void bits(unsigned *out, const int *in)
{
    __shared__ unsigned s[2];
    int t = threadIdx.x;
    if (t < 2)
        s[t] = 0;
    __syncthreads();
    if (in[t] & 1) {
        s[t / 32] |= 1u << t % 32; // racy races
        atomicOr(&s[t / 32], 1u << t % 32); // free
    }
    __syncthreads();
    if (t < 2)
        out[t] = s[t];
}

// launch: grid 1, block 64, out 64, in 128
__global__ void pairs(int *out, const int2 *in)
{
    __shared__ int2 s[64];
    int t = threadIdx.x;
    s[t] = in[t]; // races
    __syncthreads(); // free
    out[t] = ((int *)s)[t]; // races
}

// launch: grid 1, block 64, out 64, in 64
__global__ void bytes(int *out, const int *in)
{
    __shared__ unsigned char s[256];
    int t = threadIdx.x;
    for (int k = 0; k < 4; k++)
        s[t + 64 * k] = in[t] >> 8 * k; // races
    __syncthreads(); // free
    out[t] = s[4 * t] + s[4 * t + 3]; // races
}

// launch: grid 1, block 64, out 64, in 64, m=3
__global__ void modulo(int *out, const int *in, int m)
{
    __shared__ int s[64];
    int t = threadIdx.x;
    s[(t + 16) % 64] = in[t]; // races
    __syncthreads(); // free
    s[(t + 17) % 64] += m; // races
    __syncthreads();
    out[t] = s[t];
}
