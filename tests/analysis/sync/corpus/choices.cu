// Pointers that are one of several, reads that nobody uses, and arrays of one memory.

// launch: grid 1, block 64, out 65
__global__ void unread(int *out)
{
    int t = threadIdx.x;
    int zero = out[t] & 0; // races
    __syncthreads(); // free
    out[t + 1] = zero; // races
}

// launch: grid 1, block 64, out 66
__global__ void unread_in_a_loop(int *out)
{
    int t = threadIdx.x, last = 0;
    for (int k = 0; k < 3; k++)
        last = out[t + 2]; // races
    __syncthreads(); // free
    last = t;
    out[t] = last; // races
}

// launch: grid 1, block 64, out 64, n=3
__global__ void one_of_two(int *out, int n)
{
    __shared__ int s[64], r[64];
    int *a = s, *b = r;
    int t = threadIdx.x;
    int *p = n > 3 ? a : b;
    p[t] = t; // races
    __syncthreads(); // free
    out[t] = r[t ^ 1]; // races
}

// launch: grid 1, block 64, out 65, in 65, n=5
__global__ void argument_of_two(int *out, int *in, int n)
{
    int t = threadIdx.x;
    int *p = n > 3 ? in : out;
    p[t] = t; // races
    __syncthreads(); // free
    in[t + 1] = 2; // races
}

// launch: grid 1, block 64, out 64, shared 256
__global__ void two_names(int *out)
{
    extern __shared__ int whole[];
    extern __shared__ float parts[];
    int t = threadIdx.x;
    whole[t] = t; // races
    __syncthreads(); // free
    parts[63 - t] = 1.0f; // races
    __syncthreads();
    out[t] = whole[t];
}

// launch: grid 1, block 64, out 64
__global__ void loops_on_two_ways(int *out)
{
    __shared__ int s[64], r[64];
    int t = threadIdx.x, sum = 0;
    s[t] = r[t] = t;
    __syncthreads();
    if (t < 32) {
        for (int i = 0; i < 2; i++)
            s[t + 32 * i] = i; // races
    } else {
        for (int i = 0; i < 2; i++) {
            sum += r[t - 32 + 32 * i]; // free
            sum += s[t - 32 + 32 * i]; // racy races
        }
    }
    out[t] = sum;
}
