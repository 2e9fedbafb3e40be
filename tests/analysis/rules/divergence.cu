// Kernels on which the rules DIV speak, and near misses on which they do not. RULE_true_… has the rule's code at the end
// of each line that it is about, RULE_near_… has none.

// launch: --block 128
__global__ void DIV001_true_data(float *a)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = a[i];
    if (x > 0.0f)  // DIV001
        a[i] = x * x + 3.0f * x - a[i + 128] * 2.0f + a[i + 256] * x;
    else
        a[i] = x * x * x - 4.0f * x + a[i + 384] * 5.0f - a[i + 512] * x;
}

// launch: --block 128
__global__ void DIV001_true_lane(float *a)
{
    float x = a[threadIdx.x];
    if (threadIdx.x % 32 < 5)  // DIV001
        a[threadIdx.x] = x * x + 3.0f * x - x * x * 2.0f + 0.5f * x - x * x * x;
    else
        a[threadIdx.x] = x * x * x - 4.0f * x + x * x * 5.0f - 0.25f * x + x * x;
}

// launch: --block 64
__global__ void DIV001_true_integer(int *a, int n)
{
    int x = a[threadIdx.x];
    if (x & 64)  // DIV001
        a[threadIdx.x] = (x * 3 + 1) * (x - 5) + (x >> 3) * x - (x ^ n) * 7;
    else
        a[threadIdx.x] = (x * 5 - 1) * (x + 9) - (x >> 2) * x + (x | n) * 3;
}

// launch: --block 128
__global__ void DIV001_near_kept_address(float *a, int **list, float **kept, int s)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = a[i], own[2] = {x, x};
    kept[i] = own;
    if (*list[s] == 1)
        a[i] = x * x + 3.0f * x - a[i + 128] * 2.0f + a[i + 256] * x;
    else
        a[i] = x * x * x - 4.0f * x + a[i + 384] * 5.0f - a[i + 512] * x;
}

// launch: --block 128
__global__ void DIV001_true_kept_address(float *a, int **list, float **kept)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = a[i], own[2] = {x, x};
    kept[i] = own;
    if (*list[i] == 1)  // DIV001
        a[i] = x * x + 3.0f * x - a[i + 128] * 2.0f + a[i + 256] * x;
    else
        a[i] = x * x * x - 4.0f * x + a[i + 384] * 5.0f - a[i + 512] * x;
}

// launch: --block 128
__global__ void DIV001_near_argument(float *a, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = a[i];
    if (n > 5)
        a[i] = x * x + 3.0f * x - a[i + 128] * 2.0f + a[i + 256] * x;
    else
        a[i] = x * x * x - 4.0f * x + a[i + 384] * 5.0f - a[i + 512] * x;
}

// launch: --block 128
__global__ void DIV001_near_short(float *a)
{
    if (a[threadIdx.x] > 0.0f)
        a[threadIdx.x] = 2.0f;
    else
        a[threadIdx.x + 128] = 3.0f;
}

// launch: --block 128
__global__ void DIV001_near_whole_warps(float *a)
{
    float x = a[threadIdx.x];
    if (threadIdx.x < 64)
        a[threadIdx.x] = x * x + 3.0f * x - x * x * 2.0f + 0.5f * x - x * x * x;
    else
        a[threadIdx.x] = x * x * x - 4.0f * x + x * x * 5.0f - 0.25f * x + x * x;
}

// launch: --block 128
__global__ void DIV002_true_parity(float *a)
{
    if (threadIdx.x % 2)  // DIV002
        a[threadIdx.x] = 1.0f;
}

// launch: --block 128
__global__ void DIV002_true_third(float *a)
{
    if (threadIdx.x % 3 == 1)  // DIV002
        a[threadIdx.x] = 1.0f;
}

// launch: --block 128
__global__ void DIV002_true_global(float *a)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if ((i & 3) == 0)  // DIV002
        a[i] = 1.0f;
}

// launch: --block 128
__global__ void DIV002_near_warp(float *a)
{
    if (threadIdx.x / 32 % 2)
        a[threadIdx.x] = 1.0f;
}

// launch: --block 128
__global__ void DIV002_near_leader(float *a)
{
    if (threadIdx.x % 32 == 0)
        a[threadIdx.x] = 1.0f;
}

// launch: --block 128
__global__ void DIV002_near_block(float *a)
{
    if (blockIdx.x % 2)
        a[threadIdx.x] = 1.0f;
}

// launch: --block 128
__global__ void DIV003_true_rows(float *y, const int *first)
{
    float sum = 0.0f;
    for (int j = first[threadIdx.x]; j < first[threadIdx.x + 1]; j++)  // DIV003
        sum += y[j];
    y[threadIdx.x] = sum;
}

