/* A = L U without pivoting, in place, row by row: L has a unit diagonal that is not stored. */
#include "suite.h"

#ifndef N
#define N SUITE_PICK(40, 120, 400, 2000, 4000)
#endif
#define BOUND_N SUITE_BOUND(N, n)

static void initialize(int n, DATA_TYPE SUITE_2D(A, N, N, n, n))
{
    int i, j;

    /* The diagonal outweighs its row. */
    for (i = 0; i < n; i++) {
        for (j = 0; j < n; j++)
            A[i][j] = (DATA_TYPE)((3 * i + 5 * j) % 11 + 1) / (SCALAR(11.0) * n);
        A[i][i] = SCALAR(2.0) + (DATA_TYPE)i / n;
    }
}

static void kernel_lu(int n, DATA_TYPE SUITE_2D(A, N, N, n, n))
{
    int i, j, k;

#pragma scop
    for (i = 0; i < BOUND_N; i++) {
        for (j = 0; j < i; j++) {
            for (k = 0; k < j; k++)
                A[i][j] -= A[i][k] * A[k][j];
            A[i][j] /= A[j][j];
        }
        for (j = i; j < BOUND_N; j++)
            for (k = 0; k < i; k++)
                A[i][j] -= A[i][k] * A[k][j];
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
    kernel_lu(n, SUITE_ARRAY(A));
    print(n, SUITE_ARRAY(A));

    free(A);
    return 0;
}
