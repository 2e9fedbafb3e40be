// C = A B, for square matrices: straight, in tiles, with a patch of C in each thread's registers, four floats at a time.
//
// run: matmul_naive grid 2,2 block 16,4 c=f32*400 a=f32*400 b=f32*400 n=17|8
// run: matmul_tiled grid 2,2 block 8,8 c=f32*400 a=f32*400 b=f32*400 n=16|13
// run: matmul_register grid 1,1 block 8,4 c=f32*1100 a=f32*1100 b=f32*1100 n=16|32
// run: matmul_vectorized grid 1,2 block 8,8 c=f32*1100 a=f32*1100 b=f32*1100 n=32|16
// run: matvec grid 2 block 64 y=f32*100 a=f32*2000 x=f32*100 rows=100|20 columns=17|20
// run: batched_small grid 2 block 32 c=f32*600 a=f32*600 b=f32*600 count=60|64

__global__ void matmul_naive(float *c, const float *a, const float *b, int n) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < n && column < n) {
        float sum = 0;
        for (int k = 0; k < n; k++) //~ uniform
            sum += a[row * n + k] * b[k * n + column];
        c[row * n + column] = sum;
    }
}

__global__ void matmul_tiled(float *c, const float *a, const float *b, int n) {
    __shared__ float as[8][8], bs[8][8];
    int tx = threadIdx.x, ty = threadIdx.y;
    int column = blockIdx.x * 8 + tx, row = blockIdx.y * 8 + ty;
    float sum = 0;
    for (int start = 0; start < n; start += 8) { //~ uniform
        as[ty][tx] = row < n && start + tx < n ? a[row * n + start + tx] : 0;
        bs[ty][tx] = start + ty < n && column < n ? b[(start + ty) * n + column] : 0;
        __syncthreads();
        for (int k = 0; k < 8; k++) //~ uniform
            sum += as[ty][k] * bs[k][tx];
        __syncthreads();
    }
    if (row < n && column < n)
        c[row * n + column] = sum;
}

__global__ void matmul_register(float *c, const float *a, const float *b, int n) {
    int row = (blockIdx.y * blockDim.y + threadIdx.y) * 4;
    int column = (blockIdx.x * blockDim.x + threadIdx.x) * 4;
    if (row >= n || column >= n)
        return;
    float sum[4][4] = {};
    for (int k = 0; k < n; k++) { //~ uniform
        float left[4], right[4];
        for (int i = 0; i < 4; i++) //~ uniform
            left[i] = a[(row + i) * n + k];
        for (int j = 0; j < 4; j++)
            right[j] = b[k * n + column + j];
        for (int i = 0; i < 4; i++)
            for (int j = 0; j < 4; j++)
                sum[i][j] += left[i] * right[j];
    }
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++)
            c[(row + i) * n + column + j] = sum[i][j];
}

__global__ void matmul_vectorized(float4 *c, const float *a, const float4 *b, int n) {
    int four = n / 4;
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (column >= four || row >= n)
        return;
    float4 sum = make_float4(0, 0, 0, 0);
    for (int k = 0; k < n; k++) { //~ uniform
        float left = a[row * n + k];
        float4 right = b[k * four + column];
        sum.x += left * right.x;
        sum.y += left * right.y;
        sum.z += left * right.z;
        sum.w += left * right.w;
    }
    c[row * four + column] = sum;
}

__global__ void matvec(float *y, const float *a, const float *x, int rows, int columns) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows) {
        float sum = 0;
        for (int j = 0; j < columns; j++) //~ uniform
            sum += a[row * columns + j] * x[j];
        y[row] = sum;
    }
}

struct Matrix3 {
    float at[3][3];
};

__global__ void batched_small(Matrix3 *c, const Matrix3 *a, const Matrix3 *b, int count) {
    int m = blockIdx.x * blockDim.x + threadIdx.x;
    if (m >= count)
        return;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            float sum = 0;
            for (int k = 0; k < 3; k++)
                sum += a[m].at[i][k] * b[m].at[k][j];
            c[m].at[i][j] = sum;
        }
}
