/* A x = b by A = L U without pivoting: factorization through the scalar w, then L y = b, then U x = y backward. */
#include "suite.h"

#ifndef N
#define N SUITE_PICK(40, 120, 400, 2000, 4000)
#endif
#define BOUND_N SUITE_BOUND(N, n)

static void initialize(int n, DATA_TYPE SUITE_2D(A, N, N, n, n), DATA_TYPE SUITE_1D(b, N, n))
{
    int i, j;

    /* The diagonal outweighs its row. */
    for (i = 0; i < n; i++) {
        b[i] = (DATA_TYPE)(i % 17 + 1) / SCALAR(17.0);
        for (j = 0; j < n; j++)
            A[i][j] = (DATA_TYPE)((7 * i + 2 * j) % 13 + 1) / (SCALAR(13.0) * n);
        A[i][i] = SCALAR(2.0) + (DATA_TYPE)i / n;
    }
}

static void kernel_ludcmp(int n, DATA_TYPE SUITE_2D(A, N, N, n, n), DATA_TYPE SUITE_1D(b, N, n),
                          DATA_TYPE SUITE_1D(x, N, n), DATA_TYPE SUITE_1D(y, N, n))
{
    int i, j, k;
    DATA_TYPE w;

#pragma scop
    for (i = 0; i < BOUND_N; i++) {
        for (j = 0; j < i; j++) {
            w = A[i][j];
            for (k = 0; k < j; k++)
                w -= A[i][k] * A[k][j];
            A[i][j] = w / A[j][j];
        }
        for (j = i; j < BOUND_N; j++) {
            w = A[i][j];
            for (k = 0; k < i; k++)
                w -= A[i][k] * A[k][j];
            A[i][j] = w;
        }
    }

    for (i = 0; i < BOUND_N; i++) {
        w = b[i];
        for (j = 0; j < i; j++)
            w -= A[i][j] * y[j];
        y[i] = w;
    }

    for (i = BOUND_N - 1; i >= 0; i--) {
        w = y[i];
        for (j = i + 1; j < BOUND_N; j++)
            w -= A[i][j] * x[j];
        x[i] = w / A[i][i];
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
    SUITE_NEW_2D(A, DATA_TYPE, N, N, n, n);
    SUITE_NEW_1D(b, DATA_TYPE, N, n);
    SUITE_NEW_1D(x, DATA_TYPE, N, n);
    SUITE_NEW_1D(y, DATA_TYPE, N, n);

    initialize(n, SUITE_ARRAY(A), SUITE_ARRAY(b));
    kernel_ludcmp(n, SUITE_ARRAY(A), SUITE_ARRAY(b), SUITE_ARRAY(x), SUITE_ARRAY(y));
    print(n, SUITE_ARRAY(x));

    free(A);
    free(b);
    free(x);
    free(y);
    return 0;
}
