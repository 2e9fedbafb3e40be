/* Unsigned 64-bit counters, and a bound that wraps when n is 0.
 * RUN: port
 * EXPECT: forward/i parallel ported: no carried dependence (proven)
 * EXPECT: difference/i parallel ported: no carried dependence (proven)
 * VERIFY: pass
 */
#include <stddef.h>

void forward(size_t n, double *restrict a, const double *restrict b)
{
    for (size_t i = 0; i < n; i++)
        a[i] = 2.0 * b[i];
}

void difference(size_t n, double *restrict a, const double *restrict b)
{
    for (size_t i = 0; i < n - 1; i++)
        a[i] = b[i + 1] - b[i];
}
