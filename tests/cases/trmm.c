/* Triangular product in place: rows written later are read, so i is sequential; j is parallel, k a reduction.
 * RUN: port
 * EXPECT: trmm/i sequential ported: carries an anti dependence on B
 * EXPECT: trmm/i/j parallel ported: no carried dependence (proven)
 * EXPECT: trmm/i/j/k reduction ported: an associative update (+: B) is the only carried dependence
 * VERIFY: pass
 */
void trmm(int m, int n, const double A[restrict m][m], double B[restrict m][n])
{
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++)
            for (int k = i + 1; k < m; k++)
                B[i][j] += A[k][i] * B[k][j];
}
