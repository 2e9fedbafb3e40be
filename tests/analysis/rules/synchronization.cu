// Kernels on which the rules SYN speak, and near misses on which they do not; see divergence.cu.

#include <cooperative_groups.h>

// launch: --block 256
__global__ void SYN001_true_branch(float *a, int n)
{
    __shared__ float s[256];
    s[threadIdx.x] = a[threadIdx.x];
    if (threadIdx.x < n) {
        __syncthreads();  // SYN001
        a[threadIdx.x] = s[255 - threadIdx.x];
    }
}

// launch: --block 256
__global__ void SYN001_true_data(float *a)
{
    __shared__ float s[256];
    s[threadIdx.x] = a[threadIdx.x];
    if (a[threadIdx.x] > 0.0f)
        __syncthreads();  // SYN001
    a[threadIdx.x] = s[threadIdx.x];
}

// launch: --block 256
__global__ void SYN001_true_loop(float *a)
{
    __shared__ float s[256];
    for (int j = 0; j < threadIdx.x; j++) {
        s[threadIdx.x] = j;
        __syncthreads();  // SYN001
    }
    a[threadIdx.x] = s[threadIdx.x];
}

// launch: --block 256
__global__ void SYN001_near_argument(float *a, int n)
{
    __shared__ float s[256];
    s[threadIdx.x] = a[threadIdx.x];
    if (n > 4) {
        __syncthreads();
        a[threadIdx.x] = s[255 - threadIdx.x];
    }
}

// launch: --block 256
__global__ void SYN001_near_written_in_the_first_trip(float *a, int n)
{
    float limit;
    for (int i = 0; i < n; i++) {
        if (i == 0)
            limit = a[n];
        if (a[n + i] < limit)
            break;
        __syncthreads();
        a[threadIdx.x] += 1.0f;
    }
}

// launch: --block 256
__global__ void SYN001_near_block(float *a)
{
    __shared__ float s[256];
    s[threadIdx.x] = a[threadIdx.x];
    if (blockIdx.x == 0) {
        __syncthreads();
        a[threadIdx.x] = s[255 - threadIdx.x];
    }
}

// launch: --block 256
__global__ void SYN001_near_loop(float *a, int n)
{
    __shared__ float s[256];
    for (int j = 0; j < n; j++) {
        s[threadIdx.x] = j;
        __syncthreads();
        a[threadIdx.x + j] = s[255 - threadIdx.x];
        __syncthreads();
    }
}

// launch: --block 256
__global__ void SYN002_true_mirror(float *a)
{
    __shared__ float s[256];
    s[threadIdx.x] = a[threadIdx.x];
    a[threadIdx.x] = s[255 - threadIdx.x];  // SYN002
}

// launch: --block 256
__global__ void SYN002_true_neighbor(float *a)
{
    __shared__ float s[257];
    s[threadIdx.x] = a[threadIdx.x];
    a[threadIdx.x] = s[threadIdx.x + 1];  // SYN002
}

// launch: --block 256
__global__ void SYN002_true_one_place(int *a)
{
    __shared__ int s;
    s = a[threadIdx.x];  // SYN002
    __syncthreads();
    a[threadIdx.x] = s;
}

// launch: --block 256
__global__ void SYN002_near_barrier(float *a)
{
    __shared__ float s[256];
    s[threadIdx.x] = a[threadIdx.x];
    __syncthreads();
    a[threadIdx.x] = s[255 - threadIdx.x];
}

// launch: --block 128
__global__ void SYN002_near_tiles(float *a)
{
    __shared__ float s[128];
    auto warp = cooperative_groups::tiled_partition<32>(cooperative_groups::this_thread_block());
    auto part = cooperative_groups::tiled_partition<16>(warp);
    s[threadIdx.x] = a[threadIdx.x];
    part.sync();
    a[threadIdx.x] = s[threadIdx.x ^ 8];
}

__device__ int chosen, choices[4];

// launch: --block 128
__global__ void SYN002_near_one_value(int n)
{
    chosen = choices[n];
}

