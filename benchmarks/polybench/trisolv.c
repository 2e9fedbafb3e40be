/* L x = b with a lower triangular L, by forward substitution. */
#include "suite.h"

#ifndef N
#define N SUITE_PICK(40, 120, 400, 2000, 4000)
#endif
#define BOUND_N SUITE_BOUND(N, n)

static void initialize(int n, DATA_TYPE SUITE_2D(L, N, N, n, n), DATA_TYPE SUITE_1D(b, N, n))
{
    int i, j;

    for (i = 0; i < n; i++) {
        b[i] = SCALAR(1.0) + (DATA_TYPE)(i % 9) / SCALAR(9.0);
        for (j = 0; j < n; j++)
            L[i][j] = (DATA_TYPE)((i + 4 * j) % 11 + 1) / (SCALAR(11.0) * n);
        L[i][i] = SCALAR(2.0) + (DATA_TYPE)i / n;
    }
}

static void kernel_trisolv(int n, DATA_TYPE SUITE_2D(L, N, N, n, n), DATA_TYPE SUITE_1D(x, N, n),
                           DATA_TYPE SUITE_1D(b, N, n))
{
    int i, j;

#pragma scop
    for (i = 0; i < BOUND_N; i++) {
        x[i] = b[i];
        for (j = 0; j < i; j++)
            x[i] -= L[i][j] * x[j];
        x[i] = x[i] / L[i][i];
    }
#pragma endscop
}

static void print(int n, DATA_TYPE SUITE_1D(x, N, n))
{
    Digest digest = digest_begin("x");

    for (int i = 0; i < n; i++)
        digest_put(&digest, x[i]);
    digest_end(&digest);
}

int main(void)
{
    int n = N;
    SUITE_NEW_2D(L, DATA_TYPE, N, N, n, n);
    SUITE_NEW_1D(x, DATA_TYPE, N, n);
    SUITE_NEW_1D(b, DATA_TYPE, N, n);

    initialize(n, SUITE_ARRAY(L), SUITE_ARRAY(b));
    kernel_trisolv(n, SUITE_ARRAY(L), SUITE_ARRAY(x), SUITE_ARRAY(b));
    print(n, SUITE_ARRAY(x));

    free(L);
    free(x);
    free(b);
    return 0;
}
