/* Walsh-Hadamard transform, unsigned, the blocks from the last one down.
 * RUN: port --all
 * EXPECT: transform/for unanalyzable host: not a counted loop: it does not advance its counter h by a constant step
 * EXPECT: transform/for/for parallel-after ported: parallel after normalize=transform/for/for
 * EXPECT: transform/for/for/j parallel ported: no carried dependence (if h <= 2147483647)
 * EXPECT: main/i parallel ported: no carried dependence (proven)
 * EXPECT: main/i#2 unanalyzable host: printf writes output
 * VERIFY: pass
 */
#include <stdio.h>
#include <stdlib.h>

static void transform(int *a, unsigned n)
{
    for (unsigned h = 1; h < n; h *= 2)
        for (unsigned i = n; i >= 2 * h; i -= 2 * h)
            for (unsigned j = 0; j < h; j++) {
                int x = a[i - 2 * h + j], y = a[i - h + j];
                a[i - 2 * h + j] = x + y;
                a[i - h + j] = x - y;
            }
}

int main(void)
{
    unsigned n = 64;
    int *a = malloc(n * sizeof *a);
    if (!a)
        return 1;
    for (unsigned i = 0; i < n; i++)
        a[i] = (i * 37 + 11) % 101;
    transform(a, n);
    for (unsigned i = 0; i < n; i++)
        printf("%d ", a[i]);
    printf("\n");
    free(a);
    return 0;
}
