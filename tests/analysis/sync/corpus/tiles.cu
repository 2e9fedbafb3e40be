// Tiles of arrays in shared memory.

// launch: grid 2 2, block 8 8, c 256, a 256, b 256, n=16
__global__ void product_filled(int *c, const int *a, const int *b, int n)
{
    __shared__ int ta[8][8], tb[8][8];
    int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 8 + y, col = blockIdx.x * 8 + x, sum = 0;
    for (int m = 0; m < n / 8; m++) {
        ta[y][x] = a[row * n + m * 8 + x]; // races
        tb[y][x] = b[(m * 8 + y) * n + col]; // races
        __syncthreads(); // free
        for (int k = 0; k < 8; k++)
            sum += ta[y][k] * tb[k][x]; // races
        __syncthreads();
    }
    c[row * n + col] = sum;
}

// launch: grid 2 2, block 8 8, c 256, a 256, b 256, n=16
__global__ void product_refilled(int *c, const int *a, const int *b, int n)
{
    __shared__ int ta[8][8], tb[8][8];
    int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 8 + y, col = blockIdx.x * 8 + x, sum = 0;
    for (int m = 0; m < n; m += 8) {
        ta[y][x] = a[row * n + m + x]; // races
        tb[y][x] = b[(m + y) * n + col]; // races
        __syncthreads();
        for (int k = 0; k < 8; k++)
            sum += ta[y][k] * tb[k][x]; // races
        __syncthreads(); // free
    }
    c[row * n + col] = sum;
}

// launch: grid 2 2, block 16 16, out 1024, in 1024, w=32, h=32
__global__ void turned(int *out, const int *in, int w, int h)
{
    __shared__ int s[16][17];
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    if (x < w && y < h)
        s[threadIdx.y][threadIdx.x] = in[y * w + x]; // races
    __syncthreads(); // free
    x = blockIdx.y * 16 + threadIdx.x;
    y = blockIdx.x * 16 + threadIdx.y;
    if (x < h && y < w)
        out[y * h + x] = s[threadIdx.x][threadIdx.y]; // races
}

// launch: grid 2 2, block 16 4, out 1024, in 1024, n=32
__global__ void turned_in_strips(int *out, const int *in, int n)
{
    __shared__ int s[16][17];
    int x = threadIdx.x;
    for (int y = threadIdx.y; y < 16; y += 4)
        s[y][x] = in[(blockIdx.y * 16 + y) * n + blockIdx.x * 16 + x]; // races
    __syncthreads(); // free
    for (int y = threadIdx.y; y < 16; y += 4)
        out[(blockIdx.x * 16 + y) * n + blockIdx.y * 16 + x] = s[x][y]; // races
}

// launch: grid 1, block 64, out 64, in 512, n=512
__global__ void in_turns(int *out, const int *in, int n)
{
    __shared__ int s[2][64];
    int t = threadIdx.x, now = 0, sum = 0;
    for (int i = 0; i < n; i += 64) {
        s[now][t] = in[i + t]; // races
        __syncthreads();
        sum += s[now][63 - t]; // races
        now ^= 1; // free
    }
    out[t] = sum;
}

// launch: grid 2, block 64, out 128, in 130
__global__ void smoothed(int *out, const int *in)
{
    __shared__ int s[66];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    s[t + 1] = in[i + 1]; // races
    if (t == 0)
        s[0] = in[i];
    if (t == 63)
        s[65] = in[i + 2];
    __syncthreads(); // free
    out[i] = s[t] + 2 * s[t + 1] + s[t + 2]; // races
}

// launch: grid 1, block 64, out 64, in 64, n=5
__global__ void diffused(int *out, const int *in, int n)
{
    __shared__ int s[66];
    int t = threadIdx.x;
    s[t + 1] = in[t];
    if (t < 2)
        s[65 * t] = 0;
    __syncthreads();
    for (int i = 0; i < n; i++) {
        int v = s[t] + s[t + 2]; // races
        __syncthreads(); // free
        s[t + 1] = v; // races
        __syncthreads();
    }
    out[t] = s[t + 1];
}

