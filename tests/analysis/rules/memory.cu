// Kernels on which the rules MEM speak, and near misses on which they do not; see divergence.cu.

// launch: --block 32,8 --assume 'n >= 1024'
__global__ void MEM001_true_columns(float *out, const float *in, int n)
{
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    out[y * n + x] = in[x * n + y];  // MEM001
}

// launch: --block 128
__global__ void MEM001_true_stride(float *a)
{
    a[threadIdx.x * 8] = 1.0f;  // MEM001
}

// launch: --block 128
__global__ void MEM001_true_matrix(float *a, float *sum)
{
    float s = 0.0f;
    for (int j = 0; j < 64; j++)
        s += a[threadIdx.x * 64 + j];  // MEM001
    sum[threadIdx.x] = s;
}

// launch: --block 32,8 --assume 'n >= 1024'
__global__ void MEM001_near_rows(float *out, const float *in, int n)
{
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    out[y * n + x] = in[(y + 1) * n + x];
}

// launch: --block 128
__global__ void MEM001_near_broadcast(float *a, const float *b)
{
    a[threadIdx.x] = b[blockIdx.x * 77];
}

// launch: --block 128
__global__ void MEM001_near_bytes(char *a, long pitch)
{
    *(float *)(a + threadIdx.x * pitch) = 1.0f;
}

// launch: --block 128
__global__ void MEM001_true_elements(char *a, long pitch)
{
    *(float *)(a + threadIdx.x * pitch * 4) = 1.0f;  // MEM001
}

// launch: --block 128
__global__ void MEM001_near_reversed(float *a)
{
    a[127 - threadIdx.x] = 1.0f;
}

struct Body { float x, y, z, w, vx, vy, vz, m; };
struct Pair { float a, b; };

// launch: --block 128
__global__ void MEM002_true_field(Body *b)
{
    b[threadIdx.x].w = 1.0f;  // MEM002
}

struct State { int w[5], ipad[5], opad[5], out[5], count, pad; };

// launch: --block 256
__global__ void MEM002_near_arrays_in_a_record(struct State *s, int *out)
{
    int sum = 0;
    for (int i = 0; i < 5; i++)
        sum += s[threadIdx.x].w[i];
    for (int i = 0; i < 5; i++)
        sum += s[threadIdx.x].ipad[i] * s[threadIdx.x].opad[i];
    out[threadIdx.x] = sum;
}

// launch: --block 128
__global__ void MEM002_true_two(Body *b, float *sum)
{
    sum[threadIdx.x] = b[threadIdx.x].x  // MEM002
                     + b[threadIdx.x].y;  // MEM002
}

// launch: --block 128
__global__ void MEM002_true_arrow(Body *b)
{
    (b + blockIdx.x * blockDim.x + threadIdx.x)->m = 2.0f;  // MEM002
}

// launch: --block 128
__global__ void MEM002_near_array(float *x)
{
    x[threadIdx.x] = 1.0f;
}

// launch: --block 128
__global__ void MEM002_near_all(Pair *b)
{
    b[threadIdx.x].a = b[threadIdx.x].b;
}

// launch: --block 128
__global__ void MEM002_near_two_vectors(float4 *to, const float4 *from, float s)
{
    int i = (blockIdx.x * blockDim.x + threadIdx.x) * 2;
    float4 a = from[i], b = from[i + 1];
    to[i] = make_float4(s * a.x, s * a.y, s * a.z, s * a.w);
    to[i + 1] = make_float4(s * b.x, s * b.y, s * b.z, s * b.w);
}

// launch: --block 128
__global__ void MEM002_near_stride(float *x)
{
    x[threadIdx.x * 8] = 1.0f;
}

// launch: --block 128
__global__ void MEM003_true_one(float *a)
{
    a[blockIdx.x * blockDim.x + threadIdx.x + 1] = 1.0f;  // MEM003
}

// launch: --block 128
__global__ void MEM003_true_before(float *a, const float *b)
{
    int i = blockIdx.x * 128 + threadIdx.x;
    a[i] = b[i + 1024 - 3];  // MEM003
}

// launch: --block 64
__global__ void MEM003_true_rows(float *a)
{
    a[blockIdx.x * 64 + threadIdx.x + 4] = 1.0f;  // MEM003
}

// launch: --block 128
__global__ void MEM003_near_sector(float *a)
{
    a[blockIdx.x * blockDim.x + threadIdx.x + 8] = 1.0f;
}

// launch: --block 128
__global__ void MEM003_near_double(double *a)
{
    a[threadIdx.x + 4] = 1.0;
}

