/* The largest element and where it stands; of equal ones the first (>), or the last (>=).
 * RUN: port
 * EXPECT: first/i reduction ported: an associative update (max: m) is the only carried dependence
 * EXPECT: last/i reduction ported: an associative update (max: m) is the only carried dependence
 * EXPECT: last/i/j reduction ported: an associative update (max: m) is the only carried dependence
 * VERIFY: pass
 */
#include <math.h>

int first(int n, const int *a)
{
    int m = -1, at = -1;
    for (int i = 0; i < n; i++)
        if (a[i] % 8 > m) {
            m = a[i] % 8;
            at = i;
        }
    return at;
}

double last(int n, const double a[n][n], int *row)
{
    double m = -1.0;
    int at_i = -1, at_j = -1;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double t = fabs(a[i][j]);
            if (t >= m) {
                m = t;
                at_i = i;
                at_j = j;
            }
        }
    *row = at_i + at_j;
    return m;
}
