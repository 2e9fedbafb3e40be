/* Walsh-Hadamard transform over pairs, unsigned, with counters declared outside.
 * RUN: port --all
 * EXPECT: transform/for unanalyzable host: not a counted loop: it does not advance its counter len by a constant step
 * EXPECT: transform/for/t parallel ported: no carried dependence (if h >= 1; len <= 2*h; (2*h + 2 <= n && h + n <= 4294967297) || (2*h + n <= 8589934593 && n <= 2*h + 1); h <= len || n <= 2*len + 1; 2*h + n <= 2*len + 1 || 2*h <= len)
 * EXPECT: main/i parallel ported: no carried dependence (proven)
 * EXPECT: main/i#2 unanalyzable host: printf writes output
 * VERIFY: pass
 */
#include <stdio.h>
#include <stdlib.h>

static void transform(int *a, unsigned n)
{
    unsigned len, h, t;
    for (len = 2; len <= n; len *= 2) {
        h = len >> 1;
        for (t = 0; t < n / 2; t++) {
            unsigned i = (t / h) * len + (t % h);
            int x = a[i], y = a[i + h];
            a[i] = x + y;
            a[i + h] = x - y;
        }
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
