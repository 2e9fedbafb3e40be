/* t is written under a condition and read whenever it does not hold.
 * RUN: port --verify off
 * EXPECT: hold/i sequential host: may carry an output dependence on t, under a condition that depends on data
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
