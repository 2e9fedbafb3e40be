/* Walsh-Hadamard transform with sizes of size_t, the inner loop from the block's first element on.
 * RUN: port
 * EXPECT: transform/for unanalyzable host: not a counted loop: it does not advance its counter h by a constant step
 * EXPECT: transform/for/for parallel-after ported: parallel after normalize=transform/for/for
 * EXPECT: transform/for/for/j parallel ported: no carried dependence (if h + i <= 18446744073709551615; 2*h + i <= 18446744073709551616)
 * EXPECT: main/i parallel ported: no carried dependence (proven)
 * EXPECT: main/i#2 unanalyzable host: printf writes output
 * VERIFY: pass
 */
#include <stdio.h>
#include <stdlib.h>

static void transform(unsigned *a, size_t n)
{
    for (size_t h = 1; h < n; h *= 2)
        for (size_t i = 0; i < n; i += 2 * h)
            for (size_t j = i; j < i + h; j++) {
                unsigned x = a[j], y = a[j + h];
                a[j] = x + y;
                a[j + h] = x - y;
            }
}

int main(void)
{
    size_t n = 64;
    unsigned *a = malloc(n * sizeof *a);
    if (!a)
        return 1;
    for (size_t i = 0; i < n; i++)
        a[i] = (i * 37 + 11) % 101;
    transform(a, n);
    for (size_t i = 0; i < n; i++)
        printf("%u ", a[i]);
    printf("\n");
    free(a);
    return 0;
}
