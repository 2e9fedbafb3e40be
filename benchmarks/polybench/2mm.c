/* D = alpha A B C + beta D: tmp = alpha A B is ni by nj, then D is ni by nl. */
#include "suite.h"

#ifndef NI
#define NI SUITE_PICK(16, 40, 180, 800, 1600)
#endif
#ifndef NJ
#define NJ SUITE_PICK(18, 50, 190, 900, 1800)
#endif
#ifndef NK
#define NK SUITE_PICK(22, 70, 210, 1100, 2200)
#endif
#ifndef NL
#define NL SUITE_PICK(24, 80, 220, 1200, 2400)
#endif
#define BOUND_NI SUITE_BOUND(NI, ni)
#define BOUND_NJ SUITE_BOUND(NJ, nj)
#define BOUND_NK SUITE_BOUND(NK, nk)
#define BOUND_NL SUITE_BOUND(NL, nl)

static void initialize(int ni, int nj, int nk, int nl, DATA_TYPE SUITE_2D(A, NI, NK, ni, nk),
                       DATA_TYPE SUITE_2D(B, NK, NJ, nk, nj), DATA_TYPE SUITE_2D(C, NJ, NL, nj, nl),
                       DATA_TYPE SUITE_2D(D, NI, NL, ni, nl))
{
    int i, j;

    for (i = 0; i < ni; i++)
        for (j = 0; j < nk; j++)
            A[i][j] = (DATA_TYPE)((i + 2 * j) % 7 + 1) / SCALAR(7.0);
    for (i = 0; i < nk; i++)
        for (j = 0; j < nj; j++)
            B[i][j] = (DATA_TYPE)((3 * i + j) % 11 + 1) / SCALAR(11.0);
    for (i = 0; i < nj; i++)
        for (j = 0; j < nl; j++)
            C[i][j] = (DATA_TYPE)((i + 4 * j) % 13 + 1) / SCALAR(13.0);
    for (i = 0; i < ni; i++)
        for (j = 0; j < nl; j++)
            D[i][j] = (DATA_TYPE)((5 * i + j) % 17 + 1) / SCALAR(17.0);
}

static void kernel_2mm(int ni, int nj, int nk, int nl, DATA_TYPE alpha, DATA_TYPE beta,
                       DATA_TYPE SUITE_2D(tmp, NI, NJ, ni, nj), DATA_TYPE SUITE_2D(A, NI, NK, ni, nk),
                       DATA_TYPE SUITE_2D(B, NK, NJ, nk, nj), DATA_TYPE SUITE_2D(C, NJ, NL, nj, nl),
                       DATA_TYPE SUITE_2D(D, NI, NL, ni, nl))
{
    int i, j, k;

#pragma scop
    for (i = 0; i < BOUND_NI; i++)
        for (j = 0; j < BOUND_NJ; j++) {
            tmp[i][j] = SCALAR(0.0);
            for (k = 0; k < BOUND_NK; ++k)
                tmp[i][j] += alpha * A[i][k] * B[k][j];
        }

    for (i = 0; i < BOUND_NI; i++)
        for (j = 0; j < BOUND_NL; j++) {
            D[i][j] *= beta;
            for (k = 0; k < BOUND_NJ; ++k)
                D[i][j] += tmp[i][k] * C[k][j];
        }
#pragma endscop
}

static void print(int ni, int nl, DATA_TYPE SUITE_2D(D, NI, NL, ni, nl))
{
    Digest digest = digest_begin("D");

    for (int i = 0; i < ni; i++)
        for (int j = 0; j < nl; j++)
            digest_put(&digest, D[i][j]);
    digest_end(&digest);
}

int main(void)
{
    int ni = NI, nj = NJ, nk = NK, nl = NL;
    SUITE_NEW_2D(tmp, DATA_TYPE, NI, NJ, ni, nj);
    SUITE_NEW_2D(A, DATA_TYPE, NI, NK, ni, nk);
    SUITE_NEW_2D(B, DATA_TYPE, NK, NJ, nk, nj);
    SUITE_NEW_2D(C, DATA_TYPE, NJ, NL, nj, nl);
    SUITE_NEW_2D(D, DATA_TYPE, NI, NL, ni, nl);

    initialize(ni, nj, nk, nl, SUITE_ARRAY(A), SUITE_ARRAY(B), SUITE_ARRAY(C), SUITE_ARRAY(D));
    kernel_2mm(ni, nj, nk, nl, SCALAR(1.5), SCALAR(1.2), SUITE_ARRAY(tmp), SUITE_ARRAY(A), SUITE_ARRAY(B),
               SUITE_ARRAY(C), SUITE_ARRAY(D));
    print(ni, nl, SUITE_ARRAY(D));

    free(tmp);
    free(A);
    free(B);
    free(C);
    free(D);
    return 0;
}
