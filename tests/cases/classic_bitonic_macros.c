/* Bitonic sort with macros and a function for one pass: where bit j of i is not set, i | j is its partner.
 * RUN: port
 * EXPECT: pass/i parallel ported: no carried dependence (proven)
 * EXPECT: main/i parallel ported: no carried dependence (proven)
 * EXPECT: main/p unanalyzable host: pass(v, 1 << p, 1 << q) may touch any part of v
 * EXPECT: main/p/q unanalyzable host: pass(v, 1 << p, 1 << q) may touch any part of v
 * EXPECT: main/i#2 unanalyzable host: printf writes output
 * VERIFY: pass
 */
#include <stdio.h>

#define LOG 6
#define N (1 << LOG)
#define ASCENDS(i, k) (((i) & (k)) == 0)
#define PARTNER(i, j) ((i) | (j))
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) < (b) ? (b) : (a))

static double v[N];

static void pass(double *x, int k, int j)
{
    for (int i = 0; i < N; i++)
        if (!(i & j)) {
            double low = MIN(x[i], x[PARTNER(i, j)]), high = MAX(x[i], x[PARTNER(i, j)]);
            x[i] = ASCENDS(i, k) ? low : high;
            x[PARTNER(i, j)] = ASCENDS(i, k) ? high : low;
        }
}

int main(void)
{
    for (int i = 0; i < N; i++)
        v[i] = (i * 73 % 131) * 0.5;
    for (int p = 1; p <= LOG; p++)
        for (int q = p - 1; q >= 0; q--)
            pass(v, 1 << p, 1 << q);
    for (int i = 0; i < N; i++)
        printf("%g ", v[i]);
    printf("\n");
    return 0;
}
