/* The two products of a step of the biconjugate gradients: s = A^T r and q = A p in one sweep of A, n by m. */
#include "suite.h"

#ifndef M
#define M SUITE_PICK(38, 116, 390, 1900, 1800)
#endif
#ifndef N
#define N SUITE_PICK(42, 124, 410, 2100, 2200)
#endif
#define BOUND_M SUITE_BOUND(M, m)
#define BOUND_N SUITE_BOUND(N, n)

static void initialize(int m, int n, DATA_TYPE SUITE_2D(A, N, M, n, m), DATA_TYPE SUITE_1D(r, N, n),
                       DATA_TYPE SUITE_1D(p, M, m))
{
    int i, j;

    for (i = 0; i < m; i++)
        p[i] = (DATA_TYPE)(i % 13 + 1) / SCALAR(13.0);
    for (i = 0; i < n; i++) {
        r[i] = (DATA_TYPE)(i % 17 + 1) / SCALAR(17.0);
        for (j = 0; j < m; j++)
            A[i][j] = (DATA_TYPE)((2 * i + 5 * j) % 19 + 1) / SCALAR(19.0);
    }
}

static void kernel_bicg(int m, int n, DATA_TYPE SUITE_2D(A, N, M, n, m), DATA_TYPE SUITE_1D(s, M, m),
                        DATA_TYPE SUITE_1D(q, N, n), DATA_TYPE SUITE_1D(p, M, m), DATA_TYPE SUITE_1D(r, N, n))
{
    int i, j;

#pragma scop
    for (i = 0; i < BOUND_M; i++)
        s[i] = 0;
    for (i = 0; i < BOUND_N; i++) {
        q[i] = SCALAR(0.0);
        for (j = 0; j < BOUND_M; j++) {
            s[j] = s[j] + r[i] * A[i][j];
            q[i] = q[i] + A[i][j] * p[j];
        }
    }
#pragma endscop
}

static void print(int m, int n, DATA_TYPE SUITE_1D(s, M, m), DATA_TYPE SUITE_1D(q, N, n))
{
    Digest digest = digest_begin("s");

    for (int i = 0; i < m; i++)
        digest_put(&digest, s[i]);
    digest_end(&digest);

    digest = digest_begin("q");
    for (int i = 0; i < n; i++)
        digest_put(&digest, q[i]);
    digest_end(&digest);
}

int main(void)
{
    int m = M, n = N;
    SUITE_NEW_2D(A, DATA_TYPE, N, M, n, m);
    SUITE_NEW_1D(s, DATA_TYPE, M, m);
    SUITE_NEW_1D(q, DATA_TYPE, N, n);
    SUITE_NEW_1D(p, DATA_TYPE, M, m);
    SUITE_NEW_1D(r, DATA_TYPE, N, n);

    initialize(m, n, SUITE_ARRAY(A), SUITE_ARRAY(r), SUITE_ARRAY(p));
    kernel_bicg(m, n, SUITE_ARRAY(A), SUITE_ARRAY(s), SUITE_ARRAY(q), SUITE_ARRAY(p), SUITE_ARRAY(r));
    print(m, n, SUITE_ARRAY(s), SUITE_ARRAY(q));

    free(A);
    free(s);
    free(q);
    free(p);
    free(r);
    return 0;
}
