/* A = Q R by the modified Gram-Schmidt process: column k is normalized, then taken out of the columns after it.
 *
 * There are at least as many rows as columns: more columns cannot be independent, and what is left of a dependent
 * column is rounding error only.
 */
#include "suite.h"

#ifndef M
#define M SUITE_PICK(40, 100, 280, 1400, 2800)
#endif
#ifndef N
#define N SUITE_PICK(30, 80, 240, 1200, 2600)
#endif
#define BOUND_M SUITE_BOUND(M, m)
#define BOUND_N SUITE_BOUND(N, n)

static void initialize(int m, int n, DATA_TYPE SUITE_2D(A, M, N, m, n))
{
    int i, j;

    /* Columns near the unit vectors. */
    for (i = 0; i < m; i++)
        for (j = 0; j < n; j++) {
            A[i][j] = (DATA_TYPE)((2 * i + 7 * j) % 13 + 1) / (SCALAR(13.0) * m);
            if (i == j)
                A[i][j] += SCALAR(1.0);
        }
}

static void kernel_gramschmidt(int m, int n, DATA_TYPE SUITE_2D(A, M, N, m, n), DATA_TYPE SUITE_2D(R, N, N, n, n),
                               DATA_TYPE SUITE_2D(Q, M, N, m, n))
{
    int i, j, k;
    DATA_TYPE nrm;

#pragma scop
    for (k = 0; k < BOUND_N; k++) {
        nrm = SCALAR(0.0);
        for (i = 0; i < BOUND_M; i++)
            nrm += A[i][k] * A[i][k];
        R[k][k] = SQRT(nrm);
        for (i = 0; i < BOUND_M; i++)
            Q[i][k] = A[i][k] / R[k][k];
        for (j = k + 1; j < BOUND_N; j++) {
            R[k][j] = SCALAR(0.0);
            for (i = 0; i < BOUND_M; i++)
                R[k][j] += Q[i][k] * A[i][j];
            for (i = 0; i < BOUND_M; i++)
                A[i][j] = A[i][j] - Q[i][k] * R[k][j];
        }
    }
#pragma endscop
}

static void print(int m, int n, DATA_TYPE SUITE_2D(R, N, N, n, n), DATA_TYPE SUITE_2D(Q, M, N, m, n))
{
    Digest digest = digest_begin("R");

    /* Below its diagonal R is not written. */
    for (int i = 0; i < n; i++)
        for (int j = i; j < n; j++)
            digest_put(&digest, R[i][j]);
    digest_end(&digest);

    digest = digest_begin("Q");
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++)
            digest_put(&digest, Q[i][j]);
    digest_end(&digest);
}

int main(void)
{
    int m = M, n = N;
    SUITE_NEW_2D(A, DATA_TYPE, M, N, m, n);
    SUITE_NEW_2D(R, DATA_TYPE, N, N, n, n);
    SUITE_NEW_2D(Q, DATA_TYPE, M, N, m, n);

    initialize(m, n, SUITE_ARRAY(A));
    kernel_gramschmidt(m, n, SUITE_ARRAY(A), SUITE_ARRAY(R), SUITE_ARRAY(Q));
    print(m, n, SUITE_ARRAY(R), SUITE_ARRAY(Q));

    free(A);
    free(R);
    free(Q);
    return 0;
}
