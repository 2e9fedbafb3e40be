/* y = alpha A x + beta B x, both sums in one sweep of the row. */
#include "suite.h"

#ifndef N
#define N SUITE_PICK(30, 90, 250, 1300, 2800)
#endif
#define BOUND_N SUITE_BOUND(N, n)

static void initialize(int n, DATA_TYPE SUITE_2D(A, N, N, n, n), DATA_TYPE SUITE_2D(B, N, N, n, n),
                       DATA_TYPE SUITE_1D(x, N, n))
{
    int i, j;

    for (i = 0; i < n; i++) {
        x[i] = (DATA_TYPE)(i % 9 + 1) / SCALAR(9.0);
        for (j = 0; j < n; j++) {
            A[i][j] = (DATA_TYPE)((4 * i + j) % 23 + 1) / SCALAR(23.0);
            B[i][j] = (DATA_TYPE)((i + 7 * j) % 29 + 1) / SCALAR(29.0);
        }
    }
}

static void kernel_gesummv(int n, DATA_TYPE alpha, DATA_TYPE beta, DATA_TYPE SUITE_2D(A, N, N, n, n),
                           DATA_TYPE SUITE_2D(B, N, N, n, n), DATA_TYPE SUITE_1D(tmp, N, n),
                           DATA_TYPE SUITE_1D(x, N, n), DATA_TYPE SUITE_1D(y, N, n))
{
    int i, j;

#pragma scop
    for (i = 0; i < BOUND_N; i++) {
        tmp[i] = SCALAR(0.0);
        y[i] = SCALAR(0.0);
        for (j = 0; j < BOUND_N; j++) {
            tmp[i] = A[i][j] * x[j] + tmp[i];
            y[i] = B[i][j] * x[j] + y[i];
        }
        y[i] = alpha * tmp[i] + beta * y[i];
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
    int n = N;
    SUITE_NEW_2D(A, DATA_TYPE, N, N, n, n);
    SUITE_NEW_2D(B, DATA_TYPE, N, N, n, n);
    SUITE_NEW_1D(tmp, DATA_TYPE, N, n);
    SUITE_NEW_1D(x, DATA_TYPE, N, n);
    SUITE_NEW_1D(y, DATA_TYPE, N, n);

    initialize(n, SUITE_ARRAY(A), SUITE_ARRAY(B), SUITE_ARRAY(x));
    kernel_gesummv(n, SCALAR(1.5), SCALAR(1.2), SUITE_ARRAY(A), SUITE_ARRAY(B), SUITE_ARRAY(tmp), SUITE_ARRAY(x),
                   SUITE_ARRAY(y));
    print(n, SUITE_ARRAY(y));

    free(A);
    free(B);
    free(tmp);
    free(x);
    free(y);
    return 0;
}