// launch: --block 256
__global__ void SYN002_near_own(float *a)
{
    __shared__ float s[256];
    s[threadIdx.x] = a[threadIdx.x];
    a[threadIdx.x] = s[threadIdx.x] * 2.0f;
}

// launch: --block 256
__global__ void SYN002_near_halves(float *a)
{
    __shared__ float s[512];
    s[threadIdx.x] = a[threadIdx.x];
    s[threadIdx.x + 256] = a[threadIdx.x + 256];
    a[threadIdx.x] = s[threadIdx.x] + s[threadIdx.x + 256];
}

// launch: --block 256
__global__ void SYN003_true_bounds(float *a, int n)
{
    __shared__ float s[256];
    if (threadIdx.x >= n) return;
    s[threadIdx.x] = a[threadIdx.x];
    __syncthreads();  // SYN003
    a[threadIdx.x] = s[0];
}

// launch: --block 256
__global__ void SYN003_true_global(float *a, int n)
{
    __shared__ float s[256];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    s[threadIdx.x] = a[i];
    __syncthreads();  // SYN003
    a[i] = s[0];
}

// launch: --block 256
__global__ void SYN003_true_data(float *a)
{
    __shared__ float s[256];
    s[threadIdx.x] = a[threadIdx.x];
    if (a[threadIdx.x] < 0.0f) return;
    __syncthreads();  // SYN003
    a[threadIdx.x] = s[0];
}

// launch: --block 256
__global__ void SYN003_near_all(float *a, int n)
{
    __shared__ float s[256];
    if (n < 5) return;
    s[threadIdx.x] = a[threadIdx.x];
    __syncthreads();
    a[threadIdx.x] = s[0];
}

// launch: --block 256
__global__ void SYN003_near_behind(float *a, int n)
{
    __shared__ float s[256];
    s[threadIdx.x] = a[threadIdx.x];
    __syncthreads();
    if (threadIdx.x >= n) return;
    a[threadIdx.x] = s[0];
}

// launch: --block 256
__global__ void SYN003_near_flag(float *a, int n)
{
    __shared__ float s[256];
    bool in = threadIdx.x < n;
    s[threadIdx.x] = in ? a[threadIdx.x] : 0.0f;
    __syncthreads();
    if (in) a[threadIdx.x] = s[0];
}

// launch: --block 128
__global__ void SYN004_true_tail(float *a)
{
    __shared__ float s[128];
    s[threadIdx.x] = a[threadIdx.x];
    __syncthreads();
    if (threadIdx.x < 16) {
        float x = s[threadIdx.x + 16];
        s[threadIdx.x] = x;
        a[threadIdx.x] = s[threadIdx.x ^ 8];  // SYN004
    }
}

// launch: --block 256
__global__ void SYN004_true_rows(float *a)
{
    __shared__ float rows[8][32];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    rows[warp][lane] = a[threadIdx.x];
    a[threadIdx.x] = rows[warp][31 - lane];  // SYN004
}

// launch: --block 256
__global__ void SYN004_near_neighbors(float *a)
{
    __shared__ float s[257];
    s[threadIdx.x] = a[threadIdx.x];
    a[threadIdx.x] = s[threadIdx.x + 1];
}

// launch: --block 32
__global__ void SYN004_true_one_warp(float *a)
{
    __shared__ float s[32];
    s[threadIdx.x] = a[threadIdx.x];
    a[threadIdx.x] = s[31 - threadIdx.x];  // SYN004
}

// launch: --block 32
__global__ void SYN004_true_shift(float *a)
{
    __shared__ float s[33];
    s[threadIdx.x] = a[threadIdx.x];
    a[threadIdx.x] = s[threadIdx.x + 1];  // SYN004
}

// launch: --block 32
__global__ void SYN004_near_synced(float *a)
{
    __shared__ float s[32];
    s[threadIdx.x] = a[threadIdx.x];
    __syncwarp();
    a[threadIdx.x] = s[31 - threadIdx.x];
}

