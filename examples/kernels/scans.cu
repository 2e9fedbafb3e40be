// Prefix sums: in log n steps over all, up and down a tree, within a warp; and what is made of them.
//
// run: scan_hillis_steele grid 2 block 64 out=i32*200 in=i32*200 n=128|100|7
// run: scan_blelloch grid 2 block 32 out=i32*200 in=i32*200 n=128|100|7
// run: scan_warp grid 2 block 64 out=i32*200 in=i32*200 n=128|100|7
// run: scan_block grid 2 block 96 out=i32*200 in=i32*200 n=192|100|7
// run: scan_add grid 2 block 64 data=i32*200 sums=i32*4 n=128|100|7
// run: compact grid 2 block 64 out=i32*200 count=i32*1:0..0 in=i32*200:-5..5 n=128|100|7
// run: compact_ballot grid 2 block 64 out=i32*200 count=i32*1:0..0 in=i32*200:-5..5 n=128|100|7

__global__ void scan_hillis_steele(int *out, const int *in, int n) {
    __shared__ int buffer[2][64];
    int t = threadIdx.x;
    int i = blockIdx.x * blockDim.x + t;
    int from = 0;
    buffer[0][t] = i < n ? in[i] : 0;
    __syncthreads();
    for (int d = 1; d < blockDim.x; d *= 2) {
        int to = 1 - from;
        buffer[to][t] = buffer[from][t] + (t >= d ? buffer[from][t - d] : 0);
        from = to;
        __syncthreads();
    }
    if (i < n)
        out[i] = buffer[from][t];
}

__global__ void scan_blelloch(int *out, const int *in, int n) {
    __shared__ int tree[64];
    int t = threadIdx.x;
    int start = blockIdx.x * 64;
    int offset = 1;
    tree[2 * t] = start + 2 * t < n ? in[start + 2 * t] : 0;
    tree[2 * t + 1] = start + 2 * t + 1 < n ? in[start + 2 * t + 1] : 0;
    for (int d = 32; d > 0; d >>= 1) {
        __syncthreads();
        if (t < d)
            tree[offset * (2 * t + 2) - 1] += tree[offset * (2 * t + 1) - 1];
        offset *= 2;
    }
    if (t == 0)
        tree[63] = 0;
    for (int d = 1; d < 64; d *= 2) {
        offset >>= 1;
        __syncthreads();
        if (t < d) {
            int left = offset * (2 * t + 1) - 1;
            int right = offset * (2 * t + 2) - 1;
            int old = tree[left];
            tree[left] = tree[right];
            tree[right] += old;
        }
    }
    __syncthreads();
    if (start + 2 * t < n)
        out[start + 2 * t] = tree[2 * t];
    if (start + 2 * t + 1 < n)
        out[start + 2 * t + 1] = tree[2 * t + 1];
}

__device__ int inclusive(int value) {
    int lane = threadIdx.x & 31;
    for (int d = 1; d < 32; d *= 2) {
        int left = __shfl_up_sync(0xffffffffu, value, d);
        if (lane >= d)
            value += left;
    }
    return value;
}

__global__ void scan_warp(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int sum = inclusive(i < n ? in[i] : 0);
    if (i < n)
        out[i] = sum;
}

__global__ void scan_block(int *out, const int *in, int n) {
    __shared__ int totals[32];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    int sum = inclusive(i < n ? in[i] : 0);
    if (lane == 31)
        totals[warp] = sum;
    __syncthreads();
    if (warp == 0) { //~ warp uniform, block divergent
        int before = inclusive(lane < blockDim.x / 32 ? totals[lane] : 0);
        totals[lane] = before;
    }
    __syncthreads();
    if (warp > 0) //~ warp uniform, block divergent
        sum += totals[warp - 1];
    if (i < n)
        out[i] = sum;
}

__global__ void scan_add(int *data, const int *sums, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && blockIdx.x > 0)
        data[i] += sums[blockIdx.x - 1];
}

__global__ void compact(int *out, int *count, const int *in, int n) {
    __shared__ int before[64];
    __shared__ int start;
    int t = threadIdx.x;
    int i = blockIdx.x * blockDim.x + t;
    int keep = i < n && in[i] > 0;
    before[t] = keep;
    __syncthreads();
    for (int d = 1; d < 64; d *= 2) {
        int left = t >= d ? before[t - d] : 0;
        __syncthreads();
        before[t] += left;
        __syncthreads();
    }
    if (t == 63)
        start = atomicAdd(count, before[63]);
    __syncthreads();
    if (keep)
        out[start + before[t] - 1] = in[i];
}

__global__ void compact_ballot(int *out, int *count, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int lane = threadIdx.x % 32;
    bool keep = i < n && in[i] > 0;
    unsigned kept = __ballot_sync(0xffffffffu, keep);
    if (kept == 0) //~ warp uniform, block divergent
        return;
    int start = 0;
    if (lane == 0)
        start = atomicAdd(count, __popc(kept));
    start = __shfl_sync(0xffffffffu, start, 0);
    if (keep)
        out[start + __popc(kept & ((1u << lane) - 1))] = in[i];
}
