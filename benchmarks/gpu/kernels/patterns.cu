// One thing to count each: how global memory is accessed, how shared memory is, how branches part a warp.
//
// run: coalesced grid 8 block 128 out=f32*1024 in=f32*1024
// run: misaligned grid 8 block 128 out=f32*1100 in=f32*1100
// run: wide grid 8 block 128 out=f32*4096 in=f32*4096
// run: doubles grid 8 block 128 out=f64*1024 in=f64*1024
// run: bytes grid 8 block 128 out=u8*1024 in=u8*1024
// run: strided grid 8 block 128 out=f32*1024 in=f32*33000 stride=2
// run: strided_far grid 8 block 128 out=f32*1024 in=f32*33000 stride=32
// run: reversed grid 8 block 128 out=f32*1024 in=f32*1024
// run: broadcast_global grid 8 block 128 out=f32*1024 in=f32*1024
// run: gather grid 8 block 128 out=f32*1024 in=f32*1024 at=i32*1024:0..1023
// run: structures grid 8 block 128 out=f32*1024 in=f32*4096
// run: column_major grid 2,2 block 32,8 out=f32*4096 in=f32*4096
// run: tile_unpadded grid 2,2 block 32,32 out=f32*4096 in=f32*4096
// run: tile_padded grid 2,2 block 32,32 out=f32*4096 in=f32*4096
// run: shared_strided grid 2 block 256 out=f32*512 in=f32*512 stride=2
// run: shared_strided_far grid 2 block 256 out=f32*512 in=f32*512 stride=16
// run: shared_broadcast grid 2 block 256 out=f32*512 in=f32*512
// run: shared_doubles grid 2 block 256 out=f64*512 in=f64*512
// run: shared_wide grid 2 block 256 out=f32*2048 in=f32*2048
// run: half_warps grid 2 block 256 out=i32*512 in=i32*512:1..9
// run: by_data grid 2 block 256 out=i32*512 in=i32*512:0..1
// run: trip_counts grid 2 block 256 out=i32*512 in=i32*512:0..20
// run: partial_warp grid 3 block 100 out=i32*300 in=i32*300
// run: tree_shuffle grid 2 block 256 out=i32*2 in=i32*512
// run: tree_shared grid 2 block 256 out=i32*2 in=i32*512
// run: count_global grid 2 block 256 bins=i32*16:0..0 in=i32*512:0..15
// run: count_one grid 2 block 256 bins=i32*16:0..0 in=i32*512:0..15
// run: count_shared grid 2 block 256 bins=i32*16:0..0 in=i32*512:0..15

__global__ void coalesced(float *out, const float *in)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i] * 2.0f;
}

__global__ void misaligned(float *out, const float *in)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i + 1] = in[i + 3] * 2.0f;
}

__global__ void wide(float4 *out, const float4 *in)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i];
}

__global__ void doubles(double *out, const double *in)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i] * 2.0;
}

__global__ void bytes(unsigned char *out, const unsigned char *in)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i] ^ 1;
}

__global__ void strided(float *out, const float *in, int stride)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i * stride];
}

__global__ void strided_far(float *out, const float *in, int stride)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i * stride];
}

__global__ void reversed(float *out, const float *in)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[1023 - i];
}

__global__ void broadcast_global(float *out, const float *in)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i / 32];
}

__global__ void gather(float *out, const float *in, const int *at)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[at[i]];
}

struct Particle {
    float x, y, z, mass;
};

__global__ void structures(float *out, const Particle *in)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i].x;
}

__global__ void column_major(float *out, const float *in)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    for (int row = blockIdx.y * blockDim.y + threadIdx.y; row < 64; row += gridDim.y * blockDim.y)
        out[column * 64 + row] = in[row * 64 + column];
}