// launch: --block 32
__global__ void SYN004_near_barrier(float *a)
{
    __shared__ float s[32];
    s[threadIdx.x] = a[threadIdx.x];
    __syncthreads();
    a[threadIdx.x] = s[31 - threadIdx.x];
}

// launch: --block 128
__global__ void SYN004_near_tiles(float *a)
{
    __shared__ float s[128];
    auto tile = cooperative_groups::tiled_partition<16>(cooperative_groups::this_thread_block());
    s[threadIdx.x] = a[threadIdx.x];
    tile.sync();
    a[threadIdx.x] = s[threadIdx.x ^ 1];
}

// launch: --block 32
__global__ void SYN004_near_shuffle(float *a)
{
    a[threadIdx.x] = __shfl_xor_sync(0xffffffffu, a[threadIdx.x], 1);
}

// launch: --block 32
__global__ void SYN005_true_part(int *a)
{
    int x = a[threadIdx.x];
    if (threadIdx.x < 20)
        x += __shfl_down_sync(0xffffffffu, x, 1);  // SYN005
    a[threadIdx.x] = x;
}

// launch: --block 128
__global__ void SYN005_true_data(int *a)
{
    int x = a[threadIdx.x];
    if (x > 0)
        x = __ballot_sync(0xffffffffu, x > 5);  // SYN005
    a[threadIdx.x] = x;
}

// launch: --block 128
__global__ void SYN005_true_loop(int *a)
{
    int x = 0;
    for (int j = 0; j < a[threadIdx.x]; j++)
        x += __shfl_xor_sync(0xffffffffu, j, 1);  // SYN005
    a[threadIdx.x] = x;
}

// launch: --block 64
__global__ void SYN001_true_before_a_return(float *o, int n)
{
    if (threadIdx.x & 1)
        __syncthreads();  // SYN001
    if (threadIdx.x >= n)
        return;
    o[threadIdx.x] = 1;
}

// launch: --block 64
__global__ void SYN003_true_in_a_loop(float *o, int n)
{
    for (int k = 0; k < n; k++) {
        if (o[threadIdx.x] > k)
            return;
        __syncthreads();  // SYN003
    }
}

// launch: --block 256
__global__ void SYN002_true_bins(const int *d, int *h, int n)
{
    __shared__ int s[256];
    s[threadIdx.x] = 0;
    for (int i = threadIdx.x; i < n; i += 256)
        atomicAdd(&s[d[i] & 255], 1);  // SYN002
    __syncthreads();
    h[threadIdx.x] += s[threadIdx.x];
}

// launch: --block 256
__global__ void SYN002_true_gathered(const int *d, int *h)
{
    __shared__ int s[256];
    s[threadIdx.x] = h[threadIdx.x];
    h[threadIdx.x] = s[d[threadIdx.x] & 255];  // SYN002
}

// launch: --block 256
__global__ void SYN002_true_first_block(float *a, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float x = a[8 * i + 3];
    a[3 * i] = x;  // SYN002
}

// launch: --block 256
__global__ void SYN002_near_one_block_only(float *a)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i == 300)
        a[2 * i] = a[3 * i];
}

// launch: --block 256
__global__ void SYN002_near_parts(const float *in, float *out, int n, int steps)
{
    extern __shared__ float all[];
    float *a = all, *x = &all[n + 1];
    a[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    for (int k = 1; k < steps; k *= 2) {
        float left = a[(threadIdx.x - k) & (n - 1)];
        x[threadIdx.x] = left;
        __syncthreads();
        a[threadIdx.x] += left;
        __syncthreads();
    }
    a[threadIdx.x] = x[threadIdx.x];
    out[threadIdx.x] = a[threadIdx.x];
}

// launch: --block 256
__global__ void SYN002_near_bins(const int *d, int *h, int n)
{
    __shared__ int s[256];
    s[threadIdx.x] = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += 256)
        atomicAdd(&s[d[i] & 255], 1);
    __syncthreads();
    h[threadIdx.x] += s[threadIdx.x];
}

