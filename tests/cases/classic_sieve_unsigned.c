/* The sieve with unsigned numbers in main.
 * RUN: port --all
 * EXPECT: main/for unanalyzable host: not a counted loop: its condition is not a comparison of p with a bound
 * EXPECT: main/for/for parallel-after ported: parallel after normalize=main/for/for
 * EXPECT: main/i reduction ported: an associative update (+: count) is the only carried dependence
 * VERIFY: pass
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(void)
{
    unsigned n = 400;
    unsigned char *c = malloc(n + 1);
    if (!c) return 1;
    memset(c, 0, n + 1);
    for (unsigned p = 2; p * p <= n; p++) {
        if (c[p]) continue;
        for (unsigned m = p * p; m <= n; m += p) c[m] = 1;
    }
    unsigned count = 0;
    for (unsigned i = 2; i <= n; i++) if (!c[i]) count++;
    printf("%u\n", count);
    free(c);
    return 0;
}
