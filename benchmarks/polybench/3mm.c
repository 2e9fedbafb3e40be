/* G = (A B) (C D): E = A B is ni by nj, F = C D is nj by nl. */
#include "suite.h"

#ifndef NI
#define NI SUITE_PICK(16, 40, 180, 800, 1600)
#endif
#ifndef NJ
#define NJ SUITE_PICK(18, 50, 190, 900, 1800)
#endif
#ifndef NK
#define NK SUITE_PICK(20, 60, 200, 1000, 2000)
#endif
#ifndef NL
#define NL SUITE_PICK(22, 70, 210, 1100, 2200)
#endif
#ifndef NM
#define NM SUITE_PICK(24, 80, 220, 1200, 2400)
#endif
#define BOUND_NI SUITE_BOUND(NI, ni)
#define BOUND_NJ SUITE_BOUND(NJ, nj)
#define BOUND_NK SUITE_BOUND(NK, nk)
#define BOUND_NL SUITE_BOUND(NL, nl)
#define BOUND_NM SUITE_BOUND(NM, nm)

static void initialize(int ni, int nj, int nk, int nl, int nm, DATA_TYPE SUITE_2D(A, NI, NK, ni, nk),
                       DATA_TYPE SUITE_2D(B, NK, NJ, nk, nj), DATA_TYPE SUITE_2D(C, NJ, NM, nj, nm),
                       DATA_TYPE SUITE_2D(D, NM, NL, nm, nl))
{
    int i, j;

    for (i = 0; i < ni; i++)
        for (j = 0; j < nk; j++)
            A[i][j] = (DATA_TYPE)((i + 2 * j) % 7 + 1) / SCALAR(35.0);
    for (i = 0; i < nk; i++)
        for (j = 0; j < nj; j++)
            B[i][j] = (DATA_TYPE)((3 * i + j) % 11 + 1) / SCALAR(55.0);
    for (i = 0; i < nj; i++)
        for (j = 0; j < nm; j++)
            C[i][j] = (DATA_TYPE)((i + 4 * j) % 13 + 1) / SCALAR(65.0);
    for (i = 0; i < nm; i++)
        for (j = 0; j < nl; j++)
            D[i][j] = (DATA_TYPE)((5 * i + j) % 17 + 1) / SCALAR(85.0);
}

static void kernel_3mm(int ni, int nj, int nk, int nl, int nm, DATA_TYPE SUITE_2D(E, NI, NJ, ni, nj),
                       DATA_TYPE SUITE_2D(A, NI, NK, ni, nk), DATA_TYPE SUITE_2D(B, NK, NJ, nk, nj),
                       DATA_TYPE SUITE_2D(F, NJ, NL, nj, nl), DATA_TYPE SUITE_2D(C, NJ, NM, nj, nm),
                       DATA_TYPE SUITE_2D(D, NM, NL, nm, nl), DATA_TYPE SUITE_2D(G, NI, NL, ni, nl))
{
    int i, j, k;

#pragma scop
    for (i = 0; i < BOUND_NI; i++)
        for (j = 0; j < BOUND_NJ; j++) {
            E[i][j] = SCALAR(0.0);
            for (k = 0; k < BOUND_NK; ++k)
                E[i][j] += A[i][k] * B[k][j];
        }

    for (i = 0; i < BOUND_NJ; i++)
        for (j = 0; j < BOUND_NL; j++) {
            F[i][j] = SCALAR(0.0);
            for (k = 0; k < BOUND_NM; ++k)
                F[i][j] += C[i][k] * D[k][j];
        }

    for (i = 0; i < BOUND_NI; i++)
        for (j = 0; j < BOUND_NL; j++) {
            G[i][j] = SCALAR(0.0);
            for (k = 0; k < BOUND_NJ; ++k)
                G[i][j] += E[i][k] * F[k][j];
        }
#pragma endscop
}

static void print(int ni, int nl, DATA_TYPE SUITE_2D(G, NI, NL, ni, nl))
{
    Digest digest = digest_begin("G");

    for (int i = 0; i < ni; i++)
        for (int j = 0; j < nl; j++)
            digest_put(&digest, G[i][j]);
    digest_end(&digest);
}

int main(void)
{
    int ni = NI, nj = NJ, nk = NK, nl = NL, nm = NM;
    SUITE_NEW_2D(E, DATA_TYPE, NI, NJ, ni, nj);
    SUITE_NEW_2D(A, DATA_TYPE, NI, NK, ni, nk);
    SUITE_NEW_2D(B, DATA_TYPE, NK, NJ, nk, nj);
    SUITE_NEW_2D(F, DATA_TYPE, NJ, NL, nj, nl);
    SUITE_NEW_2D(C, DATA_TYPE, NJ, NM, nj, nm);
    SUITE_NEW_2D(D, DATA_TYPE, NM, NL, nm, nl);
    SUITE_NEW_2D(G, DATA_TYPE, NI, NL, ni, nl);

    initialize(ni, nj, nk, nl, nm, SUITE_ARRAY(A), SUITE_ARRAY(B), SUITE_ARRAY(C), SUITE_ARRAY(D));
    kernel_3mm(ni, nj, nk, nl, nm, SUITE_ARRAY(E), SUITE_ARRAY(A), SUITE_ARRAY(B), SUITE_ARRAY(F), SUITE_ARRAY(C),
               SUITE_ARRAY(D), SUITE_ARRAY(G));
    print(ni, nl, SUITE_ARRAY(G));

    free(E);
    free(A);
    free(B);
    free(F);
    free(C);
    free(D);
    free(G);
    return 0;
}
