/* Rank-two update and two matrix-vector products:
 * A = A + u1 v1^T + u2 v2^T; x = x + beta A^T y + z; w = w + alpha A x.
 */
#include "suite.h"

#ifndef N
#define N SUITE_PICK(40, 120, 400, 2000, 4000)
#endif
#define BOUND_N SUITE_BOUND(N, n)

static void initialize(int n, DATA_TYPE SUITE_2D(A, N, N, n, n), DATA_TYPE SUITE_1D(u1, N, n),
                       DATA_TYPE SUITE_1D(v1, N, n), DATA_TYPE SUITE_1D(u2, N, n), DATA_TYPE SUITE_1D(v2, N, n),
                       DATA_TYPE SUITE_1D(w, N, n), DATA_TYPE SUITE_1D(x, N, n), DATA_TYPE SUITE_1D(y, N, n),
                       DATA_TYPE SUITE_1D(z, N, n))
{
    int i, j;

    for (i = 0; i < n; i++) {
        u1[i] = (DATA_TYPE)(i % 7 + 1) / SCALAR(7.0);
        u2[i] = (DATA_TYPE)(i % 5 + 1) / SCALAR(15.0);
        v1[i] = (DATA_TYPE)(2 * i % 11 + 1) / SCALAR(11.0);
        v2[i] = (DATA_TYPE)(3 * i % 13 + 1) / SCALAR(39.0);
        y[i] = (DATA_TYPE)(i % 17 + 1) / (SCALAR(17.0) * n);
        z[i] = (DATA_TYPE)(i % 3 + 1) / SCALAR(9.0);
        x[i] = SCALAR(0.25);
        w[i] = SCALAR(0.125);
        for (j = 0; j < n; j++)
            A[i][j] = (DATA_TYPE)((i + 2 * j) % 19 + 1) / (SCALAR(19.0) * n);
    }
}

static void kernel_gemver(int n, DATA_TYPE alpha, DATA_TYPE beta, DATA_TYPE SUITE_2D(A, N, N, n, n),
                          DATA_TYPE SUITE_1D(u1, N, n), DATA_TYPE SUITE_1D(v1, N, n), DATA_TYPE SUITE_1D(u2, N, n),
                          DATA_TYPE SUITE_1D(v2, N, n), DATA_TYPE SUITE_1D(w, N, n), DATA_TYPE SUITE_1D(x, N, n),
                          DATA_TYPE SUITE_1D(y, N, n), DATA_TYPE SUITE_1D(z, N, n))
{
    int i, j;

#pragma scop
    for (i = 0; i < BOUND_N; i++)
        for (j = 0; j < BOUND_N; j++)
            A[i][j] = A[i][j] + u1[i] * v1[j] + u2[i] * v2[j];

    for (i = 0; i < BOUND_N; i++)
        for (j = 0; j < BOUND_N; j++)
            x[i] = x[i] + beta * A[j][i] * y[j];

    for (i = 0; i < BOUND_N; i++)
        x[i] = x[i] + z[i];

    for (i = 0; i < BOUND_N; i++)
        for (j = 0; j < BOUND_N; j++)
            w[i] = w[i] + alpha * A[i][j] * x[j];
#pragma endscop
}

static void print(int n, DATA_TYPE SUITE_1D(w, N, n))
{
    Digest digest = digest_begin("w");

    for (int i = 0; i < n; i++)
        digest_put(&digest, w[i]);
    digest_end(&digest);
}

int main(void)
{
    int n = N;
    SUITE_NEW_2D(A, DATA_TYPE, N, N, n, n);
    SUITE_NEW_1D(u1, DATA_TYPE, N, n);
    SUITE_NEW_1D(v1, DATA_TYPE, N, n);
    SUITE_NEW_1D(u2, DATA_TYPE, N, n);
    SUITE_NEW_1D(v2, DATA_TYPE, N, n);
    SUITE_NEW_1D(w, DATA_TYPE, N, n);
    SUITE_NEW_1D(x, DATA_TYPE, N, n);
    SUITE_NEW_1D(y, DATA_TYPE, N, n);
    SUITE_NEW_1D(z, DATA_TYPE, N, n);

    initialize(n, SUITE_ARRAY(A), SUITE_ARRAY(u1), SUITE_ARRAY(v1), SUITE_ARRAY(u2), SUITE_ARRAY(v2), SUITE_ARRAY(w),
               SUITE_ARRAY(x), SUITE_ARRAY(y), SUITE_ARRAY(z));
    kernel_gemver(n, SCALAR(1.5), SCALAR(1.2), SUITE_ARRAY(A), SUITE_ARRAY(u1), SUITE_ARRAY(v1), SUITE_ARRAY(u2),
                  SUITE_ARRAY(v2), SUITE_ARRAY(w), SUITE_ARRAY(x), SUITE_ARRAY(y), SUITE_ARRAY(z));
    print(n, SUITE_ARRAY(w));

    free(A);
    free(u1);
    free(v1);
    free(u2);
    free(v2);
    free(w);
    free(x);
    free(y);
    free(z);
    return 0;
}
