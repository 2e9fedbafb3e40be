// What parts threads and what does not: each branch says so behind it, for a warp of 32 lanes and for a block of 64 threads.
//
// run: temporal grid 1 block 64 out=i32*64 in=i32*64:0..6
// run: sync_dependence grid 1 block 64 out=i32*64 in=i32*64:0..6 n=3|0
// run: votes grid 1 block 64 out=i32*64 in=i32*64:0..90 limit=85|50|100
// run: broadcast grid 1 block 64 out=i32*64 in=i32*64:0..6 source=0|5
// run: warp_number grid 1 block 64 out=i32*64 in=i32*64:0..6 n=1|2
// run: early_return grid 2 block 64 out=i32*128 in=i32*128:0..6 n=70|128|64
// run: switches grid 2 block 64 out=i32*128 in=i32*128:0..6 mode=0|1|2|9
// run: nested_break grid 1 block 64 out=i32*64 in=i32*64:0..6 n=3|5 m=4|2
// run: affine grid 2 block 64 out=i32*128 in=i32*128:0..6 shift=0|3 n=64|5
// run: affine_2d grid 1 block 32,2 out=i32*64 in=i32*64:0..6 n=1|0
// run: shared_value grid 2 block 64 out=i32*128 in=i32*128:0..6 n=1|4
// run: masks grid 1 block 64 out=i32*64 in=i32*64:0..6 bits=5|0
// run: barriers grid 2 block 64 out=i32*128 in=i32*128:0..90 limit=85|50|100
// run: local_table grid 1 block 64 out=i32*64 in=i32*64:0..6 n=2|3

__global__ void temporal(int *out, const int *in) {
    int i = 0;
    do {
        if (i % 2 == 1) //~ uniform
            out[threadIdx.x] = i;
        i++;
    } while (i < in[threadIdx.x]); //~ divergent
    if (i % 2 == 1) //~ divergent
        out[threadIdx.x] += 100;
}

__global__ void sync_dependence(int *out, const int *in, int n) {
    int v, w;
    if (threadIdx.x < 7) { //~ divergent
        v = n;
        w = n + 1;
    } else {
        v = n + 1;
        w = n + 1;
    }
    if (v > 3) //~ divergent
        out[threadIdx.x] = 1;
    if (w > 3) //~ uniform
        out[threadIdx.x] += 2;
    for (int k = 0; k < v; k++) //~ divergent
        out[threadIdx.x] += in[threadIdx.x];
    for (int k = 0; k < w; k++) //~ uniform
        out[threadIdx.x] -= in[k];
}

__global__ void votes(int *out, const int *in, int limit) {
    int v = in[threadIdx.x];
    if (__any_sync(0xffffffffu, v > limit)) //~ warp uniform, block divergent
        out[threadIdx.x] = 1;
    if (__all_sync(0xffffffffu, v > limit)) //~ warp uniform, block divergent
        out[threadIdx.x] = 2;
    unsigned who = __ballot_sync(0xffffffffu, v > limit);
    if (__popc(who) > 16) //~ warp uniform, block divergent
        out[threadIdx.x] = 3;
    if (who >> (threadIdx.x & 31) & 1) //~ divergent
        out[threadIdx.x] += 4;
    while (who) { //~ warp uniform, block divergent
        int first = __ffs(who) - 1;
        out[threadIdx.x] += first;
        who &= who - 1;
    }
}

__global__ void broadcast(int *out, const int *in, int source) {
    int v = in[threadIdx.x];
    int first = __shfl_sync(0xffffffffu, v, 0);
    if (first > 3) //~ warp uniform, block divergent
        out[threadIdx.x] = 1;
    int chosen = __shfl_sync(0xffffffffu, v, source);
    if (chosen > 3) //~ warp uniform, block divergent
        out[threadIdx.x] = 2;
    int moved = __shfl_sync(0xffffffffu, v, (threadIdx.x + 1) & 31);
    if (moved > 3) //~ divergent
        out[threadIdx.x] = 3;
    int half = __shfl_sync(0xffffffffu, v, 0, 16);
    if (half > 3) //~ divergent
        out[threadIdx.x] = 4;
    int shared = __shfl_xor_sync(0xffffffffu, first, 3);
    if (shared > 2) //~ warp uniform, block divergent
        out[threadIdx.x] = 5;
}

__global__ void warp_number(int *out, const int *in, int n) {
    int warp = threadIdx.x / 32;
    if (warp == 0) //~ warp uniform, block divergent
        out[threadIdx.x] = 1;
    if (threadIdx.x >> 5 == n) //~ warp uniform, block divergent
        out[threadIdx.x] = 2;
    if (threadIdx.x < 32) //~ warp uniform, block divergent
        out[threadIdx.x] = 3;
    if (in[warp] > 3) //~ warp uniform, block divergent
        out[threadIdx.x] = 4;
    for (int k = warp; k < 4; k += 2) //~ uniform
        out[threadIdx.x] += in[k];
    if (threadIdx.x / 16 == 0) //~ divergent
        out[threadIdx.x] += 5;
    if ((threadIdx.x & ~31) == 32 * n) //~ warp uniform, block divergent
        out[threadIdx.x] += 6;
    if (threadIdx.x < 16) //~ divergent
        out[threadIdx.x] += 7;
    if ((blockIdx.x * blockDim.x + threadIdx.x) / 32 == n) //~ warp uniform, block divergent
        out[threadIdx.x] += 8;
}

