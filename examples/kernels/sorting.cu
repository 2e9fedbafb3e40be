// Sorting: networks, neighbors, digits, ranks.
//
// run: bitonic_step grid 2 block 32 data=i32*64 j=1|2|8 k=2|8|16
// run: bitonic_block grid 1 block 64 data=i32*64
// run: odd_even_sort grid 1 block 32 data=i32*70 n=64|33
// run: network_4 grid 2 block 32 data=i32*256 groups=64|50
// run: radix_count grid 2 block 32 counts=i32*32 keys=i32*100:0..1000 shift=0|4 n=64|50
// run: radix_split grid 1 block 64 keys=i32*64:0..1000 bit=0|3
// run: rank_sort grid 2 block 32 out=i32*70 in=i32*70 n=64|33
// run: merge_ranks grid 2 block 32 out=i32*140 a=i32*64:up b=i32*64:up n=64|33

__global__ void bitonic_step(int *data, int j, int k) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned other = i ^ j;
    if (other > i) {
        bool up = (i & k) == 0;
        int a = data[i], b = data[other];
        if ((a > b) == up) {
            data[i] = b;
            data[other] = a;
        }
    }
}

__global__ void bitonic_block(int *data) {
    __shared__ int keys[64];
    int t = threadIdx.x;
    keys[t] = data[t];
    __syncthreads();
    for (int k = 2; k <= 64; k *= 2) { //~ uniform
        for (int j = k / 2; j > 0; j /= 2) { //~ uniform
            int other = t ^ j;
            if (other > t) {
                if ((t & k) == 0) { //~ DIV
                    if (keys[t] > keys[other]) {
                        int old = keys[t];
                        keys[t] = keys[other];
                        keys[other] = old;
                    }
                } else {
                    if (keys[t] < keys[other]) {
                        int old = keys[t];
                        keys[t] = keys[other];
                        keys[other] = old;
                    }
                }
            }
            __syncthreads();
        }
    }
    data[t] = keys[t];
}

__global__ void odd_even_sort(int *data, int n) {
    __shared__ int swapped;
    int t = threadIdx.x;
    do {
        __syncthreads();
        if (t == 0)
            swapped = 0;
        __syncthreads();
        for (int phase = 0; phase < 2; phase++) { //~ uniform
            int i = 2 * t + phase;
            if (i + 1 < n && data[i] > data[i + 1]) {
                int old = data[i];
                data[i] = data[i + 1];
                data[i + 1] = old;
                swapped = 1;
            }
            __syncthreads();
        }
    } while (swapped); //~ uniform
}

__device__ void order(int &a, int &b) {
    int low = min(a, b);
    b = max(a, b);
    a = low;
}

__global__ void network_4(int *data, int groups) {
    int g = blockIdx.x * blockDim.x + threadIdx.x;
    if (g >= groups)
        return;
    int v[4];
    for (int i = 0; i < 4; i++) //~ uniform
        v[i] = data[4 * g + i];
    order(v[0], v[1]);
    order(v[2], v[3]);
    order(v[0], v[2]);
    order(v[1], v[3]);
    order(v[1], v[2]);
    for (int i = 0; i < 4; i++)
        data[4 * g + i] = v[i];
}

__global__ void radix_count(int *counts, const int *keys, int shift, int n) {
    __shared__ int digits[16];
    int t = threadIdx.x;
    if (t < 16)
        digits[t] = 0;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + t;
    if (i < n)
        atomicAdd(&digits[(keys[i] >> shift) & 15], 1);
    __syncthreads();
    if (t < 16)
        counts[t * gridDim.x + blockIdx.x] = digits[t];
}

__global__ void radix_split(int *keys, int bit) {
    __shared__ int zeros[65];
    int t = threadIdx.x;
    int key = keys[t];
    int zero = ((key >> bit) & 1) == 0;
    zeros[t + 1] = zero;
    if (t == 0)
        zeros[0] = 0;
    __syncthreads();
    for (int d = 1; d < 64; d *= 2) {
        int left = t + 1 > d ? zeros[t + 1 - d] : 0;
        __syncthreads();
        zeros[t + 1] += left;
        __syncthreads();
    }
    int all = zeros[64];
    int place = zero ? zeros[t] : all + t - zeros[t];
    keys[place] = key;
}

__global__ void rank_sort(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int mine = in[i], rank = 0;
    for (int j = 0; j < n; j++) //~ uniform
        rank += in[j] < mine || (in[j] == mine && j < i);
    out[rank] = mine;
}

__global__ void merge_ranks(int *out, const int *a, const int *b, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int low = 0, high = n;
    while (low < high) {
        int middle = (low + high) / 2;
        if (b[middle] < a[i])
            low = middle + 1;
        else
            high = middle;
    }
    out[i + low] = a[i];
}