// launch: --block 128
__global__ void DIV003_true_triangle(float *y)
{
    float sum = 0.0f;
    for (int j = 0; j < threadIdx.x; j++)  // DIV003
        sum += y[j];
    y[threadIdx.x] = sum;
}

// launch: --block 128
__global__ void DIV003_true_escape(float *y)
{
    float x = y[threadIdx.x];
    while (x < 4.0f)  // DIV003
        x = x * x + 0.5f;
    y[threadIdx.x] = x;
}

// launch: --block 128
__global__ void DIV003_near_argument(float *y, int n)
{
    float sum = 0.0f;
    for (int j = 0; j < n; j++)
        sum += y[j];
    y[threadIdx.x] = sum;
}

// launch: --block 128
__global__ void DIV003_near_block(float *y)
{
    float sum = 0.0f;
    for (int j = 0; j < blockIdx.x; j++)
        sum += y[j];
    y[threadIdx.x] = sum;
}

// launch: --block 128
__global__ void DIV003_near_grid_stride(float *y, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        y[i] = 1.0f;
}

// launch: --block 128
__global__ void DIV003_near_pairs(float *y, int n)
{
    int first = 2 * (blockIdx.x * blockDim.x + threadIdx.x);
    for (int i = first; i < min(first + 2, n); i++)
        y[i] = 1.0f;
}

// launch: --block 128
__global__ void DIV003_true_first(float *y, int n)
{
    int end = 2 * (blockIdx.x * blockDim.x + threadIdx.x);
    for (int i = 0; i < min(end + 2, n); i++)  // DIV003
        y[end] += 1.0f;
}

// launch: --block 128
__global__ void DIV003_near_shares(float *y, size_t n)
{
    size_t threads = gridDim.x * blockDim.x, t = blockIdx.x * blockDim.x + threadIdx.x;
    for (size_t i = t * n / threads; i < (t + 1) * n / threads; i++)
        y[i] = 1.0f;
}

// launch: --block 128
__global__ void DIV003_true_growing_shares(float *y, size_t n)
{
    size_t threads = gridDim.x * blockDim.x, t = blockIdx.x * blockDim.x + threadIdx.x;
    for (size_t i = t * t / threads; i < (t + 1) * n / threads; i++)  // DIV003
        y[i] = 1.0f;
}

// launch: --block 128
__global__ void DIV003_near_retry(int *sum, const int *a)
{
    int seen = *sum, last;
    do {
        last = seen;
        seen = atomicCAS(sum, last, last * 2 + a[threadIdx.x]);
    } while (seen != last);
}

// launch: --block 128
__global__ void DIV003_near_clock(long long ticks)
{
    long long start = clock64();
    while (clock64() - start < ticks)
        ;
}

// launch: --block 128
__global__ void DIV003_true_own_time(long long ticks)
{
    long long start = clock64();
    while (clock64() - start < ticks * threadIdx.x)  // DIV003
        ;
}

// launch: --block 256
__global__ void DIV004_true_modulo(float *a)
{
    __shared__ float s[256];
    s[threadIdx.x] = a[threadIdx.x];
    for (int d = 1; d < 256; d *= 2) {
        __syncthreads();
        if (threadIdx.x % (2 * d) == 0)  // DIV004
            s[threadIdx.x] += s[threadIdx.x + d];
    }
    a[threadIdx.x] = s[0];
}

// launch: --block 256
__global__ void DIV004_true_mask(float *a)
{
    __shared__ float s[256];
    s[threadIdx.x] = a[threadIdx.x];
    for (int d = 1; d < 256; d <<= 1) {
        __syncthreads();
        if ((threadIdx.x & (2 * d - 1)) == 0)  // DIV004
            s[threadIdx.x] += s[threadIdx.x + d];
    }
    a[threadIdx.x] = s[0];
}

// launch: --block 256
__global__ void DIV004_true_run_time(int *a, int n)
{
    __shared__ int s[256];
    s[threadIdx.x] = a[threadIdx.x];
    for (unsigned d = 1; d < n; d *= 2) {
        __syncthreads();
        if (threadIdx.x % (d * 2) == 0)  // DIV004
            s[threadIdx.x] += s[threadIdx.x + d];
    }
    a[threadIdx.x] = s[0];
}

// launch: --block 256
__global__ void DIV004_near_bitonic(float *a)
{
    __shared__ float s[256];
    s[threadIdx.x] = a[threadIdx.x];
    for (int k = 2; k <= 256; k *= 2) {
        __syncthreads();
        int other = threadIdx.x ^ (k / 2);
        if (other > threadIdx.x) {
            bool up = s[threadIdx.x] > s[other];
            if ((threadIdx.x & k) == 0)
                s[threadIdx.x] = up ? s[other] : s[threadIdx.x];
            else
                s[threadIdx.x] = up ? s[threadIdx.x] : s[other];
        }
    }
    a[threadIdx.x] = s[0];
}

