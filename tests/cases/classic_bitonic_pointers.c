/* Bitonic sort in one function, unsigned, with shifts: a helper swaps what two pointers lead to.
 * RUN: port --all
 * EXPECT: main/i parallel ported: no carried dependence (proven)
 * EXPECT: main/for unanalyzable host: not a counted loop: it does not advance its counter k by a constant step
 * EXPECT: main/for/for unanalyzable host: not a counted loop: it does not advance its counter j by a constant step
 * EXPECT: main/for/for/i parallel-after ported: parallel after forward-substitute=main/for/for/i,variable=l, inline=main/for/for/i,function=swap
 * EXPECT: main/i#2 unanalyzable host: printf writes output
 * VERIFY: pass
 */
#include <stdio.h>
#include <stdlib.h>

static void swap(unsigned *p, unsigned *q)
{
    unsigned t = *p;
    *p = *q;
    *q = t;
}

int main(void)
{
    unsigned n = 128;
    unsigned *a = malloc(n * sizeof *a);
    if (!a)
        return 1;
    for (unsigned i = 0; i < n; i++)
        a[i] = (i * 2654435761u) >> 20;
    for (unsigned k = 2; k <= n; k <<= 1)
        for (unsigned j = k >> 1; j > 0; j >>= 1)
            for (unsigned i = 0; i < n; i++) {
                unsigned l = i ^ j;
                if (l > i && ((i & k) ? a[i] < a[l] : a[i] > a[l]))
                    swap(&a[i], &a[l]);
            }
    for (unsigned i = 0; i < n; i++)
        printf("%u ", a[i]);
    printf("\n");
    free(a);
    return 0;
}
