// One pass of a bitonic network: each thread computes one number of the result. `width` is the width of a stage, `offset` the
// distance of partners; both are powers of two.

__global__ void arithmetic(float *out, const float *in, float width, float offset)
{
    float i = (float)(blockIdx.x * blockDim.x + threadIdx.x);
    float sign = fmodf(i, 2.0f * offset) < offset ? 1.0f : -1.0f;
    float direction = fmodf(floorf(i / width), 2.0f) == 0.0f ? 1.0f : -1.0f;
    float mine = in[(int)i], other = in[(int)(i + sign * offset)];
    out[(int)i] = sign == direction ? fminf(mine, other) : fmaxf(mine, other);
}

// the same with integers: x % 2^k is x & (2^k - 1), and x / 2^k is x >> k; the exponent of the width is given
__global__ void bits(float *out, const float *in, int exponent, int offset)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    bool first = (i & (2 * offset - 1)) < offset;
    bool up = ((i >> exponent) & 1) == 0;
    float mine = in[i], other = in[first ? i + offset : i - offset];
    out[i] = first == up ? fminf(mine, other) : fmaxf(mine, other);
}
