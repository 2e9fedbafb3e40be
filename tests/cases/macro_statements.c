/* Statements that macros make, in loops: exchanges and comparisons, in Batcher's merge steps and in a bitonic pass.
 * RUN: port --all
 * EXPECT: merge_step/for parallel-after ported: parallel after normalize=merge_step/for
 * EXPECT: merge_step/for/i parallel ported: no carried dependence (proven)
 * EXPECT: main/i parallel ported: no carried dependence (proven)
 * EXPECT: main/for unanalyzable host: not a counted loop: it does not advance its counter p by a constant step
 * EXPECT: main/for/for unanalyzable host: not a counted loop: it does not advance its counter k by a constant step
 * EXPECT: main/for#2 unanalyzable host: not a counted loop: it does not advance its counter k by a constant step
 * EXPECT: main/for#2/for unanalyzable host: not a counted loop: it does not advance its counter j by a constant step
 * EXPECT: main/for#2/for/i parallel ported: no carried dependence (proven)
 * EXPECT: main/for#3 unanalyzable host: not a counted loop: it does not advance its counter len by a constant step
 * EXPECT: main/for#3/i parallel ported: no carried dependence (proven)
 * EXPECT: main/i#2 unanalyzable host: printf writes output
 * VERIFY: pass
 */
#include <stdio.h>

#define N 128
#define SWAP(T, a, b)  \
    do {               \
        T t_ = (a);    \
        (a) = (b);     \
        (b) = t_;      \
    } while (0)
#define ORDER(a, b)                \
    do {                           \
        if ((a) > (b))             \
            SWAP(double, a, b);    \
    } while (0)
#define BUTTERFLY(a, b) { int u = (a), v = (b); (a) = u + v; (b) = u - v; }

static double v[N], w[N];
static int h[N];

static void merge_step(double *a, int n, int p, int k)
{
    for (int j = k % p; j + k < n; j += 2 * k)
        for (int i = 0; i < k; i++)
            if (i + j + k < n && (i + j) / (2 * p) == (i + j + k) / (2 * p))
                ORDER(a[i + j], a[i + j + k]);
}

int main(void)
{
    for (int i = 0; i < N; i++) {
        w[i] = v[i] = (i * 37 + 11) % 101 * 0.5;
        h[i] = i * 13 % 31;
    }
    for (int p = 1; p < N; p *= 2)
        for (int k = p; k >= 1; k /= 2)
            merge_step(v, N, p, k);
    for (int k = 2; k <= N; k *= 2)
        for (int j = k / 2; j > 0; j /= 2)
            for (int i = 0; i < N; i++) {
                int l = i ^ j;
                if (l > i && ((i & k) == 0 ? w[i] > w[l] : w[i] < w[l]))
                    SWAP(double, w[i], w[l]);
            }
    for (int len = 1; len < N; len *= 2)
        for (int i = 0; i < N; i++)
            if ((i & len) == 0)
                BUTTERFLY(h[i], h[i | len])
    for (int i = 0; i < N; i++)
        printf("%g %g %d\n", v[i], w[i], h[i]);
    return 0;
}
