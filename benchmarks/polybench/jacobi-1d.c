/* Mean of three neighbors, from A to B and back: two sweeps a time step. */
#include "suite.h"

#ifndef TSTEPS
#define TSTEPS SUITE_PICK(20, 40, 100, 500, 1000)
#endif
#ifndef N
#define N SUITE_PICK(30, 120, 400, 2000, 4000)
#endif
#define BOUND_TSTEPS SUITE_BOUND(TSTEPS, tsteps)
#define BOUND_N SUITE_BOUND(N, n)

static void initialize(int n, DATA_TYPE SUITE_1D(A, N, n), DATA_TYPE SUITE_1D(B, N, n))
{
    int i;

    for (i = 0; i < n; i++) {
        A[i] = SCALAR(1.0) + (DATA_TYPE)(7 * i % 13) / SCALAR(13.0);
        B[i] = SCALAR(2.0) + (DATA_TYPE)(5 * i % 11) / SCALAR(11.0);
    }
}

static void kernel_jacobi_1d(int tsteps, int n, DATA_TYPE SUITE_1D(A, N, n), DATA_TYPE SUITE_1D(B, N, n))
{
    int t, i;

#pragma scop
    for (t = 0; t < BOUND_TSTEPS; t++) {
        for (i = 1; i < BOUND_N - 1; i++)
            B[i] = SCALAR(0.33333) * (A[i - 1] + A[i] + A[i + 1]);
        for (i = 1; i < BOUND_N - 1; i++)
            A[i] = SCALAR(0.33333) * (B[i - 1] + B[i] + B[i + 1]);
    }
#pragma endscop
}

static void print(int n, DATA_TYPE SUITE_1D(A, N, n))
{
    Digest digest = digest_begin("A");

    for (int i = 0; i < n; i++)
        digest_put(&digest, A[i]);
    digest_end(&digest);
}

int main(void)
{
    int tsteps = TSTEPS, n = N;
    SUITE_NEW_1D(A, DATA_TYPE, N, n);
    SUITE_NEW_1D(B, DATA_TYPE, N, n);

    initialize(n, SUITE_ARRAY(A), SUITE_ARRAY(B));
    kernel_jacobi_1d(tsteps, n, SUITE_ARRAY(A), SUITE_ARRAY(B));
    print(n, SUITE_ARRAY(A));

    free(A);
    free(B);
    return 0;
}
