// Counting: into global memory, into a table for each block; and what counts on the way: k-means, tallies of bits.
//
// run: histogram_global grid 2 block 64 bins=i32*16:0..0 data=i32*300:0..15 n=300|100|7
// run: histogram_shared grid 2 block 64 bins=i32*16:0..0 data=i32*300:0..15 n=300|100|7
// run: histogram_private grid 1 block 32 bins=i32*8:0..0 data=i32*300:0..7 n=300|100|7
// run: histogram_match grid 2 block 64 bins=i32*16:0..0 data=i32*128:0..15 n=128
// run: kmeans_assign grid 2 block 64 nearest=i32*128 changed=i32*1:0..0 points=f32*300 centers=f32*20 n=128|100 k=4|3
// run: kmeans_update grid 1 block 64 centers=f32*20 counts=i32*8:0..0 points=f32*300 nearest=i32*128:0..2 n=128|100 k=4|3

__global__ void histogram_global(int *bins, const int *data, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        atomicAdd(&bins[data[i]], 1);
}

__global__ void histogram_shared(int *bins, const int *data, int n) {
    __shared__ int mine[16];
    for (int b = threadIdx.x; b < 16; b += blockDim.x)
        mine[b] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        atomicAdd(&mine[data[i]], 1);
    __syncthreads();
    for (int b = threadIdx.x; b < 16; b += blockDim.x)
        if (mine[b] != 0)
            atomicAdd(&bins[b], mine[b]);
}

__global__ void histogram_private(int *bins, const int *data, int n) {
    int mine[8];
    for (int b = 0; b < 8; b++) //~ uniform
        mine[b] = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        mine[data[i] & 7]++;
    for (int b = 0; b < 8; b++)
        atomicAdd(&bins[b], mine[b]);
}

__global__ void histogram_match(int *bins, const int *data, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int bin = data[i % n];
    unsigned peers = __match_any_sync(0xffffffffu, bin);
    int leader = __ffs(peers) - 1;
    if (threadIdx.x % 32 == leader)
        atomicAdd(&bins[bin], __popc(peers));
}

__global__ void kmeans_assign(int *nearest, int *changed, const float *points, const float *centers, int n, int k) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float x = points[2 * i], y = points[2 * i + 1];
    int best = 0;
    float least = 1e30f;
    for (int c = 0; c < k; c++) { //~ uniform
        float dx = x - centers[2 * c], dy = y - centers[2 * c + 1];
        float d = dx * dx + dy * dy;
        if (d < least) {
            least = d;
            best = c;
        }
    }
    if (nearest[i] != best) {
        nearest[i] = best;
        atomicAdd(changed, 1);
    }
}

__global__ void kmeans_update(float *centers, int *counts, const float *points, const int *nearest, int n, int k) {
    __shared__ float sums[16];
    __shared__ int members[8];
    int t = threadIdx.x;
    if (t < 2 * k)
        sums[t] = 0;
    if (t < k)
        members[t] = 0;
    __syncthreads();
    for (int i = t; i < n; i += blockDim.x) {
        int c = nearest[i];
        atomicAdd(&sums[2 * c], points[2 * i]);
        atomicAdd(&sums[2 * c + 1], points[2 * i + 1]);
        atomicAdd(&members[c], 1);
    }
    __syncthreads();
    if (t < k && members[t] > 0) {
        centers[2 * t] = sums[2 * t] / members[t];
        centers[2 * t + 1] = sums[2 * t + 1] / members[t];
        counts[t] = members[t];
    }
}
