// Sums of all elements up to each one.

// launch: grid 2, block 64, out 128, in 128
__global__ void in_place(int *out, const int *in)
{
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = in[blockIdx.x * 64 + t];
    __syncthreads();
    for (int d = 1; d < 64; d *= 2) {
        int v = 0;
        if (t >= d)
            v = s[t - d]; // races
        __syncthreads(); // free
        s[t] += v; // races
        __syncthreads();
    }
    out[blockIdx.x * 64 + t] = s[t];
}

// launch: grid 2, block 64, out 128, in 128
__global__ void in_place_back(int *out, const int *in)
{
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = in[blockIdx.x * 64 + t];
    __syncthreads();
    for (int d = 1; d < blockDim.x; d <<= 1) {
        int v = t >= d ? s[t - d] : 0; // races
        __syncthreads();
        s[t] += v; // races
        __syncthreads(); // free
    }
    out[blockIdx.x * 64 + t] = s[t];
}

// launch: grid 2, block 64, out 128, in 128
__global__ void two_buffers(int *out, const int *in)
{
    __shared__ int s[2][64];
    int t = threadIdx.x, now = 0;
    s[0][t] = in[blockIdx.x * 64 + t];
    __syncthreads();
    for (int d = 1; d < 64; d *= 2) {
        int v = s[now][t];
        if (t >= d)
            v += s[now][t - d]; // races
        now = 1 - now;
        s[now][t] = v; // races
        __syncthreads(); // free
    }
    out[blockIdx.x * 64 + t] = s[now][t];
}

// launch: grid 2, block 32, out 128, in 128
__global__ void up_sweep(int *out, const int *in)
{
    __shared__ int s[64];
    int t = threadIdx.x, at = 1;
    s[2 * t] = in[blockIdx.x * 64 + 2 * t];
    s[2 * t + 1] = in[blockIdx.x * 64 + 2 * t + 1]; // races
    for (int d = 32; d > 0; d >>= 1) {
        __syncthreads(); // free
        if (t < d)
            s[at * (2 * t + 2) - 1] += s[at * (2 * t + 1) - 1]; // races
        at *= 2;
    }
    if (t == 0)
        out[blockIdx.x] = s[63]; // races
}

// launch: grid 2, block 32, out 128, in 128
__global__ void down_sweep(int *out, const int *in)
{
    __shared__ int s[64];
    int t = threadIdx.x, at = 64;
    s[2 * t] = in[blockIdx.x * 64 + 2 * t];
    s[2 * t + 1] = in[blockIdx.x * 64 + 2 * t + 1]; // races
    for (int d = 1; d < 64; d *= 2) {
        at >>= 1;
        __syncthreads(); // free
        if (t < d) {
            int a = at * (2 * t + 1) - 1, b = at * (2 * t + 2) - 1;
            int v = s[a]; // races
            s[a] = s[b]; // races
            s[b] += v; // races
        }
    }
    __syncthreads();
    out[blockIdx.x * 64 + t] = s[t];
}

// launch: grid 2, block 128, out 256, in 256
__global__ void scan_of_warps(int *out, const int *in)
{
    __shared__ int part[4];
    int t = threadIdx.x, lane = t & 31, v = in[blockIdx.x * 128 + t];
    for (int d = 1; d < 32; d *= 2) {
        int other = __shfl_up_sync(0xffffffff, v, d);
        if (lane >= d)
            v += other;
    }
    if (lane == 31)
        part[t >> 5] = v; // races
    __syncthreads(); // free
    for (int w = 0; w < t >> 5; w++)
        v += part[w]; // races
    out[blockIdx.x * 128 + t] = v;
}

// launch: grid 2, block 64, out 128, in 128
__global__ void from_the_left(int *out, const int *in)
{
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = in[blockIdx.x * 64 + t]; // races
    __syncthreads(); // free
    out[blockIdx.x * 64 + t] = t > 0 ? s[t - 1] : 0; // races
}

// launch: grid 2, block 64, out 128, in 128
__global__ void one_adds_up(int *out, const int *in)
{
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = in[blockIdx.x * 64 + t];
    __syncthreads();
    if (t == 0)
        for (int i = 1; i < 64; i++)
            s[i] += s[i - 1]; // races
    __syncthreads(); // free
    out[blockIdx.x * 64 + t] = s[t]; // races
}

// launch: grid 1, block 64, out 256, in 256, n=256
__global__ void carried(int *out, const int *in, int n)
{
    __shared__ int s[64], carry;
    int t = threadIdx.x;
    if (t == 0)
        carry = 0;
    for (int from = 0; from < n; from += 64) {
        s[t] = in[from + t];
        __syncthreads();
        for (int d = 1; d < 64; d *= 2) {
            int v = t >= d ? s[t - d] : 0;
            __syncthreads();
            s[t] += v;
            __syncthreads();
        }
        out[from + t] = s[t] + carry; // races
        __syncthreads(); // free
        if (t == 63)
            carry += s[63]; // races
        __syncthreads();
    }
}
