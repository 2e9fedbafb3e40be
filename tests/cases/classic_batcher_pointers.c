/* Batcher's network with pointers to the halves of a block.
 * RUN: port --all
 * EXPECT: batcher/for unanalyzable host: not a counted loop: it does not advance its counter p by a constant step
 * EXPECT: batcher/for/for unanalyzable host: not a counted loop: it does not advance its counter k by a constant step
 * EXPECT: batcher/for/for/for parallel-after ported: parallel after normalize=batcher/for/for/for
 * EXPECT: batcher/for/for/for/i parallel ported: no carried dependence (if j >= 0 && p >= 1; hi and lo lie in different blocks of memory)
 * EXPECT: main/i parallel ported: no carried dependence (proven)
 * EXPECT: main/i#2 unanalyzable host: printf writes output
 * VERIFY: pass
 */
#include <stdio.h>
#include <stdlib.h>
static void batcher(short *a, int n)
{
    for (int p = 1; p < n; p = 2 * p)
        for (int k = p; k >= 1; k = k / 2)
            for (int j = k % p; j <= n - 1 - k; j = j + 2 * k) {
                short *lo = a + j, *hi = a + j + k;
                for (int i = 0; i < k; i++)
                    if (i + j + k < n && (i + j) / (2 * p) == (i + j + k) / (2 * p)) {
                        short x = lo[i], y = hi[i];
                        lo[i] = x < y ? x : y;
                        hi[i] = x < y ? y : x;
                    }
            }
}
int main(void)
{
    int n = 64;
    short *a = malloc(n * sizeof *a);
    if (!a) return 1;
    for (int i = 0; i < n; i++) a[i] = (i * 37 + 11) % 1013;
    batcher(a, n);
    for (int i = 0; i < n; i++) printf("%d ", a[i]);
    free(a);
    return 0;
}
