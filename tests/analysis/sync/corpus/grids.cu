// Global memory: threads of one block, and of several.

// launch: grid 2, block 64, out 128
__global__ void no_block_index(int *out)
{
    int i = threadIdx.x;
    i += blockIdx.x * blockDim.x; // free
    out[i] = i + blockIdx.x; // races
}

// launch: grid 2, block 64, out 130, in 130
__global__ void in_place_stencil(int *__restrict__ out, int *__restrict__ in)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x + 1;
    out[i] = in[i - 1] + in[i + 1]; // free
    in[i] = in[i - 1] + in[i + 1]; // racy races
}

// launch: grid 2, block 64, out 1, in 128
__global__ void one_sum(int *out, const int *in)
{
    int i = blockIdx.x * 64 + threadIdx.x;
    *out += in[i]; // racy races
    atomicAdd(out, in[i]); // free
}

// launch: grid 2, block 64, bins 16, in 128
__global__ void global_bins(int *bins, const int *in)
{
    int i = blockIdx.x * 64 + threadIdx.x;
    bins[in[i] & 15]++; // racy races
    atomicAdd(&bins[in[i] & 15], 1); // free
}

// launch: grid 4, block 64, part 4, out 4, in 256
__global__ void other_parts(int *__restrict__ part, int *__restrict__ out, const int *__restrict__ in)
{
    if (threadIdx.x == 0)
        part[blockIdx.x] = in[blockIdx.x * 64]; // races
    __syncthreads();
    if (threadIdx.x == 0) {
        out[blockIdx.x] = part[blockIdx.x]; // free
        out[blockIdx.x] = part[blockIdx.x + 1 < gridDim.x ? blockIdx.x + 1 : 0]; // racy races
    }
}

// launch: grid 2, block 64, scratch 128, out 128
__global__ void scratch_of_block(int *__restrict__ scratch, int *__restrict__ out)
{
    int t = threadIdx.x, from = blockIdx.x * 64;
    scratch[from + t] = t; // races
    __syncthreads(); // free
    out[from + t] = scratch[from + 63 - t]; // races
}

// launch: grid 2 2, block 8 8, out 300, in 300, w=16, h=16
__global__ void rows(int *__restrict__ out, const int *__restrict__ in, int w, int h)
{
    int x = blockIdx.x * 8 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    if (x < w && y < h) { // free
        out[y * w + x] = in[y * w + x]; // free
        out[y + x] = in[y * w + x]; // racy races
    } // free
}

// launch: grid 2, block 32, out 260, in 260, n=256
__global__ void grid_stride(int *__restrict__ out, const int *__restrict__ in, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        out[i] = in[i]; // races
        out[i + 1] += 1; // racy races
    }
}

// launch: grid 2, block 64, a 128, n=128
__global__ void turned_around(int *a, int n)
{
    int i = blockIdx.x * 64 + threadIdx.x, end = n;
    end = n / 2; // free
    if (i < end) {
        int v = a[i]; // races
        a[i] = a[n - 1 - i]; // races
        a[n - 1 - i] = v; // races
    }
}

// launch: grid 2 2, block 8 8, a 256, n=16
__global__ void turned_in_place(int *a, int n)
{
    int x = blockIdx.x * 8 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    if (x < n && y < n) { // racy
    if (y < x && x < n) { // free
        int v = a[y * n + x]; // races
        a[y * n + x] = a[x * n + y]; // races
        a[x * n + y] = v; // races
    }
}

// launch: grid 2, block 64, out 128
__global__ void blocks_overlap(int *out)
{
    int from = blockIdx.x * 64; // free
    int from = blockIdx.x * 32; // racy
    out[from + threadIdx.x] = blockIdx.x; // races
}

// launch: grid 2, block 32, out 260
__global__ void four_each(int *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, last = 3;
    last = 4; // racy
    for (int k = 0; k <= last; k++)
        out[i * 4 + k] = i; // races
}

// launch: grid 1, block 64, a 64
__global__ void one_block_shifts(int *a)
{
    int t = threadIdx.x, v = t > 0 ? a[t - 1] : 0; // races
    __syncthreads(); // free
    a[t] = v; // races
}

// launch: grid 2, block 64, out 128, in 128, n=100
__global__ void one_thread_each(int *__restrict__ out, const int *__restrict__ in, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[i]; // races
    if (i == 0) // racy
        out[n - 1] = 0; // racy races
}

// launch: grid 2, block 16 4, out 128
__global__ void rows_forgotten(int *out)
{
    int i = blockIdx.x * 16 + threadIdx.x;
    i = (blockIdx.x * 4 + threadIdx.y) * 16 + threadIdx.x; // free
    out[i] = threadIdx.y; // races
}

// launch: grid 2, block 64, out 512
__global__ void next_one_as_well(int *out)
{
    int i = blockIdx.x * 64 + threadIdx.x;
    out[i] = i; // races
    __syncthreads();
    out[i + 1] = i; // racy races
    out[i + 128] = i; // free
}
