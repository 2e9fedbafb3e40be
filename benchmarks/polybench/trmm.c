/* B = alpha A^T B in place, with a unit lower triangular A: row i of the product needs the rows below it as they were. */
#include "suite.h"

#ifndef M
#define M SUITE_PICK(20, 60, 200, 1000, 2000)
#endif
#ifndef N
#define N SUITE_PICK(30, 80, 240, 1200, 2600)
#endif
#define BOUND_M SUITE_BOUND(M, m)
#define BOUND_N SUITE_BOUND(N, n)

static void initialize(int m, int n, DATA_TYPE SUITE_2D(A, M, M, m, m), DATA_TYPE SUITE_2D(B, M, N, m, n))
{
    int i, j;

    for (i = 0; i < m; i++)
        for (j = 0; j < m; j++)
            A[i][j] = j < i ? (DATA_TYPE)((i + 2 * j) % 7 + 1) / SCALAR(7.0) : SCALAR(1.0);
    for (i = 0; i < m; i++)
        for (j = 0; j < n; j++)
            B[i][j] = (DATA_TYPE)((4 * i + j) % 11 + 1) / SCALAR(11.0);
}

static void kernel_trmm(int m, int n, DATA_TYPE alpha, DATA_TYPE SUITE_2D(A, M, M, m, m),
                        DATA_TYPE SUITE_2D(B, M, N, m, n))
{
    int i, j, k;

#pragma scop
    for (i = 0; i < BOUND_M; i++)
        for (j = 0; j < BOUND_N; j++) {
            for (k = i + 1; k < BOUND_M; k++)
                B[i][j] += A[k][i] * B[k][j];
            B[i][j] = alpha * B[i][j];
        }
#pragma endscop
}

static void print(int m, int n, DATA_TYPE SUITE_2D(B, M, N, m, n))
{
    Digest digest = digest_begin("B");

    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++)
            digest_put(&digest, B[i][j]);
    digest_end(&digest);
}

int main(void)
{
    int m = M, n = N;
    SUITE_NEW_2D(A, DATA_TYPE, M, M, m, m);
    SUITE_NEW_2D(B, DATA_TYPE, M, N, m, n);

    initialize(m, n, SUITE_ARRAY(A), SUITE_ARRAY(B));
    kernel_trmm(m, n, SCALAR(1.5), SUITE_ARRAY(A), SUITE_ARRAY(B));
    print(m, n, SUITE_ARRAY(B));

    free(A);
    free(B);
    return 0;
}
