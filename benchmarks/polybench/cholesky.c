/* A = L L^T for a symmetric positive definite A; L replaces the lower triangle, row by row. */
#include "suite.h"

#ifndef N
#define N SUITE_PICK(40, 120, 400, 2000, 4000)
#endif
#define BOUND_N SUITE_BOUND(N, n)

static void initialize(int n, DATA_TYPE SUITE_2D(A, N, N, n, n))
{
    int i, j;

    /* Symmetric, and the diagonal outweighs its row. */
    for (i = 0; i < n; i++) {
        for (j = 0; j < n; j++)
            A[i][j] = (DATA_TYPE)((i + j) % 13 + 1) / (SCALAR(13.0) * n);
        A[i][i] = SCALAR(2.0) + (DATA_TYPE)i / n;
    }
}

static void kernel_cholesky(int n, DATA_TYPE SUITE_2D(A, N, N, n, n))
{
    int i, j, k;

#pragma scop
    for (i = 0; i < BOUND_N; i++) {
        for (j = 0; j < i; j++) {
            for (k = 0; k < j; k++)
                A[i][j] -= A[i][k] * A[j][k];
            A[i][j] /= A[j][j];
        }
        for (k = 0; k < i; k++)
            A[i][i] -= A[i][k] * A[i][k];
        A[i][i] = SQRT(A[i][i]);
    }
#pragma endscop
}

static void print(int n, DATA_TYPE SUITE_2D(A, N, N, n, n))
{
    Digest digest = digest_begin("A");

    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            digest_put(&digest, A[i][j]);
    digest_end(&digest);
}

int main(void)
{
    int n = N;
    SUITE_NEW_2D(A, DATA_TYPE, N, N, n, n);

    initialize(n, SUITE_ARRAY(A));
    kernel_cholesky(n, SUITE_ARRAY(A));
    print(n, SUITE_ARRAY(A));

    free(A);
    return 0;
}
