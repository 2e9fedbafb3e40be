// A sparse matrix times a vector, in three formats, and one level of a sparse triangular solve.
//
// run: spmv_scalar grid 2 block 32 y=f32*64 rows=i32*65:steps0..5 columns=i32*400:0..63 values=f32*400 x=f32*64 n=64|50
// run: spmv_vector grid 2 block 64 y=f32*64 rows=i32*65:steps0..40 columns=i32*3000:0..63 values=f32*3000 x=f32*64 n=4|7
// run: spmv_ell grid 2 block 32 y=f32*64 columns=i32*400:-1..63 values=f32*400 x=f32*64 n=64|50 width=5|3
// run: triangular_level grid 1 block 64 x=f32*64 b=f32*64 rows=i32*65:steps0..5 columns=i32*400:0..20 values=f32*400:1..2 order=i32*64:up start=20|25 end=50|64
// run: spmv_row_block grid 8 block 64 y=f32*64 rows=i32*65:steps0..90 columns=i32*6000:0..63 values=f32*6000 x=f32*64 n=5|8

__global__ void spmv_scalar(float *y, const int *rows, const int *columns, const float *values, const float *x,
                            int n) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < n) {
        float sum = 0;
        for (int j = rows[row]; j < rows[row + 1]; j++)
            sum += values[j] * x[columns[j]];
        y[row] = sum;
    }
}

__global__ void spmv_vector(float *y, const int *rows, const int *columns, const float *values, const float *x,
                            int n) {
    int warps = gridDim.x * (blockDim.x / 32);
    int lane = threadIdx.x & 31;
    for (int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32; row < n; row += warps) { //~ warp uniform, block divergent
        int end = rows[row + 1];
        float sum = 0;
        for (int j = rows[row] + lane; j < end; j += 32)
            sum += values[j] * x[columns[j]];
        for (int offset = 16; offset > 0; offset >>= 1)
            sum += __shfl_down_sync(0xffffffffu, sum, offset);
        if (lane == 0)
            y[row] = sum;
    }
}

__global__ void spmv_ell(float *y, const int *columns, const float *values, const float *x, int n, int width) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= n)
        return;
    float sum = 0;
    for (int k = 0; k < width; k++) { //~ uniform
        int column = columns[k * n + row];
        if (column >= 0)
            sum += values[k * n + row] * x[column];
    }
    y[row] = sum;
}

__global__ void triangular_level(float *x, const float *b, const int *rows, const int *columns, const float *values,
                                 const int *order, int start, int end) {
    int i = start + threadIdx.x + blockIdx.x * blockDim.x;
    if (i >= end)
        return;
    int row = order[i];
    float sum = b[row];
    int last = rows[row + 1] - 1;
    for (int j = rows[row]; j < last; j++)
        sum -= values[j] * x[columns[j]];
    x[row] = sum / values[last > 0 ? last : 0];
}

__global__ void spmv_row_block(float *y, const int *rows, const int *columns, const float *values, const float *x,
                               int n) {
    __shared__ float sums[64];
    int row = blockIdx.x;
    if (row >= n) //~ uniform
        return;
    int start = rows[row], end = rows[row + 1];
    if (start == end) { //~ uniform
        if (threadIdx.x == 0)
            y[row] = 0;
        return;
    }
    float mine = 0;
    for (int j = start + threadIdx.x; j < end; j += blockDim.x)
        mine += values[j] * x[columns[j]];
    sums[threadIdx.x] = mine;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s /= 2) { //~ uniform
        if (threadIdx.x < s)
            sums[threadIdx.x] += sums[threadIdx.x + s];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        y[row] = sums[0];
}
