// Kernels on which the rules OCC speak, and near misses on which they do not; see divergence.cu.

// launch: --block 128
__global__ void OCC001_true_shared(float *a)  // OCC001
{
    __shared__ float s[12288];
    s[threadIdx.x] = a[threadIdx.x];
    a[threadIdx.x] = s[threadIdx.x];
}

// launch: --block 32
__global__ void OCC001_true_blocks(float *a)  // OCC001
{
    __shared__ float s[3000];
    s[threadIdx.x] = a[threadIdx.x];
    a[threadIdx.x] = s[threadIdx.x];
}

// launch: --block 64
__global__ void OCC001_true_tile(double *a)  // OCC001
{
    __shared__ double s[64][32];
    s[threadIdx.x][0] = a[threadIdx.x];
    a[threadIdx.x] = s[threadIdx.x][0];
}

// launch: --block 256
__global__ void OCC001_near_small(float *a)
{
    __shared__ float s[256];
    s[threadIdx.x] = a[threadIdx.x];
    a[threadIdx.x] = s[threadIdx.x];
}

// launch: --block 32
__global__ void OCC001_near_half(float *a)
{
    a[threadIdx.x] = 1.0f;
}

// launch: --block 768
__global__ void OCC001_near_large(float *a)
{
    a[threadIdx.x] = 1.0f;
}

// launch: --block 100
__global__ void OCC002_true_hundred(float *a) { a[threadIdx.x] = 1.0f; }  // OCC002

// launch: --block 10,10
__global__ void OCC002_true_square(float *a) { a[threadIdx.y * 10 + threadIdx.x] = 1.0f; }  // OCC002

// launch: --block 1
__global__ void OCC002_true_one(float *a) { a[blockIdx.x] = 1.0f; }  // OCC002

// launch: --block 96
__global__ void OCC002_near_three(float *a) { a[threadIdx.x] = 1.0f; }

// launch: --block 8,8
__global__ void OCC002_near_square(float *a) { a[threadIdx.y * 8 + threadIdx.x] = 1.0f; }

// launch: --block 4,4,4
__global__ void OCC002_near_cube(float *a) { a[threadIdx.x] = 1.0f; }

// launch: --block 256 --grid 10
__global__ void OCC003_true_ten(float *a) { a[threadIdx.x] = 1.0f; }  // OCC003

// launch: --block 256 --grid 10,10
__global__ void OCC003_true_plane(float *a) { a[threadIdx.x] = 1.0f; }  // OCC003

// launch: --block 1024 --grid 1
__global__ void OCC003_true_single(float *a, int n) { for (int i = threadIdx.x; i < n; i += 1024) a[i] = 1.0f; }  // OCC003

// launch: --block 1024 --grid 1
__global__ void OCC003_near_over_at_once(float *a) { a[threadIdx.x] = 1.0f; }

// launch: --block 256 --grid 864
__global__ void OCC003_near_wave(float *a) { a[threadIdx.x] = 1.0f; }

// launch: --block 256 --grid 100000
__global__ void OCC003_near_many(float *a) { a[threadIdx.x] = 1.0f; }

// launch: --block 256
__global__ void OCC003_near_unknown(float *a) { a[threadIdx.x] = 1.0f; }

// launch: --block 64,32
__global__ void OCC004_true_threads(float *a) { a[threadIdx.x] = 1.0f; }  // OCC004

// launch: --block 1,1,128
__global__ void OCC004_true_depth(float *a) { a[threadIdx.x] = 1.0f; }  // OCC004

// launch: --block 512
__global__ void __launch_bounds__(256) OCC004_true_bounds(float *a) { a[threadIdx.x] = 1.0f; }  // OCC004

// launch: --block 32,32
__global__ void OCC004_near_most(float *a) { a[threadIdx.x] = 1.0f; }

// launch: --block 1,1,64
__global__ void OCC004_near_depth(float *a) { a[threadIdx.x] = 1.0f; }

// launch: --block 256
__global__ void __launch_bounds__(256) OCC004_near_bounds(float *a) { a[threadIdx.x] = 1.0f; }

#define EACH(f) f(0) f(1) f(2) f(3) f(4) f(5) f(6) f(7) f(8) f(9) f(10) f(11) f(12) f(13) f(14) f(15) f(16) f(17) f(18) \
    f(19) f(20) f(21) f(22) f(23) f(24) f(25) f(26) f(27) f(28) f(29) f(30) f(31) f(32) f(33) f(34) f(35) f(36) f(37)
#define LOAD(j) auto v##j = b[threadIdx.x + 256 * j];
#define KEEP(j) +v##j
#define HOLD_ALL EACH(LOAD) __syncthreads(); a[threadIdx.x] = 0 EACH(KEEP);

// launch: --block 256
__global__ void OCC005_true_floats(float *a, const float *b) { HOLD_ALL }  // OCC005

// launch: --block 256
__global__ void OCC005_true_doubles(double *a, const double *b) { HOLD_ALL }  // OCC005

// launch: --block 128
__global__ void OCC005_true_integers(int *a, const int *b) { HOLD_ALL }  // OCC005

// launch: --block 256
__global__ void __launch_bounds__(256) OCC005_near_bounds(float *a, const float *b) { HOLD_ALL }

// launch: --block 256
__global__ void OCC005_near_few(float *a) { a[threadIdx.x] = 1.0f; }

// launch: --block 256
__global__ void OCC005_near_shared(float *a)
{
    __shared__ float s[12288];
    s[threadIdx.x] = a[threadIdx.x];
    a[threadIdx.x] = s[threadIdx.x];
}