// launch: --block 128
__global__ void MEM003_near_uniform(float *a, const float *b)
{
    a[threadIdx.x] = b[3];
}

// launch: --block 128
__global__ void MEM004_true_gather(float *a, const float *b, const int *at)
{
    a[threadIdx.x] = b[at[threadIdx.x]];  // MEM004
}

// launch: --block 256
__global__ void MEM004_near_handed_out(int *count, int *out, const int *a)
{
    if (a[threadIdx.x] > 0)
        out[atomicAdd(count, 1)] = a[threadIdx.x];
}

// launch: --block 128
__global__ void MEM004_true_scatter(float *a, const int *at)
{
    a[at[threadIdx.x]] = 1.0f;  // MEM004
}

// launch: --block 128
__global__ void MEM004_true_histogram(int *bins, const unsigned char *data)
{
    atomicAdd(&bins[data[threadIdx.x]], 1);  // MEM004
}

// launch: --block 128
__global__ void MEM004_near_direct(float *a, const float *b)
{
    a[threadIdx.x] = b[threadIdx.x];
}

// launch: --block 128
__global__ void MEM004_near_same_for_all(float *a, const int *at)
{
    a[at[blockIdx.x] + threadIdx.x] = 1.0f;
}

// launch: --block 128
__global__ void MEM004_near_clamped(float *a, const int *at, const float *b, int w)
{
    int x = at[blockIdx.x] % w + (int)threadIdx.x - 7;
    if (x < 0) x = 0;
    if (x >= w) x = w - 1;
    a[threadIdx.x] = b[x];
}

// launch: --block 128
__global__ void MEM004_near_rows(float *a, const float *table, const int *at, int rows, int width)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int row = i / width % rows, column = i % width;
    a[i] = table[at[row] * width + column];
}

// launch: --block 128
__global__ void MEM004_true_short_rows(float *a, const float *table, const int *at)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    a[i] = table[at[i / 3] * 3 + i % 3];  // MEM004
}

// launch: --block 128
__global__ void MEM004_near_value(int *a, const int *b)
{
    a[threadIdx.x] = b[threadIdx.x] * 7;
}

// launch: --block 128
__global__ void MEM005_true_bytes(unsigned char *a)
{
    a[blockIdx.x * 128 + threadIdx.x] = 1;  // MEM005
}

// launch: --block 128
__global__ void MEM005_true_halves(short *a, int *b)
{
    b[threadIdx.x] = a[threadIdx.x];  // MEM005
}

// launch: --block 128
__global__ void MEM005_true_text(char *a, int *b)
{
    b[threadIdx.x] = a[threadIdx.x + 128] - '0';  // MEM005
}

__device__ int words[1024];

// launch: --block 128
__global__ void MEM005_near_unaligned(int *a)
{
    a[threadIdx.x] = words[4 * threadIdx.x + 1] + words[4 * threadIdx.x + 2];
}

// launch: --block 128
__global__ void MEM005_near_pairs(unsigned char *a, int *b)
{
    b[threadIdx.x] = a[threadIdx.x / 2];
}

// launch: --block 128
__global__ void MEM005_near_words(int *a)
{
    a[threadIdx.x] = 1;
}

// launch: --block 128
__global__ void MEM005_near_one_byte(unsigned char *flag)
{
    if (flag[0]) flag[1] = 1;
}

// launch: --block 128
__global__ void MEM005_near_shared(int *a)
{
    __shared__ unsigned char s[128];
    s[threadIdx.x] = threadIdx.x;
    a[threadIdx.x] = s[threadIdx.x];
}

// launch: --block 128
__global__ void MEM006_true_block(float *a, const float *b, const float *c, int n)
{
    float x = 0.0f;
    for (int j = 0; j < n; j++)
        x += c[j] *
             b[blockIdx.x];  // MEM006
    a[threadIdx.x] = x;
}

// launch: --block 128
__global__ void MEM006_true_loop(float *a, const float *b, int n)
{
    float x = 0.0f;
    for (int j = 0; j < n; j++)
        x = x * 0.5f + b[threadIdx.x];  // MEM006
    a[threadIdx.x] = x;
}

// launch: --block 128
__global__ void MEM006_true_scale(float *a, const float *b, const float *scale, int n)
{
    float x = 0.0f;
    for (int j = 0; j < n; j++)
        x += b[j * 128 + threadIdx.x] * scale[0];  // MEM006
    a[threadIdx.x] = x;
}

// launch: --block 128
__global__ void MEM006_near_written(float *a, float *b)
{
    float x = b[threadIdx.x];
    a[threadIdx.x] = x;
    a[threadIdx.x + 128] = b[threadIdx.x];
}

