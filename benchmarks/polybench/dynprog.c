/* Cheapest way to split a stretch (dynamic programming over pairs): c[i][j] is the weight W[i][j] plus the sum over k
 * of c[i][k] + c[k][j], collected as running sums in sum_c. The whole table is built anew in each of tsteps rounds.
 */
#include "suite.h"

#ifndef TSTEPS
#define TSTEPS SUITE_PICK(10, 100, 300, 1000, 10000)
#endif
#ifndef LENGTH
#define LENGTH SUITE_PICK(32, 50, 120, 500, 500)
#endif
#define BOUND_TSTEPS SUITE_BOUND(TSTEPS, tsteps)
#define BOUND_LENGTH SUITE_BOUND(LENGTH, length)

static void initialize(int length, unsigned SUITE_2D(W, LENGTH, LENGTH, length, length))
{
    int i, j;

    for (i = 0; i < length; i++)
        for (j = 0; j < length; j++)
            W[i][j] = (unsigned)((i + 3 * j) % 5 + 1);
}

/* The sums triple with every step of j - i, so they are taken modulo 2^32. */
static unsigned kernel_dynprog(int tsteps, int length, unsigned SUITE_2D(c, LENGTH, LENGTH, length, length),
                               unsigned SUITE_2D(W, LENGTH, LENGTH, length, length),
                               unsigned SUITE_3D(sum_c, LENGTH, LENGTH, LENGTH, length, length, length))
{
    int iter, i, j, k;
    unsigned out_l = 0;

#pragma scop
    for (iter = 0; iter < BOUND_TSTEPS; iter++) {
        for (i = 0; i <= BOUND_LENGTH - 1; i++)
            for (j = 0; j <= BOUND_LENGTH - 1; j++)
                c[i][j] = 0;

        for (i = 0; i <= BOUND_LENGTH - 2; i++)
            for (j = i + 1; j <= BOUND_LENGTH - 1; j++) {
                sum_c[i][j][i] = 0;
                for (k = i + 1; k <= j - 1; k++)
                    sum_c[i][j][k] = sum_c[i][j][k - 1] + c[i][k] + c[k][j];
                c[i][j] = sum_c[i][j][j - 1] + W[i][j];
            }

        out_l += c[0][BOUND_LENGTH - 1];
    }
#pragma endscop

    return out_l;
}

static void print(int length, unsigned out_l, unsigned SUITE_2D(c, LENGTH, LENGTH, length, length))
{
    Digest digest = digest_begin("c");

    for (int i = 0; i < length; i++)
        for (int j = 0; j < length; j++)
            digest_put(&digest, c[i][j]);
    digest_end(&digest);
    printf("out_l %u\n", out_l);
}

int main(void)
{
    int tsteps = TSTEPS, length = LENGTH;
    SUITE_NEW_2D(c, unsigned, LENGTH, LENGTH, length, length);
    SUITE_NEW_2D(W, unsigned, LENGTH, LENGTH, length, length);
    SUITE_NEW_3D(sum_c, unsigned, LENGTH, LENGTH, LENGTH, length, length, length);

    initialize(length, SUITE_ARRAY(W));
    unsigned out_l = kernel_dynprog(tsteps, length, SUITE_ARRAY(c), SUITE_ARRAY(W), SUITE_ARRAY(sum_c));
    print(length, out_l, SUITE_ARRAY(c));

    free(c);
    free(W);
    free(sum_c);
    return 0;
}