__global__ void early_return(int *out, const int *in, int n) {
    if (blockIdx.x * blockDim.x >= n) //~ uniform
        return;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) //~ divergent
        return;
    if (n > 100) //~ uniform
        out[i] = 1;
    if (in[i] == 2) //~ divergent
        return;
    if (in[blockIdx.x] == 3) //~ uniform
        out[i] = 2;
}

__global__ void switches(int *out, const int *in, int mode) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int v = 0;
    switch (mode) { //~ uniform
    case 0: v = 1; break;
    case 1: v = 2; // and on
    case 2: v += 4; break;
    default: v = 9;
    }
    if (v > 3) //~ uniform
        out[i] = v;
    int w = 0;
    switch (in[i] & 3) { //~ divergent
    case 0: w = 5; break;
    case 1: w = 6; break;
    case 2: w = 7;
    }
    if (w > 5) //~ divergent
        out[i] += w;
}

__global__ void nested_break(int *out, const int *in, int n, int m) {
    int sum = 0;
    for (int i = 0; i < n; i++) { //~ uniform
        for (int j = 0; j < m; j++) { //~ uniform
            if (j == 2) //~ uniform
                break;
            sum += in[j];
        }
        if (sum > 9) //~ uniform
            sum -= 9;
        if (in[threadIdx.x] == i) //~ divergent
            break;
    }
    if (sum > 4) //~ divergent
        out[threadIdx.x] = sum;
}

__global__ void affine(int *out, const int *in, int shift, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int j = i + shift;
    if (j - (int)threadIdx.x == n) //~ uniform
        out[i] = 1;
    if (2 * i - (i + (int)threadIdx.x) > n) //~ uniform
        out[i] = 2;
    if (i == (int)threadIdx.x + n) //~ uniform
        out[i] = 3;
    if (i == 2 * (int)threadIdx.x + n) //~ divergent
        out[i] = 4;
    if (in[i - threadIdx.x] > 3) //~ uniform
        out[i] = 5;
}

__global__ void affine_2d(int *out, const int *in, int n) {
    int i = threadIdx.y * blockDim.x + threadIdx.x;
    if (threadIdx.y == n) //~ warp uniform, block divergent
        out[i] = 1;
    if (threadIdx.x == n) //~ divergent
        out[i] = 2;
    if (in[threadIdx.y] > 3) //~ warp uniform, block divergent
        out[i] = 3;
    if (i - (int)threadIdx.x == 32 * n) //~ warp uniform, block divergent
        out[i] = 4;
    if (i / 32 == n) //~ warp uniform, block divergent
        out[i] = 5;
}

__global__ void shared_value(int *out, const int *in, int n) {
    __shared__ int first;
    __shared__ int all[64];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    all[threadIdx.x] = in[i];
    if (threadIdx.x == 0) //~ divergent
        first = in[i];
    __syncthreads();
    if (first > 3) //~ uniform
        out[i] = 1;
    if (all[n] > 3) //~ uniform
        out[i] = 2;
    if (all[threadIdx.x ^ 1] > 3) //~ divergent
        out[i] = 3;
    int *where = n > 2 ? &all[0] : &first;
    if (*where > 2) //~ uniform
        out[i] = 4;
}

__global__ void masks(int *out, const int *in, int bits) {
    int lane = threadIdx.x & 31;
    if ((lane & 0) == bits) //~ uniform
        out[threadIdx.x] = 1;
    if ((lane ^ lane) == bits) //~ uniform
        out[threadIdx.x] = 2;
    if ((lane | 31) == bits) //~ uniform
        out[threadIdx.x] = 3;
    if (lane & bits) //~ divergent
        out[threadIdx.x] = 4;
    if ((threadIdx.x & 32) == 0) //~ warp uniform, block divergent
        out[threadIdx.x] = 5;
    if (lane >> 5 == bits) //~ uniform
        out[threadIdx.x] = 6;
    if (threadIdx.x - lane == 32) //~ warp uniform, block divergent
        out[threadIdx.x] = 7;
}

__global__ void barriers(int *out, const int *in, int limit) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int v = in[i];
    if (__syncthreads_or(v > limit)) //~ uniform
        out[i] = 1;
    if (__syncthreads_count(v > limit) > 20) //~ uniform
        out[i] = 2;
    if (!__syncthreads_and(v > limit)) //~ uniform
        return;
    if (v > limit + 3) //~ divergent
        out[i] = 3;
}

__global__ void local_table(int *out, const int *in, int n) {
    int table[4];
    for (int k = 0; k < 4; k++) //~ uniform
        table[k] = in[k];
    if (table[1] > 3) //~ uniform
        out[threadIdx.x] = 1;
    int chosen[4] = {1, 2, 3, 4};
    chosen[n] = 7;
    if (chosen[2] > 3) //~ uniform
        out[threadIdx.x] += 2;
    chosen[threadIdx.x & 3] = 9;
    if (chosen[2] > 3) //~ divergent
        out[threadIdx.x] += 4;
}
