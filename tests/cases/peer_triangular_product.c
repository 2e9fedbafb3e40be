/* DiscoPoP 371 (trmm): i reads rows that later iterations write, j is parallel, k a reduction.
 * RUN: port
 * EXPECT: product/i sequential ported: carries an anti dependence on B
 * EXPECT: product/i/j parallel ported: no carried dependence (proven)
 * EXPECT: product/i/j/k reduction ported: an associative update (+: B) is the only carried dependence
 * VERIFY: pass
 */
void product(int m, int n, double alpha, const double A[restrict m][m], double B[restrict m][n])
{
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            for (int k = i + 1; k < m; k++)
                B[i][j] += A[k][i] * B[k][j];
            B[i][j] = alpha * B[i][j];
        }
}
