/* t is written under a condition and read whenever it does not hold.
 * RUN: port --verify off
 * EXPECT: hold/i scan ported: a running value (latest: t) is the only carried dependence
 */
void hold(int n, const double *restrict a, double *restrict b)
{
    double t = 0.0;
    for (int i = 0; i < n; i++) {
        if (a[i] > 0.0)
            t = a[i];
        b[i] = t;
    }
}
