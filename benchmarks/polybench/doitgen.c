/* Every vector A[r][q][.] times the matrix C4, in place; sum holds the product of one vector until it is complete. */
#include "suite.h"

#ifndef NQ
#define NQ SUITE_PICK(8, 20, 40, 140, 220)
#endif
#ifndef NR
#define NR SUITE_PICK(10, 25, 50, 150, 250)
#endif
#ifndef NP
#define NP SUITE_PICK(12, 30, 60, 160, 270)
#endif
#define BOUND_NQ SUITE_BOUND(NQ, nq)
#define BOUND_NR SUITE_BOUND(NR, nr)
#define BOUND_NP SUITE_BOUND(NP, np)

static void initialize(int nr, int nq, int np, DATA_TYPE SUITE_3D(A, NR, NQ, NP, nr, nq, np),
                       DATA_TYPE SUITE_2D(C4, NP, NP, np, np))
{
    int i, j, k;

    for (i = 0; i < nr; i++)
        for (j = 0; j < nq; j++)
            for (k = 0; k < np; k++)
                A[i][j][k] = (DATA_TYPE)((i + 2 * j + 3 * k) % 11 + 1) / SCALAR(11.0);
    for (i = 0; i < np; i++)
        for (j = 0; j < np; j++)
            C4[i][j] = (DATA_TYPE)((5 * i + j) % 7 + 1) / SCALAR(7.0);
}

static void kernel_doitgen(int nr, int nq, int np, DATA_TYPE SUITE_3D(A, NR, NQ, NP, nr, nq, np),
                           DATA_TYPE SUITE_2D(C4, NP, NP, np, np), DATA_TYPE SUITE_1D(sum, NP, np))
{
    int r, q, p, s;

#pragma scop
    for (r = 0; r < BOUND_NR; r++)
        for (q = 0; q < BOUND_NQ; q++) {
            for (p = 0; p < BOUND_NP; p++) {
                sum[p] = SCALAR(0.0);
                for (s = 0; s < BOUND_NP; s++)
                    sum[p] += A[r][q][s] * C4[s][p];
            }
            for (p = 0; p < BOUND_NP; p++)
                A[r][q][p] = sum[p];
        }
#pragma endscop
}

static void print(int nr, int nq, int np, DATA_TYPE SUITE_3D(A, NR, NQ, NP, nr, nq, np))
{
    Digest digest = digest_begin("A");

    for (int i = 0; i < nr; i++)
        for (int j = 0; j < nq; j++)
            for (int k = 0; k < np; k++)
                digest_put(&digest, A[i][j][k]);
    digest_end(&digest);
}

int main(void)
{
    int nr = NR, nq = NQ, np = NP;
    SUITE_NEW_3D(A, DATA_TYPE, NR, NQ, NP, nr, nq, np);
    SUITE_NEW_2D(C4, DATA_TYPE, NP, NP, np, np);
    SUITE_NEW_1D(sum, DATA_TYPE, NP, np);

    initialize(nr, nq, np, SUITE_ARRAY(A), SUITE_ARRAY(C4));
    kernel_doitgen(nr, nq, np, SUITE_ARRAY(A), SUITE_ARRAY(C4), SUITE_ARRAY(sum));
    print(nr, nq, np, SUITE_ARRAY(A));

    free(A);
    free(C4);
    free(sum);
    return 0;
}
