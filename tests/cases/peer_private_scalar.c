/* DawnCC 22: a temporary of the body, declared outside of the loop.
 * RUN: port
 * EXPECT: squares/i parallel ported: no carried dependence (proven)
 * VERIFY: pass
 */
void squares(int n, const double *restrict a, double *restrict b)
{
    double tmp;
    for (int i = 0; i < n; i++) {
        tmp = a[i] + 1.0;
        b[i] = tmp * tmp;
    }
}