// launch: grid 1, block 64, out 64, in 64, n=6
__global__ void diffused_in_two(int *out, const int *in, int n)
{
    __shared__ int a[66], b[66];
    int t = threadIdx.x;
    a[t + 1] = in[t];
    if (t < 2)
        a[65 * t] = b[65 * t] = 0;
    __syncthreads();
    for (int i = 0; i < n; i += 2) {
        b[t + 1] = a[t] + a[t + 2]; // races
        __syncthreads(); // free
        a[t + 1] = b[t] + b[t + 2]; // races
        __syncthreads();
    }
    out[t] = a[t + 1];
}

// launch: grid 2, block 32, out 64, in 64, n=64
__global__ void all_pairs(int *out, const int *in, int n)
{
    __shared__ int s[32];
    int i = blockIdx.x * blockDim.x + threadIdx.x, sum = 0;
    for (int tile = 0; tile < gridDim.x; tile++) {
        s[threadIdx.x] = in[tile * blockDim.x + threadIdx.x]; // races
        __syncthreads();
        for (int k = 0; k < blockDim.x; k++)
            sum += s[k] * in[i]; // races
        __syncthreads(); // free
    }
    out[i] = sum;
}

// launch: grid 2 2, block 8 8, out 256, in 400, n=20
__global__ void halo_in_rounds(int *out, const int *in, int n)
{
    __shared__ int s[10 * 10];
    int x = threadIdx.x, y = threadIdx.y;
    for (int k = y * 8 + x; k < 100; k += 64)
        s[k] = in[(blockIdx.y * 8 + k / 10) * n + blockIdx.x * 8 + k % 10]; // races
    __syncthreads(); // free
    int at = (y + 1) * 10 + x + 1;
    out[(blockIdx.y * 8 + y) * 16 + blockIdx.x * 8 + x] = s[at - 1] + s[at + 1] + s[at - 10] + s[at + 10]; // races
}

// launch: grid 1, block 32, out 64, in 64, n=4
__global__ void red_and_black(int *out, const int *in, int n)
{
    __shared__ int s[66];
    int t = threadIdx.x;
    s[t + 1] = in[t];
    s[t + 33] = in[t + 32];
    if (t < 2)
        s[65 * t] = 0;
    __syncthreads();
    for (int i = 0; i < n; i++) {
        s[2 * t + 1] = s[2 * t] + s[2 * t + 2]; // races
        __syncthreads(); // free
        s[2 * t + 2] = s[2 * t + 1] + s[2 * t + 3]; // races
        __syncthreads();
    }
    out[t] = s[t + 1];
    out[t + 32] = s[t + 33];
}

// launch: grid 2, block 64, out 128, in 128
__global__ void reversed(int *out, const int *in)
{
    extern __shared__ int s[];
    int t = threadIdx.x, from = blockIdx.x * blockDim.x;
    s[t] = in[from + t]; // races
    __syncthreads(); // free
    out[from + t] = s[blockDim.x - 1 - t]; // races
}

// launch: grid 1, block 4 4 4, out 64, in 64
__global__ void in_depth(int *out, const int *in)
{
    __shared__ int s[4][4][4];
    int x = threadIdx.x, y = threadIdx.y, z = threadIdx.z;
    s[z][y][x] = in[(z * 4 + y) * 4 + x]; // races
    __syncthreads(); // free
    out[(z * 4 + y) * 4 + x] = s[x][y][z]; // races
}

// launch: grid 1, block 16 16, a 256, n=16
__global__ void eliminated(int *a, int n)
{
    __shared__ int s[16][16];
    int x = threadIdx.x, y = threadIdx.y;
    s[y][x] = a[y * n + x];
    __syncthreads();
    for (int k = 0; k < 15; k++) {
        if (y > k && x == k)
            s[y][k] = s[y][k] / (s[k][k] | 1); // races
        __syncthreads(); // free
        if (y > k && x > k)
            s[y][x] -= s[y][k] * s[k][x]; // races
        __syncthreads();
    }
    a[y * n + x] = s[y][x];
}

// launch: grid 1, block 64, out 64, in 256, n=256
__global__ void buffers_by_turns(int *out, const int *in, int n)
{
    __shared__ int s[2][64];
    int t = threadIdx.x, w = 0, sum = 0;
    s[0][t] = in[t];
    __syncthreads();
    for (int k = 0; k < n; k += 64) {
        w ^= 1;
        sum += s[w ^ 1][63 - t]; // races
        if (k + 64 < n) {
            s[w][t] = in[k + 64 + t]; // races
            __syncthreads(); // free
        }
    }
    out[t] = sum;
}
