/* PSyclone 2727: a scalar is written under a condition and read where it does not hold; it flows on, and is not private:
 * the latest value is scanned.
 * RUN: port --verify off
 * EXPECT: hold/i scan ported: a running value (latest: last) is the only carried dependence
 */
void hold(int n, const double *restrict a, double *restrict b)
{
    double last = 0.0;
    for (int i = 0; i < n; i++) {
        if (a[i] > 0.0)
            last = a[i];
        else
            b[i] = last;
    }
}
