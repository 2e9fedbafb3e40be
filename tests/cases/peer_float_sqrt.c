/* PPCG, README: sqrt of a float is the double function in C; C++ has one for floats too.
 * RUN: port
 * EXPECT: roots/i parallel ported: no carried dependence (proven)
 * VERIFY: pass
 */
#include <math.h>

void roots(int n, const float *restrict a, double *restrict b)
{
    for (int i = 0; i < n; i++)
        b[i] = sqrt(a[i]);
}
