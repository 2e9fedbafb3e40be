// A warp whose lanes go k ways through a switch, all equally long: it takes k times as long as for one way.

#define WAY(n)                           \
    case n:                              \
        for (int i = 0; i < 64; i++)     \
            x = x * (2 * n + 3) + n + 1; \
        break;

__global__ void paths(unsigned *out, int k)
{
    unsigned x = threadIdx.x;
    switch (threadIdx.x % k) {
        WAY(0) WAY(1) WAY(2) WAY(3) WAY(4) WAY(5) WAY(6) WAY(7)
        WAY(8) WAY(9) WAY(10) WAY(11) WAY(12) WAY(13) WAY(14) WAY(15)
        WAY(16) WAY(17) WAY(18) WAY(19) WAY(20) WAY(21) WAY(22) WAY(23)
        WAY(24) WAY(25) WAY(26) WAY(27) WAY(28) WAY(29) WAY(30) WAY(31)
    }
    out[threadIdx.x] = x;
}
