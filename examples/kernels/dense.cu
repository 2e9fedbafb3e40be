// Steps of dense solvers and transforms.
//
// run: gauss_factors grid 2 block 32 m=f32*256 a=f32*256:1..2 n=12|16 k=0|5
// run: gauss_update grid 1,2 block 16,8 a=f32*256:1..2 b=f32*16 m=f32*256 n=12|16 k=0|5
// run: lu_diagonal grid 1 block 16 a=f32*256:1..2 n=16
// run: lu_perimeter grid 1 block 32 a=f32*1024:1..2 n=32
// run: dct_8x8 grid 2,2 block 8,8 out=f32*300 in=f32*300 width=16
// run: cholesky_column grid 1 block 32 a=f32*1024:1..2 n=32|20 k=0|3
// run: gram_schmidt grid 1 block 64 q=f32*640:1..2 n=60|64 k=4|2
// run: power_step grid 1 block 32 y=f32*32 norm=f32*1 a=f32*1024 x=f32*32 n=32|20

__global__ void gauss_factors(float *m, const float *a, int n, int k) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n - 1 - k)
        return;
    m[n * (i + k + 1) + k] = a[n * (i + k + 1) + k] / a[n * k + k];
}

__global__ void gauss_update(float *a, float *b, const float *m, int n, int k) {
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= n - 1 - k || j >= n - k)
        return;
    a[n * (i + k + 1) + j + k] -= m[n * (i + k + 1) + k] * a[n * k + j + k];
    if (j == 0)
        b[i + k + 1] -= m[n * (i + k + 1) + k] * b[k];
}

__global__ void lu_diagonal(float *a, int n) {
    __shared__ float s[16][16];
    int t = threadIdx.x;
    for (int i = 0; i < 16; i++) //~ uniform
        s[i][t] = a[i * n + t];
    __syncthreads();
    for (int i = 0; i < 15; i++) { //~ uniform
        if (t > i) {
            for (int j = 0; j < i; j++) //~ uniform
                s[t][i] -= s[t][j] * s[j][i];
            s[t][i] /= s[i][i];
        }
        __syncthreads();
        if (t > i)
            for (int j = 0; j < i + 1; j++)
                s[i + 1][t] -= s[i + 1][j] * s[j][t];
        __syncthreads();
    }
    for (int i = 0; i < 16; i++)
        a[i * n + t] = s[i][t];
}

__global__ void lu_perimeter(float *a, int n) {
    __shared__ float diagonal[16][16], row[16][16], column[16][16];
    int t = threadIdx.x;
    int i = t % 16;
    if (t < 16) {
        for (int r = 0; r < 16; r++) {
            diagonal[r][i] = a[r * n + i];
            row[r][i] = a[r * n + 16 + i];
        }
    } else {
        for (int r = 0; r < 16; r++)
            column[r][i] = a[(16 + r) * n + i];
    }
    __syncthreads();
    if (t < 16) {
        for (int r = 1; r < 16; r++)
            for (int j = 0; j < r; j++)
                row[r][i] -= diagonal[r][j] * row[j][i];
    } else {
        for (int c = 0; c < 16; c++) {
            for (int j = 0; j < c; j++)
                column[i][c] -= column[i][j] * diagonal[j][c];
            column[i][c] /= diagonal[c][c];
        }
    }
    __syncthreads();
    for (int r = 0; r < 16; r++) {
        if (t < 16)
            a[r * n + 16 + i] = row[r][i];
        else
            a[(16 + r) * n + i] = column[r][i];
    }
}

__constant__ float cosines[64] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 0.5f, 0.25f};

__global__ void dct_8x8(float *out, const float *in, int width) {
    __shared__ float block[8][9], half[8][9];
    int tx = threadIdx.x, ty = threadIdx.y;
    int x = blockIdx.x * 8 + tx, y = blockIdx.y * 8 + ty;
    block[ty][tx] = in[y * width + x] - 128.0f;
    __syncthreads();
    float sum = 0;
#pragma unroll
    for (int k = 0; k < 8; k++)
        sum += cosines[tx * 8 + k] * block[ty][k];
    half[ty][tx] = sum;
    __syncthreads();
    sum = 0;
#pragma unroll
    for (int k = 0; k < 8; k++)
        sum += cosines[ty * 8 + k] * half[k][tx];
    out[y * width + x] = sum;
}

__global__ void cholesky_column(float *a, int n, int k) {
    __shared__ float pivot;
    int t = threadIdx.x;
    if (t == 0) {
        float sum = a[k * n + k];
        for (int j = 0; j < k; j++)
            sum -= a[k * n + j] * a[k * n + j];
        pivot = sqrtf(fabsf(sum) + 1.0f);
        a[k * n + k] = pivot;
    }
    __syncthreads();
    if (pivot == 0.0f) //~ uniform
        return;
    for (int i = k + 1 + t; i < n; i += blockDim.x) {
        float sum = a[i * n + k];
        for (int j = 0; j < k; j++) //~ uniform
            sum -= a[i * n + j] * a[k * n + j];
        a[i * n + k] = sum / pivot;
    }
}

__global__ void gram_schmidt(float *q, int n, int k) {
    __shared__ float parts[64];
    int t = threadIdx.x;
    for (int j = 0; j < k; j++) { //~ uniform
        parts[t] = t < n ? q[j * n + t] * q[k * n + t] : 0;
        __syncthreads();
        for (int s = 32; s > 0; s >>= 1) { //~ uniform
            if (t < s)
                parts[t] += parts[t + s];
            __syncthreads();
        }
        float projection = parts[0];
        __syncthreads();
        if (projection != 0.0f) //~ uniform
            if (t < n)
                q[k * n + t] -= projection * q[j * n + t];
    }
}

__global__ void power_step(float *y, float *norm, const float *a, const float *x, int n) {
    int t = threadIdx.x;
    float sum = 0;
    if (t < n)
        for (int j = 0; j < n; j++)
            sum += a[t * n + j] * x[j];
    float square = sum * sum;
    for (int mask = 16; mask >= 1; mask /= 2)
        square += __shfl_xor_sync(0xffffffffu, square, mask);
    if (t == 0)
        *norm = sqrtf(square);
    if (t < n)
        y[t] = sum * rsqrtf(square + 1e-6f);
}
