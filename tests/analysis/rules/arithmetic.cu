// Kernels on which the rules ARI speak, and near misses on which they do not; see divergence.cu.

// launch: --block 128
__global__ void ARI001_true_eight(int *a) { a[threadIdx.x] = a[threadIdx.x] % 8; }  // ARI001

// launch: --block 128
__global__ void ARI001_true_two(int *a, int n) { a[threadIdx.x] = n % 2; }  // ARI001

// launch: --block 128
__global__ void ARI001_true_long(long long *a) { a[threadIdx.x] = a[threadIdx.x] % 64; }  // ARI001

// launch: --block 128
__global__ void ARI001_true_odd(int *a, int n) { if (n % 2 == 1) a[threadIdx.x] = 1; }  // ARI001

// launch: --block 128
__global__ void ARI001_near_even(int *a, int n) { if (n % 2 == 0 || n % 8 != 0) a[threadIdx.x] = 1; }

// launch: --block 128
__global__ void ARI001_near_rest(int *a, int n) { if (n % 4) a[threadIdx.x] = 1; }

// launch: --block 128
__global__ void ARI001_true_from_argument(int *a, int n)
{
    for (int i = n; i < 40; i++)
        a[i % 8] += 1;  // ARI001
}

// launch: --block 128
__global__ void ARI001_near_counter(int *a, int n)
{
    for (int i = 0; i < n; i++)
        a[(i + 3) % 8] += 1;
}

// launch: --block 128
__global__ void ARI001_near_bytes(int *a, const unsigned char *b)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    a[i] = (b[i] * 16) % 64;
}

// launch: --block 128
__global__ void ARI001_near_unsigned(unsigned *a) { a[threadIdx.x] = a[threadIdx.x] % 8; }

// launch: --block 128
__global__ void ARI001_near_ten(int *a) { a[threadIdx.x] = a[threadIdx.x] % 10; }

// launch: --block 128
__global__ void ARI001_near_mask(int *a) { a[threadIdx.x] = a[threadIdx.x] & 7; }

// launch: --block 128
__global__ void ARI001_near_index(int *a) { int lane = threadIdx.x; a[lane] = lane % 32; }

// launch: --block 128
__global__ void ARI001_true_global_index(int *a) { int i = blockIdx.x * blockDim.x + threadIdx.x; a[i] = i % 32; }  // ARI001

// launch: --block 128
__global__ void ARI001_true_below_zero(int *a) { int i = threadIdx.x; a[i] = (i - 64) % 32; }  // ARI001

// launch: --block 128
__global__ void ARI002_true_divide(int *a, int n, int w)
{
    int s = 0;
    for (int j = 0; j < n; j++)
        s += a[j * 128 + threadIdx.x] / w;  // ARI002
    a[threadIdx.x] = s;
}

// launch: --block 128
__global__ void ARI002_true_remainder(unsigned *a, unsigned n, unsigned w)
{
    for (unsigned j = 0; j < n; j++)
        a[j * 128 + threadIdx.x] %= w;  // ARI002
}

// launch: --block 128
__global__ void ARI002_true_counter(int *a, int n, int w)
{
    for (int j = threadIdx.x; j < n; j += 128)
        a[j] = j / w;  // ARI002
}

// launch: --block 128
__global__ void ARI002_near_constant(int *a, int n)
{
    for (int j = threadIdx.x; j < n; j += 128)
        a[j] = j / 12;
}

// launch: --block 128
__global__ void ARI002_near_once(int *a, int w) { a[threadIdx.x] = threadIdx.x / w; }

// launch: --block 128
__global__ void ARI002_near_varies(int *a, int n)
{
    for (int j = 1; j < n; j++)
        a[threadIdx.x + j] = n / j;
}

// launch: --block 128
__global__ void ARI003_true_literal(float *a) { a[threadIdx.x] = a[threadIdx.x] * 2.1; }  // ARI003

// launch: --block 128
__global__ void ARI003_true_sum(float *a) { a[threadIdx.x] = 0.1 + a[threadIdx.x] / 3.0; }  // ARI003

// launch: --block 128
__global__ void ARI003_true_two(float *a, float h)
{
    float x = a[threadIdx.x];
    a[threadIdx.x] = x * x * 0.5 + h;  // ARI003
}

// launch: --block 128
__global__ void ARI003_near_float(float *a) { a[threadIdx.x] = a[threadIdx.x] * 2.1f; }

// launch: --block 128
__global__ void ARI003_near_double(double *a) { a[threadIdx.x] = a[threadIdx.x] * 2.1; }

// launch: --block 128
__global__ void ARI003_near_kept(double *b, const float *a) { b[threadIdx.x] = a[threadIdx.x] * 2.1; }

// launch: --block 128
__global__ void ARI004_true_square(float *a) { a[threadIdx.x] = powf(a[threadIdx.x], 2.0f); }  // ARI004

