// Sums in shared memory by trees.

// launch: grid 2, block 64, out 2, in 128
__global__ void halving(int *out, const int *in)
{
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = in[blockIdx.x * 64 + t];
    __syncthreads();
    for (int half = 32; half > 0; half >>= 1) {
        if (t < half)
            s[t] += s[t + half]; // races
        __syncthreads(); // free
    }
    if (t == 0)
        out[blockIdx.x] = s[0];
}

// launch: grid 2, block 64, out 2, in 128
__global__ void halving_begins(int *out, const int *in)
{
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = in[blockIdx.x * 64 + t]; // races
    __syncthreads(); // free
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (t < half)
            s[t] += s[t + half]; // races
        __syncthreads();
    }
    if (t == 0)
        out[blockIdx.x] = s[0];
}

// launch: grid 2, block 64, out 2, in 128
__global__ void doubling(int *out, const int *in)
{
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = in[blockIdx.x * 64 + t]; // races
    for (int step = 1; step < blockDim.x; step *= 2) {
        __syncthreads(); // free
        if (t % (2 * step) == 0)
            s[t] += s[t + step]; // races
    }
    if (t == 0)
        out[blockIdx.x] = s[0];
}

// launch: grid 2, block 64, out 2, in 128
__global__ void doubling_dense(int *out, const int *in)
{
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = in[blockIdx.x * 64 + t];
    __syncthreads();
    for (int step = 1; step < 64; step *= 2) {
        int k = 2 * step * t;
        if (k < 64)
            s[k] += s[k + step]; // races
        __syncthreads(); // free
    }
    if (t == 0)
        out[blockIdx.x] = s[0];
}

// launch: grid 2, block 64, out 128, in 128
__global__ void sum_for_all(int *out, const int *in)
{
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = in[blockIdx.x * 64 + t];
    for (int half = 32; half > 0; half >>= 1) {
        __syncthreads();
        if (t < half)
            s[t] += s[t + half]; // races
    }
    __syncthreads(); // free
    out[blockIdx.x * 64 + t] = s[0]; // races
}

// launch: grid 2, block 64, out 128, in 128
__global__ void two_sums(int *out, const int *in)
{
    __shared__ int s[64];
    int t = threadIdx.x, v = in[blockIdx.x * 64 + t];
    s[t] = v;
    __syncthreads();
    for (int half = 32; half > 0; half >>= 1) {
        if (t < half)
            s[t] += s[t + half];
        __syncthreads();
    }
    int sum = s[0]; // races
    __syncthreads(); // free
    s[t] = v * v; // races
    __syncthreads();
    for (int half = 32; half > 0; half >>= 1) {
        if (t < half)
            s[t] += s[t + half];
        __syncthreads();
    }
    out[blockIdx.x * 64 + t] = sum + s[0];
}

// launch: grid 2, block 64, out 2, in 128, n=32
__global__ void halving_unknown(int *out, const int *in, int n)
{
    extern __shared__ int s[];
    int t = threadIdx.x;
    s[t] = in[blockIdx.x * 64 + t];
    __syncthreads();
    for (int half = n; half > 0; half /= 2) {
        if (t < half)
            s[t] += s[t + half]; // races
        __syncthreads(); // free
    }
    if (t == 0)
        out[blockIdx.x] = s[0];
}

// launch: grid 2, block 16 8, out 32, in 256
__global__ void sum_of_columns(int *out, const int *in)
{
    __shared__ int s[8][16];
    int x = threadIdx.x, y = threadIdx.y;
    s[y][x] = in[blockIdx.x * 128 + y * 16 + x];
    __syncthreads();
    for (int half = 4; half > 0; half >>= 1) {
        if (y < half)
            s[y][x] += s[y + half][x]; // races
        __syncthreads(); // free
    }
    if (y == 0)
        out[blockIdx.x * 16 + x] = s[0][x];
}

// launch: grid 2, block 128, out 2, in 256
__global__ void sum_of_warps(int *out, const int *in)
{
    __shared__ int part[4];
    int t = threadIdx.x, v = in[blockIdx.x * 128 + t];
    for (int half = 16; half > 0; half >>= 1)
        v += __shfl_down_sync(0xffffffff, v, half);
    if (t % 32 == 0)
        part[t / 32] = v; // races
    __syncthreads(); // free
    if (t == 0)
        out[blockIdx.x] = part[0] + part[1] + part[2] + part[3]; // races
}

// launch: grid 2, block 64, out 2, in 128
__global__ void unrolled(int *out, const int *in)
{
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = in[blockIdx.x * 64 + t];
    __syncthreads();
    if (t < 32) s[t] += s[t + 32];
    __syncthreads();
    if (t < 16) s[t] += s[t + 16]; // races
    __syncthreads(); // free
    if (t < 8) s[t] += s[t + 8]; // races
    __syncthreads();
    if (t < 4) s[t] += s[t + 4];
    __syncthreads();
    if (t == 0)
        out[blockIdx.x] = s[0] + s[1] + s[2] + s[3];
}

// launch: grid 3, block 32, out 3, in 300, n=300
__global__ void sums_of_rows(int *out, const int *in, int n)
{
    __shared__ int s[32];
    int t = threadIdx.x;
    for (int row = blockIdx.x; row < 3; row += gridDim.x) {
        int sum = 0;
        for (int i = t; i < n / 3; i += 32)
            sum += in[row * (n / 3) + i];
        s[t] = sum;
        __syncthreads();
        for (int half = 16; half > 0; half >>= 1) {
            if (t < half)
                s[t] += s[t + half]; // races
            __syncthreads(); // free
        }
        if (t == 0)
            out[row] = s[0];
        __syncthreads();
    }
}