// launch: --block 32
__global__ void SYN002_near_bins_of_each_thread(const int *d, int *h, int n)
{
    __shared__ int s[32 * 16];
    for (int k = 0; k < 16; k++)
        s[threadIdx.x * 16 + k] = 0;
    for (int i = 0; i < n; i++)
        s[threadIdx.x * 16 + (d[i * 32 + threadIdx.x] & 15)]++;
    h[threadIdx.x] = s[threadIdx.x * 16];
}

// launch: --block 128
__global__ void SYN005_true_active_before(int *a)
{
    unsigned m = __activemask();
    int x = a[threadIdx.x];
    if (threadIdx.x & 1)
        x += __shfl_xor_sync(m, x, 2);  // SYN005
    a[threadIdx.x] = x;
}

// launch: --block 128
__global__ void SYN005_near_active_inside(int *a)
{
    int x = a[threadIdx.x];
    if (threadIdx.x & 1)
        x += __shfl_xor_sync(__activemask(), x, 2);
    a[threadIdx.x] = x;
}

// launch: --block 128
__global__ void SYN005_near_active_of_all(int *a, int n)
{
    unsigned m = __activemask();
    int x = a[threadIdx.x];
    if (n > 2)
        x += __shfl_xor_sync(m, x, 2);
    a[threadIdx.x] = x;
}

// launch: --block 128
__global__ void SYN005_near_all(int *a)
{
    int x = a[threadIdx.x];
    a[threadIdx.x] = x + __shfl_down_sync(0xffffffffu, x, 1);
}

// launch: --block 128
__global__ void SYN005_near_whole_warps(int *a)
{
    int x = a[threadIdx.x];
    if (threadIdx.x < 64)
        x += __shfl_down_sync(0xffffffffu, x, 1);
    a[threadIdx.x] = x;
}

// launch: --block 128
__global__ void SYN005_near_ended(int *a, int n)
{
    if (threadIdx.x >= n) return;
    a[threadIdx.x] = __ballot_sync(0xffffffffu, a[threadIdx.x] > 5);
}

// launch: --block 128
__global__ void SYN005_near_groups(int *a)
{
    auto warp = cooperative_groups::tiled_partition<32>(cooperative_groups::this_thread_block());
    int x = a[threadIdx.x];
    if (warp.meta_group_rank() == 1)
        x += warp.shfl_down(x, 1);
    a[threadIdx.x] = x;
}

// launch: --block 128
__global__ void SYN005_near_argument(int *a, int n)
{
    int x = a[threadIdx.x];
    if (n > 2)
        x += __shfl_down_sync(0xffffffffu, x, 1);
    a[threadIdx.x] = x;
}

// launch: --block 256
__global__ void SYN006_true_twice(float *a)
{
    __shared__ float s[256];
    s[threadIdx.x] = a[threadIdx.x];
    __syncthreads();
    __syncthreads();  // SYN006
    a[threadIdx.x] = s[255 - threadIdx.x];
}

// launch: --block 256
__global__ void SYN006_true_alone(float *a)
{
    float x = a[threadIdx.x];
    __syncthreads();  // SYN006
    a[threadIdx.x] = x * 2.0f;
}

// launch: --block 256
__global__ void SYN006_true_own(float *a)
{
    __shared__ float s[256];
    s[threadIdx.x] = a[threadIdx.x];
    __syncthreads();  // SYN006
    a[threadIdx.x] = s[threadIdx.x];
}

// launch: --block 256
__global__ void SYN006_near_needed(float *a)
{
    __shared__ float s[256];
    s[threadIdx.x] = a[threadIdx.x];
    __syncthreads();
    a[threadIdx.x] = s[255 - threadIdx.x];
}

// launch: --block 256
__global__ void SYN006_near_loop(float *a, int n)
{
    __shared__ float s[256];
    for (int j = 0; j < n; j++) {
        s[threadIdx.x] = a[j * 256 + threadIdx.x];
        __syncthreads();
        a[j * 256 + threadIdx.x] = s[255 - threadIdx.x];
        __syncthreads();
    }
}

