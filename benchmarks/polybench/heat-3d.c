/* Heat in a cube by explicit steps, from A to B and back: two sweeps a time step. */
#include "suite.h"

#ifndef TSTEPS
#define TSTEPS SUITE_PICK(20, 40, 100, 500, 1000)
#endif
#ifndef N
#define N SUITE_PICK(10, 20, 40, 120, 200)
#endif
#define BOUND_TSTEPS SUITE_BOUND(TSTEPS, tsteps)
#define BOUND_N SUITE_BOUND(N, n)

static void initialize(int n, DATA_TYPE SUITE_3D(A, N, N, N, n, n, n), DATA_TYPE SUITE_3D(B, N, N, N, n, n, n))
{
    int i, j, k;

    for (i = 0; i < n; i++)
        for (j = 0; j < n; j++)
            for (k = 0; k < n; k++)
                A[i][j][k] = B[i][j][k] = SCALAR(1.0) + (DATA_TYPE)((5 * i + 3 * j + k) % 17) / SCALAR(17.0);
}

static void kernel_heat_3d(int tsteps, int n, DATA_TYPE SUITE_3D(A, N, N, N, n, n, n),
                           DATA_TYPE SUITE_3D(B, N, N, N, n, n, n))
{
    int t, i, j, k;

#pragma scop
    for (t = 1; t <= BOUND_TSTEPS; t++) {
        for (i = 1; i < BOUND_N - 1; i++)
            for (j = 1; j < BOUND_N - 1; j++)
                for (k = 1; k < BOUND_N - 1; k++)
                    B[i][j][k] = SCALAR(0.125) * (A[i + 1][j][k] - SCALAR(2.0) * A[i][j][k] + A[i - 1][j][k]) +
                                 SCALAR(0.125) * (A[i][j + 1][k] - SCALAR(2.0) * A[i][j][k] + A[i][j - 1][k]) +
                                 SCALAR(0.125) * (A[i][j][k + 1] - SCALAR(2.0) * A[i][j][k] + A[i][j][k - 1]) +
                                 A[i][j][k];
        for (i = 1; i < BOUND_N - 1; i++)
            for (j = 1; j < BOUND_N - 1; j++)
                for (k = 1; k < BOUND_N - 1; k++)
                    A[i][j][k] = SCALAR(0.125) * (B[i + 1][j][k] - SCALAR(2.0) * B[i][j][k] + B[i - 1][j][k]) +
                                 SCALAR(0.125) * (B[i][j + 1][k] - SCALAR(2.0) * B[i][j][k] + B[i][j - 1][k]) +
                                 SCALAR(0.125) * (B[i][j][k + 1] - SCALAR(2.0) * B[i][j][k] + B[i][j][k - 1]) +
                                 B[i][j][k];
    }
#pragma endscop
}

static void print(int n, DATA_TYPE SUITE_3D(A, N, N, N, n, n, n))
{
    Digest digest = digest_begin("A");

    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            for (int k = 0; k < n; k++)
                digest_put(&digest, A[i][j][k]);
    digest_end(&digest);
}

int main(void)
{
    int tsteps = TSTEPS, n = N;
    SUITE_NEW_3D(A, DATA_TYPE, N, N, N, n, n, n);
    SUITE_NEW_3D(B, DATA_TYPE, N, N, N, n, n, n);

    initialize(n, SUITE_ARRAY(A), SUITE_ARRAY(B));
    kernel_heat_3d(tsteps, n, SUITE_ARRAY(A), SUITE_ARRAY(B));
    print(n, SUITE_ARRAY(A));

    free(A);
    free(B);
    return 0;
}
