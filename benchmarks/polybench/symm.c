/* C = alpha A B + beta C with a symmetric A of which only the lower triangle is stored: row i of the triangle serves
 * twice, as row i (summed in temp2) and as column i (added to the rows above).
 */
#include "suite.h"

#ifndef M
#define M SUITE_PICK(20, 60, 200, 1000, 2000)
#endif
#ifndef N
#define N SUITE_PICK(30, 80, 240, 1200, 2600)
#endif
#define BOUND_M SUITE_BOUND(M, m)
#define BOUND_N SUITE_BOUND(N, n)

static void initialize(int m, int n, DATA_TYPE SUITE_2D(C, M, N, m, n), DATA_TYPE SUITE_2D(A, M, M, m, m),
                       DATA_TYPE SUITE_2D(B, M, N, m, n))
{
    int i, j;

    for (i = 0; i < m; i++)
        for (j = 0; j < n; j++) {
            C[i][j] = (DATA_TYPE)((i + 2 * j) % 7 + 1) / SCALAR(7.0);
            B[i][j] = (DATA_TYPE)((3 * i + j) % 13 + 1) / SCALAR(13.0);
        }
    /* Above the diagonal is what nobody may read. */
    for (i = 0; i < m; i++)
        for (j = 0; j < m; j++)
            A[i][j] = j <= i ? (DATA_TYPE)((i + j) % 11 + 1) / SCALAR(11.0) : SCALAR(-999.0);
}

static void kernel_symm(int m, int n, DATA_TYPE alpha, DATA_TYPE beta, DATA_TYPE SUITE_2D(C, M, N, m, n),
                        DATA_TYPE SUITE_2D(A, M, M, m, m), DATA_TYPE SUITE_2D(B, M, N, m, n))
{
    int i, j, k;
    DATA_TYPE temp2;

#pragma scop
    for (i = 0; i < BOUND_M; i++)
        for (j = 0; j < BOUND_N; j++) {
            temp2 = 0;
            for (k = 0; k < i; k++) {
                C[k][j] += alpha * B[i][j] * A[i][k];
                temp2 += B[k][j] * A[i][k];
            }
            C[i][j] = beta * C[i][j] + alpha * B[i][j] * A[i][i] + alpha * temp2;
        }
#pragma endscop
}

static void print(int m, int n, DATA_TYPE SUITE_2D(C, M, N, m, n))
{
    Digest digest = digest_begin("C");

    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++)
            digest_put(&digest, C[i][j]);
    digest_end(&digest);
}

int main(void)
{
    int m = M, n = N;
    SUITE_NEW_2D(C, DATA_TYPE, M, N, m, n);
    SUITE_NEW_2D(A, DATA_TYPE, M, M, m, m);
    SUITE_NEW_2D(B, DATA_TYPE, M, N, m, n);

    initialize(m, n, SUITE_ARRAY(C), SUITE_ARRAY(A), SUITE_ARRAY(B));
    kernel_symm(m, n, SCALAR(1.5), SCALAR(1.2), SUITE_ARRAY(C), SUITE_ARRAY(A), SUITE_ARRAY(B));
    print(m, n, SUITE_ARRAY(C));

    free(C);
    free(A);
    free(B);
    return 0;
}
