// What writers of one thread and of vectors can get wrong, a kernel for each: numbers in, numbers out.

__global__ void guarded(int *out, const int *in, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i] < 5 ? in[i] * 3 : in[i] - n;
}

__global__ void reversed(int *out, const int *in)
{
    __shared__ int tile[32];
    int t = threadIdx.x;
    tile[t] = in[blockIdx.x * 32 + t];
    __syncthreads();
    out[blockIdx.x * 32 + t] = tile[31 - t];
}

__global__ void trips(int *out, const int *in)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, sum = 0, last = -1;
    for (int k = 0; k < in[i]; k++) {
        if ((i + k) % 7 == 3)
            break;
        last = k * i;
        if (k & 1)
            continue;
        sum += k + 1;
    }
    out[i] = sum * 100 + last;
}

__global__ void sorted_of_own(int *out, const int *in)
{
    int own[4], i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = 0; k < 4; k++)
        own[k] = in[(i + k * 5) % 64];
    for (int k = 0; k < 3; k++)
        for (int j = 0; j < 3 - k; j++)
            if (own[j] > own[j + 1]) {
                int kept = own[j];
                own[j] = own[j + 1];
                own[j + 1] = kept;
            }
    out[i] = own[i % 4] * 1000 + own[3];
}

__global__ void exchanged(int *out, const int *in)
{
    int i = threadIdx.x, v = in[i];
    int up = __shfl_up_sync(0xffffffffu, v, 3), down = __shfl_down_sync(0xffffffffu, v, 5);
    int across = __shfl_xor_sync(0xffffffffu, v, 9), first = __shfl_sync(0xffffffffu, v, i / 8, 8);
    unsigned small = __ballot_sync(0xffffffffu, v < 4);
    out[i] = up * 1000 + down * 100 + across * 10 + first + (int)(small >> 3);
}

__global__ void counted(int *out, const int *in)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(&out[in[i] % 5], i);
    atomicMax(&out[8 + in[i] % 3], i - 40);
    atomicMin(&out[12 + in[i] % 3], i - 40);
    atomicExch(&out[20 + i], in[i]);
}

__global__ void of_four(int4 *out, const int4 *in)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int4 v = in[i];
    out[i] = make_int4(v.w, v.x - v.y, v.z, v.y * 2);
}

__global__ void of_floats(float *out, const float *in)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float a = in[i], b = in[i + 1], odd = (a - a) / (b - b);
    out[i] = fminf(a, odd) + fmaxf(b, -a) * copysignf(2.0f, b) + sqrtf(fabsf(a)) / 3.0f;
}

__global__ void shifted(unsigned *out, const unsigned *in, int n)
{
    int i = threadIdx.x + blockDim.x * (threadIdx.y + blockIdx.x * blockDim.y);
    unsigned v = in[n - 1 - i % n];
    out[i] = (v >> (i & 7)) + (unsigned)(((int)v - 6) / 4) + ((int)(v - 6) >> 1) + __popc(v) + gridDim.x * 7 + blockDim.x;
}

__global__ void switched(int *out, const int *in)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int v = 0;
    switch (in[i] % 5) {
    case 0: v = i; break;
    case 2: v = 10;
    case 3: v += i * 2; break;
    default: v = -1;
    }
    out[i] = v;
}

__global__ void of_parts(int *out, const int4 *in)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i].y * 100 + in[i].w;
}

__global__ void left(int *out, const int *in)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, v = i, found;
    for (int k = 0;; k++) {
        v = (v * 3 + in[k]) & 1023;
        found = v ^ k;
        if (found % 7 == i % 7 || k > 20)
            break;
    }
    out[i] = found;
}

__global__ void al(int *out, const int *in)
{
    out[threadIdx.x] = -in[threadIdx.x];
}

__global__ void sparse(int *out, const int *in)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (in[i] & 1)
        out[i] = i - 100;
}

__constant__ int weights[8] = {3, 1, 4, 1, 5, 9, 2, 6};
__device__ int counts[4] = {7, 8};

__global__ void of_constants(int *out, const int *in)
{
    int i = threadIdx.x;
    const int *p = (in[i] & 1) ? weights : in;
    out[i] = p[i & 7] + weights[(i + 1) & 7] + counts[i & 3];
}