// launch: --block 256
__global__ void SYN006_near_unknown(float *a, const int *at)
{
    __shared__ float s[256];
    s[at[threadIdx.x] & 255] = 1.0f;
    __syncthreads();
    a[threadIdx.x] = s[threadIdx.x];
}

// launch: --block 256
__global__ void SYN007_true_counter(int *count)
{
    atomicMax(count, (int)threadIdx.x);  // SYN007
}

// launch: --block 256
__global__ void SYN007_near_leader_by_rank(int *count, int *out, const int *a)
{
    if (a[threadIdx.x] > 0) {
        unsigned mask = __activemask(), below = mask & ((1u << (threadIdx.x % 32)) - 1);
        int first = 0;
        if (__popc(below) == 0)
            first = atomicAdd(count, __popc(mask));
        out[threadIdx.x] = __shfl_sync(mask, first, __ffs(mask) - 1) + __popc(below);
    }
}

// launch: --block 256
__global__ void SYN007_true_shared(int *a)
{
    __shared__ int s;
    if (threadIdx.x == 0) s = 0;
    __syncthreads();
    atomicOr(&s, a[threadIdx.x]);  // SYN007
    __syncthreads();
    a[threadIdx.x] = s;
}

// launch: --block 256
__global__ void SYN007_true_block(int *sums, const int *a)
{
    atomicAdd(&sums[blockIdx.x], a[threadIdx.x]);  // SYN007
}

// launch: --block 256
__global__ void SYN007_near_one_thread(int *count, int n)
{
    if (threadIdx.x == 0) atomicAdd(count, n);
}

// launch: --block 256
__global__ void SYN007_near_leader(int *count, int n)
{
    if (threadIdx.x % 32 == 0) atomicAdd(count, n);
}

// launch: --block 256
__global__ void SYN007_near_elected(int *count, const int *who)
{
    if (threadIdx.x == who[blockIdx.x]) atomicAdd(count, 1);
}

// launch: --block 256
__global__ void SYN007_near_apart(int *bins)
{
    atomicAdd(&bins[threadIdx.x], 1);
}

// launch: --block 256 --grid 64
__global__ void SYN008_true_stencil(float *a)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    a[i] = a[i] + a[i + 1];  // SYN008
}

// launch: --block 128
__global__ void SYN008_true_back(double *a)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    a[i + 128] = a[i] * 2.0;  // SYN008
}

// launch: --block 128
__global__ void SYN008_true_guarded(int *a, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n - 1)
        a[i] = a[i + 1];  // SYN008
}

// launch: --block 128 --grid 64
__global__ void SYN008_true_rounds(float *a, int n)
{
    for (int k = 0; k < 4; k++) {
        int at = k * blockDim.x + threadIdx.x;
        if (at < n)
            a[blockIdx.x * blockDim.x + at] = 1.0f;  // SYN008
    }
}

// launch: --block 128 --grid 64
__global__ void SYN008_near_rounds_apart(float *a)
{
    for (int k = 0; k < 4; k++)
        a[4 * blockIdx.x * blockDim.x + k * blockDim.x + threadIdx.x] = 1.0f;
}

// launch: --block 128 --grid 64
__global__ void SYN008_near_one_round(float *a, int n)
{
    for (int k = threadIdx.x; k < n; k += blockDim.x)
        a[blockIdx.x * blockDim.x + k] = 1.0f;
}

// launch: --block 128 --grid 64
__global__ void SYN008_near_stride_of_grid(float *a)
{
    for (int k = 0; k < 4; k++)
        a[(k * 64 + blockIdx.x) * blockDim.x + threadIdx.x] = 1.0f;
}

// launch: --block 256
__global__ void SYN008_near_other_array(float *a, const float *b)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    a[i] = b[i] + b[i + 1];
}

// launch: --block 256
__global__ void SYN008_near_own(float *a)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    a[i] = a[i] * 2.0f;
}

// launch: --block 256 --grid 1
__global__ void SYN008_near_one_block(float *a)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    a[i] = a[i] + a[i + 256];
}

