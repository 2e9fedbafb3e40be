// Every line that a fix changes says which rule, whether it is safe, and what it becomes. Other lines stay.
#define TILE 32
#define HALF 0.5

__global__ void pad_literal(float *out, const float *in, int n, int m)
{
    __shared__ float tile[32][32];  // MEM010 safe: __shared__ float tile[32][33];
    for (int j = 0; j < 32; j += 8)
        tile[threadIdx.y + j][threadIdx.x] = in[(threadIdx.y + j) * 32 + threadIdx.x];
    __syncthreads();
    for (int j = 0; j < 32; j += 8)
        out[(threadIdx.y + j) * 32 + threadIdx.x] = tile[threadIdx.x][threadIdx.y + j];
}

__global__ void pad_macro(float *out, const float *in, int n, int m)
{
    __shared__ float before[4], tile[TILE][TILE], after[4];  // MEM010 safe: __shared__ float before[4], tile[TILE][TILE + 1], after[4];
    int x = threadIdx.x, y = threadIdx.y;
    before[y & 3] = after[y & 3] = 0.0f;
    for (int j = 0; j < TILE; j += 8) atomicExch(&tile[y + j][x], in[(y + j) * TILE + x]);
    __syncthreads();
    for (int j = 0; j < TILE; j += 8) out[(y + j) * TILE + x] = tile[x][y + j];
}

// a row that is left for the next one: the padding would be seen
__global__ void pad_flat_rows(float *out, const float *in, int n, int m)
{
    __shared__ float tile[32][32];  // MEM010 unsafe: __shared__ float tile[32][33];
    for (int j = 0; j < 1024; j += 256) tile[0][j + threadIdx.y * 32 + threadIdx.x] = in[j + threadIdx.y * 32 + threadIdx.x];
    __syncthreads();
    out[threadIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}

// the array goes where it is not followed
__global__ void pad_pointer(float *out, const float *in, int n, int m)
{
    __shared__ float tile[32][32];
    float *flat = &tile[0][0];
    for (int j = 0; j < 4; j++) flat[j * 256 + threadIdx.y * 32 + threadIdx.x] = in[j * 256 + threadIdx.y * 32 + threadIdx.x];
    __syncthreads();
    out[threadIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}

__global__ void pad_size(float *out, const float *in, int n, int m)
{
    __shared__ float tile[32][32];
    for (int j = 0; j < 4; j++) tile[threadIdx.y + 8 * j][threadIdx.x] = in[j * 256 + threadIdx.y * 32 + threadIdx.x];
    __syncthreads();
    out[threadIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][threadIdx.y] + sizeof(tile);
}

__global__ void float_product(float *out, const float *in, int n, int m)
{
    int i = blockIdx.x * 256 + threadIdx.y * 32 + threadIdx.x;
    out[i] = in[i] * 3.0;  // ARI003 safe: out[i] = in[i] * 3.0f;
}

__global__ void float_sum(float *out, const float *in, int n, int m)
{
    int i = blockIdx.x * 256 + threadIdx.y * 32 + threadIdx.x;
    out[i] = in[i] * 2.0 + .1;  // ARI003 unsafe: out[i] = in[i] * 2.0f + .1f;
}

// once in float, the product and the sum could become one operation, which rounds once
__global__ void float_fused(float *out, const float *in, int n, int m)
{
    int i = blockIdx.x * 256 + threadIdx.y * 32 + threadIdx.x;
    float x = in[i] * 3.0;  // ARI003 unsafe: float x = in[i] * 3.0f;
    out[i] = x + in[i + 1];
}

__global__ void float_function(float *out, const float *in, int n, int m)
{
    int i = blockIdx.x * 256 + threadIdx.y * 32 + threadIdx.x;
    out[i] = 1e-1 - exp(in[i] * -0.5);  // ARI003 unsafe: out[i] = 1e-1f - expf(in[i] * -0.5f);
}

__global__ void float_wanted(float *out, const float *in, int n, int m)
{
    int i = blockIdx.x * 256 + threadIdx.y * 32 + threadIdx.x;
    out[i] = (double)in[i] * 2.0;
    out[i + 512] = in[i] * HALF;
    out[i + 1024] = in[i] * 1e-300;
}

template <typename T> __global__ void float_template(T *out, const T *in, int n, int m)
{
    int i = blockIdx.x * 256 + threadIdx.y * 32 + threadIdx.x;
    out[i] = in[i] * 3.0;
}
template __global__ void float_template<float>(float *, const float *, int, int);
template __global__ void float_template<double>(double *, const double *, int, int);

__global__ void rest_of_counter(float *out, const float *in, int n, int m)
{
    float sum = 0.0f;
    for (int j = 0; j < 20; j++) sum += in[j % 8];
    out[blockIdx.x * 256 + threadIdx.y * 32 + threadIdx.x] = sum;
}

__global__ void rest_of_difference(float *out, const float *in, int n, int m)
{
    int i = blockIdx.x * 256 + threadIdx.y * 32 + threadIdx.x;
    out[i] = in[i] * (100 + (n - m) % TILE);  // ARI001 unsafe: out[i] = in[i] * (100 + ((n - m) & (TILE - 1)));
}

__global__ void rest_is_zero(float *out, const float *in, int n, int m)
{
    int i = blockIdx.x * 256 + threadIdx.y * 32 + threadIdx.x;
    int odd = i - n;
    if (odd % 2 != 0) out[i] = in[i];
}

__global__ void power(float *out, const float *in, int n, int m)
{
    int i = blockIdx.x * 256 + threadIdx.y * 32 + threadIdx.x;
    float x = in[i];
    out[i] = 1.0f / powf(x, 2.0f);  // ARI004 unsafe: out[i] = 1.0f / (x * x);
    out[i + 512] = powf(x + 1.0f, 3.0f);
}

__global__ void fast(float *out, const float *in, int n, int m)
{
    int i = blockIdx.x * 256 + threadIdx.y * 32 + threadIdx.x;
    float x = in[i];
    for (int j = 0; j < 3; j++)
        x = (expf(x) + 1.0f) / (x + 2.0f);  // ARI005 unsafe: x = __fdividef((__expf(x) + 1.0f), (x + 2.0f));
    out[i] = x;
}

__global__ void read_only(float *out, const float *__restrict__ in, int n, int m)
{
    float sum = 0.0f;
    for (int j = 0; j < 3; j++)
        sum = sum * 0.5f + in[threadIdx.x];  // MEM006 safe: sum = sum * 0.5f + __ldg(&in[threadIdx.x]);
    out[blockIdx.x * 256 + threadIdx.y * 32 + threadIdx.x] = sum;
}

__global__ void read_mostly(float *out, const float *in, int n, int m)
{
    float sum = 0.0f;
    for (int j = 0; j < 3; j++)
        sum = sum * 0.5f + in[threadIdx.x];  // MEM006 unsafe: sum = sum * 0.5f + __ldg(&in[threadIdx.x]);
    out[blockIdx.x * 256 + threadIdx.y * 32 + threadIdx.x] = sum;
}