// launch: --block 256
__global__ void DIV004_near_halves(float *a)
{
    __shared__ float s[256];
    s[threadIdx.x] = a[threadIdx.x];
    for (int d = 128; d > 0; d /= 2) {
        __syncthreads();
        if (threadIdx.x < d)
            s[threadIdx.x] += s[threadIdx.x + d];
    }
    a[threadIdx.x] = s[0];
}

// launch: --block 256
__global__ void DIV004_near_fixed(float *a)
{
    if (threadIdx.x % 4 == 0)
        a[threadIdx.x] += a[threadIdx.x + 1];
}

// launch: --block 256
__global__ void DIV004_near_counter(float *a, int n)
{
    for (int d = 1; d < n; d++)
        if (n % d == 0)
            a[threadIdx.x] += d;
}

#define WORK(x) (x) * 3.0f + a[i + 1] * (x) - a[i + 2] / (x) + a[i + 3] * 0.5f - a[i + 4] * (x) + a[i + 5] * 0.25f

// launch: --block 128
__global__ void DIV005_true_flag(float *a, const int *on)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (!on[i]) return;  // DIV005
    float x = a[i];
    x = WORK(x);
    a[i] = WORK(x);
}

// launch: --block 128
__global__ void DIV005_true_value(float *a)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = a[i];
    if (x == 0.0f) return;  // DIV005
    x = WORK(x);
    a[i] = WORK(x);
}

// launch: --block 128
__global__ void DIV005_true_joined(float *a, const float *b)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (a[i] > 0.0f  // DIV005
        && b[i] > 0.0f
        && a[i] > b[i]) {
        float x = a[i];
        x = WORK(x);
        a[i] = WORK(x);
    }
}

// launch: --block 128
__global__ void DIV005_true_twice(float *a, const float *b)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (a[i] > 0.0f) return;  // DIV005
    a[i] = 1.0f;
    if (b[i] > 0.0f) return;  // DIV005
    float x = a[i];
    x = WORK(x);
    a[i] = WORK(x);
}

// launch: --block 128
__global__ void DIV005_true_half(float *a)
{
    int i = threadIdx.x;
    if (i % 32 > 20) return;  // DIV005
    float x = a[i];
    x = WORK(x);
    a[i] = WORK(x);
}

// launch: --block 128
__global__ void DIV005_near_bounds(float *a, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float x = a[i];
    x = WORK(x);
    a[i] = WORK(x);
}

// launch: --block 128
__global__ void DIV005_near_rest(float *a, int m, int n)
{
    int i = threadIdx.x, left = n - 128 * blockIdx.x - i % 64;
    float x = a[i];
    x = WORK(x);
    if (m <= 0 || left <= 0) return;
    a[i] = WORK(x);
}

// launch: --block 128
__global__ void DIV005_near_light(float *a, const int *on)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (!on[i]) return;
    a[i] = 1.0f;
}

// launch: --block 128
__global__ void DIV005_near_all(float *a, int on)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (!on) return;
    float x = a[i];
    x = WORK(x);
    a[i] = WORK(x);
}

// launch: --block 128
__global__ void DIV005_near_long_bound(float *a, long n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float x = a[i];
    x = WORK(x);
    a[i] = WORK(x);
}

// launch: --block 128
__global__ void DIV006_true_data(int *a)
{
    switch (a[threadIdx.x]) {  // DIV006
    case 1: a[threadIdx.x] = 5; break;
    case 4: a[threadIdx.x + 9] = 6; break;
    case 9: a[threadIdx.x + 99] = 7; break;
    default: a[threadIdx.x] = 8;
    }
}

// launch: --block 128
__global__ void DIV006_true_lane(int *a)
{
    switch (threadIdx.x & 31) {  // DIV006
    case 0: a[threadIdx.x] = 5; break;
    case 1: a[threadIdx.x + 9] = 6; break;
    case 2: a[threadIdx.x + 99] = 7; break;
    }
}

// launch: --block 128
__global__ void DIV006_true_chain(int *a)
{
    int x = a[threadIdx.x];
    if (x == 1) a[threadIdx.x] = 5;  // DIV006
    else if (x == 5) a[threadIdx.x + 9] = 6;
    else if (x == 7) a[threadIdx.x + 99] = 7;
}

