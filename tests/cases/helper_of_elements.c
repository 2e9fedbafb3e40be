/* A helper function gets elements of the array by value; the flags are C's own bool.
 * RUN: port
 * EXPECT: smooth/i parallel ported: no carried dependence (proven)
 * VERIFY: pass
 */
#include <stdbool.h>

static double clamp(double v)
{
    if (v < 0.0)
        return 0.0;
    return v > 1.0 ? 1.0 : v;
}

void smooth(int n, const double *restrict a, double *restrict b, bool *restrict touched)
{
    for (int i = 1; i < n - 1; i++) {
        b[i] = clamp(0.5 * (a[i - 1] + a[i + 1]));
        touched[i] = b[i] > 0.0;
    }
}
