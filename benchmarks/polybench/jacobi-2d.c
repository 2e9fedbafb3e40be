/* Mean of a point and its four neighbors, from A to B and back: two sweeps a time step. */
#include "suite.h"

#ifndef TSTEPS
#define TSTEPS SUITE_PICK(20, 40, 100, 500, 1000)
#endif
#ifndef N
#define N SUITE_PICK(30, 90, 250, 1300, 2800)
#endif
#define BOUND_TSTEPS SUITE_BOUND(TSTEPS, tsteps)
#define BOUND_N SUITE_BOUND(N, n)

static void initialize(int n, DATA_TYPE SUITE_2D(A, N, N, n, n), DATA_TYPE SUITE_2D(B, N, N, n, n))
{
    int i, j;

    for (i = 0; i < n; i++)
        for (j = 0; j < n; j++) {
            A[i][j] = SCALAR(1.0) + (DATA_TYPE)((7 * i + 3 * j) % 13) / SCALAR(13.0);
            B[i][j] = SCALAR(2.0) + (DATA_TYPE)((5 * i + 2 * j) % 11) / SCALAR(11.0);
        }
}

static void kernel_jacobi_2d(int tsteps, int n, DATA_TYPE SUITE_2D(A, N, N, n, n), DATA_TYPE SUITE_2D(B, N, N, n, n))
{
    int t, i, j;

#pragma scop
    for (t = 0; t < BOUND_TSTEPS; t++) {
        for (i = 1; i < BOUND_N - 1; i++)
            for (j = 1; j < BOUND_N - 1; j++)
                B[i][j] = SCALAR(0.2) * (A[i][j] + A[i][j - 1] + A[i][j + 1] + A[i + 1][j] + A[i - 1][j]);
        for (i = 1; i < BOUND_N - 1; i++)
            for (j = 1; j < BOUND_N - 1; j++)
                A[i][j] = SCALAR(0.2) * (B[i][j] + B[i][j - 1] + B[i][j + 1] + B[i + 1][j] + B[i - 1][j]);
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
    int tsteps = TSTEPS, n = N;
    SUITE_NEW_2D(A, DATA_TYPE, N, N, n, n);
    SUITE_NEW_2D(B, DATA_TYPE, N, N, n, n);

    initialize(n, SUITE_ARRAY(A), SUITE_ARRAY(B));
    kernel_jacobi_2d(tsteps, n, SUITE_ARRAY(A), SUITE_ARRAY(B));
    print(n, SUITE_ARRAY(A));

    free(A);
    free(B);
    return 0;
}
