// What one thread stores for all, counters, and queues.

// launch: grid 2, block 64, out 128, in 2
__global__ void told_to_all(int *out, const int *in)
{
    __shared__ int v;
    if (threadIdx.x == 0)
        v = in[blockIdx.x]; // races
    __syncthreads(); // free
    out[blockIdx.x * 64 + threadIdx.x] = v; // races
}

// launch: grid 2, block 64, out 2, in 128
__global__ void counter(int *out, const int *in)
{
    __shared__ int count;
    if (threadIdx.x == 0)
        count = 0;
    __syncthreads();
    if (in[blockIdx.x * 64 + threadIdx.x] & 1) {
        count++; // racy races
        atomicAdd(&count, 1); // free
    }
    __syncthreads();
    if (threadIdx.x == 0)
        out[blockIdx.x] = count;
}

// launch: grid 2, block 64, out 128, in 128
__global__ void counter_begins(int *out, const int *in)
{
    __shared__ int count;
    if (threadIdx.x == 0)
        count = 0; // races
    __syncthreads(); // free
    int v = in[blockIdx.x * 64 + threadIdx.x];
    if (v & 1)
        out[blockIdx.x * 64 + atomicAdd(&count, 1)] = v; // races
}

// launch: grid 2, block 64, out 2, in 256, n=4
__global__ void counter_again(int *out, const int *in, int n)
{
    __shared__ int count;
    int most = 0;
    for (int i = 0; i < n; i++) {
        if (threadIdx.x == 0)
            count = 0; // races
        __syncthreads();
        if (in[i * 64 + threadIdx.x] & 1)
            atomicAdd(&count, 1);
        __syncthreads();
        most = max(most, count); // races
        __syncthreads(); // free
    }
    if (threadIdx.x == 0)
        out[blockIdx.x] = most;
}

// launch: grid 2, block 32, out 512, next 1, n=8
__global__ void tickets(int *out, int *next, int n)
{
    __shared__ int mine;
    while (true) {
        if (threadIdx.x == 0)
            mine = atomicAdd(next, 1); // races
        __syncthreads();
        int job = mine; // races
        __syncthreads(); // free
        if (job >= n)
            break;
        out[job * 32 + threadIdx.x] = job;
    }
}

// launch: grid 1, block 64, a 64
__global__ void until_settled(int *a)
{
    __shared__ int changed;
    int v = a[threadIdx.x];
    do {
        if (threadIdx.x == 0)
            changed = 0; // races
        __syncthreads(); // free
        if (v > 3) {
            v /= 2;
            atomicExch(&changed, 1); // races
        }
        __syncthreads();
    } while (__syncthreads_or(changed));
    a[threadIdx.x] = v;
}

// launch: grid 2, block 64, out 2, in 128
__global__ void least(int *out, const int *in)
{
    __shared__ int best;
    int v = in[blockIdx.x * 64 + threadIdx.x];
    if (threadIdx.x == 0)
        best = 1000;
    __syncthreads();
    if (v < best) best = v; // racy races
    atomicMin(&best, v); // free
    __syncthreads();
    if (threadIdx.x == 0)
        out[blockIdx.x] = best;
}

// launch: grid 2, block 64, out 128, in 128
__global__ void last_tells(int *out, const int *in)
{
    __shared__ int v;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x == blockDim.x - 1)
        v = in[i]; // races
    __syncthreads(); // free
    out[i] = in[i] + v; // races
}

// launch: grid 2, block 64, out 128, in 128
__global__ void packed(int *out, const int *in)
{
    __shared__ int at, kept[64];
    int t = threadIdx.x, v = in[blockIdx.x * 64 + t];
    if (t == 0)
        at = 0;
    __syncthreads();
    if (v & 1)
        kept[atomicAdd(&at, 1)] = v;
    __syncthreads();
    int most = at; // races
    __syncthreads(); // free
    if (t == 0)
        at = 64; // races
    __syncthreads();
    out[blockIdx.x * 64 + t] = most + at;
}

// launch: grid 2, block 64, out 128, in 2
__global__ void any_tells(int *out, const int *in)
{
    __shared__ int v[2];
    int t = threadIdx.x;
    if (t < 2)
        v[t] = in[t]; // races
    __syncthreads(); // free
    out[blockIdx.x * 64 + t] = v[(t + 1) & 1]; // races
}

// launch: grid 1, block 64, out 64, in 64
__global__ void found_at(int *out, const int *in)
{
    __shared__ int at;
    int t = threadIdx.x;
    if (t == 0)
        at = -1;
    __syncthreads();
    if (in[t] == 5) {
        at = t; // racy races
        atomicMax(&at, t); // free
    }
    __syncthreads();
    out[t] = at;
}