// launch: --block 128
__global__ void SYN002_near_one_row(const float *in, float *out)
{
    __shared__ float s[4];
    if (threadIdx.x < 4)
        s[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    for (int i = 0; i < 4; i++)
        out[i] = 2 * s[i];
}

// launch: --block 128
__global__ void SYN002_true_one_row(const float *in, float *out)
{
    __shared__ float s[4];
    if (threadIdx.x < 4)
        s[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    for (int i = 0; i < 4; i++)
        out[0] = 2 * s[i];  // SYN002
}

// launch: --block 128
__global__ void SYN002_true_own_rows(const float *in, float *out)
{
    for (int i = 0; i < 4; i++)
        out[i] = in[128 * i + threadIdx.x];  // SYN002
}

// launch: --block 16,16
__global__ void SYN002_true_columns(const float *in, float *out)
{
    __shared__ float s[16];
    s[threadIdx.x] = in[threadIdx.x + 16 * threadIdx.y];  // SYN002
    __syncthreads();
    if (threadIdx.y == 0)
        out[threadIdx.x] = s[threadIdx.x];
}

// launch: --block 256
__global__ void SYN002_near_halves_of_warps(float *a)
{
    __shared__ float s[256];
    int t = threadIdx.x;
    s[t] = a[t];
    __syncthreads();
    for (int i = 16; i > 0; i >>= 1) {
        if ((t & 31) < i)
            s[t] += s[t + i];
        __syncwarp();
    }
    __syncthreads();
    a[t] = s[t & 224];
}

// launch: --block 256
__global__ void SYN002_true_halves_of_warps(float *a)
{
    __shared__ float s[256];
    int t = threadIdx.x;
    s[t] = a[t];
    __syncthreads();
    for (int i = 64; i > 0; i >>= 1) {
        if ((t & 127) < i)
            s[t] += s[t + i];  // SYN002
        __syncwarp();
    }
    __syncthreads();
    a[t] = s[t & 128];
}

// launch: --block 64
__global__ void SYN002_near_long_loop(const float *in, float *out)
{
    __shared__ float s[64];
    s[threadIdx.x] = in[threadIdx.x];
    float x = 0;
    for (int i = 0; i < 1024; i++) {
        __syncthreads();
        x += s[i % 64];
        __syncthreads();
    }
    s[63 - threadIdx.x] = x;
    out[threadIdx.x] = x;
}

// launch: --block 64
__global__ void SYN002_near_loop_that_runs(const float *in, float *out, int n)
{
    __shared__ float s[64];
    s[threadIdx.x] = in[threadIdx.x];
    float x = 0;
    for (int i = 0; i < n; i++) {
        __syncthreads();
        x += s[i % 64];
        __syncthreads();
    }
    s[63 - threadIdx.x] = x; // no barrier comes before where n is 0: nobody launches that
    out[threadIdx.x] = x;
}

// launch: --block 128 --grid 2,1
__global__ void SYN008_near_two_rows(float *a)
{
    int i = blockIdx.x * 128 + threadIdx.x;
    a[i] = a[i + 258];
}

// launch: --block 128 --grid 3,1
__global__ void SYN008_true_two_rows(float *a)
{
    int i = blockIdx.x * 128 + threadIdx.x;
    a[i] = a[i + 258];  // SYN008
}

// launch: --block 64
__global__ void SYN005_near_lanes_that_are_counted(float *a)
{
    if (threadIdx.x % 2 == 0) {
        unsigned m = __activemask();
        float x = a[threadIdx.x];
        for (int k = __popc(m) / 2; k > 0; k /= 2)
            x += __shfl_down_sync(m, x, k);
        a[threadIdx.x] = x;
    }
}

// launch: --block 64
__global__ void SYN005_true_lanes_by_their_own_count(float *a)
{
    unsigned m = __activemask();
    float x = a[threadIdx.x];
    for (int k = __popc(m & (2 << threadIdx.x) - 1); k > 0; k /= 2)
        x += __shfl_down_sync(m, x, k);  // SYN005
    a[threadIdx.x] = x;
}
