/* C = alpha A A^T + beta C, lower triangle only: C is n by n, A is n by m. */
#include "suite.h"

#ifndef M
#define M SUITE_PICK(20, 60, 200, 1000, 2000)
#endif
#ifndef N
#define N SUITE_PICK(30, 80, 240, 1200, 2600)
#endif
#define BOUND_M SUITE_BOUND(M, m)
#define BOUND_N SUITE_BOUND(N, n)

static void initialize(int n, int m, DATA_TYPE SUITE_2D(C, N, N, n, n), DATA_TYPE SUITE_2D(A, N, M, n, m))
{
    int i, j;

    for (i = 0; i < n; i++)
        for (j = 0; j < m; j++)
            A[i][j] = (DATA_TYPE)((i + 3 * j) % 17 + 1) / SCALAR(17.0);
    for (i = 0; i < n; i++)
        for (j = 0; j < n; j++)
            C[i][j] = (DATA_TYPE)((2 * i + j) % 5 + 1) / SCALAR(5.0);
}

static void kernel_syrk(int n, int m, DATA_TYPE alpha, DATA_TYPE beta, DATA_TYPE SUITE_2D(C, N, N, n, n),
                        DATA_TYPE SUITE_2D(A, N, M, n, m))
{
    int i, j, k;

#pragma scop
    for (i = 0; i < BOUND_N; i++) {
        for (j = 0; j <= i; j++)
            C[i][j] *= beta;
        for (k = 0; k < BOUND_M; k++)
            for (j = 0; j <= i; j++)
                C[i][j] += alpha * A[i][k] * A[j][k];
    }
#pragma endscop
}

static void print(int n, DATA_TYPE SUITE_2D(C, N, N, n, n))
{
    Digest digest = digest_begin("C");

    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            digest_put(&digest, C[i][j]);
    digest_end(&digest);
}

int main(void)
{
    int n = N, m = M;
    SUITE_NEW_2D(C, DATA_TYPE, N, N, n, n);
    SUITE_NEW_2D(A, DATA_TYPE, N, M, n, m);

    initialize(n, m, SUITE_ARRAY(C), SUITE_ARRAY(A));
    kernel_syrk(n, m, SCALAR(1.5), SCALAR(1.2), SUITE_ARRAY(C), SUITE_ARRAY(A));
    print(n, SUITE_ARRAY(C));

    free(C);
    free(A);
    return 0;
}