// launch: --block 128
__global__ void MEM006_near_volatile(volatile int *flag, int *a)
{
    int x = flag[0];
    a[threadIdx.x] = x + flag[0];
}

// launch: --block 128
__global__ void MEM006_near_moves(float *a, const float *b, int n)
{
    float x = 0.0f;
    for (int j = 0; j < n; j++)
        x += b[j];
    a[threadIdx.x] = x;
}

// launch: --block 32,8 --assume 'n >= 1024'
__global__ void MEM007_true_fill(float *a, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
    a[i * n + j] = 1.0f;  // MEM007
}

// launch: --block 16,16 --assume 'n >= 1024'
__global__ void MEM007_true_add(float *a, const float *b, int n)
{
    int i = blockIdx.x * 16 + threadIdx.x, j = blockIdx.y * 16 + threadIdx.y;
    a[i * n + j] += b[i * n + j];  // MEM007
}

// launch: --block 32,4
__global__ void MEM007_true_fixed(float *a)
{
    a[threadIdx.x * 1024 + threadIdx.y] = 1.0f;  // MEM007
}

// launch: --block 32,8 --assume 'n >= 1024'
__global__ void MEM007_near_transpose(float *a, const float *b, int n)
{
    int i = blockIdx.x * 32 + threadIdx.x, j = blockIdx.y * 8 + threadIdx.y;
    a[i * n + j] = b[j * n + i];
}

// launch: --block 32,8 --assume 'n >= 1024'
__global__ void MEM007_near_right(float *a, int n)
{
    int i = blockIdx.x * 32 + threadIdx.x, j = blockIdx.y * 8 + threadIdx.y;
    a[j * n + i] = 1.0f;
}

// launch: --block 256
__global__ void MEM007_near_row(float *a, int n)
{
    a[threadIdx.x * 1024] = 1.0f;
}

// launch: --block 32,32
__global__ void MEM010_true_column(float *a)
{
    __shared__ float s[32][32];
    s[threadIdx.x][threadIdx.y] = a[threadIdx.y * 32 + threadIdx.x];  // MEM010
    __syncthreads();
    a[threadIdx.y * 32 + threadIdx.x] = s[threadIdx.y][threadIdx.x];
}

// launch: --block 128
__global__ void MEM010_true_two(float *a)
{
    __shared__ float s[256];
    s[2 * threadIdx.x] = a[threadIdx.x];  // MEM010
    __syncthreads();
    a[threadIdx.x] = s[threadIdx.x];
}

// launch: --block 64
__global__ void MEM010_true_records(float *a)
{
    __shared__ Body s[64];
    s[threadIdx.x].x = a[threadIdx.x];  // MEM010
    __syncthreads();
    a[threadIdx.x] = s[0].x;
}

// launch: --block 32,32
__global__ void MEM010_near_padded(float *a)
{
    __shared__ float s[32][33];
    s[threadIdx.x][threadIdx.y] = a[threadIdx.y * 32 + threadIdx.x];
    __syncthreads();
    a[threadIdx.y * 32 + threadIdx.x] = s[threadIdx.y][threadIdx.x];
}

// launch: --block 128
__global__ void MEM010_near_broadcast(float *a)
{
    __shared__ float s[128];
    s[threadIdx.x] = a[threadIdx.x];
    __syncthreads();
    a[threadIdx.x] = s[5];
}

// launch: --block 128
__global__ void MEM010_near_odd(float *a)
{
    __shared__ float s[640];
    s[5 * threadIdx.x] = a[threadIdx.x];
    __syncthreads();
    a[threadIdx.x] = s[5 * threadIdx.x];
}

// launch: --block 128
__global__ void MEM011_true_static(float *a)  // MEM011
{
    __shared__ float s[65536];
    s[threadIdx.x] = a[threadIdx.x];
    a[threadIdx.x] = s[threadIdx.x];
}

// launch: --block 128
__global__ void MEM011_true_two(double *a)  // MEM011
{
    __shared__ double s[12288], t[12288];
    s[threadIdx.x] = a[threadIdx.x];
    t[threadIdx.x] = s[threadIdx.x];
    a[threadIdx.x] = t[threadIdx.x];
}

// launch: --block 32,32
__global__ void MEM011_true_tile(float *a)  // MEM011
{
    __shared__ float s[512][128];
    s[threadIdx.y][threadIdx.x] = a[threadIdx.x];
    a[threadIdx.x] = s[threadIdx.y][threadIdx.x];
}

