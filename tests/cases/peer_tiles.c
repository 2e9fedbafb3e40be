/* loopy 724: a product of matrices in tiles of 8, 23 and 11, which divide no size.
 * RUN: port --transform tile=product/i,sizes=8:23:11
 * EXPECT: product/i parallel ported: no carried dependence (proven)
 * EXPECT: product/i/j parallel ported: no carried dependence (proven)
 * EXPECT: product/i/j/k reduction ported: an associative update (+: c) is the only carried dependence
 * VERIFY: pass
 */
void product(int n, int m, int p, double c[restrict n][m], const double a[restrict n][p], const double b[restrict p][m])
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            for (int k = 0; k < p; k++)
                c[i][j] += a[i][k] * b[k][j];
}
