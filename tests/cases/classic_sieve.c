/* The sieve of Eratosthenes: multiples are crossed out by a loop whose step is the prime.
 * RUN: port
 * EXPECT: main/for unanalyzable host: not a counted loop: its condition is not a comparison of i with a bound
 * EXPECT: main/for/for parallel-after ported: parallel after normalize=main/for/for
 * EXPECT: main/i reduction ported: an associative update (+: count) is the only carried dependence
 * VERIFY: pass
 */
#include <stdio.h>

#define N 400

static unsigned char composite[N + 1];

int main(void)
{
    for (int i = 2; i * i <= N; i++)
        if (!composite[i])
            for (int j = i * i; j <= N; j += i)
                composite[j] = 1;
    int count = 0;
    for (int i = 2; i <= N; i++)
        count += !composite[i];
    printf("%d\n", count);
    return 0;
}
