/* y = A^T (A x), with A m by n: each row of A is used for one element of tmp = A x and then at once for all of y. */
#include "suite.h"

#ifndef M
#define M SUITE_PICK(38, 116, 390, 1900, 1800)
#endif
#ifndef N
#define N SUITE_PICK(42, 124, 410, 2100, 2200)
#endif
#define BOUND_M SUITE_BOUND(M, m)
#define BOUND_N SUITE_BOUND(N, n)

static void initialize(int m, int n, DATA_TYPE SUITE_2D(A, M, N, m, n), DATA_TYPE SUITE_1D(x, N, n))
{
    int i, j;

    for (i = 0; i < n; i++)
        x[i] = SCALAR(1.0) + (DATA_TYPE)i / n;
    for (i = 0; i < m; i++)
        for (j = 0; j < n; j++)
            A[i][j] = (DATA_TYPE)((i + 3 * j) % 23 + 1) / (SCALAR(5.0) * m);
}

static void kernel_atax(int m, int n, DATA_TYPE SUITE_2D(A, M, N, m, n), DATA_TYPE SUITE_1D(x, N, n),
                        DATA_TYPE SUITE_1D(y, N, n), DATA_TYPE SUITE_1D(tmp, M, m))
{
    int i, j;

#pragma scop
    for (i = 0; i < BOUND_N; i++)
        y[i] = 0;
    for (i = 0; i < BOUND_M; i++) {
        tmp[i] = SCALAR(0.0);
        for (j = 0; j < BOUND_N; j++)
            tmp[i] = tmp[i] + A[i][j] * x[j];
        for (j = 0; j < BOUND_N; j++)
            y[j] = y[j] + A[i][j] * tmp[i];
    }
#pragma endscop
}

static void print(int n, DATA_TYPE SUITE_1D(y, N, n))
{
    Digest digest = digest_begin("y");

    for (int i = 0; i < n; i++)
        digest_put(&digest, y[i]);
    digest_end(&digest);
}

int main(void)
{
    int m = M, n = N;
    SUITE_NEW_2D(A, DATA_TYPE, M, N, m, n);
    SUITE_NEW_1D(x, DATA_TYPE, N, n);
    SUITE_NEW_1D(y, DATA_TYPE, N, n);
    SUITE_NEW_1D(tmp, DATA_TYPE, M, m);

    initialize(m, n, SUITE_ARRAY(A), SUITE_ARRAY(x));
    kernel_atax(m, n, SUITE_ARRAY(A), SUITE_ARRAY(x), SUITE_ARRAY(y), SUITE_ARRAY(tmp));
    print(n, SUITE_ARRAY(y));

    free(A);
    free(x);
    free(y);
    free(tmp);
    return 0;
}