// launch: --block 128
__global__ void DIV006_near_edges(int *a, int rows)
{
    int y = blockIdx.x * blockDim.x + threadIdx.x;
    if (y == 0) a[0] = 5;
    else if (y == 77) a[threadIdx.x + 9] = 6;
    else if (y == 999) a[threadIdx.x + 99] = 7;
}

// launch: --block 128
__global__ void DIV006_near_argument(int *a, int kind)
{
    switch (kind) {
    case 1: a[threadIdx.x] = 5; break;
    case 4: a[threadIdx.x + 9] = 6; break;
    case 9: a[threadIdx.x + 99] = 7; break;
    }
}

// launch: --block 128
__global__ void DIV006_near_block(int *a)
{
    switch (blockIdx.x) {
    case 0: a[threadIdx.x] = 5; break;
    case 1: a[threadIdx.x + 9] = 6; break;
    case 2: a[threadIdx.x + 99] = 7; break;
    }
}

// launch: --block 128
__global__ void DIV006_near_two(int *a)
{
    int x = a[threadIdx.x];
    if (x == 1) a[threadIdx.x] = 5;
    else a[threadIdx.x + 9] = 6;
}

// launch: --block 128
__global__ void DIV007_true_and(float *a, const int *p, const int *q)
{
    int i = threadIdx.x;
    float x = a[i];
    if (p[i] && q[i])  // DIV007
        x = x / 3.0f;
    else
        x = WORK(x);
    a[i] = x;
}

// launch: --block 128
__global__ void DIV007_true_or(float *a, const int *p, const int *q)
{
    int i = threadIdx.x;
    float x = a[i];
    if (p[i] || q[i])  // DIV007
        x = WORK(x);
    else
        x = x / 3.0f;
    a[i] = x;
}

// launch: --block 128
__global__ void DIV007_true_case(float *a, const int *p)
{
    int i = threadIdx.x;
    float x = a[i];
    if (p[i] > 5 && a[i + 9] > 0.0f) {  // DIV007
        x = x + 1.0f;
    } else {
        x = WORK(x);
        x = WORK(x);
    }
    a[i] = x;
}

// launch: --block 128
__global__ void DIV007_near_joined(float *a, const int *p, const int *q)
{
    int i = threadIdx.x;
    float x = a[i];
    if ((p[i] != 0) & (q[i] != 0))
        x = x / 3.0f;
    else
        x = WORK(x);
    a[i] = x;
}

// launch: --block 128
__global__ void DIV007_near_light(float *a, const int *p, const int *q)
{
    int i = threadIdx.x;
    float x = a[i];
    if (p[i] && q[i])
        x = WORK(x);
    a[i] = x;
}

// launch: --block 128
__global__ void DIV007_near_uniform(float *a, int p, int q)
{
    int i = threadIdx.x;
    float x = a[i];
    if (p && q)
        x = x / 3.0f;
    else
        x = WORK(x);
    a[i] = x;
}

// launch: --block 128
__global__ void DIV008_true_guard(float *a, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)  // DIV008
        a[i] = 1.0f;
}

// launch: --block 32,8
__global__ void DIV008_true_image(float *a, int w, int h)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < w)  // DIV008
        a[x + y] = 1.0f;
}

// launch: --block 128
__global__ void DIV008_true_return(float *a, unsigned n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;  // DIV008
    a[i] = 1.0f;
}

// launch: --block 128
__global__ void DIV008_true_block_index(float *a, int n)
{
    if (threadIdx.x < n)  // DIV008
        a[threadIdx.x] = 1.0f;
}

// launch: --block 128
__global__ void DIV008_true_last_thread(float *a, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = a[i];
    if (i == n - 1)  // DIV008
        x = WORK(x * 3.0f);
    else
        x = WORK(x);
    a[i] = x;
}

// launch: --block 16,8
__global__ void DIV008_near_rows(float *a, int n)
{
    if (threadIdx.x < n)
        a[threadIdx.x] = 1.0f;
}

// launch: --block 128
__global__ void DIV005_near_edge_of_block(float *a, int n)
{
    int i = threadIdx.x;
    if (i >= n) return;
    float x = a[i];
    x = WORK(x);
    a[i] = WORK(x);
}

// launch: --block 128
__global__ void DIV003_near_assertion(float *a, const int *list, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0.0f;
    for (int k = 0; k < n; k++) {
        if (list[i + k] < 0) __trap();
        sum += a[k];
    }
    a[i] = sum;
}

// launch: --block 128
__global__ void DIV008_near_equal(float *a, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i == n)
        a[i] = 1.0f;
}

// launch: --block 128
__global__ void DIV008_near_data(float *a, const int *bound)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < bound[i])
        a[i] = 1.0f;
}
