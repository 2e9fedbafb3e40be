/* Batcher's network in main, with a size that is an unsigned constant and a macro that exchanges.
 * RUN: port --all
 * EXPECT: main/i parallel ported: no carried dependence (proven)
 * EXPECT: main/for unanalyzable host: not a counted loop: it does not advance its counter p by a constant step
 * EXPECT: main/for/for unanalyzable host: not a counted loop: it does not advance its counter k by a constant step
 * EXPECT: main/for/for/for parallel-after ported: parallel after normalize=main/for/for/for
 * EXPECT: main/for/for/for/i parallel ported: no carried dependence (if j + k <= 4294967295; p >= 1)
 * EXPECT: main/i#2 unanalyzable host: printf writes output
 * VERIFY: pass
 */
#include <stdio.h>

#define N 64u
#define SWAP(a, b) do { int t_ = a; a = b; b = t_; } while (0)

static int v[N];

int main(void)
{
    for (unsigned i = 0; i < N; i++)
        v[i] = (int)((i * 37u + 11u) % 101u);
    for (unsigned p = 1; p < N; p *= 2)
        for (unsigned k = p; k > 0; k /= 2)
            for (unsigned j = k % p; j + k < N; j += 2 * k)
                for (unsigned i = 0; i < k; i++)
                    if (i + j + k < N && (i + j) / (2 * p) == (i + j + k) / (2 * p))
                        if (v[i + j] > v[i + j + k])
                            SWAP(v[i + j], v[i + j + k]);
    for (unsigned i = 0; i < N; i++)
        printf("%d ", v[i]);
    printf("\n");
    return 0;
}
