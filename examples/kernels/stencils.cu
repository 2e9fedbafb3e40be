// Each point from its neighbors: in one, two and three dimensions, straight and through shared memory.
//
// run: stencil_1d grid 2 block 64 out=f32*200 in=f32*200 n=128|100|7
// run: stencil_1d_tiled grid 2 block 64 out=f32*200 in=f32*200 n=128|100|7
// run: jacobi_2d grid 2,2 block 16,4 out=f32*400 in=f32*400 n=17|8
// run: heat_2d_tiled grid 2,2 block 16,8 out=f32*600 in=f32*600 nx=20|32 ny=17|16
// run: stencil_3d grid 2,2 block 16,4 out=f32*2500 in=f32*2500 nx=18|16 ny=8|5 nz=6|4
// run: convolution_rows grid 1,2 block 32,4 out=f32*600 in=f32*600 width=33|32 height=7|8
// run: convolution_2d grid 2,2 block 16,4 out=f32*600 in=f32*600 mask=f32*25 width=20|16 height=7|8
// run: life grid 2,2 block 16,4 next=u8*600 now=u8*600:0..1 width=20|32 height=7|8

__constant__ float weights[5] = {0.1f, 0.2f, 0.4f, 0.2f, 0.1f};

__global__ void stencil_1d(float *out, const float *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i > 0 && i < n - 1)
        out[i] = 0.25f * in[i - 1] + 0.5f * in[i] + 0.25f * in[i + 1];
}

__global__ void stencil_1d_tiled(float *out, const float *in, int n) {
    __shared__ float tile[64 + 4];
    int t = threadIdx.x;
    int i = blockIdx.x * blockDim.x + t;
    tile[t + 2] = i < n ? in[i] : 0;
    if (t < 2) {
        tile[t] = i >= 2 && i - 2 < n ? in[i - 2] : 0;
        tile[t + 66] = i + 64 < n ? in[i + 64] : 0;
    }
    __syncthreads();
    float sum = 0;
    for (int j = -2; j <= 2; j++) //~ uniform
        sum += weights[j + 2] * tile[t + 2 + j];
    if (i < n)
        out[i] = sum;
}

__global__ void jacobi_2d(float *out, const float *in, int n) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 1 || y < 1 || x >= n - 1 || y >= n - 1)
        return;
    out[y * n + x] = 0.25f * (in[y * n + x - 1] + in[y * n + x + 1] + in[(y - 1) * n + x] + in[(y + 1) * n + x]);
}

__global__ void heat_2d_tiled(float *out, const float *in, int nx, int ny) {
    __shared__ float tile[10][18];
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
    bool inside = x < nx && y < ny;
    tile[ty][tx] = inside ? in[y * nx + x] : 0;
    if (threadIdx.x == 0)
        tile[ty][0] = inside && x > 0 ? in[y * nx + x - 1] : 0;
    if (threadIdx.x == 15)
        tile[ty][17] = y < ny && x + 1 < nx ? in[y * nx + x + 1] : 0;
    if (threadIdx.y == 0)
        tile[0][tx] = inside && y > 0 ? in[(y - 1) * nx + x] : 0;
    if (threadIdx.y == 7)
        tile[9][tx] = x < nx && y + 1 < ny ? in[(y + 1) * nx + x] : 0;
    __syncthreads();
    if (inside)
        out[y * nx + x] =
            tile[ty][tx] +
            0.1f * (tile[ty][tx - 1] + tile[ty][tx + 1] + tile[ty - 1][tx] + tile[ty + 1][tx] - 4 * tile[ty][tx]);
}

__global__ void stencil_3d(float *out, const float *in, int nx, int ny, int nz) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 1 || x >= nx - 1 || y < 1 || y >= ny - 1)
        return;
    int plane = nx * ny, at = y * nx + x;
    float below = in[at], here = in[at + plane];
    for (int z = 1; z < nz - 1; z++) { //~ uniform
        float above = in[at + (z + 1) * plane];
        int i = at + z * plane;
        out[i] = below + above + in[i - 1] + in[i + 1] + in[i - nx] + in[i + nx] - 6 * here;
        below = here;
        here = above;
    }
}

__global__ void convolution_rows(float *out, const float *in, int width, int height) {
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (y >= height)
        return;
    for (int x = threadIdx.x; x < width; x += blockDim.x) {
        float sum = 0;
        for (int j = -2; j <= 2; j++)
            if (x + j >= 0 && x + j < width)
                sum += weights[j + 2] * in[y * width + x + j];
        out[y * width + x] = sum;
    }
}

__global__ void convolution_2d(float *out, const float *in, const float *mask, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    float sum = 0;
    for (int dy = -2; dy <= 2; dy++) { //~ uniform
        for (int dx = -2; dx <= 2; dx++) { //~ uniform
            int px = min(max(x + dx, 0), width - 1);
            int py = min(max(y + dy, 0), height - 1);
            float weight = mask[(dy + 2) * 5 + dx + 2];
            if (weight != 0.0f) //~ uniform
                sum += weight * in[py * width + px];
        }
    }
    out[y * width + x] = sum;
}

__global__ void life(unsigned char *next, const unsigned char *now, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    int alive = 0;
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++) {
            if (dx == 0 && dy == 0) //~ uniform
                continue;
            int px = (x + dx + width) % width, py = (y + dy + height) % height;
            alive += now[py * width + px];
        }
    next[y * width + x] = alive == 3 || (alive == 2 && now[y * width + x]);
}
