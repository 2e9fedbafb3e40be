// What lanes of one warp exchange through memory.

// launch: grid 2, block 32, out 64, in 64
__global__ void one_warp(int *out, const int *in)
{
    __shared__ int s[32];
    int t = threadIdx.x;
    s[t] = in[blockIdx.x * 32 + t]; // races
    __syncwarp(); // free
    out[blockIdx.x * 32 + t] = s[t ^ 1]; // races
}

// launch: grid 1, block 32, out 32, in 32
__global__ void warp_scan(int *out, const int *in)
{
    __shared__ int s[32];
    int t = threadIdx.x;
    s[t] = in[t];
    __syncwarp();
    for (int d = 1; d < 32; d *= 2) {
        int v = t >= d ? s[t - d] : 0; // races
        __syncwarp(); // free
        s[t] += v; // races
        __syncwarp();
    }
    out[t] = s[t];
}

// launch: grid 1, block 128, out 128, in 128
__global__ void slices(int *out, const int *in)
{
    __shared__ int s[4][32];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    s[warp][lane] = in[threadIdx.x]; // races
    __syncwarp(); // free
    out[threadIdx.x] = s[warp][31 - lane]; // races
}

// launch: grid 1, block 64, out 64, in 64
__global__ void more_than_a_warp(int *out, const int *in)
{
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = in[t]; // races
    __syncthreads(); // free
    __syncwarp(); // racy
    out[t] = s[63 - t]; // races
}

// launch: grid 1, block 64, out 64, in 2
__global__ void one_lane_tells(int *out, const int *in)
{
    __shared__ int v[2];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    if (lane == 0)
        v[warp] = in[warp]; // races
    __syncwarp(); // free
    out[threadIdx.x] = v[warp]; // races
}

// launch: grid 1, block 64, out 2, in 64
__global__ void last_warp(int *out, const int *in)
{
    __shared__ volatile int s[64];
    int t = threadIdx.x;
    s[t] = in[t];
    __syncthreads();
    if (t < 32) {
        for (int half = 32; half > 0; half >>= 1) {
            int v = s[t + half]; // races
            __syncwarp(); // free
            if (t < half) // free
            s[t] = s[t] + v; // races
            __syncwarp(); // free
        }
    }
    if (t == 0)
        out[0] = s[0];
}

// launch: grid 1, block 64, out 64, in 64
__global__ void warps_add_up(int *out, const int *in)
{
    __shared__ int sum[2];
    int t = threadIdx.x, lane = t & 31, v = in[t];
    for (int d = 16; d > 0; d /= 2)
        v += __shfl_xor_sync(0xffffffff, v, d);
    if (lane == 0)
        sum[t >> 5] = v; // races
    __syncthreads(); // free
    out[t] = sum[0] + sum[1]; // races
}

// launch: grid 1, block 64, out 64, in 64
__global__ void ballots(int *out, const int *in)
{
    __shared__ int count[2];
    int t = threadIdx.x, lane = t & 31, v = in[t];
    unsigned chosen = __ballot_sync(0xffffffff, v & 1);
    if (lane == 0)
        count[t / 32] = __popc(chosen); // races
    __syncthreads(); // free
    out[t] = (t < 32 ? 0 : count[0]) + __popc(chosen & ((1u << lane) - 1)); // races
}

// launch: grid 1, block 64, out 64, in 64
__global__ void half_a_warp(int *out, const int *in)
{
    __shared__ int s[64];
    int t = threadIdx.x, lane = t & 31;
    s[t] = in[t]; // races
    if (lane < 16) {
        __syncwarp(0x0000ffff); // free
        out[t] = s[t ^ 8]; // races
    }
}

// launch: grid 1, block 64, out 64, in 256, n=4
__global__ void slices_again(int *out, const int *in, int n)
{
    __shared__ int s[2][32];
    int warp = threadIdx.x / 32, lane = threadIdx.x & 31, sum = 0;
    for (int i = 0; i < n; i++) {
        s[warp][lane] = in[i * 64 + threadIdx.x]; // races
        __syncwarp();
        sum += s[warp][(lane + 1) & 31]; // races
        __syncwarp(); // free
    }
    out[threadIdx.x] = sum;
}
