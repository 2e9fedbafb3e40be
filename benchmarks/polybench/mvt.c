/* x1 = x1 + A y_1 and x2 = x2 + A^T y_2. */
#include "suite.h"

#ifndef N
#define N SUITE_PICK(40, 120, 400, 2000, 4000)
#endif
#define BOUND_N SUITE_BOUND(N, n)

static void initialize(int n, DATA_TYPE SUITE_1D(x1, N, n), DATA_TYPE SUITE_1D(x2, N, n),
                       DATA_TYPE SUITE_1D(y_1, N, n), DATA_TYPE SUITE_1D(y_2, N, n), DATA_TYPE SUITE_2D(A, N, N, n, n))
{
    int i, j;

    for (i = 0; i < n; i++) {
        x1[i] = (DATA_TYPE)(i % 5 + 1) / SCALAR(5.0);
        x2[i] = (DATA_TYPE)(i % 7 + 1) / SCALAR(7.0);
        y_1[i] = (DATA_TYPE)(i % 11 + 1) / SCALAR(11.0);
        y_2[i] = (DATA_TYPE)(i % 13 + 1) / SCALAR(13.0);
        for (j = 0; j < n; j++)
            A[i][j] = (DATA_TYPE)((3 * i + j) % 17 + 1) / SCALAR(17.0);
    }
}

static void kernel_mvt(int n, DATA_TYPE SUITE_1D(x1, N, n), DATA_TYPE SUITE_1D(x2, N, n),
                       DATA_TYPE SUITE_1D(y_1, N, n), DATA_TYPE SUITE_1D(y_2, N, n), DATA_TYPE SUITE_2D(A, N, N, n, n))
{
    int i, j;

#pragma scop
    for (i = 0; i < BOUND_N; i++)
        for (j = 0; j < BOUND_N; j++)
            x1[i] = x1[i] + A[i][j] * y_1[j];

    for (i = 0; i < BOUND_N; i++)
        for (j = 0; j < BOUND_N; j++)
            x2[i] = x2[i] + A[j][i] * y_2[j];
#pragma endscop
}

static void print(int n, DATA_TYPE SUITE_1D(x1, N, n), DATA_TYPE SUITE_1D(x2, N, n))
{
    Digest digest = digest_begin("x1");

    for (int i = 0; i < n; i++)
        digest_put(&digest, x1[i]);
    digest_end(&digest);

    digest = digest_begin("x2");
    for (int i = 0; i < n; i++)
        digest_put(&digest, x2[i]);
    digest_end(&digest);
}

int main(void)
{
    int n = N;
    SUITE_NEW_1D(x1, DATA_TYPE, N, n);
    SUITE_NEW_1D(x2, DATA_TYPE, N, n);
    SUITE_NEW_1D(y_1, DATA_TYPE, N, n);
    SUITE_NEW_1D(y_2, DATA_TYPE, N, n);
    SUITE_NEW_2D(A, DATA_TYPE, N, N, n, n);

    initialize(n, SUITE_ARRAY(x1), SUITE_ARRAY(x2), SUITE_ARRAY(y_1), SUITE_ARRAY(y_2), SUITE_ARRAY(A));
    kernel_mvt(n, SUITE_ARRAY(x1), SUITE_ARRAY(x2), SUITE_ARRAY(y_1), SUITE_ARRAY(y_2), SUITE_ARRAY(A));
    print(n, SUITE_ARRAY(x1), SUITE_ARRAY(x2));

    free(x1);
    free(x2);
    free(y_1);
    free(y_2);
    free(A);
    return 0;
}
