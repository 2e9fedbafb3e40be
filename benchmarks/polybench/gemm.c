/* C = alpha A B + beta C, with A ni by nk and B nk by nj; C is swept row by row. */
#include "suite.h"

#ifndef NI
#define NI SUITE_PICK(20, 60, 200, 1000, 2000)
#endif
#ifndef NJ
#define NJ SUITE_PICK(25, 70, 220, 1100, 2300)
#endif
#ifndef NK
#define NK SUITE_PICK(30, 80, 240, 1200, 2600)
#endif
#define BOUND_NI SUITE_BOUND(NI, ni)
#define BOUND_NJ SUITE_BOUND(NJ, nj)
#define BOUND_NK SUITE_BOUND(NK, nk)

static void initialize(int ni, int nj, int nk, DATA_TYPE SUITE_2D(C, NI, NJ, ni, nj),
                       DATA_TYPE SUITE_2D(A, NI, NK, ni, nk), DATA_TYPE SUITE_2D(B, NK, NJ, nk, nj))
{
    int i, j;

    for (i = 0; i < ni; i++)
        for (j = 0; j < nj; j++)
            C[i][j] = (DATA_TYPE)((i + 3 * j) % 13 + 1) / SCALAR(13.0);
    for (i = 0; i < ni; i++)
        for (j = 0; j < nk; j++)
            A[i][j] = (DATA_TYPE)((2 * i + j) % 11 + 1) / SCALAR(11.0);
    for (i = 0; i < nk; i++)
        for (j = 0; j < nj; j++)
            B[i][j] = (DATA_TYPE)((i + 5 * j) % 17 + 1) / SCALAR(17.0);
}

static void kernel_gemm(int ni, int nj, int nk, DATA_TYPE alpha, DATA_TYPE beta,
                        DATA_TYPE SUITE_2D(C, NI, NJ, ni, nj), DATA_TYPE SUITE_2D(A, NI, NK, ni, nk),
                        DATA_TYPE SUITE_2D(B, NK, NJ, nk, nj))
{
    int i, j, k;

#pragma scop
    for (i = 0; i < BOUND_NI; i++) {
        for (j = 0; j < BOUND_NJ; j++)
            C[i][j] *= beta;
        for (k = 0; k < BOUND_NK; k++)
            for (j = 0; j < BOUND_NJ; j++)
                C[i][j] += alpha * A[i][k] * B[k][j];
    }
#pragma endscop
}

static void print(int ni, int nj, DATA_TYPE SUITE_2D(C, NI, NJ, ni, nj))
{
    Digest digest = digest_begin("C");

    for (int i = 0; i < ni; i++)
        for (int j = 0; j < nj; j++)
            digest_put(&digest, C[i][j]);
    digest_end(&digest);
}

int main(void)
{
    int ni = NI, nj = NJ, nk = NK;
    SUITE_NEW_2D(C, DATA_TYPE, NI, NJ, ni, nj);
    SUITE_NEW_2D(A, DATA_TYPE, NI, NK, ni, nk);
    SUITE_NEW_2D(B, DATA_TYPE, NK, NJ, nk, nj);

    initialize(ni, nj, nk, SUITE_ARRAY(C), SUITE_ARRAY(A), SUITE_ARRAY(B));
    kernel_gemm(ni, nj, nk, SCALAR(1.5), SCALAR(1.2), SUITE_ARRAY(C), SUITE_ARRAY(A), SUITE_ARRAY(B));
    print(ni, nj, SUITE_ARRAY(C));

    free(C);
    free(A);
    free(B);
    return 0;
}
