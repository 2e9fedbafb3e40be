/* TSVC's s2244 pattern: two statements write one array, one element apart.
 * RUN: port --verify off
 * EXPECT: s2244/i parallel-after ported: parallel after distribute=s2244/i,groups=1
 */
void s2244(int n, double *restrict a, const double *restrict b, const double *restrict c, const double *restrict e)
{
    for (int i = 0; i < n - 1; i++) {
        a[i + 1] = b[i] + e[i];
        a[i] = b[i] + c[i];
    }
}
