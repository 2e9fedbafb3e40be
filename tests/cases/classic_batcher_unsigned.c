/* Batcher's network, unsigned, with shifts: a test before a merge step says that nothing wraps around.
 * RUN: port --all
 * EXPECT: sort/for unanalyzable host: not a counted loop: it does not advance its counter p by a constant step
 * EXPECT: sort/for/for unanalyzable host: not a counted loop: it does not advance its counter k by a constant step
 * EXPECT: sort/for/for/for parallel-after ported: parallel after normalize=sort/for/for/for
 * EXPECT: sort/for/for/for/i parallel ported: no carried dependence (if j + k <= 4294967295; j + 2*k <= 4294967296; p <= 2147483647; p >= 1)
 * EXPECT: main/i parallel ported: no carried dependence (proven)
 * EXPECT: main/i#2 unanalyzable host: printf writes output
 * VERIFY: pass
 */
#include <stdio.h>
#include <stdlib.h>

static void sort(unsigned n, int *v)
{
    for (unsigned p = 1; p < n; p <<= 1)
        for (unsigned k = p; k > 0; k >>= 1)
            for (unsigned j = k % p; j + k < n; j += k + k)
                for (unsigned i = 0; i < k; i++) {
                    unsigned x = i + j, y = i + j + k;
                    if (y < n && x / (p * 2) == y / (p * 2) && v[x] > v[y]) {
                        int t = v[x];
                        v[x] = v[y];
                        v[y] = t;
                    }
                }
}

int main(void)
{
    unsigned n = 64;
    int *v = malloc(n * sizeof *v);
    if (!v)
        return 1;
    for (unsigned i = 0; i < n; i++)
        v[i] = (int)((i * 37u + 11u) % 101u);
    sort(n, v);
    for (unsigned i = 0; i < n; i++)
        printf("%d ", v[i]);
    printf("\n");
    free(v);
    return 0;
}
