/* Pluto 19: a product of matrices that are stored as vectors; the conditions are printed.
 * RUN: port
 * EXPECT: product/i parallel ported: no carried dependence (proven)
 * EXPECT: product/i/j parallel ported: no carried dependence (proven)
 * EXPECT: product/i/j/k reduction ported: an associative update (+: c) is the only carried dependence
 * VERIFY: pass
 */
void product(int n, int m, int p, double *restrict c, const double *restrict a, const double *restrict b)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            c[i * m + j] = 0.0;
            for (int k = 0; k < p; k++)
                c[i * m + j] += a[i * p + k] * b[k * m + j];
        }
}
