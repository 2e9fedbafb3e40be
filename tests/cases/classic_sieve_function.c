/* The sieve in a function, flags of the heap, multiples from twice the prime on, the counter declared before.
 * RUN: port
 * EXPECT: cross_out/for parallel-after ported: parallel after normalize=cross_out/for
 * EXPECT: main/i parallel ported: no carried dependence (proven)
 * EXPECT: main/for unanalyzable host: not a counted loop: its condition is not a comparison of p with a bound
 * EXPECT: main/i#2 reduction ported: an associative update (+: count) is the only carried dependence
 * VERIFY: pass
 */
#include <stdio.h>
#include <stdlib.h>

static void cross_out(char *prime, int n, int p)
{
    int m;
    for (m = 2 * p; m < n; m = m + p)
        prime[m] = 0;
}

int main(void)
{
    int n = 300, count = 0;
    char *prime = malloc(n);
    if (!prime)
        return 1;
    for (int i = 0; i < n; i++)
        prime[i] = i > 1;
    for (int p = 2; p * p < n; p++)
        if (prime[p])
            cross_out(prime, n, p);
    for (int i = 0; i < n; i++)
        count += prime[i];
    printf("%d\n", count);
    free(prime);
    return 0;
}
