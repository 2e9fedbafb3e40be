/* The sieve of Eratosthenes with counters of 64 bits without a sign.
 * RUN: port --all --verify off
 * EXPECT: all/for unanalyzable host: not a counted loop: its bound depends on its own counter p
 * EXPECT: all/for/for parallel-after ported: parallel after normalize=all/for/for
 * EXPECT: odd/for unanalyzable host: not a counted loop: its bound depends on its own counter p
 * EXPECT: odd/for/for parallel-after ported: parallel after normalize=odd/for/for
 * EXPECT: multiples/for parallel-after ported: parallel after normalize=multiples/for
 * EXPECT: down/for parallel-after ported: parallel after normalize=down/for
 * EXPECT: narrow/for unanalyzable host: not a counted loop: its step p is not a constant
 */
#include <stddef.h>

void all(size_t n, unsigned char *composite)
{
    for (size_t p = 2; p <= n / p; p++)
        if (!composite[p])
            for (size_t m = p * p; m <= n; m += p)
                composite[m] = 1;
}

/* odd numbers only */
void odd(size_t n, unsigned char *composite)
{
    for (size_t p = 3; p <= n / p; p += 2)
        if (!composite[p])
            for (size_t m = p * p; m <= n; m += 2 * p)
                composite[m] = 1;
}

void multiples(size_t n, size_t p, unsigned char *composite)
{
    for (size_t m = p * p; m <= n; m += p)
        composite[m] = 1;
}

void down(size_t n, size_t p, unsigned char *composite)
{
    for (size_t m = n; m >= 2 * p; m -= 2 * p)
        composite[m] = 1;
}

/* the product of 32 bits wraps around on its own */
void narrow(size_t n, unsigned p, unsigned char *composite)
{
    for (size_t m = p * p; m <= n; m += p)
        composite[m] = 1;
}