// launch: --block 128
__global__ void MEM011_near_fits(float *a)
{
    __shared__ float s[40000];
    s[threadIdx.x] = a[threadIdx.x];
    a[threadIdx.x] = s[threadIdx.x];
}

// launch: --block 128
__global__ void MEM011_near_small(float *a)
{
    __shared__ float s[128];
    s[threadIdx.x] = a[threadIdx.x];
    a[threadIdx.x] = s[threadIdx.x];
}

// launch: --block 128
__global__ void MEM011_near_none(float *a)
{
    a[threadIdx.x] = 1.0f;
}

// launch: --block 128
__global__ void MEM012_true_picked(float *a, const int *p)
{
    float v[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    a[threadIdx.x] = v[p[threadIdx.x] & 7];  // MEM012
}

// launch: --block 128
__global__ void MEM012_true_stack(int *a, int n)
{
    int stack[16];
    int top = 0;
    for (int j = 0; j < n; j++)
        stack[top++ & 15] = a[j];  // MEM012
    a[threadIdx.x] = stack[n & 15];
}

// launch: --block 128
__global__ void MEM012_true_lane(float *a)
{
    float v[4];
    v[threadIdx.x & 3] = a[threadIdx.x];  // MEM012
    a[threadIdx.x] = v[1];
}

struct Letters {
    char letter[64];
};

// launch: --block 128
__global__ void MEM012_true_changed(char *a, Letters letters, int n)
{
    letters.letter[n & 63] = a[n];  // MEM012
    a[threadIdx.x] = letters.letter[threadIdx.x & 63];
}

// launch: --block 128
__global__ void MEM012_near_constant(float *a)
{
    float v[2];
    v[0] = a[threadIdx.x];
    v[1] = a[threadIdx.x + 128];
    a[threadIdx.x] = v[0] * v[1];
}

// launch: --block 128
__global__ void MEM012_near_shared(float *a)
{
    __shared__ float v[128];
    v[threadIdx.x] = a[threadIdx.x];
    a[threadIdx.x] = v[threadIdx.x];
}

// launch: --block 128
__global__ void MEM012_near_scalar(float *a)
{
    float v = a[threadIdx.x];
    float *p = &v;
    a[threadIdx.x] = *p + 1.0f;
}

__constant__ float weights[1024];

// launch: --block 128
__global__ void MEM014_true_lane(float *a)
{
    a[threadIdx.x] = weights[threadIdx.x];  // MEM014
}

// launch: --block 128
__global__ void MEM014_true_stride(float *a)
{
    a[threadIdx.x] = weights[threadIdx.x * 4];  // MEM014
}

// launch: --block 128
__global__ void MEM014_true_pairs(float *a)
{
    a[threadIdx.x] = weights[threadIdx.x / 2];  // MEM014
}

// launch: --block 128
__global__ void MEM014_near_block(float *a)
{
    a[threadIdx.x] = weights[blockIdx.x];
}

// launch: --block 128
__global__ void MEM014_near_loop(float *a)
{
    float s = 0.0f;
    for (int j = 0; j < 9; j++) s += weights[j] * a[threadIdx.x + 32 * j];
    a[threadIdx.x] = s;
}

// launch: --block 128
__global__ void MEM014_near_warp(float *a)
{
    a[threadIdx.x] = weights[threadIdx.x / 32];
}

// launch: --block 128
__global__ void MEM020_true_end(float *a)
{
    __shared__ float s[64];
    s[threadIdx.x] = a[threadIdx.x];  // MEM020
    a[threadIdx.x] = s[0];
}

// launch: --block 128
__global__ void MEM020_true_before(float *a)
{
    __shared__ float s[128];
    s[threadIdx.x] = a[threadIdx.x];
    __syncthreads();
    a[threadIdx.x] = s[(int)threadIdx.x - 1];  // MEM020
}

// launch: --block 128
__global__ void MEM020_true_neighbor(float *a)
{
    __shared__ float s[128];
    s[threadIdx.x] = a[threadIdx.x];
    __syncthreads();
    a[threadIdx.x] = s[threadIdx.x + 1];  // MEM020
}

// launch: --block 128
__global__ void MEM020_true_rounds(float *a)
{
    __shared__ float s[500];
    for (int i = 0; i < 4; i++)
        s[i * blockDim.x + threadIdx.x] = a[i];  // MEM020
    __syncthreads();
    a[threadIdx.x] = s[threadIdx.x];
}

// launch: --block 128
__global__ void MEM020_true_known_test(float *a)
{
    __shared__ float s[128];
    s[threadIdx.x] = a[threadIdx.x];
    __syncthreads();
    if (threadIdx.x < 100)
        a[threadIdx.x] = s[threadIdx.x + 32];  // MEM020
}

// launch: --block 128
__global__ void MEM020_true_bounds_of_grid(float *a, int n)
{
    __shared__ float s[64];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    s[threadIdx.x] = a[i];  // MEM020
    a[i] = s[threadIdx.x];  // MEM020
}

// launch: --block 128
__global__ void MEM020_near_rounds(float *a)
{
    __shared__ float s[512];
    for (int i = 0; i < 4; i++)
        s[i * blockDim.x + threadIdx.x] = a[i];
    __syncthreads();
    a[threadIdx.x] = s[threadIdx.x];
}

// launch: --block 128
__global__ void MEM020_near_test_of_own_index(float *a, int n)
{
    __shared__ float s[64];
    if (threadIdx.x < n) s[threadIdx.x] = a[threadIdx.x];
    __syncthreads();
    a[threadIdx.x] = s[threadIdx.x % 64];
}

// launch: --block 128
__global__ void MEM020_near_tests_that_exclude_each_other(float *a, int n)
{
    __shared__ float s[128];
    int ahead = 0;
    s[threadIdx.x] = a[threadIdx.x];
    if (n > 3) ahead = 64;
    __syncthreads();
    if (n < 2) a[threadIdx.x] = s[threadIdx.x + ahead];
}

// launch: --block 128
__global__ void MEM020_near_index_of_data(float *a, const int *list)
{
    __shared__ float s[128];
    int at = threadIdx.x;
    s[at] = a[at];
    if (list[at] > 0) at = list[at];
    __syncthreads();
    if (at < 64) a[threadIdx.x] = s[at + 64];
}

// launch: --block 128
__global__ void MEM020_near_fits(float *a)
{
    __shared__ float s[129];
    s[threadIdx.x + 1] = a[threadIdx.x];
    a[threadIdx.x] = s[threadIdx.x + 1];
}

// launch: --block 128
__global__ void MEM020_near_guarded(float *a)
{
    __shared__ float s[64];
    if (threadIdx.x < 64) s[threadIdx.x] = a[threadIdx.x];
    __syncthreads();
    a[threadIdx.x] = s[threadIdx.x % 64];
}

// launch: --block 64
__global__ void MEM020_near_smaller_block(float *a)
{
    __shared__ float s[64];
    s[threadIdx.x] = a[threadIdx.x];
    a[threadIdx.x] = s[threadIdx.x];
}

// launch: --block 128
__global__ void MEM021_true_first(float *a)
{
    __shared__ float s[128];
    a[threadIdx.x] = s[threadIdx.x];  // MEM021
    s[threadIdx.x] = 1.0f;
}

// launch: --block 128
__global__ void MEM021_true_never(float *a)
{
    __shared__ float s[128];
    a[threadIdx.x] = s[threadIdx.x] + 1.0f;  // MEM021
}

// launch: --block 128
__global__ void MEM021_true_other(float *a)
{
    __shared__ float s[128], t[128];
    s[threadIdx.x] = a[threadIdx.x];
    __syncthreads();
    a[threadIdx.x] = t[threadIdx.x] + s[threadIdx.x];  // MEM021
}

// launch: --block 128
__global__ void MEM021_near_written(float *a)
{
    __shared__ float s[128];
    s[threadIdx.x] = 1.0f;
    a[threadIdx.x] = s[threadIdx.x];
}

// launch: --block 128
__global__ void MEM021_near_some_path(float *a, int n)
{
    __shared__ float s[128];
    if (n > 3) s[threadIdx.x] = 1.0f;
    a[threadIdx.x] = s[threadIdx.x];
}

// launch: --block 128
__global__ void MEM021_near_others(float *a)
{
    __shared__ float s[128];
    if (threadIdx.x >= 32) {
        s[threadIdx.x] = a[threadIdx.x];
        return;
    }
    __syncthreads();
    a[threadIdx.x] += s[threadIdx.x + 32];
}

// launch: --block 128
__global__ void MEM021_near_loop(float *a, int n)
{
    __shared__ float s[128];
    for (int j = 0; j < n; j++) {
        if (j > 0) a[threadIdx.x] = s[threadIdx.x];
        s[threadIdx.x] = j;
    }
}

// launch: --block 128
__global__ void MEM012_near_one_element(float *a, int n)
{
    float v[1];
    for (int i = threadIdx.x, j = 0; i < n; i += 128, j++)
        v[j] = a[i];
    a[threadIdx.x] = v[0];
}