// launch: --block 128
__global__ void ARI004_true_cube(float *a) { a[threadIdx.x] = powf(a[threadIdx.x], 3.0f); }  // ARI004

// launch: --block 128
__global__ void ARI004_true_root(double *a) { a[threadIdx.x] = pow(a[threadIdx.x], 0.5); }  // ARI004

// launch: --block 128
__global__ void ARI004_near_real(float *a) { a[threadIdx.x] = powf(a[threadIdx.x], 2.4f); }

// launch: --block 128
__global__ void ARI004_near_argument(float *a, float e) { a[threadIdx.x] = powf(a[threadIdx.x], e); }

// launch: --block 128
__global__ void ARI004_near_product(float *a) { float x = a[threadIdx.x]; a[threadIdx.x] = x * x; }

// launch: --block 128
__global__ void ARI005_true_divide(float *a, int n)
{
    float x = a[threadIdx.x];
    for (int j = 0; j < n; j++)
        x = 2.0f / x + 1.0f;  // ARI005
    a[threadIdx.x] = x;
}

// launch: --block 128
__global__ void ARI005_true_sine(float *a, int n)
{
    float x = a[threadIdx.x];
    for (int j = 0; j < n; j++)
        x = sinf(x) + 1.0f;  // ARI005
    a[threadIdx.x] = x;
}

// launch: --block 128
__global__ void ARI005_true_exponential(float *a, int n)
{
    float x = a[threadIdx.x];
    for (int j = 0; j < n; j++)
        x = expf(-x);  // ARI005
    a[threadIdx.x] = x;
}

// launch: --block 128
__global__ void ARI005_near_once(float *a) { a[threadIdx.x] = sinf(a[threadIdx.x]) / 3.0f; }

// launch: --block 128
__global__ void ARI005_near_unrolled(float *a)
{
    for (int j = 1; j < 5; j++) a[threadIdx.x + j * 128] *= 1.0f / (float)j;
}

// launch: --block 128
__global__ void ARI005_near_fast(float *a, int n)
{
    float x = a[threadIdx.x];
    for (int j = 0; j < n; j++)
        x = __sinf(x) + 1.0f;
    a[threadIdx.x] = x;
}

// launch: --block 128
__global__ void ARI005_near_product(float *a, int n)
{
    float x = a[threadIdx.x];
    for (int j = 0; j < n; j++)
        x = x * 1.5f;
    a[threadIdx.x] = x;
}

// launch: --block 128
__global__ void ARI006_true_divide(long long *a, int n)
{
    int i = blockIdx.x * 128 + threadIdx.x;
    a[i] = (long long)i / (long long)n;  // ARI006
}

// launch: --block 128
__global__ void ARI006_true_remainder(int *a, int n)
{
    int i = blockIdx.x * 128 + threadIdx.x;
    a[(long long)i % (long long)n] = 1;  // ARI006
}

// launch: --block 128
__global__ void ARI006_true_size(unsigned long long *a, unsigned n)
{
    unsigned i = blockIdx.x * 128 + threadIdx.x;
    a[i] = (unsigned long long)i / n;  // ARI006
}

// launch: --block 128
__global__ void ARI006_near_narrow(int *a, int n)
{
    int i = blockIdx.x * 128 + threadIdx.x;
    a[i] = i / n;
}

// launch: --block 128
__global__ void ARI006_near_wide(long long *a, long long n) { a[threadIdx.x] = a[threadIdx.x] / n; }

// launch: --block 128
__global__ void ARI006_near_product(long long *a, int n) { a[threadIdx.x] = (long long)threadIdx.x * n; }

// launch: --block 128
__global__ void ARI007_true_inverse(float *a, float h) { a[threadIdx.x] *= 1.0f / h; }  // ARI007

// launch: --block 128
__global__ void ARI007_true_root(float *a, float h) { a[threadIdx.x] += sqrtf(h); }  // ARI007

// launch: --block 128
__global__ void ARI007_true_integer(int *a, int n, int m) { a[threadIdx.x] += n / m; }  // ARI007

// launch: --block 128
__global__ void ARI005_near_invariant(float *a, float h, int n)
{
    for (int j = 0; j < n; j++) a[threadIdx.x + j * 128] *= 1.0f / (h * h);
}

// launch: --block 128
__global__ void ARI007_near_half(double *a, double h) { a[threadIdx.x] += h / 2.0; }

// launch: --block 128
__global__ void ARI007_near_data(float *a, float h) { a[threadIdx.x] = a[threadIdx.x] / h; }

// launch: --block 128
__global__ void ARI007_near_block(int *a, int n) { a[threadIdx.x] += blockIdx.x / n; }

// launch: --block 128
__global__ void ARI007_near_cheap(float *a, float h) { a[threadIdx.x] += h * 2.0f; }

// launch: --block 128
__global__ void ARI002_near_bound(int *a, int n, int parts)
{
    int t = threadIdx.x;
    for (int i = n * t / parts; i < n * (t + 1) / parts; i++)
        a[i] = i;
}