__global__ void tile_unpadded(float *out, const float *in)
{
    __shared__ float tile[32][32];
    tile[threadIdx.y][threadIdx.x] = in[(blockIdx.y * 32 + threadIdx.y) * 64 + blockIdx.x * 32 + threadIdx.x];
    __syncthreads();
    out[(blockIdx.x * 32 + threadIdx.y) * 64 + blockIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}

__global__ void tile_padded(float *out, const float *in)
{
    __shared__ float tile[32][33];
    tile[threadIdx.y][threadIdx.x] = in[(blockIdx.y * 32 + threadIdx.y) * 64 + blockIdx.x * 32 + threadIdx.x];
    __syncthreads();
    out[(blockIdx.x * 32 + threadIdx.y) * 64 + blockIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}

__global__ void shared_strided(float *out, const float *in, int stride)
{
    __shared__ float s[4096];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    s[threadIdx.x * stride] = in[i];
    __syncthreads();
    out[i] = s[(255 - threadIdx.x) * stride];
}

__global__ void shared_strided_far(float *out, const float *in, int stride)
{
    __shared__ float s[4096];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    s[threadIdx.x * stride] = in[i];
    __syncthreads();
    out[i] = s[(255 - threadIdx.x) * stride];
}

__global__ void shared_broadcast(float *out, const float *in)
{
    __shared__ float s[256];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    s[threadIdx.x] = in[i];
    __syncthreads();
    out[i] = s[threadIdx.x / 32] + s[255 - threadIdx.x / 64];
}

__global__ void shared_doubles(double *out, const double *in)
{
    __shared__ double s[256];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    s[threadIdx.x] = in[i];
    __syncthreads();
    out[i] = s[255 - threadIdx.x];
}

__global__ void shared_wide(float4 *out, const float4 *in)
{
    __shared__ float4 s[256];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    s[threadIdx.x] = in[i];
    __syncthreads();
    out[i] = s[255 - threadIdx.x];
}

__global__ void half_warps(int *out, const int *in)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int v = in[i];
    if (threadIdx.x % 32 < 16)
        for (int k = 0; k < v; k++)
            v += v * k % 7;
    else
        for (int k = 0; k < 3; k++)
            v += v * k % 5;
    out[i] = v;
}

__global__ void by_data(int *out, const int *in)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int v = in[i];
    if (v)
        for (int k = 0; k < 5; k++)
            v += v * k % 7;
    out[i] = v;
}

__global__ void trip_counts(int *out, const int *in)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int v = 1, n = in[i];
    for (int k = 0; k < n; k++)
        v += v * k % 7;
    out[i] = v;
}

__global__ void partial_warp(int *out, const int *in)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i] + 1;
}

__global__ void tree_shuffle(int *out, const int *in)
{
    __shared__ int of_warp[8];
    int v = in[blockIdx.x * blockDim.x + threadIdx.x];
    for (int d = 16; d > 0; d /= 2)
        v += __shfl_down_sync(0xffffffff, v, d);
    if (threadIdx.x % 32 == 0)
        of_warp[threadIdx.x / 32] = v;
    __syncthreads();
    if (threadIdx.x == 0) {
        int sum = 0;
        for (int w = 0; w < 8; w++)
            sum += of_warp[w];
        out[blockIdx.x] = sum;
    }
}

__global__ void tree_shared(int *out, const int *in)
{
    __shared__ int s[256];
    s[threadIdx.x] = in[blockIdx.x * blockDim.x + threadIdx.x];
    __syncthreads();
    for (int d = 128; d > 0; d /= 2) {
        if (threadIdx.x < d)
            s[threadIdx.x] += s[threadIdx.x + d];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        out[blockIdx.x] = s[0];
}

__global__ void count_global(int *bins, const int *in)
{
    atomicAdd(&bins[in[blockIdx.x * blockDim.x + threadIdx.x]], 1);
}

__global__ void count_one(int *bins, const int *in)
{
    if (in[blockIdx.x * blockDim.x + threadIdx.x] > 7)
        atomicAdd(bins, 1);
}

__global__ void count_shared(int *bins, const int *in)
{
    __shared__ int s[16];
    if (threadIdx.x < 16)
        s[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(&s[in[blockIdx.x * blockDim.x + threadIdx.x]], 1);
    __syncthreads();
    if (threadIdx.x < 16)
        atomicAdd(&bins[threadIdx.x], s[threadIdx.x]);
}
