/* Folding of an RNA sequence (Nussinov): table[i][j] is the largest number of pairs within seq[i..j]. Base i stays
 * alone, or base j does, or both pair (never neighbors), or the stretch splits in two.
 */
#define SUITE_DEFAULT_INT
#include "suite.h"

#ifndef N
#define N SUITE_PICK(60, 180, 500, 2500, 5500)
#endif
#define BOUND_N SUITE_BOUND(N, n)

typedef char base;

/* Bases are 0 to 3; 0 pairs with 3 and 1 with 2. */
#define PAIRS(first, second) ((first) + (second) == 3 ? 1 : 0)
#define LARGER(first, second) ((first) >= (second) ? (first) : (second))

static void initialize(int n, base SUITE_1D(seq, N, n), DATA_TYPE SUITE_2D(table, N, N, n, n))
{
    int i, j;

    for (i = 0; i < n; i++)
        seq[i] = (base)((i * i + 3 * i + i / 5) % 4);
    for (i = 0; i < n; i++)
        for (j = 0; j < n; j++)
            table[i][j] = 0;
}

static void kernel_nussinov(int n, base SUITE_1D(seq, N, n), DATA_TYPE SUITE_2D(table, N, N, n, n))
{
    int i, j, k;

#pragma scop
    for (i = BOUND_N - 1; i >= 0; i--) {
        for (j = i + 1; j < BOUND_N; j++) {
            if (j - 1 >= 0)
                table[i][j] = LARGER(table[i][j], table[i][j - 1]);
            if (i + 1 < BOUND_N)
                table[i][j] = LARGER(table[i][j], table[i + 1][j]);

            if (j - 1 >= 0 && i + 1 < BOUND_N) {
                if (i < j - 1)
                    table[i][j] = LARGER(table[i][j], table[i + 1][j - 1] + PAIRS(seq[i], seq[j]));
                else
                    table[i][j] = LARGER(table[i][j], table[i + 1][j - 1]);
            }

            for (k = i + 1; k < j; k++)
                table[i][j] = LARGER(table[i][j], table[i][k] + table[k + 1][j]);
        }
    }
#pragma endscop
}

static void print(int n, DATA_TYPE SUITE_2D(table, N, N, n, n))
{
    Digest digest = digest_begin("table");

    for (int i = 0; i < n; i++)
        for (int j = i; j < n; j++)
            digest_put(&digest, table[i][j]);
    digest_end(&digest);
}

int main(void)
{
    int n = N;
    SUITE_NEW_1D(seq, base, N, n);
    SUITE_NEW_2D(table, DATA_TYPE, N, N, n, n);

    initialize(n, SUITE_ARRAY(seq), SUITE_ARRAY(table));
    kernel_nussinov(n, SUITE_ARRAY(seq), SUITE_ARRAY(table));
    print(n, SUITE_ARRAY(table));

    free(seq);
    free(table);
    return 0;
}
