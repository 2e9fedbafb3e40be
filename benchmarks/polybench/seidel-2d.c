/* Gauss and Seidel's relaxation with nine points, in place: a point sees the neighbors above and to its left of this
 * sweep, the others of the last one.
 */
#include "suite.h"

#ifndef TSTEPS
#define TSTEPS SUITE_PICK(20, 40, 100, 500, 1000)
#endif
#ifndef N
#define N SUITE_PICK(40, 120, 400, 2000, 4000)
#endif
#define BOUND_TSTEPS SUITE_BOUND(TSTEPS, tsteps)
#define BOUND_N SUITE_BOUND(N, n)

static void initialize(int n, DATA_TYPE SUITE_2D(A, N, N, n, n))
{
    int i, j;

    for (i = 0; i < n; i++)
        for (j = 0; j < n; j++)
            A[i][j] = SCALAR(1.0) + (DATA_TYPE)((3 * i + 7 * j) % 19) / SCALAR(19.0);
}

static void kernel_seidel_2d(int tsteps, int n, DATA_TYPE SUITE_2D(A, N, N, n, n))
{
    int t, i, j;

#pragma scop
    for (t = 0; t <= BOUND_TSTEPS - 1; t++)
        for (i = 1; i <= BOUND_N - 2; i++)
            for (j = 1; j <= BOUND_N - 2; j++)
                A[i][j] = (A[i - 1][j - 1] + A[i - 1][j] + A[i - 1][j + 1] + A[i][j - 1] + A[i][j] + A[i][j + 1] +
                           A[i + 1][j - 1] + A[i + 1][j] + A[i + 1][j + 1]) /
                          SCALAR(9.0);
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

    initialize(n, SUITE_ARRAY(A));
    kernel_seidel_2d(tsteps, n, SUITE_ARRAY(A));
    print(n, SUITE_ARRAY(A));

    free(A);
    return 0;
}
