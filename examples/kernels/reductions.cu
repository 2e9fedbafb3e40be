// The sum of n numbers, each way that is in use: who adds what to what, and where the threads of a warp part.
//
// run: reduce_interleaved grid 2 block 64 out=i32*4 in=i32*200 n=128|100|7
// run: reduce_interleaved_strided grid 2 block 64 out=i32*4 in=i32*200 n=128|100|7
// run: reduce_sequential grid 2 block 64 out=i32*4 in=i32*200 n=128|100|7
// run: reduce_first_add grid 2 block 64 out=i32*4 in=i32*400 n=256|200|7
// run: reduce_unrolled grid 2 block 128 out=i32*4 in=i32*600 n=512|300|7
// run: reduce_shuffle grid 2 block 64 out=i32*4 in=i32*200 n=128|100|7
// run: reduce_grid_stride grid 2 block 64 out=i32*1:0..0 in=i32*600 n=500|130|7
// run: reduce_atomic grid 2 block 64 out=i32*1:0..0 in=i32*200 n=128|100|7
// run: reduce_last_block grid 3 block 64 out=i32*1:0..0 partial=i32*4:0..0 arrived=i32*1:0..0 in=i32*300 n=192|130|7
// run: dot grid 2 block 64 out=f32*1:0..0 a=f32*300 b=f32*300 n=300|130|7
// run: maximum_index grid 1 block 64 out=i32*1 in=f32*200 n=128|100|7

__global__ void reduce_interleaved(int *out, const int *in, int n) {
    __shared__ int sums[64];
    int t = threadIdx.x;
    int i = blockIdx.x * blockDim.x + t;
    sums[t] = i < n ? in[i] : 0;
    __syncthreads();
    for (int s = 1; s < blockDim.x; s *= 2) {
        if (t % (2 * s) == 0) //~ DIV
            sums[t] += sums[t + s];
        __syncthreads();
    }
    if (t == 0)
        out[blockIdx.x] = sums[0];
}

__global__ void reduce_interleaved_strided(int *out, const int *in, int n) {
    __shared__ int sums[64];
    int t = threadIdx.x;
    int i = blockIdx.x * blockDim.x + t;
    sums[t] = i < n ? in[i] : 0;
    __syncthreads();
    for (unsigned s = 1; s < blockDim.x; s *= 2) {
        unsigned place = 2 * s * t;
        if (place < blockDim.x)
            sums[place] += sums[place + s];
        __syncthreads();
    }
    if (t == 0)
        out[blockIdx.x] = sums[0];
}

__global__ void reduce_sequential(int *out, const int *in, int n) {
    int t = threadIdx.x;
    int i = blockIdx.x * blockDim.x + t;
    __shared__ int sums[64];
    sums[t] = i < n ? in[i] : 0;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (t < s)
            sums[t] += sums[t + s];
        __syncthreads();
    }
    if (t == 0)
        out[blockIdx.x] = sums[0];
}

__global__ void reduce_first_add(int *out, const int *in, int n) {
    __shared__ int sums[64];
    int t = threadIdx.x;
    int i = blockIdx.x * (blockDim.x * 2) + t;
    int mine = i < n ? in[i] : 0;
    if (i + blockDim.x < n)
        mine += in[i + blockDim.x];
    sums[t] = mine;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (t < s)
            sums[t] = mine = mine + sums[t + s];
        __syncthreads();
    }
    if (t == 0)
        out[blockIdx.x] = mine;
}

__device__ int warp_sum(int value) {
    for (int offset = 16; offset > 0; offset /= 2)
        value += __shfl_down_sync(0xffffffffu, value, offset);
    return value;
}

template <int THREADS>
__global__ void reduce_unrolled(int *out, const int *in, int n) {
    __shared__ int sums[THREADS];
    int t = threadIdx.x;
    int mine = 0;
    for (int i = blockIdx.x * THREADS * 2 + t; i < n; i += THREADS * 2 * gridDim.x) {
        mine += in[i];
        if (i + THREADS < n)
            mine += in[i + THREADS];
    }
    sums[t] = mine;
    __syncthreads();
    if (THREADS >= 128) {
        if (t < 64)
            sums[t] = mine = mine + sums[t + 64];
        __syncthreads();
    }
    if (THREADS >= 64) {
        if (t < 32)
            sums[t] = mine = mine + sums[t + 32];
        __syncthreads();
    }
    if (t < 32)
        mine = warp_sum(mine);
    if (t == 0)
        out[blockIdx.x] = mine;
}

template __global__ void reduce_unrolled<128>(int *, const int *, int);

__global__ void reduce_shuffle(int *out, const int *in, int n) {
    __shared__ int sums[32];
    int lane = threadIdx.x % warpSize;
    int warp = threadIdx.x / warpSize;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int mine = warp_sum(i < n ? in[i] : 0);
    if (lane == 0)
        sums[warp] = mine;
    __syncthreads();
    if (warp == 0) { //~ warp uniform, block divergent
        mine = lane < blockDim.x / warpSize ? sums[lane] : 0;
        mine = warp_sum(mine);
        if (lane == 0)
            out[blockIdx.x] = mine;
    }
}

__global__ void reduce_grid_stride(int *out, const int *in, int n) {
    int mine = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        mine += in[i];
    mine = warp_sum(mine);
    if ((threadIdx.x & 31) == 0)
        atomicAdd(out, mine);
}

__global__ void reduce_atomic(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(out, in[i]);
}

__global__ void reduce_last_block(int *out, volatile int *partial, unsigned *arrived, const int *in, int n) {
    __shared__ int sums[64];
    __shared__ bool last;
    int t = threadIdx.x;
    int i = blockIdx.x * blockDim.x + t;
    sums[t] = i < n ? in[i] : 0;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (t < s)
            sums[t] += sums[t + s];
        __syncthreads();
    }
    if (t == 0) {
        partial[blockIdx.x] = sums[0];
        __threadfence();
        last = atomicAdd(arrived, 1u) == gridDim.x - 1;
    }
    __syncthreads();
    if (last) { //~ uniform
        if (t == 0) {
            int total = 0;
            for (int b = 0; b < gridDim.x; b++)
                total += partial[b];
            *out = total;
        }
    }
}

__global__ void dot(float *out, const float *a, const float *b, int n) {
    float mine = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        mine += a[i] * b[i];
    for (int mask = 16; mask > 0; mask >>= 1) //~ uniform
        mine += __shfl_xor_sync(0xffffffffu, mine, mask);
    if (threadIdx.x % 32 == 0)
        atomicAdd(out, mine);
}

__global__ void maximum_index(int *out, const float *in, int n) {
    __shared__ float values[64];
    __shared__ int places[64];
    int t = threadIdx.x;
    float best = -1e30f;
    int place = -1;
    for (int i = t; i < n; i += blockDim.x)
        if (in[i] > best) {
            best = in[i];
            place = i;
        }
    values[t] = best;
    places[t] = place;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s /= 2) {
        if (t < s && values[t + s] > values[t]) {
            values[t] = values[t + s];
            places[t] = places[t + s];
        }
        __syncthreads();
    }
    if (t == 0)
        *out = places[0];
}
