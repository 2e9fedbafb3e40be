/* The sum is a reduction only while y does not overlap with x: tested at run time.
 * RUN: port
 * EXPECT: update/i reduction ported: an associative update (+: s) is the only carried dependence
 * VERIFY: pass
 */
double update(int n, const double *x, double *y)
{
    double s = 0.0;
    for (int i = 0; i < n; i++) {
        y[i] = 2.0 * x[i];
        s += y[i];
    }
    return s;
}
